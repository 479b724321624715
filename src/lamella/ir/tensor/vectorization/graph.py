"""`vectorize_graph`: a graph applied to batches of what it was written for.

y = softmax(W @ x)        vectorize_graph(y, {x: xs})  ->  softmax(xs @ W.T, axis=1), so to speak
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, overload

from lamella.errors import StaticShapeError
from lamella.ir.graph.traversal import toposort
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.type import ScalarType
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorVariable
from lamella.ir.tensor.vectorization.batches import batch_ndim, kept_core
from lamella.ir.tensor.vectorization.table import vectorize_node

__all__ = ["vectorize_graph"]

K = TypeVar("K", bound=Variable[Any])
VariableT = TypeVar("VariableT", bound=Variable[Any])

Replacements = Mapping[K, Any] | Iterable[tuple[K, Any]]


@overload
def vectorize_graph(outputs: VariableT, replace: Replacements[K]) -> VariableT: ...


@overload
def vectorize_graph(outputs: Sequence[VariableT], replace: Replacements[K]) -> list[VariableT]: ...


def vectorize_graph(outputs: VariableT | Sequence[VariableT], replace: Replacements[K]) -> VariableT | list[VariableT]:
    """Return what a graph computes of batches of some of its Variables.

    The result is that of a loop over the batch which computes the graph for each element, and stacks what it gives; but each Op is applied once, to
    the whole batch, where it can be. Batch axes come before all others. Those of several Variables broadcast with one another as operands do: aligned at
    the last one, along axes where a length is known to be 1 while the graph is built.

    Parameters
    ----------
    outputs
        One Variable, or several.
    replace
        For Variables that take part, what stands for them: of the same dtype, with batch axes before their own, or with none. All are replaced at
        once.

    Returns
    -------
    Variable or list of Variable
        What stands for the outputs. One that does not depend on a batch has no batch axes.

    Raises
    ------
    TypeError
        What stands for a Variable is of another dtype, has fewer axes, or is of a Type that has no batches; or an Op cannot be applied to batches of
        such a Type.
    StaticShapeError
        The known lengths of what stands for a Variable are not those of the Variable.
    """
    single = isinstance(outputs, Variable)
    ends = [outputs] if isinstance(outputs, Variable) else list(outputs)
    replaced: dict[Variable[Any], Variable[Any]] = {old: _fitting(old, new) for old, new in (dict(replace)).items()}
    kept = {old: kept_core(new, old) for old, new in replaced.items()}
    for node in toposort(ends, replaced):
        if not any([v in kept for v in node.inputs]):
            continue
        inputs = [kept.get(v, v) for v in node.inputs]
        if all([old.type.is_super(new.type) is not None for new, old in zip(inputs, node.inputs, strict=True)]):
            made: Sequence[Variable[Any]] = node.clone_with_new_inputs(inputs).outputs
        else:
            made = vectorize_node(node, inputs)
        for old, new in zip(node.outputs, made, strict=True):
            if old not in replaced:
                replaced[old] = new
                kept[old] = kept_core(new, old)
    found: list[Any] = [replaced.get(v, v) for v in ends]
    if single:
        only: VariableT = found[0]
        return only
    return found


def _fitting(old: Variable[Any], given: Any) -> Variable[Any]:
    """Check what stands for a Variable."""
    if isinstance(given, Variable) and old.type.is_super(given.type) is not None:
        return given
    if not isinstance(old.type, TensorType | ScalarType):
        converted: Variable[Any] = old.type.filter_variable(given)
        return converted
    new = given if isinstance(given, TensorVariable) else as_tensor_variable(given)
    if new.dtype != old.type.dtype or batch_ndim(new, old) < 0:
        raise TypeError(
            f"{new!r} of type {new.type} is no batch of {old!r} of type {old.type}: it has the same dtype and at least as many axes"
        )
    if isinstance(old, TensorVariable):
        own = new.type.shape[new.ndim - old.ndim :]
        if any([a is not None and b is not None and a != b for a, b in zip(own, old.type.shape, strict=True)]):
            raise StaticShapeError(
                f"{new!r} of type {new.type} is no batch of {old!r} of type {old.type}: the last lengths differ"
            )
    return new
