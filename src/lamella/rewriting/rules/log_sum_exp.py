"""Sums of exponentials: their logarithms, and exponentials divided by them.

    before                              after
    %0 = exp(%x)                        %3 = Softmax{axis=(1,)}(%x)
    %1 = Sum{axis=(1,)}(%0)
    %2 = dimshuffle(%1, 0, x)
    %3 = true_divide(%0, %2)

The Ops on the right overflow and underflow nowhere where the result does not. So these change values on purpose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any, Final

import numpy as np

from lamella.ir import (
    FLOAT_DTYPES,
    Add,
    AnnihilatingMul,
    Apply,
    DimShuffle,
    Exp,
    FunctionGraph,
    Log,
    Log1p,
    LogSoftmax,
    LogSumExp,
    Mul,
    Neg,
    Reciprocal,
    Softmax,
    Sub,
    Sum,
    TensorVariable,
    TrueDivide,
    Variable,
    as_tensor_variable,
    constant,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import applied, elementwise, instead_of, number, operands
from lamella.rewriting.rules.products import with_factors_replaced

__all__ = [
    "exp_by_exps",
    "exp_by_sum_of_exp",
    "exp_of_log_softmax",
    "exp_times_reciprocal_of_exps",
    "exp_times_reciprocal_of_sum",
    "keeps",
    "log1p_of_two_exps",
    "log_of_softmax",
    "log_of_sum_of_exp",
    "log_of_two_exps",
    "x_minus_log_sum_exp",
]


_MOST_TERMS: Final = 8


def _exponent(variable: Variable[Any]) -> TensorVariable | None:
    """Return x, if the Variable is ``exp(x)`` of floats x of its dtype."""
    found = applied(Exp, variable)
    return found[0] if found and found[0].dtype in FLOAT_DTYPES else None


def _summed_exponent(variable: Variable[Any]) -> tuple[TensorVariable, tuple[int, ...]] | None:
    """Return x and the axes, if the Variable is ``sum(exp(x))`` along axes, in the dtype of x."""
    node = variable.owner
    if node is None or not isinstance(node.op, Sum):
        return None
    x = _exponent(node.inputs[0])
    return (x, node.op.axes) if x is not None and x.dtype == variable.type.dtype else None


def keeps(node: Apply[Any], axes: Sequence[int]) -> bool:
    """Whether a `DimShuffle` puts back, with length 1, the axes that a reduction took away, and does nothing else."""
    assert isinstance(node.op, DimShuffle)
    kept = iter(range(node.op.input_ndim))
    order = node.op.new_order
    return not node.op.dropped and order == tuple(["x" if i in axes else next(kept, -1) for i in range(len(order))])


@node_rewriter(elementwise(Log))
def log_of_two_exps(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log(exp(x) + exp(y)) -> logaddexp(x, y)``; ``log(c + exp(x)) -> logaddexp(x, log(c))``, for a number c > 0; so too for more terms, in sums of sums.

    Valid for floats. It pays where an exponential overflows or underflows. ``log(1 + exp(x))`` is left to `log_of_one_plus`.
    """
    found = _exponents_and_number(node.inputs[0])
    if found is None or (found[1] == 1 and len(found[0]) == 1):
        return None
    total = reduce(_logaddexp, found[0])
    if found[1] == 1:
        return instead_of(node, lt.softplus(total))
    return instead_of(node, lt.logaddexp(total, math.log(found[1])) if found[1] else total)


def _exponents_and_number(variable: Variable[Any]) -> tuple[list[TensorVariable], float] | None:
    """Return x, y, ... and c, for ``exp(x) + exp(y) + ... + c``, of at least one exponential and two terms, where c is 0 or more."""
    terms = _terms(variable)
    exponents: list[TensorVariable] = []
    added = 0.0
    for term in terms:
        x = _exponent(term)
        if x is not None:
            exponents.append(x)
            continue
        known = number(term)
        if known is None or isinstance(known, complex) or not 0 < known < math.inf:
            return None
        added += known
    return None if not exponents or len(terms) < 2 else (exponents, added)


@node_rewriter(elementwise(Log1p))
def log1p_of_two_exps(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log1p(exp(x) + exp(y)) -> softplus(logaddexp(x, y))``; so too for more terms, in sums of sums.

    Valid for floats. It pays where an exponential overflows.
    """
    exponents = [_exponent(term) for term in _terms(node.inputs[0])]
    known = [x for x in exponents if x is not None]
    if len(known) < 2 or len(known) < len(exponents):
        return None
    return instead_of(node, lt.softplus(reduce(_logaddexp, known)))


def _logaddexp(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    return lt.logaddexp(x, y)


def _terms(variable: Variable[Any]) -> list[TensorVariable]:
    """Return what is added up in a Variable, in sums of sums, of one dtype; a few terms at most."""
    found: list[TensorVariable] = []
    left: list[Variable[Any]] = [variable]
    while left and len(left) + len(found) <= _MOST_TERMS:
        term = left.pop()
        added = applied(Add, term)
        if added is not None and all([v.dtype == term.type.dtype for v in added]):
            left.extend(reversed(added))
        else:
            found.append(as_tensor_variable(term))
    return [] if left else found


@node_rewriter(elementwise(Log))
def log_of_sum_of_exp(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log(sum(exp(x), axes)) -> logsumexp(x, axes)``, be the axes kept or not.

    Valid for floats. It pays where exponentials overflow or underflow.
    """
    (total,) = operands(node)
    moved = total.owner if total.owner is not None and isinstance(total.owner.op, DimShuffle) else None
    found = _summed_exponent(total if moved is None else moved.inputs[0])
    if found is None:
        return None
    x, axes = found
    reduced = LogSumExp(axes)(x)
    return instead_of(node, reduced if moved is None else moved.op(reduced))


def _sum_with_kept_axes(variable: Variable[Any]) -> tuple[TensorVariable, tuple[int, ...]] | None:
    """Return x and the axes, if the Variable is ``sum(exp(x), axes, keepdims=True)``."""
    node = variable.owner
    if node is None or not isinstance(node.op, DimShuffle):
        return None
    found = _summed_exponent(node.inputs[0])
    return found if found is not None and keeps(node, found[1]) else None


@node_rewriter(elementwise(TrueDivide))
def exp_by_sum_of_exp(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``exp(x) / sum(exp(x), axes, keepdims=True) -> softmax(x, axes)``

    Valid for floats. It pays where exponentials overflow or all underflow, and because one pass is made.
    """
    x = _exponent(node.inputs[0])
    found = None if x is None else _sum_with_kept_axes(node.inputs[1])
    return instead_of(node, Softmax(found[1])(x)) if found and x is not None and found[0] is x else None


def _divided_by_sum(
    variable: TensorVariable,
) -> tuple[TensorVariable, tuple[int, ...], TensorVariable | None] | None:
    """Return x, the axes and g (or None), if the Variable is ``g / sum(exp(x), axes, keepdims=True)``; axes may be put back before or after."""
    node = variable.owner
    if node is None:
        return None
    moved = node if isinstance(node.op, DimShuffle) else None
    inner = variable if moved is None else as_tensor_variable(moved.inputs[0])
    product = applied((AnnihilatingMul, Mul), inner) or ()
    g, inner = product if len(product) == 2 else (None, inner)
    reciprocal = applied(Reciprocal, inner)
    if reciprocal is None:
        return None
    if moved is None:
        found = _sum_with_kept_axes(reciprocal[0])
        return None if found is None else (*found, g)
    found = _summed_exponent(reciprocal[0])
    if found is None or not keeps(moved, found[1]):
        return None
    return (*found, None if g is None else as_tensor_variable(moved.op(g)))


@node_rewriter(elementwise(Mul, AnnihilatingMul), tracks_inputs=elementwise(Exp, Neg))
def exp_times_reciprocal_of_sum(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``g / sum(exp(x), axes, keepdims=True) * exp(x) -> g * softmax(x, axes)``, with or without g, which may itself be a product.

    Valid for floats. It pays where exponentials overflow or all underflow, as in derivatives of ``log(sum(exp(x)))``.
    """

    def combined(other: TensorVariable, exponential: TensorVariable) -> TensorVariable | None:
        x = _exponent(exponential)
        found = None if x is None else _divided_by_sum(other)
        if found is None or found[0] is not x:
            return None
        weights = Softmax(found[1])(found[0])
        return weights if found[2] is None else lt.annihilating_mul(found[2], weights)

    return with_factors_replaced(node, Exp, combined)


@node_rewriter(elementwise(TrueDivide))
def exp_by_exps(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``exp(x) / (exp(x) + exp(y) + c) -> 1 / (1 + exp(y - x) + c * exp(-x))``, for a number c > 0; so too for more terms or fewer, in sums of sums.

    Valid for floats. It pays where an exponential overflows or all underflow.
    """
    x = _exponent(node.inputs[0])
    share = None if x is None else _share(x, node.inputs[1])
    return None if share is None else instead_of(node, share)


@node_rewriter(elementwise(Mul, AnnihilatingMul), tracks_inputs=elementwise(Exp, Neg))
def exp_times_reciprocal_of_exps(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``g * (1 / (exp(x) + exp(y) + c)) * exp(x) -> g * (1 / (1 + exp(y - x) + c * exp(-x)))``, with or without g; see `exp_by_exps`.

    Valid for floats. It pays where an exponential overflows or all underflow, as in derivatives of ``log(1 + exp(x) + exp(y))``.
    """

    def combined(other: TensorVariable, exponential: TensorVariable) -> TensorVariable | None:
        x, reciprocal = _exponent(exponential), applied(Reciprocal, other)
        return None if x is None or reciprocal is None else _share(x, reciprocal[0])

    return with_factors_replaced(node, Exp, combined)


def _share(x: TensorVariable, variable: Variable[Any]) -> TensorVariable | None:
    """Return ``exp(x)`` divided by a sum of at least one exponential and other exponentials or positive numbers, all of the dtype of x.

    Where x is -inf, its share is 0 if any other term is not. Among several, ``y - x`` of a y that is -inf too is not to be NaN: what is
    subtracted is the lowest number at least, and what x itself adds is 1 or, there, 0.
    """
    if applied(Add, variable) is None:
        return None
    found = _exponents_and_number(variable)
    if found is None or any([exponent.dtype != x.dtype for exponent in found[0]]):
        return None
    exponents, added = found
    others = [exponent for exponent in exponents if exponent is not x]
    ones = len(exponents) - len(others)
    several = len(others) + (added > 0) > 1
    shift = lt.maximum(x, constant(np.finfo(x.dtype).min, dtype=x.dtype)) if several else x
    own = lt.cast(lt.neq(x, -math.inf), x.dtype) if several and not added else None
    total: list[TensorVariable] = []
    if ones:
        total.append(constant(ones, dtype=x.dtype) if own is None else lt.mul(ones, own))
    total += [lt.exp(lt.sub(exponent, shift)) for exponent in others]
    if added:
        total.append(lt.mul(added, lt.exp(lt.neg(shift))))
    whole = reduce(_add, total)
    return lt.reciprocal(whole) if own is None else lt.true_divide(own, whole)


def _add(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    return lt.add(x, y)


@node_rewriter(elementwise(Log))
def log_of_softmax(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log(softmax(x, axes)) -> log_softmax(x, axes)``

    Valid for floats. It pays where the softmax underflows.
    """
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Softmax):
        return None
    return instead_of(node, LogSoftmax(inner.op.axes)(as_tensor_variable(inner.inputs[0])))


@node_rewriter(elementwise(Exp))
def exp_of_log_softmax(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``exp(log_softmax(x, axes)) -> softmax(x, axes)``, where nothing else needs ``log_softmax(x, axes)``.

    Valid for floats. It pays because one pass is made, without logarithms, whose rounding errors the exponential multiplies.
    """
    y = node.inputs[0]
    inner = y.owner
    if inner is None or not isinstance(inner.op, LogSoftmax) or len(fgraph.get_clients(y)) > 1:
        return None
    return instead_of(node, Softmax(inner.op.axes)(as_tensor_variable(inner.inputs[0])))


@node_rewriter(elementwise(Sub))
def x_minus_log_sum_exp(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x - logsumexp(x, axes, keepdims=True) -> log_softmax(x, axes)``

    Valid for floats. It pays because one pass is made, and because large numbers of x cancel before digits are lost.
    """
    x, y = operands(node)
    moved = y.owner
    if moved is None or not isinstance(moved.op, DimShuffle):
        return None
    inner = moved.inputs[0].owner
    if inner is None or not isinstance(inner.op, LogSumExp) or inner.inputs[0] is not x:
        return None
    return instead_of(node, LogSoftmax(inner.op.axes)(x)) if keeps(moved, inner.op.axes) else None
