"""Laws, tried on all combinations of special values: NaN, infinities, zeros of both signs, the least and the greatest numbers."""

import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lamella.ir import (
    FLOAT_DTYPES,
    INTEGER_DTYPES,
    FunctionGraph,
    TensorType,
    TensorVariable,
    graph_inputs,
    interpret,
)
from lamella.rewriting import EquilibriumGraphRewriter, NodeRewriter
from lamella.rewriting.rules.constant_folding import constant_folding
from lamella.testing import value_difference

Array = npt.NDArray[Any]
Expression = Callable[..., TensorVariable]

REAL = (*FLOAT_DTYPES, *INTEGER_DTYPES)


def special_values(dtype: str) -> Array:
    """Return values of a dtype among which everything is that rewrites have been known to get wrong."""
    if dtype == "bool":
        return np.array([False, True])
    if dtype in INTEGER_DTYPES:
        limits = np.iinfo(dtype)
        ends = [limits.min, limits.min + 1, limits.max - 1, limits.max]
        return np.array([0, 1, 2, 3, 7, 100, *([] if limits.min == 0 else [-1, -2, -3]), *ends], dtype=dtype)
    if dtype in FLOAT_DTYPES:
        of = np.finfo(dtype)
        sizes = [
            0.0,
            1.0,
            0.5,
            2.0,
            3.0,
            0.1,
            37.5,
            float(of.max),
            float(of.tiny),
            float(of.smallest_subnormal),
            float(of.eps),
            np.inf,
        ]
        return np.array([*sizes, *[-size for size in sizes], np.nan], dtype=dtype)
    parts = [0.0, -0.0, 1.0, -2.5, np.inf, np.nan]
    return np.array([complex(a, b) for a in parts for b in parts], dtype=dtype)


def grid(dtypes: Sequence[str]) -> list[Array]:
    """Return vectors that hold together all combinations of special values of some dtypes."""
    combinations = list(itertools.product(*[range(len(special_values(dtype))) for dtype in dtypes]))
    return [special_values(dtype)[[places[i] for places in combinations]] for i, dtype in enumerate(dtypes)]


def same_bits(a: Array, b: Array) -> bool:
    """Whether arrays are the same: dtype, shape, and each number; all NaN are the same, 0.0 and -0.0 are not."""
    return value_difference(a, b) is None


def rewritten(output: TensorVariable, *rewriters: NodeRewriter) -> TensorVariable:
    """Return what some rewriters, and the folding of constants, make of an expression."""
    inputs = [variable for variable in graph_inputs([output]) if not variable.is_constant]
    found: Any = (
        EquilibriumGraphRewriter([*rewriters, constant_folding]).rewrite(FunctionGraph(inputs, [output])).outputs[0]
    )
    return found  # type: ignore[no-any-return]  # the outputs of a graph are any Variables


def variables(expression: Expression, dtypes: str | Sequence[str]) -> tuple[list[TensorVariable], tuple[str, ...]]:
    """Return vectors for the parameters of an expression, all of one dtype or each of its own, and their dtypes."""
    count = len(inspect.signature(expression).parameters)
    of = (dtypes,) * count if isinstance(dtypes, str) else tuple(dtypes)
    return [TensorType(dtype, (None,))(f"x{i}") for i, dtype in enumerate(of)], of


def check_law(rule: NodeRewriter, before: Expression, after: Expression, dtypes: str | Sequence[str]) -> None:
    """Check that a rule makes the one expression of the other, which is the same for all special values, and of the same type."""
    inputs, of = variables(before, dtypes)
    start, expected = before(*inputs), after(*inputs)
    assert rewritten(start, rule) is expected
    assert start.type.is_super(expected.type)
    values = grid(of)
    (old, new) = interpret(inputs, [start, expected], values)
    assert same_bits(old, new), [(v, o, n) for *v, o, n in zip(*values, old, new, strict=True) if not same_bits(o, n)][
        :5
    ]


def check_stays(rule: NodeRewriter, expression: Expression, dtypes: str | Sequence[str]) -> None:
    """Check that a rule leaves an expression alone."""
    inputs, _ = variables(expression, dtypes)
    start = expression(*inputs)
    assert rewritten(start, rule) is rewritten(start)
