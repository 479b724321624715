"""Kernels of reductions: one pass over elements, each combined with the accumulator it belongs to.

Where the innermost axis is reduced, elements are combined in lanes, which become vector code; sums of floats are added up
pairwise over blocks, so that their error grows with the logarithm of their number. Where the innermost axis is kept, each
element has an accumulator of its own.
"""

from __future__ import annotations

from typing import Any, final

import attrs

from lamella.codegen.c.dtypes import C_DTYPES, literal
from lamella.codegen.c.scalar_body import ScalarBody, TypedText
from lamella.codegen.c.unit import KERNEL_NAME, Unit
from lamella.ir import Add, ScalarOp

__all__ = ["Producer", "Reduction", "add_combination", "add_reduction_kernel", "add_total"]

_BYTES_OF_LANES = 256
_BLOCKS_OF_LANES = 8


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
    """

    op: ScalarOp[Any]
    element: str
    accumulator: str
    identity: Any

    @property
    def is_pairwise(self) -> bool:
        """Whether the order of combining matters for the error."""
        return isinstance(self.op, Add) and C_DTYPES[self.accumulator].kind in "fc"


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


def add_reduction_kernel(unit: Unit, reduction: Reduction) -> str:
    """Add the kernel of a reduction to a unit, and return its name. Its operands are accumulators and elements.

    Raises
    ------
    LoweringError
        The function has no expression for these dtypes.
    """
    combine = add_combination(unit, reduction, reduction.element)
    merge = add_combination(unit, reduction, reduction.accumulator)
    total = add_total(unit, reduction)
    return unit.kernel(_loops(reduction, combine, merge, total), "reduction")


def add_total(unit: Unit, reduction: Reduction, producer: Producer | None = None) -> str:
    """Add the function that reduces a vector to a unit, and return its name.

    Its parameters are the length, the address and the stride of what is read, what the accumulator begins with (for a function with an
    identity, that), and the parameters of the producer.
    """
    combine = add_combination(unit, reduction, reduction.element)
    merge = add_combination(unit, reduction, reduction.accumulator)
    return unit.kernel(_total(reduction, combine, merge, producer), "total")


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


def _total(reduction: Reduction, combine: str, merge: str, producer: Producer | None) -> str:
    acc, read = C_DTYPES[reduction.accumulator], C_DTYPES[producer.dtype if producer else reduction.element]
    lanes = max(16, min(64, _BYTES_OF_LANES // acc.itemsize))
    block = lanes * _BLOCKS_OF_LANES
    parameters = "".join([f", const {c_type} {name}" for c_type, name in producer.parameters]) if producer else ""

    def element(index: str) -> str:
        loaded = read.loaded(f"block[{index}]")
        if producer is None:
            return loaded
        return f"{producer.function}({', '.join([loaded, *[name for _, name in producer.parameters]])})"

    new_lanes = f"for (int j = 0; j < {lanes}; ++j) lane[j] = first;"
    # Unrolled completely, this would be most of the code.
    fold = f"""#pragma GCC unroll 1
{{indent}}for (int k = {lanes // 2}; k > 0; k /= 2)
#pragma GCC unroll 1
{{indent}}    for (int j = 0; j < k; ++j) lane[j] = {merge}(lane[j], lane[j + k]);"""
    if reduction.is_pairwise:
        # Totals of 1, 2, 4, ... blocks wait for their like, as the digits of a binary counter do.
        before, each_block = f"    {acc.computed} waiting[64];\n    int n_waiting = 0;", f"        {new_lanes}"
        after_block = f"""
{fold.format(indent="        ")}
        waiting[n_waiting++] = lane[0];
        for (lm_int number = i / {block} + 1; number % 2 == 0; number /= 2, --n_waiting)
            waiting[n_waiting - 2] = {merge}(waiting[n_waiting - 2], waiting[n_waiting - 1]);"""
        after = f"    while (n_waiting > 0) total = {merge}(total, waiting[--n_waiting]);"
    else:
        before, each_block, after_block = f"    {new_lanes}", "", ""
        after = f"""{fold.format(indent="    ")}
    total = {merge}(lane[0], total);"""
    return f"""LM_ALONE {acc.computed} {KERNEL_NAME}(const lm_int n, const char *const data, const lm_int stride, const {acc.computed} first{parameters})
{{
    {acc.computed} lane[{lanes}], total = first;
    {read.storage} gathered[{block}];
    if (n < {lanes}) {{
        for (lm_int i = 0; i < n; ++i) {{
            const {read.storage} *const block = (const {read.storage} *)(data + i * stride);
            total = {combine}(total, {element("0")});
        }}
        return total;
    }}
{before}
    for (lm_int i = 0; i < n; i += {block}) {{
        const int m = n - i < {block} ? (int)(n - i) : {block};
        const {read.storage} *block = (const {read.storage} *)(data + i * stride);
        if (stride != {read.itemsize}) {{
            for (int j = 0; j < m; ++j) gathered[j] = *(const {read.storage} *)(data + (i + j) * stride);
            block = gathered;
        }}
        int k = 0;
{each_block}
        for (; k + {lanes} <= m; k += {lanes})
#pragma omp simd
            for (int j = 0; j < {lanes}; ++j) lane[j] = {combine}(lane[j], {element("k + j")});
        for (; k < m; ++k) total = {combine}(total, {element("k")});{after_block}
    }}
{after}
    return total;
}}"""


def _loops(reduction: Reduction, combine: str, merge: str, total: str) -> str:
    acc, element = C_DTYPES[reduction.accumulator], C_DTYPES[reduction.element]
    place = f"*({acc.storage} *)to"
    if reduction.identity is None:
        reduced = f"{total}(n, from, strides[1], so_far)"
    else:
        identity = literal(reduction.identity, reduction.accumulator)
        reduced = f"{merge}(so_far, {total}(n, from, strides[1], {identity}))"

    def kept(acc_stride: str, stride: str) -> str:
        at, x = f"*({acc.storage} *)(to + i * {acc_stride})", f"*(const {element.storage} *)(from + i * {stride})"
        return f"{at} = {acc.stored(f'{combine}({acc.loaded(at)}, {element.loaded(x)})')};"

    return f"""static void {KERNEL_NAME}(const lm_int n, char *const *const data, const lm_int *const strides)
{{
    char *const to = data[0];
    const char *const from = data[1];
    if (strides[0] == 0) {{
        const {acc.computed} so_far = {acc.loaded(place)};
        {place} = {acc.stored(reduced)};
    }} else if (strides[0] == {acc.itemsize} && strides[1] == {element.itemsize}) {{
#pragma omp simd
        for (lm_int i = 0; i < n; ++i) {kept(str(acc.itemsize), str(element.itemsize))}
    }} else
        for (lm_int i = 0; i < n; ++i) {kept("strides[0]", "strides[1]")}
}}"""
