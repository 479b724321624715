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

__all__ = ["Reduction", "add_reduction_kernel"]

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


def add_reduction_kernel(unit: Unit, reduction: Reduction) -> str:
    """Add the kernel of a reduction to a unit, and return its name. Its operands are accumulators and elements.

    Raises
    ------
    LoweringError
        The function has no expression for these dtypes.
    """
    combine = _add_combination(unit, reduction, reduction.element)
    merge = _add_combination(unit, reduction, reduction.accumulator)
    total = unit.kernel(_total(reduction, combine, merge), "total")
    return unit.kernel(_loops(reduction, combine, merge, total), "reduction")


def _add_combination(unit: Unit, reduction: Reduction, element: str) -> str:
    """Add the function of an accumulator and an element of some dtype."""
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


def _total(reduction: Reduction, combine: str, merge: str) -> str:
    """Return the function that reduces a vector, beginning with `first`."""
    acc, element = C_DTYPES[reduction.accumulator], C_DTYPES[reduction.element]
    lanes = max(16, min(64, _BYTES_OF_LANES // acc.itemsize))
    half = lanes // 2

    def load(index: str) -> str:
        return element.loaded(f"*(const {element.storage} *)(data + ({index}) * stride)")

    if not reduction.is_pairwise:
        return f"""static inline {acc.computed} {KERNEL_NAME}(const lm_int n, const char *const data, const lm_int stride, const {acc.computed} first)
{{
    {acc.computed} total = first;
    lm_int i = 0;
    if (n >= {lanes}) {{
        {acc.computed} lane[{lanes}];
        for (lm_int j = 0; j < {lanes}; ++j) lane[j] = first;
        for (; i + {lanes} <= n; i += {lanes})
#pragma omp simd
            for (lm_int j = 0; j < {lanes}; ++j) lane[j] = {combine}(lane[j], {load("i + j")});
        for (lm_int k = {half}; k > 0; k /= 2)
            for (lm_int j = 0; j < k; ++j) lane[j] = {merge}(lane[j], lane[j + k]);
        total = lane[0];
    }}
    for (; i < n; ++i) total = {combine}(total, {load("i")});
    return total;
}}"""
    block = lanes * _BLOCKS_OF_LANES
    return f"""static inline {acc.computed} {KERNEL_NAME}(const lm_int n, const char *const data, const lm_int stride, const {acc.computed} first)
{{
    /* Totals of 1, 2, 4, ... blocks wait for their like, as the digits of a binary counter do. */
    {acc.computed} waiting[64], total = first;
    int n_waiting = 0;
    lm_int i = 0;
    for (lm_int number = 1; i + {lanes} <= n; ++number) {{
        {acc.computed} lane[{lanes}];
        for (lm_int j = 0; j < {lanes}; ++j) lane[j] = first;
        const lm_int end = i + {block} <= n ? i + {block} : n;
        for (; i + {lanes} <= end; i += {lanes})
#pragma omp simd
            for (lm_int j = 0; j < {lanes}; ++j) lane[j] = {combine}(lane[j], {load("i + j")});
        for (lm_int k = {half}; k > 0; k /= 2)
            for (lm_int j = 0; j < k; ++j) lane[j] = {merge}(lane[j], lane[j + k]);
        waiting[n_waiting++] = lane[0];
        for (lm_int even = number; even % 2 == 0; even /= 2, --n_waiting)
            waiting[n_waiting - 2] = {merge}(waiting[n_waiting - 2], waiting[n_waiting - 1]);
    }}
    for (; i < n; ++i) total = {combine}(total, {load("i")});
    while (n_waiting > 0) total = {merge}(total, waiting[--n_waiting]);
    return total;
}}"""


def _loops(reduction: Reduction, combine: str, merge: str, total: str) -> str:
    acc, element = C_DTYPES[reduction.accumulator], C_DTYPES[reduction.element]
    place = f"*({acc.storage} *)data[0]"
    if reduction.identity is None:
        reduced = [f"{total}(n, data[1], {stride}, so_far)" for stride in (str(element.itemsize), "strides[1]")]
    else:
        identity = literal(reduction.identity, reduction.accumulator)
        reduced = [
            f"{merge}(so_far, {total}(n, data[1], {stride}, {identity}))"
            for stride in (str(element.itemsize), "strides[1]")
        ]

    def kept(acc_stride: str, stride: str) -> str:
        at, x = f"*({acc.storage} *)(data[0] + i * {acc_stride})", f"*(const {element.storage} *)(data[1] + i * {stride})"
        return f"{at} = {acc.stored(f'{combine}({acc.loaded(at)}, {element.loaded(x)})')};"

    return f"""static void {KERNEL_NAME}(const lm_int n, char *const *const data, const lm_int *const strides)
{{
    if (strides[0] == 0) {{
        const {acc.computed} so_far = {acc.loaded(place)};
        {place} = {acc.stored(f"strides[1] == {element.itemsize} ? {reduced[0]} : {reduced[1]}")};
    }} else if (strides[0] == {acc.itemsize} && strides[1] == {element.itemsize}) {{
#pragma omp simd
        for (lm_int i = 0; i < n; ++i) {kept(str(acc.itemsize), str(element.itemsize))}
    }} else
        for (lm_int i = 0; i < n; ++i) {kept("strides[0]", "strides[1]")}
}}"""
