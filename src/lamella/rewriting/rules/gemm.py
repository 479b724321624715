"""Products of matrices that are scaled and added to something: one call of the BLAS, which adds while it multiplies.

before                      after
%0 = Dot(%x, %y)            %0 = Gemm(%z, 0.5, %x, %y, 2.0)
%1 = Mul(0.5, %0)
%2 = Mul(2.0, %z)
%3 = Add(%1, %2)
"""

from __future__ import annotations

from typing import Any, Final, final

import attrs

from lamella.ir import (
    Add,
    Apply,
    CAReduce,
    DimShuffle,
    Dot,
    Elemwise,
    FunctionGraph,
    Gemm,
    Gemv,
    Mul,
    Neg,
    Sub,
    TensorConstant,
    TensorVariable,
    constant,
    lt,
)
from lamella.rewriting.engine import in2out, node_rewriter
from lamella.rewriting.rules.fitting import fitted
from lamella.rewriting.rules.operands import applied, elementwise, operands

__all__ = ["dot_plus_scaled", "gemm"]

_DTYPES: Final = ("float32", "float64")


@node_rewriter(elementwise(Add, Sub))
def dot_plus_scaled(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``alpha * dot(x, y) + beta * z -> gemm(z, alpha, x, y, beta)``; the same with a difference, and ``gemv`` for a vector.

    Valid for numbers alpha and beta, and z of the product's shape. Floats are added up in another order. It pays because the product is not
    written and read again; where elementwise operations or a reduction follow, they do so in one pass with the sum, and nothing is gained.
    """
    (out,) = node.outputs
    if len(node.inputs) != 2 or out.type.dtype not in _DTYPES or out.type.ndim not in (1, 2):
        return None
    if not any([_may_be_product(v.owner) for v in node.inputs]):
        return None
    if any([v.dtype != out.type.dtype for v in operands(node)]):
        return None
    if any([variable.type.dtype != out.type.dtype for variable in node.inputs]):
        return None
    clients = fgraph.get_clients(out)
    if clients and all([client is not None and isinstance(client.op, Elemwise | CAReduce) for client, _ in clients]):
        return None
    terms = [_scaled(v) for v in operands(node)]
    if isinstance(op := node.op, Elemwise) and isinstance(op.scalar_op, Sub):
        terms[1] = terms[1].negated()
    for product, kept in (terms, terms[::-1]):
        made = _accumulated(fgraph, product, kept, out)
        if made is not None:
            return fitted(made, out)
    return None


gemm: Final = in2out(dot_plus_scaled, name="gemm")
"""`dot_plus_scaled`, from the inputs to the outputs."""


def _may_be_product(node: Apply[Any] | None) -> bool:
    """Whether a term is a product of matrices, or that with a factor or a sign: what tells soonest that there is none."""
    if node is None:
        return False
    if isinstance(node.op, Elemwise):
        return any([v.owner is not None and isinstance(v.owner.op, Dot) for v in node.inputs])
    return isinstance(node.op, Dot)


@final
@attrs.frozen
class _Term:
    """A term of a sum, ``factor * array``, and what it is in the graph."""

    factor: TensorVariable
    array: TensorVariable
    whole: TensorVariable

    def negated(self) -> _Term:
        """Return the term with the opposite sign."""
        opposite = _opposite(self.factor)
        return _Term(opposite, self.array, self.whole)


def _opposite(factor: TensorVariable) -> TensorVariable:
    return constant(-factor.data) if isinstance(factor, TensorConstant) else lt.neg(factor)


def _scaled(variable: TensorVariable) -> _Term:
    """Return a term of a sum."""
    one = constant(1, dtype=variable.dtype)
    negated = applied(Neg, variable)
    if negated is not None:
        return _Term(_opposite(one), negated[0], variable)
    return _scaled_by_number(variable) or _Term(one, variable, variable)


def _scaled_by_number(variable: TensorVariable) -> _Term | None:
    factors = applied(Mul, variable)
    if factors is None or len(factors) != 2:
        return None
    for factor, array in (factors, factors[::-1]):
        if all(factor.type.broadcastable) and array.type.broadcastable == variable.type.broadcastable:
            if array.dtype != variable.dtype or not _is_cast_exactly(factor, variable.dtype):
                return None
            return _Term(lt.cast(_number(factor), variable.dtype), array, variable)
    return None


def _is_cast_exactly(factor: TensorVariable, dtype: str) -> bool:
    """Whether the product of a factor and an array of `dtype` is computed with the factor as it is cast to `dtype`."""
    return factor.dtype == dtype or (factor.dtype != "float64" and not factor.dtype.startswith("complex"))


def _number(factor: TensorVariable) -> TensorVariable:
    """Return a factor without the axes of length 1 that it broadcasts along."""
    if isinstance(factor, TensorConstant):
        return constant(factor.data.reshape(()))
    match factor.owner:
        case Apply(DimShuffle(), (TensorVariable(ndim=0) as scalar,)):
            return scalar
        case _:
            return lt.dimshuffle(factor, [])


def _accumulated(fgraph: FunctionGraph, product: _Term, kept: _Term, out: Any) -> TensorVariable | None:
    """Return the sum of two terms, of which the first is a product that only this sum needs."""
    match product.array.owner:
        case Apply(Dot(), (TensorVariable() as x, TensorVariable() as y)):
            pass
        case _:
            return None
    if any([len(fgraph.get_clients(v)) > 1 for v in (product.array, product.whole)]):
        return None
    z = kept.array
    if not all([v.type.broadcastable == out.type.broadcastable for v in (z, product.array)]):
        return None
    if any([v.dtype != out.type.dtype for v in (z, x, y)]):
        return None
    if z.ndim == 2:
        return Gemm()(z, product.factor, x, y, kept.factor)
    if x.ndim == 2:
        return Gemv()(z, product.factor, x, y, kept.factor)
    return Gemv()(z, product.factor, y.T, x, kept.factor)
