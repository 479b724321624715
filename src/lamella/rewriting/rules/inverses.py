"""Functions of their inverse functions.

    before                              after
    %0 = sinh(%x)                       %x
    %1 = arcsinh(%0)

Results are exact, where the plain forms round twice, and may overflow in between. So these change values on purpose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lamella.ir import (
    FLOAT_DTYPES,
    Apply,
    Arccosh,
    Arcsinh,
    Arctanh,
    Cosh,
    Elemwise,
    Exp2,
    FunctionGraph,
    Log2,
    Reciprocal,
    ScalarOp,
    Sinh,
    Tanh,
    TensorVariable,
    TrueDivide,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import applied, elementwise, instead_of, operands

__all__ = ["divide_by_reciprocal", "inverse_of_function", "reciprocal_of_divide", "reciprocal_of_reciprocal"]


def _where(inside: TensorVariable, value: TensorVariable) -> TensorVariable:
    return lt.switch(inside, value, np.nan)


_INVERSES: Final[dict[type[ScalarOp[Any]], tuple[type[ScalarOp[Any]], Callable[[TensorVariable], TensorVariable]]]] = {
    Arccosh: (Cosh, lt.abs),
    Arcsinh: (Sinh, lambda x: x),
    Arctanh: (Tanh, lambda x: x),
    Cosh: (Arccosh, lambda x: _where(lt.ge(x, 1), x)),
    Exp2: (Log2, lambda x: _where(lt.ge(x, 0), lt.abs(x))),
    Log2: (Exp2, lambda x: lt.add(x, 0.0)),
    Sinh: (Arcsinh, lambda x: x),
    Tanh: (Arctanh, lambda x: _where(lt.le(lt.abs(x), 1), x)),
}
"""For each function the one whose inverse it is, and what it then makes of x."""


def _float_of(node: Apply[Any], kind: type[ScalarOp[Any]]) -> tuple[TensorVariable, ...] | None:
    """Return what `kind` is applied to, if the only operand of a node is the result of that, of floats in the dtype of the node's result."""
    (y,) = operands(node)
    found = applied(kind, y)
    if found is None or y.dtype not in FLOAT_DTYPES or y.dtype != node.outputs[0].type.dtype:
        return None
    return tuple([lt.cast(x, y.dtype) for x in found])


@node_rewriter(elementwise(*_INVERSES))
def inverse_of_function(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``arcsinh(sinh(x)) -> x``, and ``sinh(arcsinh(x)) -> x``; likewise for other functions that are the inverse of one another.

    ``arctanh(tanh(x)) -> x``; ``arccosh(cosh(x)) -> abs(x)``; ``log2(exp2(x)) -> x + 0.0``; and where the inner one is not defined everywhere,
    ``tanh(arctanh(x)) -> switch(abs(x) <= 1, x, nan)``, and so for cosh of arccosh and exp2 of log2.

    Valid for floats; the result is exact. It pays because neither function is computed.
    """
    assert isinstance(node.op, Elemwise)
    kind, result = _INVERSES[type(node.op.scalar_op)]
    found = _float_of(node, kind)
    return None if found is None else instead_of(node, result(found[0]))


@node_rewriter(elementwise(Reciprocal))
def reciprocal_of_reciprocal(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``1 / (1 / x) -> x``

    Valid for floats; the result is exact. It pays because nothing is divided.
    """
    found = _float_of(node, Reciprocal)
    return None if found is None else instead_of(node, found[0])


@node_rewriter(elementwise(Reciprocal))
def reciprocal_of_divide(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``1 / (x / y) -> y / x``

    Valid for floats. It pays because one quotient is computed, which rounds once.
    """
    found = _float_of(node, TrueDivide)
    return None if found is None else instead_of(node, lt.true_divide(found[1], found[0]))


@node_rewriter(elementwise(TrueDivide))
def divide_by_reciprocal(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x / (1 / y) -> x * y``

    Valid for floats. It pays because nothing is divided, and the product rounds once.
    """
    x, z = operands(node)
    found = applied(Reciprocal, z)
    dtype = node.outputs[0].type.dtype
    if found is None or dtype not in FLOAT_DTYPES or z.dtype != dtype or x.dtype not in FLOAT_DTYPES:
        return None
    return instead_of(node, lt.mul(x, lt.cast(found[0], dtype)))
