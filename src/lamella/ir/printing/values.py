"""Texts of values: exact, on one line, the same in every run."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lamella.ir.printing.subjects import without_addresses

__all__ = ["value_text"]

_MOST_ELEMENTS, _ELEMENTS_AT_AN_END = 16, 3


def value_text(value: object, digest: bool = False) -> str:
    """Return the text of a value.

    Elements are written as NumPy writes them one by one: enough digits to tell them from all others of their dtype.

    Parameters
    ----------
    value
        The value. Of an array of more than sixteen elements the first and last ones are shown.
    digest
        Add to such an array a digest of all its elements.
    """
    if not isinstance(value, np.ndarray):
        return without_addresses(str(value) if isinstance(value, np.generic) else repr(value))
    if value.size <= _MOST_ELEMENTS:
        return _nested(value)
    flat = value.reshape(-1)
    ends = (flat[:_ELEMENTS_AT_AN_END], flat[-_ELEMENTS_AT_AN_END:])
    first, last = [", ".join([str(x) for x in end]) for end in ends]
    import hashlib  # here, as it loads OpenSSL

    bits = hashlib.blake2b(np.ascontiguousarray(value).tobytes(), digest_size=4).hexdigest()
    return f"[{first}, ..., {last}]" + (f" #{bits}" if digest else "")


def _nested(array: npt.NDArray[Any]) -> str:
    if array.ndim == 0:
        return str(array[()])
    return f"[{', '.join([_nested(part) for part in array])}]"
