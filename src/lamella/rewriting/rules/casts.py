"""Casts that do nothing, and casts of casts."""

from __future__ import annotations

from typing import Any

import numpy as np

from lamella.ir import (
    BOOL_DTYPES,
    INTEGER_DTYPES,
    Apply,
    Cast,
    Elemwise,
    FunctionGraph,
    TensorVariable,
    Variable,
    lt,
)
from lamella.rewriting.engine import OpPattern, node_rewriter

__all__ = ["cast_of_cast", "cast_to_own_dtype"]

_CASTS = OpPattern(Elemwise, scalar_op=Cast)


@node_rewriter([_CASTS])
def cast_to_own_dtype(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
    """``cast(x, dtype) -> x``, for x of this dtype.

    Always valid. It pays because nothing is computed.
    """
    (x,) = node.inputs
    return [x] if x.type.dtype == node.outputs[0].type.dtype else None


@node_rewriter([_CASTS])
def cast_of_cast(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``cast(cast(x, b), c) -> cast(x, c)``, for x of a dtype whose numbers b holds exactly.

    Valid where the second cast then sees the same numbers and says of them the same: it is not valid from floats to integers, where
    what becomes of numbers that do not fit depends on the dtype they are cast from. It pays because one cast is computed, or none.
    """
    match node.op, node.inputs[0].owner:
        case Elemwise(Cast(third)), Apply(Elemwise(Cast(second)), (TensorVariable(dtype=first) as x,)):
            pass
        case _:
            return None
    return [lt.cast(x, third)] if _holds_exactly(second, first) and _sees_numbers(first, second, third) else None


def _holds_exactly(wide: str, narrow: str) -> bool:
    """Whether every number of the dtype `narrow` is one of `wide`; NumPy counts int64 to float64 as safe, which rounds."""
    if not np.can_cast(narrow, wide, "safe"):
        return False
    if narrow in INTEGER_DTYPES and wide not in INTEGER_DTYPES:
        limits = np.iinfo(narrow)
        return bool(max(limits.max, -limits.min) <= 2 ** (np.finfo(wide).nmant + 1))
    return True


def _sees_numbers(first: str, second: str, third: str) -> bool:
    """Whether numbers of `first` become the same in `third`, be they held in `second` or not."""
    integral = (*INTEGER_DTYPES, *BOOL_DTYPES)
    if third in BOOL_DTYPES or third not in integral:
        return True  # whether it is 0; or the nearest number
    if first in integral and second in integral:
        return True  # all integers wrap around
    return first in integral and np.can_cast(first, third, "safe")
