"""The dtypes in C: how an element is stored, and what type expressions compute with."""

from __future__ import annotations

import math
import struct
from typing import Any, Final, final

import attrs
import numpy as np

__all__ = ["C_DTYPES", "CDType", "literal"]


@final
@attrs.frozen
class CDType:
    """A dtype in C.

    Attributes
    ----------
    name
        Its NumPy name.
    storage
        The C type of an element in memory.
    computed
        The C type of values in expressions: that of the element, but ``float`` for half precision, which is rounded after
        each operation.
    itemsize
        Bytes of an element.
    suffix
        What names of support functions end in.
    kind
        NumPy's letter: ``b``, ``i``, ``u``, ``f`` or ``c``.
    """

    name: str
    storage: str
    computed: str
    itemsize: int
    suffix: str
    kind: str

    @property
    def code(self) -> str:
        """The enumerator of ``lm_dtype``."""
        return f"LM_{self.name.upper()}"

    @property
    def bits(self) -> int:
        """Bits of an element; of a complex number, of both parts."""
        return 8 * self.itemsize

    def loaded(self, text: str) -> str:
        """Return the expression for the value of a stored element."""
        return f"lm_from_half({text})" if self.name == "float16" else text

    def stored(self, text: str) -> str:
        """Return the expression for what is stored of a value."""
        return f"lm_to_half({text})" if self.name == "float16" else text


def _integers() -> dict[str, CDType]:
    found: dict[str, CDType] = {}
    for kind, prefix in (("i", "int"), ("u", "uint")):
        for bits in (8, 16, 32, 64):
            name, c_type = f"{prefix}{bits}", f"{prefix}{bits}_t"
            found[name] = CDType(name, c_type, c_type, bits // 8, f"{kind}{bits}", kind)
    return found


C_DTYPES: Final[dict[str, CDType]] = {
    "bool": CDType("bool", "uint8_t", "uint8_t", 1, "bool", "b"),
    **_integers(),
    "float16": CDType("float16", "lm_half", "float", 2, "f16", "f"),
    "float32": CDType("float32", "float", "float", 4, "f32", "f"),
    "float64": CDType("float64", "double", "double", 8, "f64", "f"),
    "complex64": CDType("complex64", "lm_complex64", "lm_complex64", 8, "c64", "c"),
    "complex128": CDType("complex128", "lm_complex128", "lm_complex128", 16, "c128", "c"),
}
"""All dtypes, by name."""


def literal(value: Any, dtype: str) -> str:
    """Return a C expression of the type `CDType.computed` that has exactly the value of a number of a dtype."""
    number = np.asarray(value).astype(dtype)[()]
    c_dtype = C_DTYPES[dtype]
    if c_dtype.kind == "c":
        part = "f32" if dtype == "complex64" else "f64"
        return f"(({c_dtype.computed}){{{_float(float(number.real), part)}, {_float(float(number.imag), part)}}})"
    if c_dtype.kind == "f":
        return _float(float(number), c_dtype.suffix)
    if c_dtype.kind == "b":
        return "1" if number else "0"
    integer = int(number)
    if dtype == "uint64":
        return f"UINT64_C({integer})"
    if dtype == "int64":
        # There are no negative literals, and the lowest number has no opposite.
        return f"INT64_C({integer})" if integer > -(2**63) else "INT64_MIN"
    return f"(({c_dtype.computed}){integer})"


def _float(value: float, suffix: str) -> str:
    f = "" if suffix == "f64" else "f"
    if math.isnan(value):
        negative = struct.pack(">d", value)[0] & 0x80
        return f'({"-" if negative else ""}__builtin_nan{f}(""))'
    if math.isinf(value):
        return f"({'-' if value < 0 else ''}__builtin_inf{f}())"
    return f"({value.hex()}{f})" if value < 0 or value.hex().startswith("-") else f"{value.hex()}{f}"
