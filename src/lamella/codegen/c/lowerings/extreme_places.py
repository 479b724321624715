"""`Argmax` and `Argmin`: the extreme of each row, then the first place where it is."""

from __future__ import annotations

from typing import Final

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.reduction_kernel import Reduction, add_total
from lamella.codegen.c.row_kernel import RowOperand, joined_axes, run_rows
from lamella.codegen.c.step import Step
from lamella.codegen.c.unit import KERNEL_NAME
from lamella.ir import Argmax, Argmin, Maximum, Minimum

_SEARCHED: Final = 64
"""Elements that are looked at before it is seen whether the extreme is one of them."""


@c_lowering.register(Argmax)
def argmax(op: Argmax, step: Step) -> None:
    """Find the greatest element, then its place."""
    _place_of_extreme(step, Maximum(), op.axes(step.input(0).ndim))


@c_lowering.register(Argmin)
def argmin(op: Argmin, step: Step) -> None:
    """Find the least element, then its place."""
    _place_of_extreme(step, Minimum(), op.axes(step.input(0).ndim))


def _place_of_extreme(step: Step, extremum: Maximum | Minimum, axes: tuple[int, ...]) -> None:
    (x,) = step.inputs
    c = x.c
    extreme = add_total(step.unit, Reduction(extremum, c.name, c.name, None))
    # Where the extreme is NaN, so is the first element that is not equal to itself; else none is.
    element = c.loaded("x[found + j]")
    matches = f"({element} == extreme)" + (f" | ({element} != {element})" if c.kind == "f" else "")
    if c.kind == "c":
        # Complex numbers are ordered by real part, then by imaginary part; where one part is NaN, the number is.
        parts = [(f"{element}.{part}", f"extreme.{part}") for part in ("re", "im")]
        equal, missing = [f"({a} == {b})" for a, b in parts], [f"({a} != {a})" for a, _ in parts]
        matches = f"({' & '.join(equal)}) | {' | '.join(missing)}"
    row = f"""static void {KERNEL_NAME}(const lm_int n, char *const *const rows)
{{
    const {c.storage} *const x = (const {c.storage} *)rows[1];
    const {c.computed} extreme = {extreme}(n, x, {c.loaded("x[0]")});
    lm_int found = 0;
    for (; found + {_SEARCHED} <= n; found += {_SEARCHED}) {{
        int any = 0;
#pragma omp simd reduction(|:any)
        for (int j = 0; j < {_SEARCHED}; ++j) any |= {matches};
        if (any) break;
    }}
    const int j = 0;
    while (!({matches})) ++found;
    *(int64_t *)rows[0] = found;
}}"""
    length, x_stride = joined_axes(step, x, axes, "x")
    step.require(f"{length} > 0")
    others = [axis for axis in range(x.ndim) if axis not in axes]
    z = step.allocate([x.length(axis) for axis in others])
    operands = [RowOperand(z, None, list(range(z.ndim))), RowOperand(x, x_stride, others)]
    run_rows(step, step.unit.kernel(row, "row"), length, operands)
