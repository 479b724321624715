"""Indexing along one axis by a vector of integers, and where elements are not zero.

z = x[i]   along axis 0
->  if (!lm_in_bounds(i, x.shape[0])) goto reference0;
    for each k: z[k] = x[i[k]]      a row at a time
"""

from __future__ import annotations

from collections.abc import Callable

from lamella.codegen.c.elementwise_kernel import ElementwiseKernel
from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.basic_indexing import require_fitting
from lamella.codegen.c.lowerings.common_kernels import add_kernel, copy_kernel
from lamella.codegen.c.lowerings.shape import copy_of, whole_view
from lamella.codegen.c.step import Array, Step, Strided, integers
from lamella.codegen.c.unit import KERNEL_NAME
from lamella.errors import LoweringError
from lamella.ir import AdvancedIncSubtensor1, AdvancedSubtensor1, Nonzero


@c_lowering.register(AdvancedSubtensor1)
def advanced_subtensor1(op: AdvancedSubtensor1, step: Step) -> None:
    """Gather rows."""
    x, index = step.inputs
    _require_in_bounds(step, x, op.axis, index)
    lengths = [index.length(0) if axis == op.axis else x.length(axis) for axis in range(x.ndim)]
    z = step.allocate(lengths)
    _each_row(step, x, op.axis, index, z, copy_kernel(step.unit, z.type.dtype), _from_there)


@c_lowering.register(AdvancedIncSubtensor1)
def advanced_inc_subtensor1(op: AdvancedIncSubtensor1, step: Step) -> None:
    """Copy the array, or take it as it is, and write to rows, one after another: a row may be named several times."""
    x, value, index = step.inputs
    lengths = [index.length(0) if axis == op.axis else x.length(axis) for axis in range(x.ndim)]
    _require_in_bounds(step, x, op.axis, index)
    require_fitting(step, value, lengths)
    if op.inplace and (step.may_alias(0, 1) or step.may_alias(0, 2)):
        step.refer()
        return
    if op.inplace:
        whole_view(step, x)
        z = step.output()
    else:
        z = copy_of(step, x)
    if op.set_instead_of_inc:
        _each_row(step, z, op.axis, index, value, copy_kernel(step.unit, z.type.dtype), _to_there)
    else:
        _each_row(step, z, op.axis, index, value, add_kernel(step.unit, z.type.dtype), _added_to_there)


def _require_in_bounds(step: Step, x: Array, axis: int, index: Array) -> None:
    step.unit.need("indexing")
    step.require(f"lm_in_bounds({index.length(0)}, {index.data}, {index.stride(0)}, {x.length(axis)})")


Order = Callable[[Strided, Strided], list[Strided]]


def _from_there(there: Strided, here: Strided) -> list[Strided]:
    return [here, there]


def _to_there(there: Strided, here: Strided) -> list[Strided]:
    return [there, here]


def _added_to_there(there: Strided, here: Strided) -> list[Strided]:
    return [there, there, here]


def _each_row(
    step: Step, indexed: Array, axis: int, index: Array, walked: Array, kernel: ElementwiseKernel, order: Order
) -> None:
    """Run a kernel for each index, on that row of one array and the next row of the other."""
    others = [a for a in range(indexed.ndim) if a != axis]
    k, at = f"k{step.number}", f"at{step.number}"
    step.emit(
        f"for (lm_int {k} = 0; {k} < {index.length(0)}; ++{k}) {{",
        f"    lm_int {at} = *(const int64_t *)({index.offset(k)});",
        f"    if ({at} < 0) {at} += {indexed.length(axis)};",
    )
    there = Strided(f"{indexed.data} + {at} * {indexed.stride(axis)}", integers([indexed.stride(a) for a in others]))
    here = Strided(f"{walked.data} + {k} * {walked.stride(axis)}", integers([walked.stride(a) for a in others]))
    written, *read = order(there, here)
    if others:
        step.nest(kernel.loops, integers([indexed.length(a) for a in others]), len(others), [written, *read])
    else:
        c = indexed.c
        values = [c.loaded(f"*(const {c.storage} *)({operand.data})") for operand in read]
        step.emit(f"    {kernel.element}(({c.storage} *)({written.data}), {', '.join(values)});")
    step.emit("}")


@c_lowering.register(Nonzero)
def nonzero(op: Nonzero, step: Step) -> None:
    """Count, then walk through all elements in C order."""
    (x,) = step.inputs
    if x.c.kind == "c":
        raise LoweringError("nonzero of complex numbers is left to NumPy")
    count = step.unit.kernel(_counting(x), "count")
    n = f"n{step.number}"
    step.emit(f"lm_int {n} = 0;")
    zeros = integers(["0"] * x.ndim)
    step.nest(count, x.shape, x.ndim, [x.strided, Strided(f"(char *)&{n}", zeros)])
    outputs = [step.allocate([n], index=axis) for axis in range(x.ndim)]
    indices = [f"i{step.number}_{axis}" for axis in range(x.ndim)]
    for name, axis in zip(indices, range(x.ndim), strict=True):
        step.emit(f"for (lm_int {name} = 0; {name} < {x.length(axis)}; ++{name})")
    step.emit(f"if ({x.c.loaded(f'*(const {x.c.storage} *)({x.offset(*indices)})')} != 0) {{")
    step.emit(*[f"*(int64_t *){z.data} = {name};" for z, name in zip(outputs, indices, strict=True)])
    step.emit(*[f"{z.data} += 8;" for z in outputs], "}")
    # The addresses went on: back to the first elements.
    step.emit(*[f"{z.data} -= 8 * {n};" for z in outputs])


def _counting(x: Array) -> str:
    element = x.c.loaded(f"*(const {x.c.storage} *)(data[0] + i * strides[0])")
    return f"""static void {KERNEL_NAME}(const lm_int n, char *const *const data, const lm_int *const strides)
{{
    lm_int found = 0;
    for (lm_int i = 0; i < n; ++i) found += {element} != 0;
    *(lm_int *)data[1] += found;
}}"""
