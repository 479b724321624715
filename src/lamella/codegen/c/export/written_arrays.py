"""Arrays written into C text, to the bit.

np.array([0.1, -2.0])    ->    static const double x_data[] __attribute__((aligned(64))) = {0x1.999999999999ap-4, -0x1.0000000000000p+1};
                               static const intptr_t x_shape[] = {2};
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["c_string", "element_type", "written_array", "written_integers"]

_PER_LINE = 8


def element_type(dtype: str) -> str:
    """Return the C type of elements; of a complex number, of its parts."""
    match dtype:
        case "bool":
            return "uint8_t"
        case "float16":
            return "uint16_t"
        case "float32" | "complex64":
            return "float"
        case "float64" | "complex128":
            return "double"
        case _:
            return f"{dtype}_t"


def written_array(value: npt.NDArray[Any], name: str) -> str:
    """Return the definitions of ``<name>_data`` and ``<name>_shape``, static constants.

    Parameters
    ----------
    value
        The array; its elements are written in C's order.
    name
        What the names begin with.
    """
    value = np.asarray(value)
    c_type, texts = _elements(value)
    lines = [", ".join(texts[i : i + _PER_LINE]) for i in range(0, len(texts), _PER_LINE)]
    elements = lines[0] if len(lines) == 1 else "\n    " + ",\n    ".join(lines) + ",\n" if lines else "0"
    return (
        f"static const {c_type} {name}_data[] __attribute__((aligned(64))) = {{{elements}}};\n"
        f"static const intptr_t {name}_shape[] = {{{written_integers(value.shape)}}};"
    )


def written_integers(values: Sequence[int]) -> str:
    """Return integers as the text of a list; C has no empty ones."""
    return ", ".join([str(v) for v in values]) or "0"


def c_string(text: str) -> str:
    """Return a text as a string of C: what is no plain letter, number or mark of ASCII's byte by byte, in UTF-8."""
    return (
        '"' + "".join([chr(b) if 32 <= b < 127 and b not in b'"?\\\\' else f"\\{b:03o}" for b in text.encode()]) + '"'
    )


def _elements(value: npt.NDArray[Any]) -> tuple[str, list[str]]:
    """Return the C type of elements, and the elements as literals of it."""
    dtype = value.dtype.name
    flat = np.ascontiguousarray(value).reshape(-1)
    if flat.dtype.kind == "c":
        flat = flat.view(f"float{4 * flat.itemsize}")
    c_type = element_type(dtype)
    if flat.dtype == np.float16:
        return c_type, [hex(bits) for bits in flat.view(np.uint16).tolist()]
    if flat.dtype.kind != "f":
        return c_type, [_integer(number, dtype) for number in flat.tolist()]
    if np.isfinite(flat).all():
        suffix = "f" if flat.dtype == np.float32 else ""
        return c_type, [number.hex() + suffix for number in flat.tolist()]
    bits = 8 * flat.itemsize  # a NaN is more than its name tells
    return f"uint{bits}_t", [f"{number:#x}" for number in flat.view(f"uint{bits}").tolist()]


def _integer(number: int | bool, dtype: str) -> str:
    if dtype == "uint64":
        return f"UINT64_C({number})"
    if dtype == "int64":  # of the lowest one, C has the negative of a number that is too large
        return f"INT64_C({number})" if number > -(2**63) else "INT64_MIN"
    return str(int(number))
