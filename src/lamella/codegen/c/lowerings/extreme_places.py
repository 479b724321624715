"""`Argmax` and `Argmin`: the extreme of each row, then the first place where it is."""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.reduction_kernel import Reduction, add_total
from lamella.codegen.c.row_kernel import joined_axes, run_rows
from lamella.codegen.c.step import Step
from lamella.codegen.c.unit import KERNEL_NAME
from lamella.errors import LoweringError
from lamella.ir import Argmax, Argmin, Maximum, Minimum


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
    if c.kind == "c":
        raise LoweringError("the place of a complex number is left to NumPy")
    extreme = add_total(step.unit, Reduction(extremum, c.name, c.name, None))
    element = c.loaded(f"*(const {c.storage} *)(x + found * x_stride)")
    first = c.loaded(f"*(const {c.storage} *)x")
    search = f"while ({element} != extreme) ++found;"
    if c.kind == "f":
        search = f"if (extreme != extreme) while ({element} == {element}) ++found;\n    else {search}"
    row = f"""static void {KERNEL_NAME}(const lm_int n, char *const z, const lm_int z_stride, const char *const x, const lm_int x_stride)
{{
    (void)z_stride;
    const {c.computed} extreme = {extreme}(n, x, x_stride, {first});
    lm_int found = 0;
    {search}
    *(int64_t *)z = found;
}}"""
    length, x_stride = joined_axes(step, x, axes, "x")
    step.require(f"{length} > 0")
    others = [axis for axis in range(x.ndim) if axis not in axes]
    z = step.allocate([x.length(axis) for axis in others])
    operands = [(z, "0", list(range(z.ndim))), (x, x_stride, others)]
    run_rows(step, step.unit.kernel(row, "row"), length, operands)
