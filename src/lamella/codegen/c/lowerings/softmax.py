"""`Softmax`, `LogSoftmax` and `LogSumExp`: some passes over each row, by the formulas of the Ops.

greatest element;  exponentials of the distances from it, and their sum;  quotients, or differences of logarithms
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

import attrs

from lamella.codegen.c.dtypes import C_DTYPES, CDType
from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.reduction_kernel import Producer, Reduction, add_combination, add_total
from lamella.codegen.c.row_kernel import RowOperand, add_pass, joined_axes, run_rows
from lamella.codegen.c.step import Array, Step
from lamella.codegen.c.unit import KERNEL_NAME, Unit
from lamella.ir import Add, LogSoftmax, LogSumExp, Maximum, Softmax

_COLUMNS: Final = 64
"""Columns that are gone through side by side."""

_LANES: Final = 8
"""Columns of which something is computed at once."""


@final
@attrs.frozen
class _Parts:
    """Names of what the passes are made of, for elements of one dtype.

    Half precision is computed in single precision; sums are kept in double precision.
    """

    c: CDType
    computed: str
    f: str

    @classmethod
    def of(cls, unit: Unit, dtype: str) -> _Parts:
        unit.need("maths", *{"float64": ["exponential"], "float16": ["half"]}.get(dtype, []))
        return cls(C_DTYPES[dtype], "float64" if dtype == "float64" else "float32", "" if dtype == "float64" else "f")

    @property
    def type(self) -> str:
        """The C type that elements are computed in."""
        return C_DTYPES[self.computed].computed

    @property
    def head(self) -> str:
        """The head of the function of a row."""
        return f"""static void {KERNEL_NAME}(const lm_int n, char *const *const rows)
{{
    {self.c.storage} *const z = ({self.c.storage} *)rows[0];
    const {self.c.storage} *const x = (const {self.c.storage} *)rows[1];"""

    def rounded(self, wide: str) -> str:
        """Return a value of double precision as it is stored, rounded once."""
        if self.c.name == "float16":
            return f"lm_to_half(lm_round_to_half_f64({wide}))"
        return f"({self.c.storage})({wide})"

    def function(
        self, unit: Unit, text: str, parameters: Sequence[tuple[str, str]], kind: str, result: str | None = None
    ) -> str:
        """Add a function of an element ``x`` and parameters, and return its name."""
        declared = ", ".join([f"const {c_type} {name}" for c_type, name in [(self.type, "x"), *parameters]])
        head = f"static inline {result or self.type} {KERNEL_NAME}({declared})"
        return unit.kernel(f"{head}\n{{\n    return {text};\n}}", kind)

    def greatest(self, unit: Unit) -> str:
        """Return the name of the function that finds the greatest element."""
        return add_total(unit, Reduction(Maximum(), self.c.name, self.c.name, None))


@c_lowering.register(Softmax)
def softmax(op: Softmax, step: Step) -> None:
    """Exponentials, and quotients by their sum."""
    (x,) = step.inputs
    parts = _Parts.of(step.unit, x.type.dtype)
    shift = (parts.type, "greatest")
    term = f"exp{parts.f}(x - greatest)"
    greatest = parts.greatest(step.unit)
    if x.type.dtype == "float16":
        # What would be stored has lost digits: exponentials are computed a second time.
        producer = Producer(parts.function(step.unit, term, [shift], "exponential"), "float16", (shift,))
        total = add_total(step.unit, Reduction(Add(), "float32", "float64", 0), producer)
        divide = add_pass(step.unit, x.c, parts.rounded(f"{term} / sum"), [shift, ("double", "sum")])
        passes = f"""    const double sum = greatest == INFINITY ? INFINITY : {total}(n, x, 0, greatest);
    {divide}(n, z, x, greatest, sum);"""
    else:
        exponentials = add_pass(step.unit, x.c, term, [shift])
        total = add_total(step.unit, Reduction(Add(), parts.computed, "float64", 0))
        divide = add_pass(step.unit, x.c, parts.rounded("x / sum"), [("double", "sum")])
        passes = f"""    {exponentials}(n, z, x, greatest);
    {divide}(n, z, z, greatest == INFINITY ? INFINITY : {total}(n, z, 0));"""
    row = f"""{parts.head}
    const {parts.type} greatest = {greatest}(n, x, -INFINITY);
{passes}
}}"""
    _run(step, x, op.axes, step.unit.kernel(row, "row"))


@c_lowering.register(LogSoftmax)
def log_softmax(op: LogSoftmax, step: Step) -> None:
    """Differences from the logarithm of the sum of exponentials."""
    (x,) = step.inputs
    parts = _Parts.of(step.unit, x.type.dtype)
    parameters = [(parts.type, "shift"), ("double", "logarithm")]
    difference = add_pass(step.unit, x.c, parts.rounded("(x - shift) - logarithm"), parameters)
    row = f"""{parts.head}
{_logarithm(step.unit, parts)}
    {difference}(n, z, x, shift, logarithm);
}}"""
    _run(step, x, op.axes, step.unit.kernel(row, "row"))


def _run(step: Step, x: Array, axes: tuple[int, ...], row: str) -> None:
    length, x_stride = joined_axes(step, x, axes, "x")
    z = step.allocate([x.length(axis) for axis in range(x.ndim)], like=[x])
    # It is laid out like `x`, whose axes join, but for axes of length 1 and for those that `x` repeats.
    _, z_stride = joined_axes(step, z, axes, "z")
    others = [axis for axis in range(x.ndim) if axis not in axes]
    run_rows(step, row, length, [RowOperand(z, z_stride, others), RowOperand(x, x_stride, others)])


@c_lowering.register(LogSumExp)
def logsumexp(op: LogSumExp, step: Step) -> None:
    """The logarithm of the sum of exponentials."""
    (x,) = step.inputs
    parts = _Parts.of(step.unit, x.type.dtype)
    row = f"""{parts.head}
{_logarithm(step.unit, parts)}
    *z = {parts.rounded("shift + logarithm")};
}}"""
    length, x_stride = joined_axes(step, x, op.axes, "x")
    others = [axis for axis in range(x.ndim) if axis not in op.axes]
    z = step.allocate([x.length(axis) for axis in others])
    operands = [RowOperand(z, None, list(range(z.ndim))), RowOperand(x, x_stride, others)]
    run_rows(
        step, step.unit.kernel(row, "row"), length, operands, step.unit.kernel(_columns(step.unit, parts), "columns")
    )


def _columns(unit: Unit, parts: _Parts) -> str:
    """Return the function of many rows whose elements of one place lie side by side: logarithms, too, become vector code.

    So many are taken at once that there is one version to compile: the last of them may have been taken before; of fewer, a copy is read.
    """
    c, t, f = parts.c, parts.type, parts.f
    greater = add_combination(unit, Reduction(Maximum(), c.name, c.name, None), c.name)
    each = f"""for (lm_int b = 0; b < wide; b += {_LANES})
#pragma omp simd
                for (lm_int j = b; j < b + {_LANES}; ++j)"""
    rows = f"""for (lm_int i = 0; i < n; ++i) {{
            const {c.storage} *row = (const {c.storage} *)(x + i * by) + s;
            if (m < {_LANES}) row = memcpy(copy, row, (size_t)m * sizeof(copy[0]));"""
    return f"""LM_ALONE void {KERNEL_NAME}(
    const lm_int n, const lm_int m, const char *const x, const lm_int by, char *const z, const lm_int apart)
{{
    {c.storage} copy[{_LANES}] = {{0}};
    {t} shift[{_COLUMNS}], attained[{_COLUMNS}];
    double rest[{_COLUMNS}], number[{_COLUMNS}];
    for (lm_int s = 0, wide; s < m; s += wide) {{
        wide = m - s < {_COLUMNS} ? (m - s) / {_LANES} * {_LANES} : {_COLUMNS};
        if (wide == 0) {{
            wide = {_LANES};
            s = m < wide ? 0 : m - wide;
        }}
        {each} {{
                    attained[j] = -INFINITY;
                    rest[j] = number[j] = 0;
                }}
        {rows}
            {each} attained[j] = {greater}(attained[j], {c.loaded("row[j]")});
        }}
        {each} {{
                    const int is_finite = isfinite(attained[j]);
                    shift[j] = is_finite ? attained[j] : 0;
                    attained[j] = is_finite ? attained[j] : NAN;
                }}
        {rows}
            {each} {{
                    const {t} element = {c.loaded("row[j]")}, exponential = exp{f}(element - shift[j]);
                    rest[j] += element == attained[j] ? 0 : exponential;
                    number[j] += element == attained[j];
                }}
        }}
        {each} {{
                    const int is_any = number[j] > 0;
                    const double known = is_any ? number[j] : rest[j], more = is_any ? rest[j] / number[j] : 0;
                    rest[j] = shift[j] + (log(known) + log1p(more));
                }}
        for (int j = 0; j < wide && j < m; ++j) *({c.storage} *)(z + (s + j) * apart) = {parts.rounded("rest[j]")};
    }}
}}"""


def _logarithm(unit: Unit, parts: _Parts) -> str:
    """Return statements that define ``shift`` and ``logarithm``; their sum is the logarithm of the sum of exponentials.

    The greatest terms are 1; the logarithm of their number and of the rest apart keeps the digits of a small rest.
    """
    greatest = parts.greatest(unit)
    shift, attained = (parts.type, "shift"), (parts.type, "attained")
    rest = parts.function(unit, f"x == attained ? 0 : exp{parts.f}(x - shift)", [shift, attained], "rest")
    of_rest = Producer(rest, parts.c.name, (shift, attained))
    sum_of_rest = add_total(unit, Reduction(Add(), parts.computed, "float64", 0), of_rest)
    number = unit.kernel(
        f"""LM_ALONE double {KERNEL_NAME}(const lm_int n, const {parts.c.storage} *const x, const {parts.type} attained)
{{
    int64_t number = 0;
#pragma omp simd reduction(+:number)
    for (lm_int i = 0; i < n; ++i) number += {parts.c.loaded("x[i]")} == attained;
    return (double)number;
}}""",
        "number",
    )
    return f"""    const {parts.type} greatest = {greatest}(n, x, -INFINITY);
    const {parts.type} shift = isfinite(greatest) ? greatest : 0, attained = isfinite(greatest) ? greatest : NAN;
    const double rest = {sum_of_rest}(n, x, 0, shift, attained), number = {number}(n, x, attained);
    const double logarithm = number > 0 ? log(number) + log1p(rest / number) : log(rest);"""
