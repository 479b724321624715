"""Kernels that go through places which index arrays select: reading, setting or adding.

A kernel goes through the axes that the index arrays broadcast to. It computes places in chunks, and has each of them moved, for all elements
of the other axes, before it goes on.
"""

from __future__ import annotations

from typing import Literal

from lamella.codegen.c.dtypes import CDType
from lamella.codegen.c.lowerings.common_kernels import add_kernel
from lamella.codegen.c.unit import KERNEL_NAME, Unit

__all__ = ["Action", "add_check_kernel", "add_places_kernel"]

Action = Literal["read", "set", "add"]

_OF_SIZE = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t", 8: "uint64_t", 16: "lm_16_bytes"}


def add_check_kernel(unit: Unit, n_indices: int) -> str:
    """Add the kernel that sees whether all indices are in bounds, and return its name.

    Its operands are two that it does not read (what sets the order, and what is put beside the array), the index arrays, and an
    ``lm_indexed``.
    """
    unit.need("indexed")
    checks = "\n".join(
        [
            f"    x->outside |= lm_any_outside(n, data[{i + 2}], strides[{i + 2}], x->lengths[{i}]);"
            for i in range(n_indices)
        ]
    )
    return unit.kernel(
        f"""static void {KERNEL_NAME}(const lm_int n, char *const *const data, const lm_int *const strides)
{{
    lm_indexed *const x = (lm_indexed *)data[{n_indices + 2}];
{checks}
}}""",
        "check",
    )


def add_places_kernel(unit: Unit, n_indices: int, action: Action, dtype: CDType) -> str:
    """Add the kernel that reads, sets or adds elements, and return its name.

    Its operands are one that it does not read but whose strides set the order, what is put beside the array, the index arrays, and an
    ``lm_indexed``. Of a chunk with an index out of bounds it does nothing but note that.
    """
    unit.need("indexed")
    places = _places(unit, n_indices)
    points, row = _points(unit, action, dtype), _row(unit, action, dtype)
    return unit.kernel(
        f"""static void {KERNEL_NAME}(const lm_int n, char *const *const data, const lm_int *const strides)
{{
    lm_indexed *const x = (lm_indexed *)data[{n_indices + 2}];
    lm_int places[LM_CHUNK];
    for (lm_int done = 0; done < n; done += LM_CHUNK) {{
        const lm_int count = n - done < LM_CHUNK ? n - done : LM_CHUNK;
        if (LM_UNLIKELY({places}(count, done, data + 2, strides + 2, x, places))) x->outside = 1;
        else lm_at_places(x, count, places, data[1] + done * strides[1], strides[1], {points}, {row});
    }}
}}""",
        "indexed",
    )


def _places(unit: Unit, n_indices: int) -> str:
    """Add the function that computes places, and returns whether an index is out of bounds."""
    addresses = "\n".join([f"    const char *const a{i} = data[{i}] + first * strides[{i}];" for i in range(n_indices)])
    near = " && ".join([f"strides[{i}] == 8" for i in range(n_indices)])
    place = " + ".join([f"i{i} * x->by[{i}]" for i in range(n_indices)])

    def loop(stride: str) -> str:
        loads = "\n".join(
            [
                f"            lm_int i{i} = *(const int64_t *)(a{i} + k * {stride.format(i)});\n"
                f"            i{i} += i{i} < 0 ? x->lengths[{i}] : 0;\n"
                f"            outside |= (uintptr_t)i{i} >= (uintptr_t)x->lengths[{i}];"
                for i in range(n_indices)
            ]
        )
        return f"""        for (lm_int k = 0; k < n; ++k) {{
{loads}
            places[k] = {place or "0"};
        }}"""

    return unit.kernel(
        f"""static inline int {KERNEL_NAME}(
    const lm_int n, const lm_int first, char *const *const data, const lm_int *const strides, const lm_indexed *const x,
    lm_int *const restrict places)
{{
{addresses}
    int outside = 0;
    if ({near or "1"}) {{
{loop("8")}
    }} else {{
{loop("strides[{}]")}
    }}
    return outside;
}}""",
        "places",
    )


def _moved(action: Action, dtype: CDType, unit: Unit) -> tuple[str, str]:
    """Return the C type of an element, and the statement for one at ``a`` in the array and at ``b`` beside it."""
    if action == "add":
        element = add_kernel(unit, dtype.name).element
        return dtype.storage, f"{element}((T *)(a), {dtype.loaded('*(T *)(a)')}, {dtype.loaded('*(T *)(b)')});"
    c_type = _OF_SIZE[dtype.itemsize]
    return c_type, "*(T *)(b) = *(const T *)(a);" if action == "read" else "*(T *)(a) = *(const T *)(b);"


def _points(unit: Unit, action: Action, dtype: CDType) -> str:
    c_type, statement = _moved(action, dtype, unit)
    text = statement.replace("(T *)", f"({c_type} *)").replace("(const T *)", f"(const {c_type} *)")
    near = text.replace("(a)", "(array + places[k])").replace("(b)", f"(beside + k * {dtype.itemsize})")
    far = text.replace("(a)", "(array + places[k])").replace("(b)", "(beside + k * stride)")
    return unit.kernel(
        f"""static void {KERNEL_NAME}(
    const lm_int n, const lm_int *const places, char *const array, char *const beside, const lm_int stride)
{{
    if (stride == {dtype.itemsize})
        for (lm_int k = 0; k < n; ++k) {near}
    else
        for (lm_int k = 0; k < n; ++k) {far}
}}""",
        "points",
    )


def _row(unit: Unit, action: Action, dtype: CDType) -> str:
    c_type, statement = _moved(action, dtype, unit)
    text = statement.replace("(T *)", f"({c_type} *)").replace("(const T *)", f"(const {c_type} *)")
    size = dtype.itemsize
    far = text.replace("(a)", "(array + i * array_stride)").replace("(b)", "(beside + i * stride)")
    if action == "add":
        near_text = text.replace("(a)", f"(array + i * {size})").replace("(b)", f"(beside + i * {size})")
        near = f"for (lm_int i = 0; i < n; ++i) {near_text}"
    else:
        near = f"memcpy({'beside, array' if action == 'read' else 'array, beside'}, (size_t)n * {size});"
    return unit.kernel(
        f"""static void {KERNEL_NAME}(
    const lm_int n, char *const array, const lm_int array_stride, char *const beside, const lm_int stride)
{{
    if (array_stride == {size} && stride == {size}) {near}
    else
        for (lm_int i = 0; i < n; ++i) {far}
}}""",
        "row",
    )
