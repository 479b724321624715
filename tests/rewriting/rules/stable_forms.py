"""Stable forms, tried where the plain form overflows, underflows or cancels: against 340 digits."""

import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from lamella.ir import FLOAT_DTYPES, TensorType, interpret
from lamella.rewriting import NodeRewriter
from tests.rewriting.rules.special_values import Expression, rewritten, variables

Reference = Callable[..., Decimal]

ORDINARY = (-2.5, -1.0, -0.5, -0.125, 0.125, 0.5, 1.0, 2.5)
TOLERANCE = {"float16": 2e-2, "float32": 2e-5, "float64": 1e-12}


@attrs.frozen
class StableForm:
    """A law whose right side is more exact than its left side.

    Attributes
    ----------
    rules
        Rewriters that make the one of the other.
    before, after
        Both sides.
    reference
        The exact value, for exact numbers.
    points
        Operands for which the plain form is wrong, or nearly so; none if there are none, and the law only takes less time.
    """

    rules: tuple[NodeRewriter, ...]
    before: Expression
    after: Expression
    reference: Reference
    points: Sequence[float | tuple[float, ...]]


def exactly(reference: Reference, *operands: float) -> float:
    """Return the float nearest to what a function of exact numbers gives for some floats; NaN where that is not defined."""
    with localcontext() as context:
        context.prec = 340
        context.Emin, context.Emax = -9999999, 9999999
        try:
            return float(reference(*[Decimal(v) for v in operands]))
        except ArithmeticError:
            return math.nan


def _columns(points: Sequence[float | tuple[float, ...]], dtype: str) -> list[npt.NDArray[Any]]:
    rows = [point if isinstance(point, tuple) else (point,) for point in points]
    return [np.array(column, dtype) for column in zip(*rows, strict=True)]


def check_stable_form(form: StableForm) -> None:
    """Check that the law is applied to vectors of all floating-point dtypes, keeps types, agrees on ordinary numbers, and is exact at its points."""
    for dtype in FLOAT_DTYPES:
        inputs, _ = variables(form.before, dtype)
        plain, expected = form.before(*inputs), form.after(*inputs)
        stable = rewritten(plain, *form.rules)
        assert stable is expected
        assert plain.type.is_super(stable.type)
        ordinary = _columns([(v, -0.5 * v)[: len(inputs)] for v in ORDINARY], dtype)
        nan = [np.full(1, np.nan, dtype)] * len(inputs)
        for values in (ordinary, nan):
            old, new = interpret(inputs, [plain, stable], values)
            tolerance = TOLERANCE[dtype]
            np.testing.assert_allclose(old, new, rtol=tolerance, atol=tolerance)
    if not form.points:
        return
    inputs, _ = variables(form.before, "float64")
    stable = rewritten(form.before(*inputs), *form.rules)
    columns = _columns(form.points, "float64")
    old, new = interpret(inputs, [form.before(*inputs), stable], columns)
    exact = np.array(
        [exactly(form.reference, *operands) for operands in zip(*[c.tolist() for c in columns], strict=True)]
    )
    np.testing.assert_allclose(new, exact, rtol=4e-15, atol=5e-324)
    assert not np.allclose(old, exact, rtol=1e-9, atol=0, equal_nan=True), "the plain form is as good at these points"


PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")


def erfcx_exactly(x: Decimal) -> Decimal:
    """Return ``exp(x**2) * erfc(x)`` to 30 digits: by its continued fraction, or by the series of erf (NIST DLMF, 7.9.1 and 7.6.2)."""
    with localcontext() as context:
        context.prec = 60 if x > 4 else 120
        if x > 4:
            fraction = Decimal(0)
            for k in range(600, 0, -1):
                fraction = k / (2 * (x + fraction))
            return 1 / (PI.sqrt() * (x + fraction))
        term = total = x
        n = 0
        while abs(term) > abs(total) * Decimal(10) ** -100:
            n += 1
            term *= 2 * x * x / (2 * n + 1)
            total += term
        return (x * x).exp() - 2 / PI.sqrt() * total


def check_left_alone(rule: NodeRewriter, expression: Expression, *dtypes: str) -> None:
    """Check that a rule does nothing to an expression of vectors."""
    for dtype in dtypes:
        inputs, _ = variables(expression, dtype)
        start = expression(*inputs)
        assert rewritten(start, rule) is rewritten(start)


def matrix(dtype: str = "float64") -> TensorType:
    """Return the type of matrices of unknown shape."""
    return TensorType(dtype, (None, None))
