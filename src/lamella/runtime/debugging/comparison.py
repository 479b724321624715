"""Comparing values: exactly, and up to what rounding can do to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lamella.ir import Type

__all__ = ["close", "difference", "moved", "same_bits", "shares_memory", "shown"]

Array = npt.NDArray[Any]

_TOLERANCE: Final = {"float16": 1e-2, "float32": 1e-5, "complex64": 1e-5}
_RUNS: Final = 8
_WORK: Any = 100_000
_COARSER: Final = {"float64": "float32", "float32": "float16"}
_IMMUTABLE: Final = (bool, int, float, complex, str, bytes, slice, np.generic, type(None))


def same_bits(type: Type[Any], a: Any, b: Any) -> bool:
    """Whether two values of a Type are equal, bit for bit where they are arrays; what cannot be compared passes for equal."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and not a.dtype.hasobject:
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    try:
        return a is b or type.values_eq(a, b) or _are_opaque(type, a, b)
    except (TypeError, ValueError):
        return True


def _are_opaque(type: Type[Any], a: Any, b: Any) -> bool:
    """Whether nothing compares two values, whose Type and class leave that to others: a copy would not be equal to its original."""
    cls = type.__class__
    left = cls.values_eq is Type.values_eq and cls.values_eq_approx is Type.values_eq_approx
    return left and a.__class__ is b.__class__ and a.__class__.__eq__ is object.__eq__


def shares_memory(type: Type[Any], a: Any, b: Any) -> bool:
    """Whether a change of one value could change the other."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if not a.size or not b.size:
            return False
        try:
            return bool(np.shares_memory(a, b, max_work=_WORK))
        except np.exceptions.TooHardError:
            return True
    return not isinstance(a, _IMMUTABLE) and type.may_share_memory(a, b)


def close(type: Type[Any], found: Any, expected: Any) -> bool:
    """Whether two values are equal up to rounding: relative to each element, so that there is no number too small to count."""
    if not isinstance(expected, np.ndarray) or not isinstance(found, np.ndarray) or expected.dtype.kind not in "fc":
        return same_numbers(type, found, expected)
    return found.dtype == expected.dtype and found.shape == expected.shape and not _wrong(found, expected, 0.0).any()


def same_numbers(type: Type[Any], a: Any, b: Any) -> bool:
    """Whether two values of a Type are equal; what cannot be compared passes for equal."""
    try:
        return a is b or type.values_eq_approx(a, b) or _are_opaque(type, a, b)
    except (TypeError, ValueError):
        return True


def _wrong(found: Array, expected: Array, slack: Any) -> npt.NDArray[np.bool_]:
    tolerance = _TOLERANCE.get(expected.dtype.name, 1e-9)
    with np.errstate(all="ignore"):
        a, b = found.astype(np.result_type(found, np.float64)), expected.astype(np.result_type(expected, np.float64))
        allowed = tolerance * np.maximum(np.abs(a), np.abs(b)) + slack
        right = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= allowed)
        if expected.dtype.kind == "c":  # which part is NaN and which infinite depends on the order of additions
            right |= ~np.isfinite(a) & ~np.isfinite(b)
    return np.asarray(~right)


def difference(
    type: Type[Any], found: Any, expected: Any, perturbed: Callable[[np.random.Generator], Any] | None = None
) -> str | None:
    """Return how a value differs from the expected one by more than rounding explains; None where it does not.

    Parameters
    ----------
    type
        The Type of both.
    found, expected
        The values.
    perturbed
        Computes the expected value once more with everything that is rounded moved a little at random. It is called where the values are
        not close: what such moves do to a number is what rounding may have done to it.
    """
    if isinstance(expected, np.ndarray) and isinstance(found, np.ndarray):
        if found.dtype != expected.dtype:
            return f"the dtype is {found.dtype}, not {expected.dtype}"
        if found.shape != expected.shape:
            return f"the shape is {found.shape}, not {expected.shape}"
    if close(type, found, expected):
        return None
    if not isinstance(expected, np.ndarray) or not isinstance(found, np.ndarray) or expected.dtype.kind not in "fc":
        return f"the value is {shown(found)}, not {shown(expected)}"
    slack = np.zeros(expected.shape) if perturbed is None else _spread(expected, perturbed)
    wrong = _wrong(found, expected, slack)
    if not wrong.any():
        return None
    index = tuple([int(i) for i in np.argwhere(wrong)[0]])
    place = f"element {list(index)}" if index else "the value"
    return f"{place} is {found[index]!r}, not {expected[index]!r}"


def _spread(expected: Array, perturbed: Callable[[np.random.Generator], Any]) -> Array:
    """Return by how much each element changed, at most, in some perturbed runs."""
    spread = np.zeros(expected.shape)
    for run in range(_RUNS):
        try:
            with np.errstate(all="ignore"):
                other = perturbed(np.random.default_rng(run))
                change = (
                    np.abs(other - expected) if np.shape(other) == expected.shape else np.full(expected.shape, np.inf)
                )
                change = np.where(np.isfinite(change) | (other == expected), change, np.inf)
                change = np.where(np.isnan(other) & np.isnan(expected), 0.0, np.where(other == expected, 0.0, change))
        except Exception:  # noqa: BLE001  # an Op may refuse numbers that have moved: then nothing is known of the result
            return np.full(expected.shape, np.inf)
        spread = np.maximum(spread, change)
    return 4 * spread


def moved(value: Any, rng: np.random.Generator, also_short: bool = False) -> Any:
    """Return a value with each floating-point number moved by some units in the last place; those with few digits stay, unless `also_short`."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc" or not value.size:
        return value
    with np.errstate(all="ignore"):
        step = 4 * np.finfo(value.dtype).eps * rng.choice([-1.0, 1.0], value.shape)
        coarser = _COARSER.get(value.dtype.name)
        exact = np.zeros(value.shape, bool) if coarser is None or also_short else value.astype(coarser) == value
        return np.where(exact, value, value * (1 + step).astype(value.real.dtype))


def shown(value: Any) -> str:
    """Return a short text for a value."""
    if isinstance(value, np.ndarray):
        elements = np.array2string(value, threshold=8, edgeitems=3).replace("\n", " ")
        return f"{value.dtype}{list(value.shape)} {elements}"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def copies(types: Sequence[Type[Any]], values: Sequence[Any]) -> list[Any]:
    """Return copies of values, None for those that there are not."""
    return [None if value is None else type.copy_value(value) for type, value in zip(types, values, strict=True)]
