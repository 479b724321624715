"""Kernels of reductions: one pass over elements, each combined with the accumulator it belongs to.

Where the innermost axis is reduced, elements are combined in lanes, which become vector code; sums of floats are added up
pairwise over blocks, so that their error grows with the logarithm of their number. Where the innermost axis is kept, each
element has an accumulator of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

import attrs
import numpy as np

from lamella.codegen.c.dtypes import C_DTYPES, CDType, literal
from lamella.codegen.c.scalar_body import ScalarBody, TypedText
from lamella.codegen.c.unit import KERNEL_NAME, Unit
from lamella.errors import LoweringError
from lamella.ir import Add, LogicalAnd, LogicalOr, Maximum, Minimum, Mul, ScalarOp

__all__ = ["Producer", "ReducedOutput", "Reduction", "add_combination", "add_reducer", "add_reduction", "add_total"]

_BYTES_OF_LANES: Final = 128
_AT_ONCE: Final = 4
"""Elements of a row that are combined with a lane at once, and rows that are combined with accumulators of columns."""

_STEPS_OF_SUMS: Final = 8
"""Times that something is added to a lane of a sum before another lane is begun, at most: so that the error is no greater than NumPy's."""

_STEPS_BEFORE_LOOKING: Final = 64
"""Times that elements are combined with a lane before it is seen whether it has reached what nothing changes any more."""


@final
@attrs.frozen
class Producer:
    """What elements are computed from, while they are reduced.

    Attributes
    ----------
    function
        The name of a function of what is read and of the parameters, which gives an element.
    dtype
        The dtype of what is read.
    parameters
        C type and name of each parameter.
    """

    function: str
    dtype: str
    parameters: tuple[tuple[str, str], ...]


@final
@attrs.frozen
class Reduction:
    """What is reduced, and how.

    Attributes
    ----------
    op
        The function of an accumulator and an element.
    element
        The dtype of elements.
    accumulator
        The dtype of accumulators, which elements are cast to.
    identity
        What accumulators begin with; None for functions that may begin with any of the elements (the greatest, the least).
    producer
        What elements are computed from, one by one, where they are not read. There is an identity, then.
    """

    op: ScalarOp[Any]
    element: str
    accumulator: str
    identity: Any
    producer: Producer | None = None

    @property
    def read(self) -> CDType:
        """The dtype of what is read."""
        return C_DTYPES[self.producer.dtype if self.producer else self.element]

    def loaded(self, place: str) -> str:
        """Return the expression of the element that is read, or computed from what is read, at a place."""
        value = self.read.loaded(place)
        return f"{self.producer.function}({value})" if self.producer else value

    @property
    def is_ordered(self) -> bool:
        """Whether the order of combining matters for the error."""
        return isinstance(self.op, Add) and C_DTYPES[self.accumulator].kind in "fc"

    @property
    def final(self) -> int | None:
        """The accumulator that no element changes any more: of truth values, whether any or whether all are true."""
        if self.accumulator != "bool" or not isinstance(self.op, LogicalAnd | LogicalOr):
            return None
        return int(isinstance(self.op, LogicalOr))

    @property
    def goes_forward(self) -> bool:
        """Whether the result may be another one backward, not only by rounding: the signs of zeros in products of complex numbers."""
        return isinstance(self.op, Mul) and C_DTYPES[self.accumulator].kind == "c"


@final
@attrs.frozen
class ReducedOutput:
    """An output of a kernel: which result of the elementwise kernel it is, and how that is reduced (None: not at all)."""

    result: int
    reduction: Reduction | None


def add_reduction(unit: Unit, reduction: Reduction) -> str:
    """Add the description of a reduction, an ``lm_reduction``, to a unit, and return its name.

    Raises
    ------
    LoweringError
        The function has no expression for these dtypes.
    """
    acc = C_DTYPES[reduction.accumulator]
    rows = _add_rows(unit, reduction)
    columns = _add_columns(unit, reduction)
    merge = _add_columns(unit, attrs.evolve(reduction, element=reduction.accumulator, producer=None))
    identity = "NULL"
    if reduction.identity is not None:
        identity = _stored_literal(reduction.identity, acc)
    final = "NULL" if reduction.final is None else _stored_literal(reduction.final, acc)
    sizes = [str(reduction.read.itemsize), str(acc.itemsize)]
    parts = [rows, columns, merge, *sizes, identity, final, str(int(reduction.goes_forward))]
    return unit.kernel(f"static const lm_reduction {KERNEL_NAME} = {{{', '.join(parts)}}};", "reduction")


def add_reducer(
    unit: Unit, elements: str | None, dtypes: Sequence[str], outputs: Sequence[ReducedOutput], read: Sequence[str]
) -> str:
    """Add the description of what is computed and reduced in one pass, an ``lm_reducer``, to a unit, and return its name.

    Parameters
    ----------
    unit
        The unit.
    elements
        The name of the kernel that computes results from what is read; None where what is read is the only result.
    dtypes
        The dtypes of the results.
    outputs
        What becomes of them.
    read
        The dtypes of the arrays that are read.

    Raises
    ------
    LoweringError
        A reduction has no expression for these dtypes; or a result is handed out as a whole more than once.
    """
    whole = {output.result: i for i, output in enumerate(outputs) if output.reduction is None}
    if len(whole) != len([output for output in outputs if output.reduction is None]):
        raise LoweringError("a result is written as a whole to one output only")
    reduced = [
        f"{{{o.result}, {'NULL' if o.reduction is None else f'&{add_reduction(unit, o.reduction)}'}}}" for o in outputs
    ]
    sizes = ", ".join([str(C_DTYPES[dtype].itemsize) for dtype in (*dtypes, *read)])
    places = ", ".join([str(whole.get(result, -1)) for result in range(len(dtypes))])
    return unit.kernel(
        f"""static const lm_reducer {KERNEL_NAME} = {{
    {elements or "NULL"}, {len(dtypes)}, {len(outputs)}, {len(read)}, (const lm_int[]){{{sizes}}}, (const int[]){{{places}}},
    (const lm_reduced[]){{{", ".join(reduced)}}},
}};""",
        "reducer",
    )


def add_total(unit: Unit, reduction: Reduction, producer: Producer | None = None) -> str:
    """Add the function that reduces a vector to a unit, and return its name.

    Its parameters are the length and the address of what is read, what the accumulator begins with (for a function with an identity,
    that), and the parameters of the producer. What is computed by such a producer comes from rows, which are in a cache; what the reduction
    computes comes from memory.
    """
    return unit.kernel(_total(unit, reduction, producer), "total")


def add_combination(unit: Unit, reduction: Reduction, element: str) -> str:
    """Add the function of an accumulator and an element of some dtype to a unit, and return its name."""
    body = ScalarBody()
    acc = TypedText("acc", reduction.accumulator)
    for dtype in (reduction.accumulator, element):
        body.need_for(dtype)
    x = body.cast(TypedText("x", element), reduction.accumulator)
    (result,) = body.apply(reduction.op, [acc, x])
    unit.need(*body.headers)
    computed = C_DTYPES[reduction.accumulator].computed
    lines = "\n".join([f"    {line}" for line in (*body.lines, f"return {result.text};")])
    parameters = f"const {computed} acc, const {C_DTYPES[element].computed} x"
    return unit.kernel(f"static inline {computed} {KERNEL_NAME}({parameters})\n{{\n{lines}\n}}", "combine")


def _total(unit: Unit, reduction: Reduction, producer: Producer | None) -> str:
    acc, read = C_DTYPES[reduction.accumulator], C_DTYPES[producer.dtype] if producer else reduction.read
    combine = add_combination(unit, reduction, reduction.element)
    merge = add_combination(unit, reduction, reduction.accumulator)
    lanes = _lanes(acc)
    parameters = "".join([f", const {c_type} {name}" for c_type, name in producer.parameters]) if producer else ""

    def element(index: str) -> str:
        if producer is None:
            return reduction.loaded(f"x[{index}]")
        loaded = read.loaded(f"x[{index}]")
        return f"{producer.function}({', '.join([loaded, *[name for _, name in producer.parameters]])})"

    # What is no number is looked for beside, and is the result in the end: the comparison alone is one instruction.
    extreme = _add_comparison(unit, reduction) if producer is None else None
    step = extreme or combine

    def combined(lane: str, *indices: str) -> str:
        elements = [element(index) for index in indices]
        statement = f"{lane} = {_combined(reduction, step, lane, elements)};"
        if extreme is None:
            return statement
        pairs = zip(elements[::2], elements[1::2] or elements, strict=True)
        unordered = " | ".join([f"__builtin_isunordered({x}, {y})" for x, y in pairs])
        return f"{{ {statement} unordered[j] |= {unordered}; }}"

    at_once = _AT_ONCE if producer is None else 1
    several = combined("lane[j]", "k + j", *[f"k + j + {s}apart" for s in ("", "2 * ", "3 * ")[: at_once - 1]])
    begin = "for (int j = 0; j < lanes; ++j) lane[j] = first;"
    declared, looked_for, next_segment, last_segment = f"{acc.computed} lane[lanes], total = first;", "", "", ""
    if extreme is not None:
        declared += f"\n    int{acc.bits}_t unordered[lanes] = {{0}}, any = 0;"
        looked_for = """
#pragma omp simd reduction(|:any)
    for (int j = 0; j < lanes; ++j) any |= unordered[j];
    if (any) {
        if (first != first) return first;
        for (k = 0; x[k] == x[k];) ++k;
        return x[k];
    }"""
    segment = 0
    if reduction.is_ordered:
        # Totals of 1, 2, 4, ... segments wait for their like, as the digits of a binary counter do.
        segment = _STEPS_OF_SUMS
        declared += f"\n    {acc.computed} waiting[64][lanes];\n    int n_waiting = 0;"
        merge_last = f"for (int j = 0; j < lanes; ++j) lane[j] = {merge}(waiting[n_waiting][j], lane[j]);"
        last_segment = f"""
    while (n_waiting > 0) {{
        --n_waiting;
#pragma omp simd
        {merge_last}
    }}"""
        next_segment = f"""
        for (lm_int number = s; number % 2 == 0; number /= 2) {{
            --n_waiting;
#pragma omp simd
            {merge_last}
        }}
        if (s == segments) break;
        memcpy(waiting[n_waiting++], lane, sizeof(lane));
        {begin}"""
    elif reduction.final is not None and producer is None:
        segment = _STEPS_BEFORE_LOOKING
        next_segment = f"""
        int is_final = 0;
#pragma omp simd reduction(|:is_final)
        for (int j = 0; j < lanes; ++j) is_final |= lane[j] == {reduction.final};
        if (is_final) return {reduction.final};"""
    loop = f"""
    for (; k < begin + steps * by; k += by)
#pragma omp simd
        for (int j = 0; j < lanes; ++j) {several}"""
    if segment:
        loop = f"""
    const lm_int segments = steps / {segment} + 1;
    for (lm_int s = 1, end = begin + steps % {segment} * by; s <= segments; ++s, end += {segment} * by) {{
#pragma GCC unroll 1
        for (; k < end; k += by)
#pragma omp simd
            for (int j = 0; j < lanes; ++j) {several}{next_segment}
    }}{last_segment}"""
    rest = "" if extreme is None else "\n    unordered[0] = total != total;"
    widths, apart = f"lanes = {lanes}, at_once = 1, by = lanes", ""
    if at_once > 1:
        widths = f"lanes = LM_STREAMS == 1 ? {lanes // 2} : {lanes}, at_once = {at_once}, "
        widths += "by = LM_STREAMS == 1 ? at_once * lanes : lanes"
        apart = ", apart = LM_STREAMS == 1 ? lanes : steps * lanes"
        rest += f"""
    for (; k < begin; k += lanes)
#pragma omp simd
        for (int j = 0; j < lanes; ++j) {combined("lane[j]", "k + j")}"""
    # Unrolled or made vector code, what is done once would be most of the code.
    kind = "LM_SHORT_VECTORS" if producer is None and reduction.producer is None else "LM_ALONE"
    return f"""{kind} {acc.computed} {KERNEL_NAME}(const lm_int n, const {read.storage} *const x, const {
        acc.computed
    } first{parameters})
{{
    enum {{ {widths} }};
    {declared}
    const lm_int steps = n / (at_once * lanes), begin = n - steps * at_once * lanes{apart};
    /* What does not fill a step comes first, where sums are small. */
    lm_int k = 0;
#pragma GCC unroll 1
    for (; k < n % lanes; ++k) total = {combine}(total, {element("k")});
    if (n < lanes) return total;
    {begin}
    lane[0] = total;{rest}{loop}{looked_for}
#pragma GCC unroll 1
    for (int h = lanes / 2; h > 0; h /= 2)
#pragma GCC unroll 1
        for (int j = 0; j < h; ++j) lane[j] = {merge}(lane[j], lane[j + h]);
    return lane[0];
}}"""


def _lanes(acc: CDType) -> int:
    return max(8, min(32, _BYTES_OF_LANES // acc.itemsize))


def _add_comparison(unit: Unit, reduction: Reduction) -> str | None:
    """Add the function that gives the greater or the lesser of two floats, of which none is NaN; return its name, or None for other reductions."""
    acc = C_DTYPES[reduction.accumulator]
    if not isinstance(reduction.op, Maximum | Minimum) or acc.name not in ("float32", "float64"):
        return None
    if reduction.element != reduction.accumulator or reduction.producer is not None:
        return None
    sign = ">" if isinstance(reduction.op, Maximum) else "<"
    c_type = acc.computed
    text = f"static inline {c_type} {KERNEL_NAME}(const {c_type} x, const {c_type} y) {{ return x {sign} y ? x : y; }}"
    return unit.kernel(text, "compare")


def _combined(reduction: Reduction, combine: str, so_far: str, elements: Sequence[str]) -> str:
    """Return the expression of what an accumulator and some elements, 1 or 4, are together."""
    if len(elements) == 4 and reduction.element == reduction.accumulator and not isinstance(reduction.op, Mul):
        first, second, third, fourth = elements
        return f"{combine}({so_far}, {combine}({combine}({first}, {second}), {combine}({third}, {fourth})))"
    for text in elements:
        so_far = f"{combine}({so_far}, {text})"
    return so_far


def _add_rows(unit: Unit, reduction: Reduction) -> str:
    """Add the function that reduces rows, one after another."""
    acc, x = C_DTYPES[reduction.accumulator], reduction.read
    combine = add_combination(unit, reduction, reduction.element)
    merge = add_combination(unit, reduction, reduction.accumulator)
    first = "so_far" if reduction.identity is None else literal(reduction.identity, acc.name)
    return unit.kernel(
        f"""LM_ALONE void {KERNEL_NAME}(const lm_int n, const lm_int m, const char *const x, const lm_int by, char *const accumulators)
{{
    {acc.storage} *const to = ({acc.storage} *)accumulators;
    for (lm_int r = 0; r < m; ++r) {{
        const {x.storage} *const row = (const {x.storage} *)(x + r * by);
        {acc.computed} so_far = {acc.loaded("to[r]")};
        if (n >= {_lanes(acc)}) so_far = {merge}(so_far, {add_total(unit, reduction)}(n, row, {first}));
        else
#pragma GCC unroll 1
            for (lm_int k = 0; k < n; ++k) so_far = {combine}(so_far, {reduction.loaded("row[k]")});
        to[r] = {acc.stored("so_far")};
    }}
}}""",
        "rows",
    )


def _add_columns(unit: Unit, reduction: Reduction) -> str:
    acc, x = C_DTYPES[reduction.accumulator], reduction.read
    combine = add_combination(unit, reduction, reduction.element)
    so_far, element = acc.loaded("to[i]"), [reduction.loaded(f"x{s}[i]") for s in range(_AT_ONCE)]
    several = ""
    if reduction.producer is None:
        rows = " ".join(
            [f"const {x.storage} *const x{s} = (const {x.storage} *)(x + (r + {s}) * by);" for s in range(_AT_ONCE)]
        )
        several = f"""
    for (; r + {_AT_ONCE} <= m; r += {_AT_ONCE}) {{
        {rows}
#pragma omp simd
        for (lm_int i = 0; i < n; ++i) to[i] = {acc.stored(_combined(reduction, combine, so_far, element))};
    }}"""
    return unit.kernel(
        f"""LM_ALONE void {KERNEL_NAME}(const lm_int n, const lm_int m, const char *const x, const lm_int by, char *const accumulators)
{{
    {acc.storage} *const to = ({acc.storage} *)accumulators;
    lm_int r = 0;{several}
    for (; r < m; ++r) {{
        const {x.storage} *const x0 = (const {x.storage} *)(x + r * by);
#pragma omp simd
        for (lm_int i = 0; i < n; ++i) to[i] = {acc.stored(f"{combine}({so_far}, {element[0]})")};
    }}
}}""",
        "columns",
    )


def _stored_literal(value: Any, c: CDType) -> str:
    """Return the address of a constant, as it is stored."""
    if c.name == "float16":  # of which C may know no constants
        return f"&(const uint16_t){{{int(np.asarray(value).astype(c.name).view('uint16'))}}}"
    if c.kind == "c":
        number = complex(value)
        return f"&(const {c.storage}){{{number.real.hex()}, {number.imag.hex()}}}"
    return f"&(const {c.storage}){{{literal(value, c.name)}}}"
