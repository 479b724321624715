"""Batch axes: how many a Variable has, and how those of several are brought together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lamella.ir.tensor.functions as lt
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.variable import ScalarVariable
from lamella.ir.tensor.alloc import Alloc
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.dimshuffle import DimShuffle
from lamella.ir.tensor.shape import shape_i
from lamella.ir.tensor.type import StaticShape, TensorType
from lamella.ir.tensor.variable import TensorVariable

__all__ = ["Batch", "as_tensor", "batch_ndim", "core_ndim", "kept_core", "padded"]


def core_ndim(old: Variable[Any]) -> int:
    """Return the number of axes of a Variable without batches; a scalar has none."""
    return old.type.ndim if isinstance(old.type, TensorType) else 0


def batch_ndim(new: Variable[Any], old: Variable[Any]) -> int:
    """Return the number of batch axes of what stands for a Variable."""
    return core_ndim(new) - core_ndim(old)


def kept_core(new: Variable[Any], old: Variable[Any]) -> Variable[Any]:
    """Return what stands for a Variable, with its own axes broadcasting as those of the Variable do.

    A length that is known of the Variable is asserted where it is not known; one that is known to be 1, and was not, is forgotten.
    """
    if not isinstance(new, TensorVariable) or not isinstance(old, TensorVariable):
        return new
    first = new.ndim - old.ndim
    pairs = list(enumerate(zip(new.type.shape[first:], old.type.shape, strict=True)))
    asserted: list[int | None] = [None] * new.ndim
    for axis, (found, wanted) in pairs:
        if found is None and wanted is not None:
            asserted[first + axis] = wanted
    forgotten = [first + axis for axis, (found, wanted) in pairs if found == 1 and wanted is None]
    kept = lt.unbroadcast(new, forgotten) if forgotten else new
    return lt.specify_shape(kept, asserted) if any([length is not None for length in asserted]) else kept


def padded(x: TensorVariable, batch: int, core: int) -> TensorVariable:
    """Return `x` with new axes of length 1 before its batch axes, so that it has `batch` of these and `core` others."""
    missing = batch + core - x.ndim
    if not missing:
        return x
    return DimShuffle(x.ndim, (*["x"] * missing, *range(x.ndim)))(x)  # type: ignore[arg-type]  # "x" is the literal


class Batch:
    """The batches that several inputs of a node have, brought together.

    Parameters
    ----------
    node
        The node.
    inputs
        What stands for its inputs.
    places
        Which of them take part; all by default. They are tensors.

    Attributes
    ----------
    ndim
        How many batch axes there are.
    inputs
        The inputs that take part, each with as many batch axes: new ones have length 1.
    static
        What is known of the lengths of the batch axes.
    """

    def __init__(self, node: Apply[Any], inputs: Sequence[Variable[Any]], places: Sequence[int] | None = None) -> None:
        chosen = range(len(inputs)) if places is None else places
        pairs = [(as_tensor(inputs[i]), core_ndim(node.inputs[i])) for i in chosen]
        self.ndim = max([x.ndim - core for x, core in pairs], default=0)
        self.inputs = [padded(x, self.ndim, core) for x, core in pairs]
        self._cores = [core for _, core in pairs]
        self.static: StaticShape = tuple([self._static(axis) for axis in range(self.ndim)])

    def _static(self, axis: int) -> int | None:
        lengths = [x.type.shape[axis] for x in self.inputs]
        known = [n for n in lengths if n not in (None, 1)]
        return known[0] if known else None if None in lengths else 1

    @property
    def lengths(self) -> list[TensorVariable]:
        """The lengths of the batch axes: int64 scalars."""
        found: list[TensorVariable] = []
        for axis, static in enumerate(self.static):
            if static is not None:
                found.append(constant(static, dtype="int64"))
            else:
                whole = next(x for x in self.inputs if x.type.shape[axis] != 1)
                found.append(shape_i(whole, axis))
        return found

    def whole(self, x: TensorVariable) -> TensorVariable:
        """Return a tensor with all batch axes, repeated along those where its length is 1 and that of the batch is not."""
        repeats = any([n == 1 and whole != 1 for n, whole in zip(x.type.shape, self.static, strict=False)])
        if not repeats:
            return x
        return Alloc()(x, *self.lengths, *[shape_i(x, axis) for axis in range(self.ndim, x.ndim)])

    def whole_inputs(self) -> list[TensorVariable]:
        """Return the inputs with all batch axes."""
        return [self.whole(x) for x in self.inputs]

    def core(self, place: int) -> int:
        """Return how many axes of its own an input has."""
        return self._cores[place]


def as_tensor(x: Variable[Any]) -> TensorVariable:
    """Return a tensor, or a scalar made one."""
    return lt.tensor_from_scalar(x) if isinstance(x, ScalarVariable) else as_tensor_variable(x)
