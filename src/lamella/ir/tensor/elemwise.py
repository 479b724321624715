"""`Elemwise`: a scalar Op applied to every element of arrays that broadcast."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import ParamSpec, override

import lamella.ir.tensor.functions as lt
from lamella.config import config
from lamella.errors import BroadcastError, StaticShapeError
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.derivatives import pullback_program, pushforward_program
from lamella.ir.scalar.op import ScalarOp, is_literal
from lamella.ir.scalar.program import ScalarProgram
from lamella.ir.scalar.variable import ScalarConstant
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.cotangents import fit_cotangent, zero_cotangent
from lamella.ir.tensor.type import StaticShape, TensorType
from lamella.ir.tensor.variable import TensorConstant, TensorVariable

__all__ = ["Elemwise", "broadcast_static_shapes", "check_broadcast"]

P = ParamSpec("P", default=...)


def broadcast_static_shapes(variables: Sequence[TensorVariable], n_axes: int | None = None) -> StaticShape:
    """Return the static shape that arrays of one number of dimensions broadcast to, along their first `n_axes` axes or all.

    Only lengths known to be 1 are broadcast; an unknown length must equal all others, so it takes their known value.

    Raises
    ------
    StaticShapeError
        Known lengths differ.
    """
    result: list[int | None] = []
    for axis, lengths in enumerate(zip(*[v.type.shape[:n_axes] for v in variables], strict=True)):
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


def _inplace_map(self: Elemwise[Any]) -> Mapping[int, Sequence[int]]:
    return {output: [input] for output, input in self.inplace_pattern}


@final
@attrs.frozen(eq=False, repr=False)
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

    scalar_op: ScalarOp[Any]
    inplace_pattern: tuple[tuple[int, int], ...] = ()
    destroy_map: Mapping[int, Sequence[int]] = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_inplace_map, takes_self=True)
    )

    @override
    def make_node(self, *args: P.args, **kwargs: P.kwargs) -> Apply[TensorVariable]:
        if kwargs:
            raise TypeError(f"{self} takes no keyword arguments")
        operands = [
            as_tensor_variable(x) if not isinstance(x, TensorVariable) and isinstance(x, list | tuple | Variable) else x
            for x in args
        ]
        ins, outs = self.scalar_op.loop_for(operands)
        variables = _as_variables(operands, ins)
        shapes = [v.type.shape for v in variables]
        if all([shape == shapes[0] for shape in shapes]):
            inputs, shape = variables, shapes[0]
        else:
            ndim = max([len(shape) for shape in shapes])
            inputs = [v if v.ndim == ndim else as_tensor_variable(v, ndim=ndim) for v in variables]
            shape = broadcast_static_shapes(inputs)
        for output, input in self.inplace_pattern:
            lengths = inputs[input].type.shape
            broadcasts = any([a == 1 and b != 1 for a, b in zip(lengths, shape, strict=True)])
            if broadcasts or inputs[input].dtype != outs[output]:
                raise TypeError(
                    f"output {output} of {self} cannot take the memory of {inputs[input]!r} of type {inputs[input].type}"
                )
        return Apply(self, inputs, [_type_like(inputs, dtype, shape) for dtype in outs])

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
        targets = dict(self.inplace_pattern)
        fresh: list[npt.NDArray[Any]] = []
        for array, out in zip(self.scalar_op.compute(inputs), node.outputs, strict=True):
            array = array.astype(out.type.dtype, copy=False)
            shared = any([np.may_share_memory(array, x) for x in inputs])
            if (
                array.shape != shape or shared or not array.flags.writeable
            ):  # what NumPy broadcasts cannot be written to
                array = np.array(np.broadcast_to(array, shape))
            fresh.append(array)
        for i, (cell, array) in enumerate(zip(output_storage, fresh, strict=True)):
            if i in targets:
                inputs[targets[i]][...] = array
            cell[0] = inputs[targets[i]] if i in targets else array

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        lengths: list[Any] = []
        for axis in range(node.outputs[0].type.ndim):
            known = node.outputs[0].type.shape[axis]
            # All inputs that are not broadcast have the same length, or the node raises. Where all are, a node may have been declared
            # to be of unknown length, but is not.
            whole = [i for i, v in enumerate(node.inputs) if v.type.shape[axis] != 1]
            if known is None and whole:
                lengths.append(shapes[whole[0]][axis])
            else:
                lengths.append(as_tensor_variable(1 if known is None else known, dtype="int64"))
        return [tuple(lengths)] * len(node.outputs)

    @override
    def connection_pattern(self, node: Apply[Any]) -> Sequence[Sequence[bool]]:
        return self.scalar_op.connection_pattern(node)

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[Variable[Any]],
    ) -> list[Variable[Any]]:
        connected = tuple([isinstance(g, TensorVariable) for g in output_grads])
        program = pullback_program(
            self.scalar_op, tuple([x.dtype for x in inputs]), connected, config.annihilate_zero_cotangents
        )
        given = [*inputs, *outputs, *[g for g in output_grads if isinstance(g, TensorVariable)]]
        pulled = _run(program, given)
        return [_fit(x, cotangent, outputs[0]) for x, cotangent in zip(inputs, pulled, strict=True)]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        known = tuple([t is not None for t in eval_points])
        program = pushforward_program(
            self.scalar_op, tuple([x.dtype for x in inputs]), known, config.annihilate_zero_cotangents
        )
        make: Any = self.make_node
        outputs = make(*inputs).outputs
        pushed = _run(program, [*inputs, *outputs, *[t for t in eval_points if t is not None]])
        tangents: list[Variable[Any] | None] = []
        for z, tangent in zip(outputs, pushed, strict=True):
            if not isinstance(tangent, TensorVariable) or _is_zero(tangent):
                tangents.append(None)
            else:
                tangents.append(fit_cotangent(_broadcast_like(tangent, z), z))
        return tangents

    @override
    def flops(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
        return self.scalar_op.flops_per_element * int(math.prod(outputs[0]))

    @override
    def __str__(self) -> str:
        inplace = f"{{inplace={list(self.inplace_pattern)}}}" if self.inplace_pattern else ""
        return f"{self.scalar_op}{inplace}"


def _type_like(inputs: Sequence[TensorVariable], dtype: str, shape: StaticShape) -> TensorType:
    """Return the Type: that of an input where it is the same, which is found faster than made."""
    for variable in inputs:
        if variable.type.dtype == dtype and variable.type.shape == shape:
            return variable.type
    return TensorType(dtype, shape)


def _as_variables(operands: Sequence[Any], dtypes: Sequence[str]) -> list[TensorVariable]:
    """Return operands as Variables: literals as numbers of the dtypes given, with as many dimensions as the others."""
    made = [x if isinstance(x, TensorVariable) else None if is_literal(x) else constant(x) for x in operands]
    known = [v for v in made if v is not None]
    if len(known) == len(made):
        return known
    ndim = max([v.ndim for v in made if v is not None], default=0)
    return [
        _number(x, repr(x), dtype, ndim) if v is None else v for x, v, dtype in zip(operands, made, dtypes, strict=True)
    ]


@lru_cache(maxsize=1024, typed=True)
def _number(literal: complex, text: str, dtype: str, ndim: int) -> TensorVariable:
    # The text tells 0.0 and -0.0 apart. A number too large for the dtype is infinite, without a warning, as results are.
    with np.errstate(all="ignore"):
        number = constant(literal, dtype=dtype)
    return constant(number.data.reshape((1,) * ndim)) if ndim else number


@lru_cache(maxsize=4096)
def _elementwise(op: ScalarOp[Any]) -> Elemwise[Any]:
    return Elemwise(op)


def _apply(op: ScalarOp[Any], operands: Sequence[TensorVariable]) -> Sequence[TensorVariable]:
    return [out for out in _elementwise(op).make_node(*operands).outputs if isinstance(out, TensorVariable)]


@lru_cache(maxsize=4096)
def _tensor_constant(number: ScalarConstant, ndim: int) -> TensorVariable:
    return constant(number.data.reshape((1,) * ndim))


def _run(program: ScalarProgram, given: Sequence[TensorVariable]) -> list[TensorVariable | Variable[Any]]:
    return program.run(given, partial(_tensor_constant, ndim=given[0].ndim), _apply)


def _is_zero(x: TensorVariable) -> bool:
    return isinstance(x, TensorConstant) and x.data.size == 1 and not x.data.any()


def _broadcast_like(x: TensorVariable, z: TensorVariable) -> TensorVariable:
    return x if x.ndim == z.ndim and x.type.broadcastable == z.type.broadcastable else lt.fill(z, x)


def _fit(x: TensorVariable, cotangent: Variable[Any], z: TensorVariable) -> Variable[Any]:
    """Sum a cotangent over the axes along which `x` was broadcast, and give it the dtype of `x`."""
    if not isinstance(cotangent, TensorVariable):
        return cotangent
    if cotangent.type is x.type and x.type.shape == z.type.shape and cotangent.owner is not None:
        return cotangent
    if _is_zero(cotangent):
        return zero_cotangent(x)
    whole = _broadcast_like(cotangent, z)
    axes = [i for i, (a, b) in enumerate(zip(x.type.shape, z.type.shape, strict=True)) if a == 1 and b != 1]
    return fit_cotangent(lt.sum(whole, axis=axes, keepdims=True) if axes else whole, x)
