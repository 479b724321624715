"""Powers by known numbers, squares and roots.

before                              after
%0 = power(%x, 2.0)                 %0 = square(%x)
"""

from __future__ import annotations

import math
from typing import Any, Final

from lamella.ir import (
    COMPLEX_DTYPES,
    FLOAT_DTYPES,
    INTEGER_DTYPES,
    SIGNED_DTYPES,
    Abs,
    Apply,
    Cos,
    Cosh,
    FunctionGraph,
    Mul,
    Neg,
    Power,
    Reciprocal,
    Sqrt,
    Square,
    TensorVariable,
    TrueDivide,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import (
    Number,
    applied,
    elementwise,
    instead_of,
    is_number,
    never_negative_zero,
    number,
    operands,
    whole_fill,
)
from lamella.typing_layer import is_nonnegative

__all__ = [
    "abs_of_nonnegative",
    "even_function_of_negated",
    "even_of_negated",
    "integer_power",
    "mul_by_itself",
    "mul_of_reciprocal",
    "one_divided",
    "power_by_half",
    "power_by_halves",
    "power_by_other_halves",
    "power_by_small_integer",
    "power_by_unit",
    "product_of_abs",
    "reciprocal_of_neg",
    "sqrt_of_square",
    "square_of_sqrt",
]

_SMALL: Final = (*range(-8, -1), *range(3, 9))  # errors add up with the factors
_GREATEST_INTEGER: Final = 64


def _by_number(node: Apply[Any]) -> tuple[TensorVariable, Number, str] | None:
    """Return the base, the known exponent and the dtype of a power of real numbers."""
    x, y = operands(node)
    exponent = number(y)
    dtype = node.outputs[0].type.dtype
    return None if exponent is None or dtype in COMPLEX_DTYPES else (x, exponent, dtype)


@node_rewriter(elementwise(Power))
def power_by_unit(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x**0 -> 1``; ``x**1 -> x``; ``x**2 -> square(x)``; ``x**-1 -> 1 / x``, for floats.

    Always valid: ``x**0`` of a NaN is 1, too; integers to the power of -1 are an error, which stays. Squares and reciprocals are the nearest
    float, which powers need not be. It pays because less is computed, or nothing.
    """
    found = _by_number(node)
    if found is None:
        return None
    x, exponent, dtype = found
    if exponent == 0:
        return whole_fill(node, 1)
    if exponent == 1:
        return instead_of(node, x)
    if exponent == 2:
        return instead_of(node, lt.square(lt.cast(x, dtype)))
    if exponent == -1 and dtype in FLOAT_DTYPES:
        return instead_of(node, lt.reciprocal(lt.cast(x, dtype)))
    return None


@node_rewriter(elementwise(Power))
def power_by_half(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x**0.5 -> sqrt(x)``, for floats x that are neither negative nor -0.0.

    Valid there: minus infinity to the power of 0.5 is infinity, and -0.0 is 0.0. Roots are the nearest float, which powers need not be. It
    pays because a root takes less time.
    """
    found = _by_number(node)
    if found is None or found[1] != 0.5 or found[2] not in FLOAT_DTYPES:
        return None
    x = found[0]
    return instead_of(node, lt.sqrt(lt.cast(x, found[2]))) if never_negative_zero(x) and is_nonnegative(x) else None


@node_rewriter(elementwise(Power))
def power_by_halves(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x**0.5 -> switch(x == -inf, inf, sqrt(x) + 0.0)``, for floats, where `power_by_half` does not say it shorter.

    Always valid: the sum makes 0.0 of -0.0, and the choice says of minus infinity what a power does. Roots are the nearest float, which powers
    need not be. It pays because a root takes less time.
    """
    found = _by_number(node)
    if found is None or found[1] != 0.5 or found[2] not in FLOAT_DTYPES:
        return None
    x = lt.cast(found[0], found[2])
    return instead_of(node, lt.switch(lt.eq(x, -math.inf), math.inf, lt.add(lt.sqrt(x), 0.0)))


@node_rewriter(elementwise(Power))
def power_by_other_halves(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x**-0.5 -> switch(x == -inf, 0, 1 / (sqrt(x) + 0.0))``, and ``x**1.5 -> switch(x == -inf, inf, x * sqrt(x))``, for floats.

    Valid for floats, where a root and a quotient or product round twice, a power once. It pays because a root takes less time.
    """
    found = _by_number(node)
    if found is None or found[1] not in (-0.5, 1.5) or found[2] not in FLOAT_DTYPES:
        return None
    x = lt.cast(found[0], found[2])
    if found[1] == 1.5:
        of_minus_infinity, result = math.inf, lt.mul(x, lt.sqrt(x))
    else:
        of_minus_infinity, result = 0.0, lt.reciprocal(lt.add(lt.sqrt(x), 0.0))
    return instead_of(node, result if is_nonnegative(x) else lt.switch(lt.eq(x, -math.inf), of_minus_infinity, result))


def _product(x: TensorVariable, factors: int) -> TensorVariable:
    """Return x to a positive integer power by squaring and multiplying."""
    result: TensorVariable | None = None
    power = x
    while True:
        if factors & 1:
            result = power if result is None else lt.mul(result, power)
        factors >>= 1
        if not factors:
            assert result is not None
            return result
        power = lt.square(power)


@node_rewriter(elementwise(Power))
def integer_power(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``n**3 -> square(n) * n``, and so for other exponents from 3 on.

    Valid for integers, modulo their range. It pays because a few products take less time than a loop.
    """
    found = _by_number(node)
    if found is None or found[2] not in INTEGER_DTYPES:
        return None
    x, exponent, dtype = found
    if not isinstance(exponent, int) or not 3 <= exponent <= _GREATEST_INTEGER:
        return None
    return instead_of(node, _product(lt.cast(x, dtype), exponent))


@node_rewriter(elementwise(Power))
def power_by_small_integer(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x**3 -> square(x) * x``, and so up to ``x**8``; ``x**-2 -> square(1 / x)``, and so on.

    Valid for floats; products round several times, a power once. It pays because a few products take less time than a power.
    """
    found = _by_number(node)
    if found is None or found[2] not in FLOAT_DTYPES:
        return None
    x, exponent, dtype = found
    if isinstance(exponent, complex) or exponent not in _SMALL:
        return None
    factors = int(abs(exponent))
    base = lt.cast(x, dtype)
    return instead_of(node, _product(lt.reciprocal(base) if exponent < 0 else base, factors))


@node_rewriter(elementwise(Mul))
def mul_by_itself(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x * x -> square(x)``

    Always valid; left alone for complex numbers and booleans. It pays because others see that the result is not negative.
    """
    if len(node.inputs) != 2 or node.inputs[0] is not node.inputs[1]:
        return None
    (x, _) = operands(node)
    return instead_of(node, lt.square(x)) if x.dtype in (*FLOAT_DTYPES, *INTEGER_DTYPES) else None


@node_rewriter(elementwise(TrueDivide))
def one_divided(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``1 / x -> reciprocal(x)``

    Valid for floats; integers are cast first. It pays because others look for one of the two only.
    """
    x, y = operands(node)
    dtype = node.outputs[0].type.dtype
    if dtype not in FLOAT_DTYPES or not is_number(x, 1):
        return None
    return instead_of(node, lt.reciprocal(lt.cast(y, dtype)))


@node_rewriter(elementwise(Reciprocal))
def reciprocal_of_neg(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``1 / -x -> -(1 / x)``

    Valid for floats. It pays because the minus sign meets others further on.
    """
    found = applied(Neg, node.inputs[0])
    if found is None or found[0].dtype not in FLOAT_DTYPES:
        return None
    return instead_of(node, lt.neg(lt.reciprocal(found[0])))


@node_rewriter(elementwise(Square, Abs), tracks_inputs=elementwise(Neg, Abs))
def even_of_negated(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``square(-x) -> square(x)``; ``square(abs(x)) -> square(x)``; ``abs(-x) -> abs(x)``

    Valid for floats and signed integers, modulo their range. It pays because one operation is computed, where nothing else needs the other.
    """
    is_square = applied(Square, node.outputs[0]) is not None
    found = applied((Neg, Abs) if is_square else Neg, node.inputs[0])
    if found is None or found[0].dtype not in (*FLOAT_DTYPES, *SIGNED_DTYPES):
        return None
    return instead_of(node, (lt.square if is_square else lt.abs)(found[0]))


@node_rewriter(elementwise(Cos, Cosh))
def even_function_of_negated(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``cos(-x) -> cos(x)``; ``cosh(-x) -> cosh(x)``; likewise of ``abs(x)``.

    Valid for floats. It pays because one operation is computed, where nothing else needs the other.
    """
    found = applied((Neg, Abs), node.inputs[0])
    if found is None or found[0].dtype not in FLOAT_DTYPES:
        return None
    return instead_of(node, node.op(found[0]))


@node_rewriter(elementwise(Mul, TrueDivide), tracks_inputs=elementwise(Abs))
def product_of_abs(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``abs(x) * abs(y) -> abs(x * y)``, and ``abs(x) / abs(y) -> abs(x / y)``, for x and y as large as the result.

    Valid for floats. It pays because one magnitude is computed, where nothing else needs the other.
    """
    out = node.outputs[0].type
    if out.dtype not in FLOAT_DTYPES or len(node.inputs) != 2:
        return None
    x, y = operands(node)
    first = applied(Abs, x)
    second = None if first is None else applied(Abs, y)
    if first is None or second is None or first[0] is second[0]:
        return None
    if any([v.dtype != out.dtype or v.type.broadcastable != out.broadcastable for v in (*first, *second)]):
        return None
    return instead_of(node, lt.abs(node.op(*first, *second)))


@node_rewriter(elementwise(Mul), tracks_inputs=elementwise(Reciprocal))
def mul_of_reciprocal(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x * (1 / y) -> x / y``, for y as large as the result, where nothing else needs ``1 / y``.

    Valid for floats; the quotient rounds once, and does not overflow in between. It pays because one operation is computed.
    """
    out = node.outputs[0].type
    if out.dtype not in FLOAT_DTYPES or len(node.inputs) != 2:
        return None
    for reciprocal, x in zip(operands(node), reversed(operands(node)), strict=True):
        found = applied(Reciprocal, reciprocal)
        if found is None or found[0].dtype != out.dtype or reciprocal.type.broadcastable != out.broadcastable:
            continue
        if len(fgraph.get_clients(reciprocal)) <= 1 and x.dtype == out.dtype and applied(Reciprocal, x) is None:
            return instead_of(node, lt.true_divide(x, found[0]))
    return None


@node_rewriter(elementwise(Abs))
def abs_of_nonnegative(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``abs(x) -> x``, for x that is neither negative nor -0.0, such as a square.

    Valid there. It pays because nothing is computed.
    """
    (x,) = operands(node)
    if x.dtype in COMPLEX_DTYPES or not never_negative_zero(x):
        return None
    return instead_of(node, x) if is_nonnegative(x) else None


@node_rewriter(elementwise(Sqrt))
def sqrt_of_square(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``sqrt(square(x)) -> abs(x)``

    Valid for floats; the result is exact, where the square would overflow or underflow, too. It pays for that, and because less is computed.
    """
    (x,) = operands(node)
    found = applied(Square, x)
    return instead_of(node, lt.abs(found[0])) if found and found[0].dtype in FLOAT_DTYPES else None


@node_rewriter(elementwise(Square))
def square_of_sqrt(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``square(sqrt(x)) -> switch(x >= 0, abs(x), nan)``

    Valid for floats; the result is exact. It pays because no root is computed.
    """
    (x,) = operands(node)
    found = applied(Sqrt, x)
    if found is None or x.dtype not in FLOAT_DTYPES:
        return None
    base = lt.cast(found[0], x.dtype)
    magnitude = lt.abs(base)
    return instead_of(node, magnitude if is_nonnegative(base) else lt.switch(lt.ge(base, 0), magnitude, math.nan))
