"""The error function and its complement, each where the other is near 1."""

from __future__ import annotations

from typing import Any

from lamella.ir import FLOAT_DTYPES, Add, Apply, Erf, Erfc, FunctionGraph, Sub, TensorVariable, lt
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import applied, elementwise, instead_of, is_number, operands, with_number

__all__ = ["one_minus_erf", "one_plus_erf"]


@node_rewriter(elementwise(Sub))
def one_minus_erf(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``1 - erf(x) -> erfc(x)``, and ``1 - erfc(x) -> erf(x)``

    Valid for floats. It pays where the difference loses digits, and because less is computed.
    """
    one, y = operands(node)
    if y.dtype not in FLOAT_DTYPES or node.outputs[0].type.dtype != y.dtype or not is_number(one, 1):
        return None
    found = applied(Erf, y)
    if found is not None:
        return instead_of(node, lt.erfc(found[0]))
    found = applied(Erfc, y)
    return None if found is None else instead_of(node, lt.erf(found[0]))


@node_rewriter(elementwise(Add))
def one_plus_erf(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``1 + erf(x) -> erfc(-x)``

    Valid for floats. It pays where x is far below 0 and the sum loses digits, and because less is computed.
    """
    known = with_number(node)
    if known is None or known[0] != 1 or known[2].dtype not in FLOAT_DTYPES:
        return None
    found = applied(Erf, known[2])
    if found is None or node.outputs[0].type.dtype != known[2].dtype:
        return None
    return instead_of(node, lt.erfc(lt.neg(lt.cast(found[0], known[2].dtype))))
