"""Plain numbers in patterns, and the constants that hold them."""

from __future__ import annotations

import math

import numpy as np

from lamella.ir import Constant

__all__ = ["Literal", "holds_number"]

Literal = bool | int | float | complex
"""A number in a pattern: it stands for the Constants that hold it."""


def holds_number(variable: object, number: Literal) -> bool:
    """Whether something is a Constant all of whose elements (one at least) are this number, to the sign of zero."""
    if not isinstance(variable, Constant) or not isinstance(variable.data, np.ndarray | np.generic | Literal):
        return False
    data = np.asarray(variable.data)
    if data.size == 0 or data.dtype.kind not in "biufc":
        return False
    if math.isnan(number.real) or math.isnan(number.imag):
        return bool(np.isnan(data).all())
    if number == 0 and data.dtype.kind == "f":
        negative = math.copysign(1, number.real) < 0
        return bool(((data == 0) & (np.signbit(data) == negative)).all())
    return bool((data == number).all())
