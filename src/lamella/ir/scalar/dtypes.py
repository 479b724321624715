"""The dtypes of the library, and NumPy's rules for what an operation on them gives."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = [
    "BOOL_DTYPES",
    "COMPLEX_DTYPES",
    "DTYPES",
    "FLOAT_DTYPES",
    "INTEGER_DTYPES",
    "SIGNED_DTYPES",
    "UNSIGNED_DTYPES",
    "DTypeOrLiteral",
    "Loop",
    "is_differentiable_dtype",
    "normalize_dtype",
    "resolve_ufunc_loop",
    "result_dtype",
    "strong_dtype",
    "undefined",
]

BOOL_DTYPES: Final = ("bool",)
SIGNED_DTYPES: Final = ("int8", "int16", "int32", "int64")
UNSIGNED_DTYPES: Final = ("uint8", "uint16", "uint32", "uint64")
INTEGER_DTYPES: Final = SIGNED_DTYPES + UNSIGNED_DTYPES
FLOAT_DTYPES: Final = ("float16", "float32", "float64")
COMPLEX_DTYPES: Final = ("complex64", "complex128")
DTYPES: Final = BOOL_DTYPES + INTEGER_DTYPES + FLOAT_DTYPES + COMPLEX_DTYPES

_NAMES: Final = frozenset(DTYPES)

DTypeOrLiteral = str | type[int] | type[float] | type[complex]
"""A dtype's name; or the Python type of a literal, which is *weak*: it takes its dtype from the other operands (NEP 50)."""

Loop = tuple[tuple[str, ...], tuple[str, ...]]
"""The dtypes that an operation computes in: those its inputs are cast to, and those of its outputs."""


def normalize_dtype(dtype: npt.DTypeLike) -> str:
    """Return the name of a dtype.

    Raises
    ------
    TypeError
        It is no dtype, or none that tensors have.
    """
    if isinstance(dtype, str) and dtype in _NAMES:
        return dtype
    name = np.dtype(dtype).name
    if name not in _NAMES:
        raise TypeError(f"no tensor has the dtype {name!r}; there are {', '.join(DTYPES)}")
    return name


def is_differentiable_dtype(dtype: str) -> bool:
    """Whether values of the dtype vary continuously: floats and complex numbers do."""
    return dtype in FLOAT_DTYPES or dtype in COMPLEX_DTYPES


_EXAMPLES: Final[dict[type, complex]] = {int: 0, float: 0.0, complex: 0j}
_ALONE: Final[dict[type, str]] = {int: "int64", float: "float64", complex: "complex128"}


def strong_dtype(dtype: DTypeOrLiteral) -> str:
    """Return a dtype as it is, and for a literal that of the array that NumPy makes of it."""
    return dtype if isinstance(dtype, str) else _ALONE[dtype]


def result_dtype(*dtypes: DTypeOrLiteral) -> str:
    """Return the dtype that NumPy promotes the given ones to.

    Raises
    ------
    TypeError
        There is no common dtype.
    """
    return _result_dtype(dtypes)


@cache
def _result_dtype(dtypes: tuple[DTypeOrLiteral, ...]) -> str:
    return normalize_dtype(np.result_type(*[np.dtype(d) if isinstance(d, str) else _EXAMPLES[d] for d in dtypes]))


@cache
def resolve_ufunc_loop(ufunc: np.ufunc, dtypes: tuple[DTypeOrLiteral, ...]) -> Loop:
    """Return the dtypes in which a NumPy ufunc computes, given those of its operands.

    Parameters
    ----------
    ufunc
        The ufunc.
    dtypes
        Dtypes of the operands; Python number types for literals.

    Raises
    ------
    TypeError
        The ufunc is not defined for these dtypes.
    """
    weak: list[Any] = [np.dtype(d) if isinstance(d, str) else d for d in dtypes]
    if not any([isinstance(d, str) for d in dtypes]):
        weak = [np.dtype(strong_dtype(d)) for d in dtypes]  # literals alone are as strong as the arrays made of them
    try:
        resolved: Sequence[np.dtype[Any]] = ufunc.resolve_dtypes((*weak, *[None] * ufunc.nout))
        names = [normalize_dtype(d) for d in resolved]
    except TypeError as error:
        raise undefined(ufunc.__name__, dtypes) from error
    return tuple(names[: ufunc.nin]), tuple(names[ufunc.nin :])


def undefined(name: str, dtypes: Sequence[DTypeOrLiteral]) -> TypeError:
    """Return the error that says that a function is not defined for operands of these dtypes."""
    shown = [d if isinstance(d, str) else f"the literal of type {d.__name__}" for d in dtypes]
    return TypeError(f"{name} is not defined for {' and '.join(shown)}")
