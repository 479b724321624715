"""`Elemwise`: a scalar Op applied to every element of arrays that broadcast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import ParamSpec, override

import lamella.ir.tensor.functions as lt
from lamella.errors import BroadcastError, StaticShapeError
from lamella.ir.graph.core import Apply, Op, OutputStorage, Variable
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.scalar.dtypes import is_differentiable_dtype
from lamella.ir.scalar.op import ScalarOp, operand_dtype
from lamella.ir.scalar.type import ScalarType
from lamella.ir.scalar.variable import ScalarConstant, ScalarVariable
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.type import StaticShape, TensorType
from lamella.ir.tensor.variable import TensorVariable

__all__ = ["Elemwise", "broadcast_static_shapes", "check_broadcast"]

P = ParamSpec("P")


def broadcast_static_shapes(variables: Sequence[TensorVariable]) -> StaticShape:
    """Return the static shape that arrays of one number of dimensions broadcast to.

    Only lengths known to be 1 are broadcast; an unknown length must equal all others, so it takes their known value.

    Raises
    ------
    StaticShapeError
        Known lengths differ.
    """
    result: list[int | None] = []
    for axis, lengths in enumerate(zip(*[v.type.shape for v in variables], strict=True)):
        known = {length for length in lengths if length is not None and length != 1}
        if len(known) > 1:
            raise StaticShapeError(
                f"lengths {sorted(known)} along axis {axis} do not broadcast: "
                + ", ".join([f"{v!r} is {v.type}" for v in variables])
            )
        result.append(known.pop() if known else None if None in lengths else 1)
    return tuple(result)


def check_broadcast(node: Apply[Any], arrays: Sequence[npt.NDArray[Any]]) -> tuple[int, ...]:
    """Return the shape that the inputs of an elementwise node broadcast to, by the pattern fixed when it was built.

    Raises
    ------
    BroadcastError
        A length is 1 where another is not, and was not declared to be 1; or lengths differ.
    """
    shape: list[int] = []
    statics = [variable.type.shape for variable in node.inputs]
    for axis in range(arrays[0].ndim):
        length: int | None = None
        first = 0
        for i, array in enumerate(arrays):
            if statics[i][axis] == 1:
                continue
            if length is None:
                length, first = array.shape[axis], i
            elif array.shape[axis] != length:
                raise BroadcastError(_mismatch(node, axis, (first, length), (i, array.shape[axis])))
        shape.append(1 if length is None else length)
    return tuple(shape)


def _mismatch(node: Apply[Any], axis: int, one: tuple[int, int], other: tuple[int, int]) -> str:
    (i, a), (j, b) = one, other
    message = (
        f"{node.op}: input {i} ({node.inputs[i].name or 'unnamed'}) has length {a} along axis {axis}, "
        f"input {j} ({node.inputs[j].name or 'unnamed'}) has length {b}"
    )
    if 1 not in (a, b):
        return message
    k = i if a == 1 else j
    return (
        f"{message}. A length that is not known to be 1 while the graph is built is never broadcast: declare it, as in "
        f"tensor(shape=(..., 1, ...)) or specify_shape({node.inputs[k].name or 'x'}, ...) with length 1 along axis {axis}"
    )


@lru_cache(maxsize=4096)
def _gradient_program(op: ScalarOp[Any], dtypes: tuple[str, ...], connected: tuple[bool, ...]) -> _Program:
    """Trace the scalar gradient once per Op and dtypes; it is replayed on tensors."""
    inputs = [ScalarType(dtype)() for dtype in dtypes]
    node = op.make_node(*inputs)
    outputs = [out for out in node.outputs if isinstance(out, ScalarVariable)]
    cotangents: list[Variable[Any]] = []
    for out, used in zip(outputs, connected, strict=True):
        dtype = out.dtype if is_differentiable_dtype(out.dtype) else "float64"
        cotangents.append(ScalarType(dtype)() if used else DisconnectedType()())
    results = op.L_op(inputs, outputs, cotangents)
    from_inputs = FunctionGraph(
        [*inputs, *outputs, *[c for c in cotangents if isinstance(c, ScalarVariable)]],
        [r for r in results if isinstance(r, ScalarVariable)],
    )
    return _Program(from_inputs, tuple(results))


@attrs.frozen(eq=False)
class _Program:
    """A scalar graph and the results it was made for, some of which may have Types that say why there is no gradient."""

    fgraph: FunctionGraph
    results: tuple[Variable[Any], ...]

    def replay(self, tensors: Sequence[TensorVariable]) -> list[Variable[Any]]:
        """Build the same expressions on tensors."""
        made: dict[Variable[Any], TensorVariable] = dict(zip(self.fgraph.inputs, tensors, strict=True))

        def tensor(variable: Variable[Any]) -> TensorVariable:
            if isinstance(variable, ScalarConstant):
                return constant(variable.data)
            return made[variable]

        for node in self.fgraph.order:
            applied = Elemwise[Any](node.op).make_node(*[tensor(v) for v in node.inputs])
            made.update(zip(node.outputs, [o for o in applied.outputs if isinstance(o, TensorVariable)], strict=True))
        return [tensor(r) if isinstance(r, ScalarVariable) else r for r in self.results]


def _inplace_map(self: Elemwise[Any]) -> Mapping[int, Sequence[int]]:
    return {output: [input] for output, input in self.inplace_pattern}


@final
@attrs.frozen(repr=False, cache_hash=True)
class Elemwise(Op[P, TensorVariable]):
    """Apply a scalar Op to every element of arrays that broadcast.

    Inputs with fewer dimensions get new ones of length 1 on the left. An axis is broadcast where its length is known to be 1 when
    the node is built; an axis of unknown length is never broadcast, so that what a node means does not depend on values.

    Parameters
    ----------
    scalar_op
        The function of numbers.
    inplace_pattern
        Pairs of an output and the input whose memory it takes.
    """

    scalar_op: ScalarOp[P]
    inplace_pattern: tuple[tuple[int, int], ...] = ()
    destroy_map: Mapping[int, Sequence[int]] = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_inplace_map, takes_self=True)
    )

    @override
    def make_node(self, *args: P.args, **kwargs: P.kwargs) -> Apply[TensorVariable]:
        if kwargs:
            raise TypeError(f"{self} takes no keyword arguments")
        operands: tuple[Any, ...] = args
        op = self.scalar_op
        if len(operands) != op.nin if op.nin >= 0 else len(operands) < 2:
            raise TypeError(f"{self} takes {op.nin if op.nin >= 0 else 'two or more'} operands, not {len(operands)}")
        operands = tuple([as_tensor_variable(x) if isinstance(x, list | tuple) else x for x in operands])
        ins, outs = op.loop([operand_dtype(x) for x in operands])
        variables = [
            x if isinstance(x, TensorVariable) else _operand_constant(x, dtype)
            for x, dtype in zip(operands, ins, strict=True)
        ]
        ndim = max([v.ndim for v in variables])
        inputs = [v if v.ndim == ndim else as_tensor_variable(v, ndim=ndim) for v in variables]
        shape = broadcast_static_shapes(inputs)
        for output, input in self.inplace_pattern:
            if (
                inputs[input].dtype != outs[output]
                or TensorType(outs[output], shape).is_super(inputs[input].type) is None
            ):
                raise TypeError(
                    f"output {output} of {self} cannot take the memory of {inputs[input]!r} of type {inputs[input].type}"
                )
        return Apply(self, inputs, [TensorType(dtype, shape) for dtype in outs])

    @override
    def rebuild(self, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Apply[Any]:
        # An input that is now known to have length 1, and was not when the node was built, must not begin to broadcast.
        fixed: list[Variable[Any]] = []
        for new, old in zip(inputs, node.inputs, strict=True):
            axes = [
                i for i, (a, b) in enumerate(zip(new.type.shape, old.type.shape, strict=True)) if a == 1 and b is None
            ]
            fixed.append(lt.unbroadcast(new, axes) if axes else new)
        make: Any = self.make_node
        made: Apply[Any] = make(*fixed)
        return made

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        shape = check_broadcast(node, inputs)
        results = self.scalar_op.compute(inputs)
        targets = dict(self.inplace_pattern)
        for i, (cell, result, out) in enumerate(zip(output_storage, results, node.outputs, strict=True)):
            array = result.astype(out.type.dtype, copy=False)
            if i in targets:
                target = inputs[targets[i]]
                target[...] = array
                cell[0] = target
            elif array.shape != shape or any(np.shares_memory(array, x) for x in inputs):
                cell[0] = np.array(np.broadcast_to(array, shape))
            else:
                cell[0] = array

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        lengths: list[Any] = []
        for axis in range(node.outputs[0].type.ndim):
            known = node.outputs[0].type.shape[axis]
            if known is not None:
                lengths.append(as_tensor_variable(known, dtype="int64"))
            else:
                # All inputs that are not broadcast have the same length, or the node raises.
                i = next(i for i, v in enumerate(node.inputs) if v.type.shape[axis] != 1)
                lengths.append(shapes[i][axis])
        return [tuple(lengths)] * len(node.outputs)

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[Variable[Any]],
    ) -> list[Variable[Any]]:
        connected = tuple([not isinstance(g.type, DisconnectedType) for g in output_grads])
        program = _gradient_program(self.scalar_op, tuple([x.dtype for x in inputs]), connected)
        given = [*inputs, *outputs, *[g for g in output_grads if isinstance(g, TensorVariable)]]
        cotangents: list[Variable[Any]] = []
        for x, result in zip(inputs, program.replay(given), strict=True):
            if not is_differentiable_dtype(x.dtype):
                cotangents.append(lt.zeros_like(x, "float64"))
            elif isinstance(result, TensorVariable):
                cotangents.append(_unbroadcast_sum(result, x, outputs[0]))
            else:
                cotangents.append(result)
        return cotangents

    @override
    def __str__(self) -> str:
        inplace = f"{{inplace={list(self.inplace_pattern)}}}" if self.inplace_pattern else ""
        return f"{self.scalar_op}{inplace}"


def _operand_constant(operand: Any, dtype: str) -> TensorVariable:
    is_literal = isinstance(operand, bool | int | float | complex) and not isinstance(operand, np.generic)
    return constant(operand, dtype=dtype if is_literal else None)


def _unbroadcast_sum(cotangent: TensorVariable, x: TensorVariable, z: TensorVariable) -> TensorVariable:
    """Sum a cotangent over the axes along which `x` was broadcast, and give it the dtype of `x`."""
    if cotangent.ndim < z.ndim or cotangent.type.broadcastable != z.type.broadcastable:
        cotangent = lt.fill(z, cotangent)
    axes = [i for i, (a, b) in enumerate(zip(x.type.shape, z.type.shape, strict=True)) if a == 1 and b != 1]
    summed = lt.sum(cotangent, axis=axes, keepdims=True) if axes else cotangent
    return summed if summed.dtype == x.dtype else lt.cast(summed, x.dtype)
