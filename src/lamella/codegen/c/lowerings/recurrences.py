"""Running sums and products, and linear recurrences: rows gone through element by element."""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.reduction_kernel import Reduction, add_combination
from lamella.codegen.c.row_kernel import run_rows
from lamella.codegen.c.scalar_body import ScalarBody, TypedText
from lamella.codegen.c.step import Step
from lamella.codegen.c.unit import KERNEL_NAME
from lamella.ir import Add, CumOp, LinearRecurrence, Mul


@c_lowering.register(CumOp)
def cumulative(op: CumOp, step: Step) -> None:
    """Add, or multiply, one element after another."""
    (x,) = step.inputs
    z = step.allocate([x.length(axis) for axis in range(x.ndim)], like=[x])
    reduction = Reduction(Add() if op.mode == "add" else Mul(), x.type.dtype, z.type.dtype, None)
    combine = add_combination(step.unit, reduction, x.type.dtype)
    body = ScalarBody()
    read = x.c.loaded(f"*(const {x.c.storage} *)(x + i * x_stride)")
    first = body.cast(TypedText(x.c.loaded(f"*(const {x.c.storage} *)x"), x.type.dtype), z.type.dtype).text
    step.unit.need(*body.headers)
    row = f"""LM_INLINE void {KERNEL_NAME}(const lm_int n, char *const z, const lm_int z_stride, const char *const x, const lm_int x_stride)
{{
    if (n == 0) return;
    {z.c.computed} so_far = {first};
    *({z.c.storage} *)z = {z.c.stored("so_far")};
    for (lm_int i = 1; i < n; ++i) {{
        so_far = {combine}(so_far, {read});
        *({z.c.storage} *)(z + i * z_stride) = {z.c.stored("so_far")};
    }}
}}"""
    others = [axis for axis in range(x.ndim) if axis != op.axis]
    operands = [(z, z.stride(op.axis), others), (x, x.stride(op.axis), others)]
    itemsizes = [z.c.itemsize, x.c.itemsize]
    run_rows(step, step.unit.kernel(row, "row"), x.length(op.axis), operands, itemsizes)


@c_lowering.register(LinearRecurrence)
def linear_recurrence(op: LinearRecurrence, step: Step) -> None:
    """Note each state before its elements are used."""
    a, b = step.inputs
    for axis in range(a.ndim):
        if a.length(axis) != b.length(axis):
            step.require(f"{a.length(axis)} == {b.length(axis)}")
    z = step.output()
    lengths = [a.length(axis) if a.type.shape[axis] is not None else b.length(axis) for axis in range(a.ndim)]
    dtype, c = z.type.dtype, z.c
    body = ScalarBody()
    initial = body.constant(op.initial, dtype).text
    (product,) = body.apply(Mul(), [TypedText("a_i", dtype), TypedText("state", dtype)])
    (following,) = body.apply(Add(), [product, TypedText("b_i", dtype)])
    step.unit.need(*body.headers)
    lines = "\n".join([f"        {line}" for line in body.lines])
    loop = "lm_int i = n - 1; i >= 0; --i" if op.reverse else "lm_int i = 0; i < n; ++i"
    reads = "\n".join(
        [
            f"        const {c.computed} {name}_i = {c.loaded(f'*(const {c.storage} *)({name} + i * {name}_stride)')};"
            for name in ("a", "b")
        ]
    )
    parameters = ", ".join(
        ["const lm_int n", "char *const z, const lm_int z_stride"]
        + [f"const char *const {name}, const lm_int {name}_stride" for name in ("a", "b")]
    )
    row = f"""LM_INLINE void {KERNEL_NAME}({parameters})
{{
    {c.computed} state = {initial};
    for ({loop}) {{
{reads}
        *({c.storage} *)(z + i * z_stride) = {c.stored("state")};
{lines}
        state = {following.text};
    }}
}}"""
    step.allocate(lengths, like=[a, b])
    others = [axis for axis in range(a.ndim) if axis != op.axis]
    operands = [(array, array.stride(op.axis), others) for array in (z, a, b)]
    run_rows(step, step.unit.kernel(row, "row"), z.length(op.axis), operands, [c.itemsize] * 3)
