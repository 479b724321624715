"""`Argmax` and `Argmin`: the extreme of each row, then the first place where it is."""

from __future__ import annotations

from typing import Final

from lamella.codegen.c.dtypes import C_DTYPES, CDType
from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.reduction_kernel import Reduction, add_total
from lamella.codegen.c.row_kernel import RowOperand, joined_axes, run_rows
from lamella.codegen.c.step import Step
from lamella.codegen.c.unit import KERNEL_NAME
from lamella.ir import Argmax, Argmin, Maximum, Minimum

_BYTES_SEARCHED: Final = 128
"""Bytes of elements that are looked at before it is seen whether the extreme is one of them."""

_BLOCK: Final = 1024
"""Elements of which the extreme is found at a time: only those of one block are searched for the place."""

_COLUMNS: Final = 512
"""Columns that are gone through side by side."""


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
    sign = ">" if isinstance(extremum, Maximum) else "<"
    row = step.unit.kernel(_row(c, sign, add_total(step.unit, Reduction(extremum, c.name, c.name, None))), "row")
    columns = None if c.kind == "c" else step.unit.kernel(_columns(c, sign), "columns")
    length, x_stride = joined_axes(step, x, axes, "x")
    step.require(f"{length} > 0")
    others = [axis for axis in range(x.ndim) if axis not in axes]
    z = step.allocate([x.length(axis) for axis in others])
    operands = [RowOperand(z, None, list(range(z.ndim))), RowOperand(x, x_stride, others)]
    run_rows(step, row, length, operands, columns)


def _row(c: CDType, sign: str, total: str) -> str:
    """Return the function of one row: the extreme of each block, then the place in the first block that has it.

    While a block is searched, memory is asked for what comes after the row, which often is the next one.
    """
    element, searched = c.loaded("x[at + j]"), _BYTES_SEARCHED // c.itemsize
    matches, search = f"({element} == extreme)", ""
    blocks = f"""    {c.computed} extreme = {total}(n < {_BLOCK} ? n : {_BLOCK}, x, {c.loaded("x[0]")});
    for (lm_int i = {_BLOCK}; i < n; i += {_BLOCK}) {{
        const {c.computed} other = {total}(n - i < {_BLOCK} ? n - i : {_BLOCK}, x + i, {c.loaded("x[i]")});
        if (other {sign} extreme || MISSING(other)) {{
            extreme = other;
            at = i;
        }}
    }}"""
    blocks = blocks.replace(" || MISSING(other)", " || (other != other && extreme == extreme)" if c.kind == "f" else "")
    if c.kind == "f":
        search = f"""
    if (extreme != extreme) {{
        const int j = 0;
        while ({element} == {element}) ++at;
        *(int64_t *)rows[0] = at;
        return;
    }}"""
    elif c.kind == "c":
        # Complex numbers are ordered by real part, then by imaginary part; where one part is NaN, the number is.
        blocks = f"    const {c.computed} extreme = {total}(n, x, x[0]);"
        parts = [(f"{element}.{part}", f"extreme.{part}") for part in ("re", "im")]
        equal, missing = [f"({a} == {b})" for a, b in parts], [f"({a} != {a})" for a, _ in parts]
        matches = f"({' & '.join(equal)}) | {' | '.join(missing)}"
    return f"""static void {KERNEL_NAME}(const lm_int n, char *const *const rows)
{{
    const {c.storage} *const x = (const {c.storage} *)rows[1];
    lm_int at = 0;
{blocks}{search}
    for (; at + {searched} <= n; at += {searched}) {{
        int any = 0;
        __builtin_prefetch(x + n + at);
        __builtin_prefetch(x + n + at + {searched // 2});
#pragma omp simd reduction(|:any)
        for (int j = 0; j < {searched}; ++j) any |= {matches};
        if (any) break;
    }}
    const int j = 0;
    while (!({matches})) ++at;
    *(int64_t *)rows[0] = at;
}}"""


def _columns(c: CDType, sign: str) -> str:
    """Return the function of many rows whose elements of one place lie side by side: each has the extreme so far, and its place.

    Places inside of a block of so many elements are numbers as short as the elements, so that as many fit in a vector.
    """
    place = f"int{C_DTYPES['float32'].bits if c.name == 'float16' else c.bits}_t"
    block = 127 if c.itemsize == 1 else 16384

    def better(x: str, y: str) -> str:
        return f"({x} {sign} {y})" + (f" | (({x} != {x}) & ({y} == {y}))" if c.kind == "f" else "")

    return f"""LM_ALONE void {KERNEL_NAME}(
    const lm_int n, const lm_int m, const char *const x, const lm_int by, char *const z, const lm_int apart)
{{
    {c.computed} extreme[{_COLUMNS}], here[{_COLUMNS}];
    {place} place[{_COLUMNS}];
    for (lm_int s = 0; s < m; s += {_COLUMNS})
        for (lm_int i = 0, wide = m - s < {_COLUMNS} ? m - s : {_COLUMNS}; i < n; i += {block}) {{
            const int high = n - i < {block} ? (int)(n - i) : {block};
            const {c.storage} *row = (const {c.storage} *)(x + i * by) + s;
            for (lm_int j = 0; j < wide; ++j) {{
                here[j] = {c.loaded("row[j]")};
                place[j] = 0;
            }}
            for (int r = 1; r < high; ++r) {{
                row = (const {c.storage} *)((const char *)row + by);
#pragma omp simd
                for (lm_int j = 0; j < wide; ++j) {{
                    const {c.computed} element = {c.loaded("row[j]")};
                    const int is_better = {better("element", "here[j]")};
                    here[j] = is_better ? element : here[j];
                    place[j] = is_better ? ({place})r : place[j];
                }}
            }}
            for (lm_int j = 0; j < wide; ++j)
                if (i == 0 || ({better("here[j]", "extreme[j]")})) {{
                    extreme[j] = here[j];
                    *(int64_t *)(z + (s + j) * apart) = i + place[j];
                }}
        }}
}}"""
