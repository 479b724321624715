"""`ReducedElemwise`: elements are computed and reduced in one pass.

z = sum(exp(x), axis=1)    x : float64[?, ?]
->  z.shape[0] = x.shape[0];  (z is allocated)
    call->serve->reduce(call, &reducer0, 2, x.shape, {z.data, x.data}, {{z.strides[0], 0}, x.strides});

A kernel computes the elements of a part of the arrays, which are reduced then. Functions of a single array are computed by the reduction
itself, which reads several parts of the array at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

import attrs

from lamella.codegen.c.dtypes import C_DTYPES
from lamella.codegen.c.elementwise_kernel import Operand, add_elementwise_kernel, computed_elements, element_costs
from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.common_kernels import cast_kernel
from lamella.codegen.c.lowerings.elementwise import broadcast_lengths, check_guard, operand_of
from lamella.codegen.c.lowerings.moves import whole_view
from lamella.codegen.c.lowerings.reduction import identity_of, reduce
from lamella.codegen.c.reduction_kernel import Producer, ReducedOutput, Reduction, add_reducer
from lamella.codegen.c.scalar_body import ScalarBody, TypedText
from lamella.codegen.c.step import Array, Step, Strided, integers
from lamella.codegen.c.unit import KERNEL_NAME, Unit
from lamella.errors import LoweringError
from lamella.ir import CAReduce, Max, Min, ReducedElemwise, ScalarOp, TensorType

__all__ = ["Accumulator", "reduction_of"]

_MOST_STATEMENTS: Final = 6
"""Statements up to which elements are computed where they are reduced: several times in the code."""

_LEAST_COST: Final = 1000
"""Picoseconds of computing an element from which on they are. What takes less waits for memory anyway, and is reduced by code that other
reductions share: to compile code for it alone would take a tenth of the time that a small model takes."""


@c_lowering.register(ReducedElemwise)
def reduced_elementwise(op: ReducedElemwise, step: Step) -> None:
    """Broadcast; compute each element and combine it."""
    inputs = step.inputs
    operands = [operand_of(x) for x in inputs]
    _, dtypes = op.scalar_op.loop([x.type.dtype for x in inputs])
    read = [x for x, operand in zip(inputs, operands, strict=True) if operand.constant is None]
    outputs = [
        ReducedOutput(result, None if reduction is None else reduction_of(reduction, dtypes[result]))
        for result, reduction in zip(op.results, op.reductions, strict=True)
    ]
    kinds = [x.type.dtype for x in read]
    guard, fused = None, _fused(step.unit, op.scalar_op, operands, dtypes, outputs)
    if fused is not None:
        reducer = add_reducer(step.unit, None, kinds, [fused], kinds)
    else:
        elementwise = add_elementwise_kernel(step.unit, op.scalar_op, operands, dtypes)
        reducer, guard = add_reducer(step.unit, elementwise.loops, dtypes, outputs, kinds), elementwise.guard
    lengths = broadcast_lengths(step, inputs)
    for reduction in op.reductions:
        if isinstance(reduction, Max | Min):
            for axis in reduction.axes:
                step.require(f"{lengths[axis]} > 0")
    if guard is not None:
        check_guard(step, guard, read, lengths)

    written: list[Strided] = []
    accumulators: list[Accumulator] = []
    overwritten = dict(op.inplace_pattern)
    for i, (output, reduction) in enumerate(zip(outputs, op.reductions, strict=True)):
        if i in overwritten:
            written.append(whole_view(step, inputs[overwritten[i]], i).strided)
        elif reduction is None or output.reduction is None:
            written.append(step.allocate(lengths, index=i, like=read).strided)
        else:
            accumulator = Accumulator.begun(step, i, output.reduction, reduction.axes, lengths, read)
            accumulators.append(accumulator)
            written.append(accumulator.strided)
    reduce(step, reducer, integers(lengths), len(lengths), [*written, *[x.strided for x in read]])
    for accumulator in accumulators:
        accumulator.finish(step)


def _fused(
    unit: Unit, op: ScalarOp[Any], operands: Sequence[Operand], dtypes: Sequence[str], outputs: Sequence[ReducedOutput]
) -> ReducedOutput | None:
    """Return the only output, as a reduction that computes its elements, where these are a function of a single array."""
    read = [operand for operand in operands if operand.constant is None]
    reduction = outputs[0].reduction
    if len(outputs) != 1 or len(dtypes) != 1 or len(read) != 1 or reduction is None or reduction.final is not None:
        return None
    if read[0].inner != "contiguous" or not {read[0].dtype, dtypes[0]} <= {"float32", "float64"}:
        return None
    body, names, (result,) = computed_elements(unit, op, operands, dtypes)
    _, cost = element_costs(body, names)
    if cost < _LEAST_COST or len(body.lines) > _MOST_STATEMENTS or body.guards or len(names) != 1:
        return None
    of, to = C_DTYPES[read[0].dtype], C_DTYPES[dtypes[0]]
    statements = "\n".join([f"    {line}" for line in (*body.lines, f"return {result};")])
    function = unit.kernel(
        f"LM_INLINE {to.computed} {KERNEL_NAME}(const {of.computed} {names[0][0]})\n{{\n{statements}\n}}", "element"
    )
    return ReducedOutput(0, attrs.evolve(reduction, producer=Producer(function, of.name, ())))


def reduction_of(op: CAReduce, dtype: str) -> Reduction:
    """Return how a kernel reduces elements of some dtype as a node does."""
    accumulator, _ = op.loop(dtype)
    return Reduction(op.scalar_op, dtype, accumulator, identity_of(op, accumulator))


@final
@attrs.frozen
class Accumulator:
    """Where elements are combined: the output itself; or a variable or an array of another dtype, cast to the output at the end."""

    output: Array
    array: Array
    strided: Strided

    @classmethod
    def begun(
        cls,
        step: Step,
        index: int,
        reduction: Reduction,
        axes: tuple[int, ...],
        lengths: Sequence[str],
        read: Sequence[Array],
    ) -> Accumulator:
        """Give the output and the accumulators memory."""
        kept = [axis for axis in range(len(lengths)) if axis not in axes]
        like = [Strided(x.data, integers([x.stride(axis) for axis in kept])) for x in read] if len(kept) > 1 else []
        z = step.allocate([lengths[axis] for axis in kept], index=index, like=like)
        name = f"acc{index}"
        wide = TensorType(reduction.accumulator, z.type.shape)
        array = Array(name, wide, step.unit.tensor_type(wide))
        if not kept:
            step.emit(f"{array.c.storage} {name};")
            return cls(z, array, Strided(f"(char *)&{name}", integers(["0"] * len(lengths))))
        if reduction.accumulator == z.type.dtype:
            array = z
        else:
            step.emit(f"{step.unit.array_type(array.ndim)} {name};")
            step.emit(*[f"{name}.shape[{axis}] = {z.length(axis)};" for axis in range(z.ndim)])
            strides = f"(const lm_int *const[]){{{z.strides}}}"
            step.attempt(f"call->serve->allocate(call, {array.address}, &{array.type_name}, 1, {strides})")
        remaining = iter(range(z.ndim))
        strides = integers(["0" if axis in axes else array.stride(next(remaining)) for axis in range(len(lengths))])
        return cls(z, array, Strided(array.data, strides))

    def finish(self, step: Step) -> None:
        """Write the output."""
        z, array = self.output, self.array
        if not z.ndim:
            body = ScalarBody()
            result = body.cast(TypedText(array.c.loaded(array.name), array.type.dtype), z.type.dtype)
            if body.lines:
                raise LoweringError(f"{array.type.dtype} is not cast to {z.type.dtype} in one expression")
            step.unit.need(*body.headers)
            step.emit(f"{z.element} = {z.c.stored(result.text)};")
        elif array is not z:
            cast = cast_kernel(step.unit, array.type.dtype, z.type.dtype)
            step.nest(cast.loops, z.shape, z.ndim, [z.strided, array.strided])
            step.emit(f"lm_release(call, &{array.name}.block);")
