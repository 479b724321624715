"""Greater and lesser numbers, and bounds."""

import numpy as np
import pytest

from lamella.ir import COMPLEX_DTYPES, FLOAT_DTYPES, INTEGER_DTYPES, SIGNED_DTYPES, constant, lt
from lamella.rewriting import NodeRewriter
from lamella.rewriting.rules.extremes import (
    clip_of_clip,
    clip_without_bounds,
    extreme_of_bounds,
    extreme_of_itself,
    extreme_with_no_bound,
    extremes_to_clip,
)
from tests.rewriting.rules.special_values import REAL, Expression, check_law, check_stays

LAWS: list[tuple[NodeRewriter, Expression, Expression, tuple[str, ...]]] = [
    (extreme_of_itself, lambda x: lt.maximum(x, x), lambda x: x, (*REAL, "bool", *COMPLEX_DTYPES)),
    (extreme_of_itself, lambda x: lt.minimum(x, x), lambda x: x, (*REAL, "bool", *COMPLEX_DTYPES)),
    (extreme_with_no_bound, lambda x: lt.maximum(x, -np.inf), lambda x: x, FLOAT_DTYPES),
    (extreme_with_no_bound, lambda x: lt.minimum(np.inf, x), lambda x: x, FLOAT_DTYPES),
    (extreme_with_no_bound, lambda x: lt.maximum(x, np.iinfo(x.dtype).min), lambda x: x, INTEGER_DTYPES),
    (extreme_with_no_bound, lambda x: lt.minimum(x, np.iinfo(x.dtype).max), lambda x: x, INTEGER_DTYPES),
    (
        extreme_with_no_bound,
        lambda x: lt.maximum(x, np.iinfo(x.dtype).max),
        lambda x: lt.second(x, constant(np.iinfo(x.dtype).max, dtype=x.dtype)),
        INTEGER_DTYPES,
    ),
    (extreme_with_no_bound, lambda x: lt.maximum(x, np.int64(300)), lambda x: lt.second(x, np.int64(300)), ("int8",)),
    (extreme_with_no_bound, lambda x: lt.minimum(x, np.int64(300)), lambda x: lt.cast(x, "int64"), ("uint8",)),
    (extreme_with_no_bound, lambda x: lt.maximum(x, -0.5), lambda x: lt.cast(x, "float64"), ("uint64", "bool")),
    (extreme_with_no_bound, lambda x: lt.maximum(lt.shape_i(x, 0), 0), lambda x: lt.shape_i(x, 0), ("int8",)),
    (
        extreme_with_no_bound,
        lambda x: lt.minimum(lt.shape_i(x, 0), 0),
        lambda x: lt.second(lt.shape_i(x, 0), np.int64(0)),
        ("int8",),
    ),
    (extreme_of_bounds, lambda x: lt.maximum(lt.maximum(x, 1), 2), lambda x: lt.maximum(x, 2), REAL),
    (extreme_of_bounds, lambda x: lt.minimum(2, lt.minimum(x, 1)), lambda x: lt.minimum(x, 1), REAL),
    (
        extreme_of_bounds,
        lambda x: lt.minimum(lt.minimum(x, 2**64 - 2), 2**64 - 1),
        lambda x: lt.minimum(x, 2**64 - 2),
        ("uint64",),
    ),
    (extreme_of_bounds, lambda x: lt.maximum(lt.maximum(x, 0.0), 0.0), lambda x: lt.maximum(x, 0.0), FLOAT_DTYPES),
    (extreme_of_bounds, lambda x: lt.maximum(lt.maximum(x, np.nan), 1), lambda x: lt.maximum(x, np.nan), FLOAT_DTYPES),
    (clip_without_bounds, lambda x, y: lt.clip(x, -np.inf, y), lt.minimum, FLOAT_DTYPES),
    (clip_without_bounds, lambda x, y: lt.clip(x, y, np.inf), lt.maximum, FLOAT_DTYPES),
    (
        clip_without_bounds,
        lambda x, y: lt.clip(x, np.array(np.iinfo(x.dtype).min, x.dtype), y),
        lt.minimum,
        SIGNED_DTYPES,
    ),
    (
        extremes_to_clip,
        lambda x: lt.minimum(lt.maximum(x, -1), 3),
        lambda x: lt.clip(x, -1, 3),
        (*FLOAT_DTYPES, "int8"),
    ),
    (extremes_to_clip, lambda x: lt.maximum(1, lt.minimum(x, 3)), lambda x: lt.clip(x, 1, 3), REAL),
    (extremes_to_clip, lambda x: lt.minimum(lt.maximum(x, 0), 6), lambda x: lt.clip(x, 0, 6), (*FLOAT_DTYPES, "int8")),
    (
        extremes_to_clip,
        lambda x: lt.minimum(lt.maximum(x, np.nan), -0.0),
        lambda x: lt.clip(x, np.nan, -0.0),
        FLOAT_DTYPES,
    ),
    (clip_of_clip, lambda x: lt.clip(lt.clip(x, 1, 5), 3, 8), lambda x: lt.clip(x, 3, 5), REAL),
    (clip_of_clip, lambda x: lt.clip(lt.clip(x, 1, 5), 7, 8), lambda x: lt.clip(x, 7, 7), REAL),
    (clip_of_clip, lambda x: lt.maximum(lt.clip(x, 1, 5), 3), lambda x: lt.clip(x, 3, 5), REAL),
    (clip_of_clip, lambda x: lt.minimum(-2, lt.clip(x, -5, 5)), lambda x: lt.clip(x, -5, -2), FLOAT_DTYPES),
    (clip_of_clip, lambda x: lt.maximum(lt.clip(x, 1, 5), 9), lambda x: lt.clip(x, 9, 9), REAL),
]

STAY: list[tuple[NodeRewriter, Expression, tuple[str, ...]]] = [
    (extreme_with_no_bound, lambda x: lt.maximum(x, np.inf), FLOAT_DTYPES),
    (extreme_with_no_bound, lambda x: lt.minimum(x, -np.inf), FLOAT_DTYPES),
    (extreme_with_no_bound, lambda x: lt.maximum(x, np.nan), FLOAT_DTYPES),
    (extreme_with_no_bound, lambda x: lt.maximum(x, np.nan), ("int64",)),
    (extreme_with_no_bound, lambda x: lt.maximum(x, -0.0), ("uint8",)),
    (extreme_with_no_bound, lambda x: lt.maximum(lt.square(x), 0.0), FLOAT_DTYPES),
    (extreme_with_no_bound, lambda x: lt.maximum(lt.square(x), 0), SIGNED_DTYPES),
    (extreme_with_no_bound, lambda x: lt.maximum(x, 0), SIGNED_DTYPES),
    (extreme_of_bounds, lambda x: lt.maximum(lt.maximum(x, 0.0), -0.0), FLOAT_DTYPES),
    (extreme_of_bounds, lambda x: lt.maximum(lt.minimum(x, 0.0), 1.0), FLOAT_DTYPES),
    (extreme_of_bounds, lambda x: lt.maximum(lt.maximum(x, np.int8(1)), np.int64(2)), ("int8",)),
    (clip_without_bounds, lambda x: lt.clip(x, 0.0, 1.0), FLOAT_DTYPES),
    (clip_without_bounds, lambda x: lt.clip(x, np.inf, -np.inf), FLOAT_DTYPES),
    (extremes_to_clip, lambda x: lt.maximum(lt.minimum(x, 1), 3), FLOAT_DTYPES),
    (extremes_to_clip, lambda x: lt.maximum(lt.minimum(x, 1), -0.0), FLOAT_DTYPES),
    (extremes_to_clip, lambda x: lt.minimum(6, lt.maximum(0.0, x)), FLOAT_DTYPES),
    (extremes_to_clip, lambda x, y: lt.minimum(lt.maximum(x, y), 3), FLOAT_DTYPES),
    (clip_of_clip, lambda x: lt.clip(lt.clip(x, 0.0, 1.0), 0.5, 2.0), FLOAT_DTYPES),
    (clip_of_clip, lambda x: lt.clip(lt.clip(x, 5, 1), 3, 8), FLOAT_DTYPES),
    (clip_of_clip, lambda x: lt.maximum(lt.clip(x, 1, 5), np.nan), FLOAT_DTYPES),
]


@pytest.mark.parametrize(("rule", "before", "after", "dtypes"), LAWS)
def test_laws(rule: NodeRewriter, before: Expression, after: Expression, dtypes: tuple[str, ...]) -> None:
    for dtype in dtypes:
        check_law(rule, before, after, dtype)


@pytest.mark.parametrize(("rule", "expression", "dtypes"), STAY)
def test_what_would_change_something_stays(rule: NodeRewriter, expression: Expression, dtypes: tuple[str, ...]) -> None:
    for dtype in dtypes:
        check_stays(rule, expression, dtype)
