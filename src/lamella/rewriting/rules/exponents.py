"""Products, quotients and roots of exponentials, as exponentials of sums.

before                              after
%0 = exp(%x)                        %0 = add(%x, %y)
%1 = exp(%y)                        %1 = exp(%0)
%2 = mul(%0, %1)

One exponential is computed instead of two, and it overflows and underflows where the exact result does. So these change values on purpose.
"""

from __future__ import annotations

from typing import Any

from lamella.ir import (
    FLOAT_DTYPES,
    Apply,
    Exp,
    FunctionGraph,
    Mul,
    Reciprocal,
    Sqrt,
    TensorVariable,
    TrueDivide,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import applied, elementwise, instead_of, operands

__all__ = ["product_of_exps", "quotient_of_exps", "reciprocal_of_exp", "sqrt_of_exp"]


def _exponent(fgraph: FunctionGraph, node: Apply[Any], variable: TensorVariable) -> TensorVariable | None:
    """Return x, for an operand ``exp(x)`` of floats in the dtype and of the size of the result, which nothing else needs."""
    found = applied(Exp, variable)
    out = node.outputs[0].type
    if found is None or variable.dtype not in FLOAT_DTYPES or found[0].dtype != out.dtype:
        return None
    if variable.type.broadcastable != out.broadcastable or len(fgraph.get_clients(variable)) > 1:
        return None
    return found[0]


@node_rewriter(elementwise(Mul))
def product_of_exps(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``exp(x) * exp(y) -> exp(x + y)``, where nothing else needs the exponentials, and both are as large as the result.

    Valid for floats of one dtype; the sum of large exponents rounds. It pays because one exponential is computed, and where one overflows and the
    other underflows.
    """
    if len(node.inputs) != 2:
        return None
    a, b = operands(node)
    if a is b or applied(Exp, a) is None:
        return None
    x, y = _exponent(fgraph, node, a), _exponent(fgraph, node, b)
    return None if x is None or y is None else instead_of(node, lt.exp(lt.add(x, y)))


@node_rewriter(elementwise(TrueDivide))
def quotient_of_exps(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``exp(x) / exp(y) -> exp(x - y)``, where nothing else needs the exponentials, and both are as large as the result.

    Valid for floats of one dtype; the difference of large exponents rounds. It pays because one exponential is computed, and where both overflow or
    underflow.
    """
    a, b = operands(node)
    if a is b or applied(Exp, a) is None:
        return None
    x, y = _exponent(fgraph, node, a), _exponent(fgraph, node, b)
    return None if x is None or y is None else instead_of(node, lt.exp(lt.sub(x, y)))


@node_rewriter(elementwise(Reciprocal))
def reciprocal_of_exp(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``1 / exp(x) -> exp(-x)``, where nothing else needs ``exp(x)``.

    Valid for floats. It pays because nothing is divided, and where the exponential loses digits before it underflows.
    """
    (a,) = operands(node)
    x = _exponent(fgraph, node, a)
    return None if x is None else instead_of(node, lt.exp(lt.neg(x)))


@node_rewriter(elementwise(Sqrt))
def sqrt_of_exp(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``sqrt(exp(x)) -> exp(x / 2)``, where nothing else needs ``exp(x)``.

    Valid for floats. It pays because no root is computed, and where the exponential overflows or underflows and the root does not.
    """
    (a,) = operands(node)
    x = _exponent(fgraph, node, a)
    return None if x is None else instead_of(node, lt.exp(lt.mul(x, 0.5)))
