"""`Blockwise`: an Op on small arrays, applied to each of a batch of them.

inverses = Blockwise(inverse, "(m,m)->(m,m)")(stack_of_matrices)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol, final, runtime_checkable

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

import lamella.ir.tensor.functions as lt
from lamella.errors import BroadcastError, ShapeMismatchError, ShapeNotInferred, StaticShapeError
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.inner_graph import placeholder
from lamella.ir.graph.interpreter import perform_node
from lamella.ir.graph.null_types import DisconnectedType, NullType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.traversal import ancestors
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.elemwise import broadcast_static_shapes
from lamella.ir.tensor.lengths import as_length
from lamella.ir.tensor.specify_shape import unbroadcast
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable
from lamella.ir.tensor.vectorization.batches import Batch, core_ndim, padded
from lamella.ir.tensor.vectorization.graph import vectorize_graph
from lamella.ir.tensor.vectorization.table import vectorize_node

__all__ = ["Blockwise", "HasGufuncSignature", "Signature", "parse_signature"]

Signature = tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]
"""For each input and for each output of an Op, the names of its axes; a name that is a number is a length."""

_AXES = r"\(\s*(?:\w+\s*(?:,\s*\w+\s*)*)?\)"
_SIGNATURE = re.compile(rf"^\s*(?:{_AXES}\s*(?:,\s*{_AXES}\s*)*)?->\s*{_AXES}\s*(?:,\s*{_AXES}\s*)*$")


@runtime_checkable
class HasGufuncSignature(Protocol):
    """An Op that says which axes it works on: `Blockwise` takes its signature from it."""

    @property
    def gufunc_signature(self) -> str:
        """The signature, as that of NumPy's generalised universal functions: ``"(m,n),(n)->(m)"``."""


def parse_signature(text: str) -> Signature:
    """Return a signature of NumPy's form as tuples of names.

    Raises
    ------
    ValueError
        It is none.

    Examples
    --------
    >>> parse_signature("(m,n),(n)->(m)")
    ((('m', 'n'), ('n',)), (('m',),))
    """
    if _SIGNATURE.match(text) is None:
        raise ValueError(f"{text!r} is no signature; one is like '(m,n),(n)->(m)'")
    inputs, outputs = [
        tuple([tuple(re.findall(r"\w+", axes)) for axes in re.findall(_AXES, side)]) for side in text.split("->")
    ]
    return inputs, outputs


def signature_of(node: Apply[Any]) -> str:
    """Return the signature of a node of which nothing is known but the numbers of axes."""

    def side(letter: str, variables: Sequence[Variable[Any]]) -> str:
        return ",".join(
            [f"({','.join([f'{letter}{i}{axis}' for axis in range(core_ndim(v))])})" for i, v in enumerate(variables)]
        )

    return f"{side('i', node.inputs)}->{side('o', node.outputs)}"


@final
@attrs.frozen(eq=False, repr=False, init=False)
class Blockwise(Op[..., Any]):
    """Apply an Op to each element of a batch: to the last axes of its inputs.

    The axes before those that the signature names are the batch; they broadcast as operands of elementwise Ops do: an axis is broadcast where its
    length is known to be 1 when the node is built, one of unknown length never is. The Op is applied once for each element, in Python. Gradients
    are those of the Op, applied to the batch by `vectorize_graph`.

    Parameters
    ----------
    core_op
        The Op that is applied to each element. All its inputs and outputs are tensors.
    signature
        Which axes it takes and gives: ``"(m,n),(n)->(m)"``. Axes of one name have one length, and a number is a length. By default
        ``core_op.gufunc_signature``.

    Raises
    ------
    ValueError
        The signature is none.
    TypeError
        None is given, and the Op has none.
    """

    core_op: Op[Any, Any]
    signature: str

    def __init__(self, core_op: Op[Any, Any], signature: str | None = None) -> None:
        if signature is None:
            if not isinstance(core_op, HasGufuncSignature):
                raise TypeError(f"{core_op} has no gufunc_signature; give its signature, such as '(m,n),(n)->(m)'")
            signature = core_op.gufunc_signature
        inputs, outputs = parse_signature(signature)
        joined = "->".join([",".join([f"({','.join(axes)})" for axes in side]) for side in (inputs, outputs)])
        self.__attrs_init__(core_op, joined)

    @property
    def input_axes(self) -> tuple[tuple[str, ...], ...]:
        """For each input, the names of the axes that the Op takes."""
        return parse_signature(self.signature)[0]

    @property
    def output_axes(self) -> tuple[tuple[str, ...], ...]:
        """For each output, the names of the axes that the Op gives."""
        return parse_signature(self.signature)[1]

    def batch_ndim(self, node: Apply[Any]) -> int:
        """Return the number of batch axes of a node."""
        return int(node.outputs[0].type.ndim) - len(self.output_axes[0])

    @override
    def make_node(self, *args: TensorLike, **kwargs: Any) -> Apply[Any]:
        axes = self.input_axes
        if len(args) != len(axes) or kwargs:
            raise TypeError(f"{self} takes {len(axes)} inputs, not {len(args) + len(kwargs)}")
        inputs = [as_tensor_variable(x) for x in args]
        for i, (x, names) in enumerate(zip(inputs, axes, strict=True)):
            if x.ndim < len(names):
                raise TypeError(f"input {i} of {self} has {len(names)} axes at least; {x!r} is {x.type}")
        batch = max([x.ndim - len(names) for x, names in zip(inputs, axes, strict=True)], default=0)
        inputs = [padded(x, batch, len(names)) for x, names in zip(inputs, axes, strict=True)]
        core = self._core_node(inputs, batch)
        # An Op that casts its inputs does so here, once for all elements.
        cast = [lt.cast(x, inner.type.dtype) for x, inner in zip(inputs, core.inputs, strict=False)]
        if any([a is not b for a, b in zip(cast, inputs, strict=True)]):
            inputs = cast
            core = self._core_node(inputs, batch)
        if not _is_plain(core):
            raise TypeError(
                f"{core.op} brings its inputs, of {[core_ndim(v) for v in core.inputs]} axes, into another form first; give it the axes that it takes"
            )
        _check_names(self, inputs, axes, batch)
        shape = broadcast_static_shapes(inputs, batch)
        if [len(names) for names in self.output_axes] != [core_ndim(out) for out in core.outputs]:
            raise TypeError(
                f"the signature {self.signature} does not fit {core.op}, whose outputs are {[str(v.type) for v in core.outputs]}"
            )
        op = self if core.op == self.core_op else Blockwise(core.op, self.signature)
        return Apply(op, inputs, [TensorType(out.type.dtype, (*shape, *out.type.shape)) for out in core.outputs])

    def _core_node(self, inputs: Sequence[Variable[Any]], batch: int) -> Apply[Any]:
        """Return the node that computes one element."""
        kinds = [TensorType(x.type.dtype, x.type.shape[batch:]) for x in inputs]
        make: Any = self.core_op.make_node
        made: Apply[Any] = make(*[placeholder(kind, i) for i, kind in enumerate(kinds)])
        if any([not isinstance(out.type, TensorType) for out in made.outputs]):
            raise TypeError(f"{self.core_op} gives something that is no tensor, so it has no batches")
        return made

    @override
    def rebuild(self, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Apply[Any]:
        # An input that is now known to have length 1, and was not when the node was built, must not begin to broadcast.
        fixed: list[TensorVariable] = []
        for new, old in zip(inputs, node.inputs, strict=True):
            lengths = enumerate(zip(new.type.shape, old.type.shape, strict=True))
            fixed.append(unbroadcast(new, [i for i, (a, b) in lengths if a == 1 and b is None]))
        return self.make_node(*fixed)

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        batch = self.batch_ndim(node)
        shape = _run_time_batch(self, node, inputs, batch)
        _check_run_time_names(self, inputs, batch)
        core = self._core_node(node.inputs, batch)
        overwrites = bool(core.op.destroy_map)
        single = [[length == 1 for length in v.type.shape[:batch]] for v in node.inputs]
        arrays: list[npt.NDArray[Any]] | None = None
        for place in np.ndindex(shape):
            values = []
            for x, repeated in zip(inputs, single, strict=True):
                part = x[(*[0 if r else i for i, r in zip(place, repeated, strict=True)], ...)]
                values.append(part.copy() if overwrites else part)
            results = perform_node(core, values)
            if arrays is None:
                arrays = [np.empty((*shape, *np.shape(result)), result.dtype) for result in results]
            for i, (array, result) in enumerate(zip(arrays, results, strict=True)):
                if array.shape[batch:] != np.shape(result):
                    raise ShapeMismatchError(
                        f"output {i} of {core.op} has the shape {array.shape[batch:]} for one element of the batch and "
                        f"{np.shape(result)} for another one: they cannot be put into one array"
                    )
                array[place] = result
        if arrays is None:
            arrays = [
                np.empty((*shape, *lengths), out.type.dtype)
                for out, lengths in zip(core.outputs, self._lengths_without_elements(core, inputs, batch), strict=True)
            ]
        for cell, array in zip(output_storage, arrays, strict=True):
            cell[0] = array

    def _lengths_without_elements(self, core: Apply[Any], inputs: Sequence[Any], batch: int) -> list[tuple[int, ...]]:
        """Return the shapes that the elements of an empty batch would have; a length that depends on their values is 0."""
        shapes = [tuple([constant(n, dtype="int64") for n in x.shape[batch:]]) for x in inputs]
        try:
            said = _inferred(core, shapes)
        except ShapeNotInferred:
            return [tuple([n or 0 for n in out.type.shape]) for out in core.outputs]
        return [tuple([int(as_length(length).eval()) for length in lengths]) for lengths in said]

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        batch = self.batch_ndim(node)
        core = self._core_node(node.inputs, batch)
        lengths: list[Any] = []
        for axis in range(batch):
            known = node.outputs[0].type.shape[axis]
            whole = [i for i, v in enumerate(node.inputs) if v.type.shape[axis] != 1]
            lengths.append(shapes[whole[0]][axis] if known is None and whole else constant(known or 1, dtype="int64"))
            if known == 0:
                lengths[-1] = constant(0, dtype="int64")
        own = _inferred(core, [tuple(shape[batch:]) for shape in shapes])
        return [(*lengths, *found) for found in own]

    @override
    def connection_pattern(self, node: Apply[Any]) -> Sequence[Sequence[bool]]:
        core = self._core_node(node.inputs, self.batch_ndim(node))
        return core.op.connection_pattern(core)

    def node_of_an_element(self, inputs: Sequence[Variable[Any]], batch: int) -> Apply[Any]:
        """Return a node that computes one element, of new Variables.

        Parameters
        ----------
        inputs
            The inputs, each with all batch axes.
        batch
            How many batch axes there are.
        """
        make: Any = self.core_op.make_node
        made: Apply[Any] = make(*[TensorType(x.type.dtype, x.type.shape[batch:])() for x in inputs])
        return made

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[Variable[Any]],
    ) -> list[Variable[Any]]:
        batch = outputs[0].ndim - len(self.output_axes[0])
        core = self.node_of_an_element(inputs, batch)
        cotangents = [_of_element(g, batch) for g in output_grads]
        pulled = core.op.L_op(core.inputs, core.outputs, cotangents)
        given = dict(zip(core.inputs, inputs, strict=True))
        given.update(zip(core.outputs, outputs, strict=True))
        given.update({c: g for c, g in zip(cotangents, output_grads, strict=True) if isinstance(g, TensorVariable)})
        results: list[Variable[Any]] = []
        for x, own, cotangent in zip(inputs, core.inputs, pulled, strict=True):
            if isinstance(cotangent.type, NullType | DisconnectedType):
                results.append(cotangent)
            else:
                results.append(_summed(vectorize_graph(cotangent, given), x, own, outputs[0], batch))
        return results

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        outputs = [as_tensor_variable(out) for out in self.make_node(*inputs).outputs]
        batch = outputs[0].ndim - len(self.output_axes[0])
        core = self.node_of_an_element(inputs, batch)
        tangents = [None if t is None else _of_element(t, batch) for t in eval_points]
        pushed = core.op.R_op(core.inputs, tangents)
        given: dict[Variable[Any], Variable[Any]] = dict(zip(core.inputs, inputs, strict=True))
        pairs = zip(tangents, eval_points, strict=True)
        given.update({tangent: point for tangent, point in pairs if tangent is not None and point is not None})
        results: list[Variable[Any] | None] = []
        for out, own, found in zip(outputs, core.outputs, pushed, strict=True):
            if found is None or isinstance(found.type, DisconnectedType):
                results.append(None)
            else:
                together = Batch(core, inputs)
                moved = padded(as_tensor_variable(vectorize_graph(found, given)), batch, core_ndim(own))
                results.append(together.whole(moved) if moved.type.shape[:batch] != out.type.shape[:batch] else moved)
        return results

    @override
    def flops(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
        batch = len(outputs[0]) - len(self.output_axes[0])
        elements = int(np.prod(outputs[0][:batch], dtype=np.int64))
        return elements * self.core_op.flops([s[batch:] for s in inputs], [s[batch:] for s in outputs])

    @override
    def do_constant_folding(self, fgraph: FunctionGraph, node: Apply[Any]) -> bool:
        core = self._core_node(node.inputs, self.batch_ndim(node))
        return core.op.do_constant_folding(FunctionGraph(core.inputs, core.outputs), core)

    @override
    def __str__(self) -> str:
        return f"Blockwise{{{self.core_op}, {self.signature}}}"


def _is_plain(core: Apply[Any]) -> bool:
    """Whether the inputs of a node are the Variables that its Op was given."""
    return len(set(core.inputs)) == core.nin and all([v.owner is None for v in core.inputs])


def _of_element(variable: Variable[Any], batch: int) -> Variable[Any]:
    """Return a new Variable for one element of a batch of cotangents or tangents."""
    if not isinstance(variable, TensorVariable):
        return variable
    return TensorType(variable.dtype, variable.type.shape[batch:])()


def _inferred(core: Apply[Any], shapes: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the lengths of one element, which may not depend on its values."""
    known: list[tuple[Any, ...]] = []
    said = core.op.infer_shape(None, core, shapes)
    own = set(core.inputs)
    for out, lengths in zip(core.outputs, said, strict=True):
        found = [
            as_length(length) if static is None else constant(static, dtype="int64")
            for length, static in zip(lengths, out.type.shape, strict=True)
        ]
        if any([v in own for v in ancestors(found)]):
            raise ShapeNotInferred(f"the shape of {core.op} depends on the values of each element")
        known.append(tuple(found))
    return known


def _check_names(op: Blockwise, inputs: Sequence[TensorVariable], axes: Sequence[Sequence[str]], batch: int) -> None:
    found: dict[str, int] = {}
    for i, (x, names) in enumerate(zip(inputs, axes, strict=True)):
        for name, length in zip(names, x.type.shape[batch:], strict=True):
            wanted = int(name) if name.isdigit() else found.get(name)
            if length is not None and wanted is not None and length != wanted:
                raise StaticShapeError(f"{op}: the axis {name} of input {i} has length {length}, not {wanted}")
            if length is not None:
                found[name] = length


def _check_run_time_names(op: Blockwise, inputs: Sequence[Any], batch: int) -> None:
    found: dict[str, int] = {}
    for i, (x, names) in enumerate(zip(inputs, op.input_axes, strict=True)):
        for name, length in zip(names, x.shape[batch:], strict=True):
            wanted = int(name) if name.isdigit() else found.setdefault(name, length)
            if length != wanted:
                raise ShapeMismatchError(f"{op}: the axis {name} of input {i} has length {length}, not {wanted}")


def _run_time_batch(op: Blockwise, node: Apply[Any], inputs: Sequence[Any], batch: int) -> tuple[int, ...]:
    shape: list[int] = []
    for axis in range(batch):
        lengths = [(i, x.shape[axis]) for i, x in enumerate(inputs) if node.inputs[i].type.shape[axis] != 1]
        for i, length in lengths[1:]:
            if length != lengths[0][1]:
                raise BroadcastError(
                    f"{op}: input {lengths[0][0]} has length {lengths[0][1]} along batch axis {axis}, input {i} has length {length}. A "
                    "length that is not known to be 1 while the graph is built is never broadcast"
                )
        shape.append(lengths[0][1] if lengths else 1)
    return tuple(shape)


def _summed(
    cotangent: Variable[Any], x: TensorVariable, own: Variable[Any], output: TensorVariable, batch: int
) -> TensorVariable:
    """Return the cotangent of an input, summed over the batch axes along which the input was broadcast."""
    core = core_ndim(own)
    found = padded(as_tensor_variable(cotangent), batch, core)
    axes = [
        i for i, (a, b) in enumerate(zip(x.type.shape[:batch], output.type.shape[:batch], strict=True)) if a == 1 != b
    ]
    if any([found.type.shape[i] == 1 and output.type.shape[i] != 1 for i in range(batch)]):
        lengths = [lt.shape_i(output, i) for i in range(batch)]
        found = lt.alloc(found, *lengths, *[lt.shape_i(found, i) for i in range(batch, found.ndim)])
    return lt.sum(found, axis=axes, keepdims=True, dtype=found.dtype) if axes else found


@vectorize_node.register(Op)  # type: ignore[type-abstract]  # the rule is that of its subclasses
def in_a_loop(op: Op[Any, Any], node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Sequence[Variable[Any]]:
    """Apply any Op element by element."""
    for new, old in zip(inputs, node.inputs, strict=True):
        if not isinstance(new, TensorVariable) or not isinstance(old, TensorVariable):
            raise TypeError(
                f"{op} cannot be applied to batches: its input {old!r} is of type {old.type}, which has no batches; register a rule "
                f"with @vectorize_node.register({type(op).__name__})"
            )
    signature = op.gufunc_signature if isinstance(op, HasGufuncSignature) else signature_of(node)
    return Blockwise(op, signature).make_node(*[as_tensor_variable(x) for x in inputs]).outputs


@vectorize_node.register(Blockwise)
def blockwise(op: Blockwise, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Sequence[Variable[Any]]:
    """More batch axes before those that there are."""
    together = Batch(node, inputs)
    return op.make_node(*together.inputs).outputs
