"""Factors of products, plain or of cotangents, of which two make something better together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from lamella.ir import AnnihilatingMul, Apply, Elemwise, Mul, Neg, ScalarOp, TensorVariable, lt
from lamella.rewriting.rules.operands import applied, instead_of, operands

__all__ = ["product_with", "with_factors_replaced"]

_PRODUCTS: Final = (Mul, AnnihilatingMul)
_DEPTH: Final = 4

Combine = Callable[[TensorVariable, TensorVariable], TensorVariable | None]


def with_factors_replaced(
    node: Apply[Any], kind: type[ScalarOp[Any]] | tuple[type[ScalarOp[Any]], ...], combined: Combine
) -> list[TensorVariable] | None:
    """Return what replaces a product one of whose factors is f(x), if another makes something better with it.

    Parameters
    ----------
    node
        A product of two.
    kind
        The scalar Op f, or several: it is asked for first, since most factors are others.
    combined
        Returns, for another factor and f(x), what stands for their product, or None. The other factor may be inside a product of
        products, and either may be behind a minus sign; an `AnnihilatingMul` that the factors are taken from stays one.
    """
    if len(node.inputs) != 2:
        return None
    x, y = operands(node)
    assert isinstance(node.op, Elemwise)
    for factor, other in ((y, x), (x, y)) if isinstance(node.op.scalar_op, Mul) else ((y, x),):
        computed = factor.owner
        op = None if computed is None else computed.op
        if not isinstance(op, Elemwise) or op.inplace_pattern:
            continue
        if isinstance(op.scalar_op, kind):
            made = product_with(other, factor, combined, node.op)
            return None if made is None else instead_of(node, made)
        negated = applied(Neg, factor) if isinstance(op.scalar_op, Neg) else None
        if negated is not None and applied(kind, negated[0]):
            made = product_with(other, negated[0], combined, node.op)
            return None if made is None else instead_of(node, lt.neg(made))
    return None


def product_with(
    product: TensorVariable, factor: TensorVariable, combined: Combine, op: Elemwise[Any]
) -> TensorVariable | None:
    """Return the product of a product and a factor, with one of the former's factors combined with that one; None where there is none.

    Parameters
    ----------
    product, factor
        What is multiplied.
    combined
        See `with_factors_replaced`.
    op
        The product that multiplies them: `mul` or `annihilating_mul`.
    """
    path: list[tuple[Elemwise[Any], tuple[TensorVariable, ...]]] = []
    while True:
        whole = combined(product, factor)
        if whole is not None:
            break
        negated = applied(Neg, product)
        if negated is not None and len(path) < _DEPTH:
            path.append((lt.neg, ()))
            (product,) = negated
            continue
        found = applied(_PRODUCTS, product)
        if found is None or len(found) != 2 or len(path) == _DEPTH or product.owner is None:
            return None
        inner = product.owner.op
        assert isinstance(inner, Elemwise)
        g, slope = found
        whole = combined(slope, factor)
        negated = applied(Neg, slope) if whole is None else None
        if negated is not None:
            whole = combined(negated[0], factor)
            whole = None if whole is None else lt.neg(whole)
        if whole is not None:
            annihilating = isinstance(inner.scalar_op, AnnihilatingMul) or isinstance(op.scalar_op, AnnihilatingMul)
            outer = inner if isinstance(inner.scalar_op, AnnihilatingMul) or not annihilating else op
            whole = outer(g, whole)
            break
        path.append((inner, (slope,)))
        product = g
    for step, slopes in reversed(path):
        whole = step(whole, *slopes)
    return whole
