"""`Nonzero`: the elements are counted, then gone through in C's order."""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.interpreter_lock import unlocked_for_long
from lamella.codegen.c.step import Array, Step, Strided, integers
from lamella.codegen.c.unit import KERNEL_NAME
from lamella.ir import Nonzero


@c_lowering.register(Nonzero)
def nonzero(op: Nonzero, step: Step) -> None:
    """Count, allocate, fill."""
    (x,) = step.inputs
    if x.type.dtype == "float16":
        step.unit.need("half")
    elif x.c.kind == "c":
        step.unit.need("complex")
    count = step.unit.kernel(_counting(x), "count")
    fill = step.unit.kernel(_filling(x), "nonzero")
    n = f"n{step.number}"
    step.emit(f"lm_int {n} = 0;")
    step.nest(count, x.shape, x.ndim, [x.strided, Strided(f"(char *)&{n}", integers(["0"] * x.ndim))])
    outputs = [step.allocate([n], index=axis) for axis in range(x.ndim)]
    places = ", ".join([f"(int64_t *){z.data}" for z in outputs])
    with unlocked_for_long(step, x.size):
        step.emit(f"{fill}({n}, {x.data}, {x.shape}, {x.strides}, (int64_t *const[]){{{places}}});")


def _is_nonzero(x: Array, address: str) -> str:
    element = f"(*(const {x.c.storage} *)({address}))"
    if x.c.kind == "c":
        return f"({element}.re != 0 || {element}.im != 0)"
    return f"({x.c.loaded(element)} != 0)"


def _counting(x: Array) -> str:
    near, far = _is_nonzero(x, f"data[0] + i * {x.c.itemsize}"), _is_nonzero(x, "data[0] + i * strides[0]")
    return f"""static void {KERNEL_NAME}(const lm_int n, char *const *const data, const lm_int *const strides)
{{
    lm_int found = 0;
    if (strides[0] == {x.c.itemsize})
        for (lm_int i = 0; i < n; ++i) found += {near};
    else
        for (lm_int i = 0; i < n; ++i) found += {far};
    *(lm_int *)data[1] += found;
}}"""


def _filling(x: Array) -> str:
    """Return a function that writes the indices of the elements, of which there are `n`: each row along the last axis at a time."""
    last = x.ndim - 1
    loops = "\n".join(
        [f"    for (lm_int i{axis} = 0; i{axis} < shape[{axis}] && done < n; ++i{axis})" for axis in range(last)]
    )
    row = " + ".join(["data", *[f"i{axis} * strides[{axis}]" for axis in range(last)]])
    found = _is_nonzero(x, f"row + i * strides[{last}]")
    others = "\n".join(
        [f"        for (lm_int k = before; k < done; ++k) to[{axis}][k] = i{axis};" for axis in range(last)]
    )
    return f"""static void {KERNEL_NAME}(
    const lm_int n, const char *const data, const lm_int *const shape, const lm_int *const strides, int64_t *const *const to)
{{
    lm_int done = 0;
{loops}
    {{
        const char *const row = {row};
        const lm_int before = done;
        (void)before;
        /* What is no place is overwritten by the next one. */
        for (lm_int i = 0; i < shape[{last}] && done < n; ++i) {{
            to[{last}][done] = i;
            done += {found};
        }}
{others}
    }}
}}"""
