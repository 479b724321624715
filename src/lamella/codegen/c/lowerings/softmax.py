"""`Softmax`, `LogSoftmax` and `LogSumExp`: some passes over each row, by the formulas of the Ops.

greatest element;  exponentials of the distances from it, and their sum;  quotients, or differences of logarithms
"""

from __future__ import annotations

from typing import final

import attrs

from lamella.codegen.c.dtypes import C_DTYPES, CDType
from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.reduction_kernel import Producer, Reduction, add_total
from lamella.codegen.c.row_kernel import joined_axes, run_rows
from lamella.codegen.c.step import Array, Step
from lamella.codegen.c.unit import KERNEL_NAME, Unit
from lamella.ir import Add, LogSoftmax, LogSumExp, Maximum, Softmax


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
        unit.need("maths", *(["half"] if dtype == "float16" else []))
        return cls(C_DTYPES[dtype], "float64" if dtype == "float64" else "float32", "" if dtype == "float64" else "f")

    @property
    def type(self) -> str:
        """The C type that elements are computed in."""
        return C_DTYPES[self.computed].computed

    def at(self, array: str) -> str:
        """Return element ``i`` of a row, as it is stored."""
        return f"*({self.c.storage} *)({array} + i * {array}_stride)"

    def read(self, array: str) -> str:
        """Return element ``i`` of a row."""
        return self.c.loaded(self.at(array))

    def rounded(self, wide: str) -> str:
        """Return a value of double precision as it is stored, rounded once."""
        if self.c.name == "float16":
            return f"lm_to_half(lm_round_to_half_f64({wide}))"
        return f"({self.c.storage})({wide})"

    def greatest(self, unit: Unit) -> str:
        """Return the name of the function that finds the greatest element."""
        return add_total(unit, Reduction(Maximum(), self.c.name, self.c.name, None))


@c_lowering.register(Softmax)
def softmax(op: Softmax, step: Step) -> None:
    """Exponentials, and quotients by their sum."""
    (x,) = step.inputs
    parts = _Parts.of(step.unit, x.type.dtype)
    term = f"exp{parts.f}({parts.read('x')} - greatest)"
    greatest = parts.greatest(step.unit)
    if x.type.dtype == "float16":
        # What is stored has lost digits: exponentials are computed a second time.
        exponential = step.unit.kernel(
            f"static inline float {KERNEL_NAME}(const float x, const float greatest)\n{{\n    return expf(x - greatest);\n}}",
            "exponential",
        )
        producer = Producer(exponential, "float16", (("float", "greatest"),))
        total = add_total(step.unit, Reduction(Add(), "float32", "float64", 0), producer)
        passes = f"""    const double sum = {total}(n, x, x_stride, 0, greatest);
#pragma omp simd
    for (lm_int i = 0; i < n; ++i) {parts.at("z")} = {parts.rounded(f"{term} / sum")};"""
    else:
        total = add_total(step.unit, Reduction(Add(), parts.computed, "float64", 0))
        passes = f"""#pragma omp simd
    for (lm_int i = 0; i < n; ++i) {parts.at("z")} = {term};
    const double sum = {total}(n, z, z_stride, 0);
#pragma omp simd
    for (lm_int i = 0; i < n; ++i) {parts.at("z")} = {parts.rounded(f"{parts.read('z')} / sum")};"""
    row = f"""LM_INLINE void {KERNEL_NAME}(const lm_int n, char *const z, const lm_int z_stride, const char *const x, const lm_int x_stride)
{{
    const {parts.type} greatest = {greatest}(n, x, x_stride, -INFINITY);
{passes}
}}"""
    _run(step, x, op.axes, step.unit.kernel(row, "row"))


@c_lowering.register(LogSoftmax)
def log_softmax(op: LogSoftmax, step: Step) -> None:
    """Differences from the logarithm of the sum of exponentials."""
    (x,) = step.inputs
    parts = _Parts.of(step.unit, x.type.dtype)
    row = f"""LM_INLINE void {KERNEL_NAME}(const lm_int n, char *const z, const lm_int z_stride, const char *const x, const lm_int x_stride)
{{
{_logarithm(step.unit, parts)}
#pragma omp simd
    for (lm_int i = 0; i < n; ++i) {parts.at("z")} = {parts.rounded(f"({parts.read('x')} - shift) - logarithm")};
}}"""
    _run(step, x, op.axes, step.unit.kernel(row, "row"))


def _run(step: Step, x: Array, axes: tuple[int, ...], row: str) -> None:
    length, x_stride = joined_axes(step, x, axes, "x")
    z = step.allocate([x.length(axis) for axis in range(x.ndim)], like=[x])
    # Laid out like `x`, whose axes join, but for axes of length 1 and for those that it repeats.
    _, z_stride = joined_axes(step, z, axes, "z")
    others = [axis for axis in range(x.ndim) if axis not in axes]
    itemsize = x.c.itemsize
    run_rows(step, row, length, [(z, z_stride, others), (x, x_stride, others)], [itemsize, itemsize])


@c_lowering.register(LogSumExp)
def logsumexp(op: LogSumExp, step: Step) -> None:
    """The logarithm of the sum of exponentials."""
    (x,) = step.inputs
    parts = _Parts.of(step.unit, x.type.dtype)
    row = f"""LM_INLINE void {KERNEL_NAME}(const lm_int n, char *const z, const lm_int z_stride, const char *const x, const lm_int x_stride)
{{
    (void)z_stride;
{_logarithm(step.unit, parts)}
    *({parts.c.storage} *)z = {parts.rounded("shift + logarithm")};
}}"""
    length, x_stride = joined_axes(step, x, op.axes, "x")
    others = [axis for axis in range(x.ndim) if axis not in op.axes]
    z = step.allocate([x.length(axis) for axis in others])
    operands = [(z, "0", list(range(z.ndim))), (x, x_stride, others)]
    run_rows(step, step.unit.kernel(row, "row"), length, operands, [None, x.c.itemsize])


def _logarithm(unit: Unit, parts: _Parts) -> str:
    """Return statements that define ``shift`` and ``logarithm``; their sum is the logarithm of the sum of exponentials.

    The greatest terms are 1; the logarithm of their number and of the rest apart keeps the digits of a small rest.
    """
    greatest = parts.greatest(unit)
    rest = unit.kernel(
        f"static inline {parts.type} {KERNEL_NAME}(const {parts.type} x, const {parts.type} shift, const {parts.type} greatest)\n"
        f"{{\n    const {parts.type} term = exp{parts.f}(x - shift);\n    return x == greatest ? 0 : term;\n}}",
        "rest",
    )
    attains = unit.kernel(
        f"static inline int64_t {KERNEL_NAME}(const {parts.type} x, const {parts.type} greatest)\n"
        f"{{\n    return x == greatest;\n}}",
        "attains",
    )
    of_rest = Producer(rest, parts.c.name, ((parts.type, "shift"), (parts.type, "attained")))
    of_attaining = Producer(attains, parts.c.name, ((parts.type, "attained"),))
    sum_of_rest = add_total(unit, Reduction(Add(), parts.computed, "float64", 0), of_rest)
    number = add_total(unit, Reduction(Add(), "int64", "int64", 0), of_attaining)
    return f"""    const {parts.type} greatest = {greatest}(n, x, x_stride, -INFINITY);
    const {parts.type} shift = isfinite(greatest) ? greatest : 0, attained = isfinite(greatest) ? greatest : NAN;
    const double rest = {sum_of_rest}(n, x, x_stride, 0, shift, attained);
    const double number = (double){number}(n, x, x_stride, 0, attained);
    const double logarithm = number > 0 ? log(number) + log1p(rest / number) : log(rest);"""
