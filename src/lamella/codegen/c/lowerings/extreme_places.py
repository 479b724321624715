"""`Argmax` and `Argmin`: the extreme of each row, and the first place where it is."""

from __future__ import annotations

from typing import Final

from lamella.codegen.c.dtypes import C_DTYPES, CDType
from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.reduction_kernel import Reduction, add_total
from lamella.codegen.c.row_kernel import RowOperand, joined_axes, run_rows
from lamella.codegen.c.step import Step
from lamella.codegen.c.unit import KERNEL_NAME
from lamella.ir import Argmax, Argmin, Maximum, Minimum

_BYTES_OF_LANES: Final = 64
"""Bytes of the elements that fill a vector."""

_VECTORS: Final = 4
"""Vectors of a row whose extreme, found two by two, is compared with what came before."""

_ON_THE_WAY: Final = 4096
"""Elements ahead for which memory is asked, at most: of the next row, mostly."""

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
    columns = None
    if c.kind == "c":
        row = _row_of_complex(c, add_total(step.unit, Reduction(extremum, c.name, c.name, None)))
    else:
        if c.name == "float16":
            step.unit.need("half")
        row = _row(c, extremum)
        columns = step.unit.kernel(_columns(c, extremum), "columns")
    row = step.unit.kernel(row, "row")
    length, x_stride = joined_axes(step, x, axes, "x")
    step.require(f"{length} > 0")
    others = [axis for axis in range(x.ndim) if axis not in axes]
    z = step.allocate([x.length(axis) for axis in others])
    operands = [RowOperand(z, None, list(range(z.ndim))), RowOperand(x, x_stride, others)]
    run_rows(step, row, length, operands, columns)


def _row_of_complex(c: CDType, total: str) -> str:
    """Return the function of one row of complex numbers: the extreme, then the first place that has it.

    They are ordered by real part, then by imaginary part; where one part is NaN, the number is.
    """
    return f"""static void {KERNEL_NAME}(const lm_int n, char *const *const rows)
{{
    const {c.storage} *const x = (const {c.storage} *)rows[1];
    const {c.computed} extreme = {total}(n, x, x[0]);
    lm_int at = 0;
    while (!((x[at].re == extreme.re && x[at].im == extreme.im) || x[at].re != x[at].re || x[at].im != x[at].im)) ++at;
    *(int64_t *)rows[0] = at;
}}"""


def _row(c: CDType, extremum: Maximum | Minimum) -> str:
    """Return the function of one row: each lane of a vector has the extreme so far, and the step of a block of steps at which it came.

    What is no number is looked for beside, and searched for only where there is some. Nothing else that decides where the processor goes on
    depends on elements: it would guess wrongly, and be late to read the next row.
    """
    sign, omp_reduction = _order(extremum)
    place, most = _places(c)
    lanes = min(32, _BYTES_OF_LANES // c.itemsize)
    wide = _VECTORS * lanes
    xs = [f"x{v}" for v in range(_VECTORS)]
    loaded = " ".join([f"const {c.computed} {x} = {c.loaded(f'from[{v * lanes} + j]')};" for v, x in enumerate(xs)])
    better_of_two = [f"const {c.computed} y{v} = x{v} {sign} x{v + 1} ? x{v} : x{v + 1};" for v in (0, 2)]
    asked = "\n".join([f"            LM_ASK_FOR(from + ahead + {v * lanes});" for v in range(_VECTORS)])
    search, declared, looked_at, is_missing = "", "", "", ""
    if c.kind == "f":
        declared = f"\n        {place} unordered[{lanes}] = {{0}}, any = 0;"
        looked_at = "\n                unordered[j] |= __builtin_isunordered(x0, x1) | __builtin_isunordered(x2, x3);"
        is_missing = " || (element != element && extreme == extreme)"
        search = f"""
#pragma omp simd reduction(|:any)
        for (int j = 0; j < {lanes}; ++j) any |= unordered[j];
        if (any) {{
            for (at = k; {c.loaded("x[at]")} == {c.loaded("x[at]")};) ++at;
            *(int64_t *)rows[0] = at;
            return;
        }}"""
    return f"""LM_SHORT_VECTORS void {KERNEL_NAME}(const lm_int n, char *const *const rows)
{{
    const {c.storage} *const x = (const {c.storage} *)rows[1];
    {c.computed} extreme = {c.loaded("x[0]")};
    lm_int at = 0;
    if (n < {wide}) {{
        for (lm_int k = 1; k < n; ++k) {{
            const {c.computed} element = {c.loaded("x[k]")};
            if (element {sign} extreme{is_missing}) {{
                extreme = element;
                at = k;
            }}
        }}
        *(int64_t *)rows[0] = at;
        return;
    }}
    const lm_int ahead = n < {_ON_THE_WAY} ? n : {_ON_THE_WAY};
    /* Where the last step begins: some of its elements may be of the one before, too. */
    const {c.storage} *const last = x + n - {wide};
    for (lm_int k = 0, steps; k < n; k += steps * {wide}) {{
        const {c.storage} *const begin = x + k;
        steps = (n - k - 1) / {wide} + 1;
        if (steps > {most}) steps = {most};
        {c.computed} here[{lanes}], best = {c.loaded("x[0]")};
        {place} place[{lanes}] = {{0}};{declared}
        for (int j = 0; j < {lanes}; ++j) here[j] = best;
        for (lm_int step = 0; step < steps; ++step) {{
            const {c.storage} *const next = begin + step * {wide}, *const from = next < last ? next : last;
{asked}
#pragma omp simd
            for (int j = 0; j < {lanes}; ++j) {{
                {loaded}
                {" ".join(better_of_two)}
                const {c.computed} y = y0 {sign} y2 ? y0 : y2;
                const {place} better = y {sign} here[j] ? ({place})step : 0;
                place[j] = place[j] > better ? place[j] : better;
                here[j] = y {sign} here[j] ? y : here[j];{looked_at}
            }}
        }}{search}
#pragma omp simd reduction({omp_reduction}:best)
        for (int j = 0; j < {lanes}; ++j) best = here[j] {sign} best ? here[j] : best;
        if (k == 0 || best {sign} extreme) {{
            lm_int first = steps;
#pragma omp simd reduction(min:first)
            for (int j = 0; j < {lanes}; ++j) {{
                const lm_int step = here[j] == best ? place[j] : steps;
                first = step < first ? step : first;
            }}
            const {c.storage} *const next = begin + first * {wide}, *const from = next < last ? next : last;
            lm_int inside = {wide};
#pragma omp simd reduction(min:inside)
            for (int j = 0; j < {wide}; ++j) {{
                const lm_int found = {c.loaded("from[j]")} == best ? j : {wide};
                inside = found < inside ? found : inside;
            }}
            extreme = best;
            at = from - x + inside;
        }}
    }}
    *(int64_t *)rows[0] = at;
}}"""


def _order(extremum: Maximum | Minimum) -> tuple[str, str]:
    """Return the comparison that says which of two is better, and the name that OpenMP has for the reduction."""
    return (">", "max") if isinstance(extremum, Maximum) else ("<", "min")


def _places(c: CDType) -> tuple[str, int]:
    """Return a C type of numbers as short as the elements, so that as many fit in a vector, and up to which number it counts places."""
    return f"int{C_DTYPES['float32'].bits if c.name == 'float16' else c.bits}_t", 127 if c.itemsize == 1 else 16384


def _columns(c: CDType, extremum: Maximum | Minimum) -> str:
    """Return the function of many rows whose elements of one place lie side by side: each has the extreme so far, and its place in a block."""
    sign, _ = _order(extremum)
    place, block = _places(c)

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
