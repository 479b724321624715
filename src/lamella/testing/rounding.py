"""How far rounding may move the results of a graph: runs of the interpreter in which every rounded number is moved a little."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt

from lamella.ir import (
    Add,
    BatchedDot,
    Cosh,
    CumOp,
    Dot,
    Elemwise,
    Erf,
    Erfc,
    Exp,
    Exp2,
    Expm1,
    FunctionGraph,
    GammaLn,
    Gemm,
    Gemv,
    LinearRecurrence,
    LogSoftmax,
    LogSumExp,
    Mul,
    Op,
    Power,
    Prod,
    ScalarOp,
    Sigmoid,
    Sinh,
    Softmax,
    Square,
    Sub,
    Sum,
    Tanh,
    Variable,
    interpret,
    perform_node,
)

__all__ = ["rounding_errors"]

Array = npt.NDArray[Any]

_ACCUMULATING: tuple[type[Op[Any, Any]], ...] = (
    *(BatchedDot, CumOp, Dot, Gemm, Gemv, LinearRecurrence),
    *(LogSoftmax, LogSumExp, Prod, Softmax, Sum),
)

_SATURATING = (Erf, Erfc, Exp, Expm1, Sigmoid, Tanh)
_OVERFLOWING = (Add, Cosh, Erfc, Exp, Exp2, Expm1, Mul, Power, Sinh, Square, Sub)

_SMALLEST = 5e-324

# Parts of `ulps`: moved by one amount only, a number alone would be seen at two places, and its sine might be the same there.
_AMOUNTS = np.array([-1.0, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.0])

_MATRIX_PRODUCTS: tuple[type[Op[Any, Any]], ...] = (BatchedDot, Dot, Gemm, Gemv)
_SUMS_OF_PRODUCTS: tuple[type[Op[Any, Any]], ...] = (*_MATRIX_PRODUCTS, Prod)


@final
@attrs.frozen
class _Moves:
    """How far numbers are moved, and which: see `rounding_errors`."""

    ulps: float
    short: bool
    overflows: bool
    nan: bool  # what becomes of numbers of which nothing is known
    rounded: bool | npt.NDArray[np.bool_]  # numbers with few digits are rounded too, but for 0
    least_size: float  # what is smaller is moved as far
    direction: float  # all of that up or down; 0 for a part of it at random


def rounding_errors(
    graph: FunctionGraph,
    values: Sequence[Any],
    max_ulps: float = 4.0,
    runs: int = 8,
    seed: int = 0,
    short: bool = False,
    overflows: bool = False,
) -> list[npt.NDArray[np.float64] | None]:
    """Estimate by how much the outputs of a graph may change where its intermediate results are rounded in another way.

    The graph is run several times; each time every floating-point number that a node computes is moved, once all of them up, once down, then
    at random, by `max_ulps` units in the last place or a part of that, and so is, at random, what goes into sums and products of many
    numbers, whose order is not fixed (and in other orders, where parts of them overflow or vanish). This is Monte Carlo arithmetic, as in
    the reference.

    Numbers with few digits (0.5, 3.0, 1e3) are what they are with any rounding, and stay, but for those that an exponential, or a sum that
    was rounded, gives for what is next to them (``sigmoid(40)`` and ``1 + 1e-20`` are 1), of which a rewrite may keep the difference
    (``log(sigmoid(x)) -> log_sigmoid(x)``).

    A sum, product, power or exponential of finite numbers that is too large for its dtype is, for what is computed of it, any large number, and
    one that is too small any small one: a stable form (``log1p(exp(x)) -> softplus(x)``) goes another way.

    A logarithm of the gamma function, between 0 and 1, is moved as far as 1 is: next to its zeros it is what is left of larger numbers
    (SciPy's is 200 units in the last place off at 1.99).

    A NaN that was computed gets a sign at random: which one it has depends on the order of operands and the processor, in NumPy too (inf - inf is
    negative on some, and NaN + NaN is one of the two), and on which operations became one.

    A zero of a product of matrices gets a sign at random too: a BLAS begins its sums with 0 or with the first product, -0 perhaps, as the
    shape and the layout have it.

    A complex number of which a part is infinite or NaN, computed by a product of matrices or `Prod`, is any number: its parts are sums and differences of
    the same infinite numbers (inf - inf is NaN, and so is 0 * inf), and which of them meet first depends on the BLAS, the processor, and
    the shape and layout of the arrays, in NumPy too. Nothing is known of what is computed from it.

    Parameters
    ----------
    graph
        The graph.
    values
        Values of its inputs.
    max_ulps
        By how much each number is moved.
    runs
        How many runs.
    seed
        Of the random signs.
    short
        Also move numbers with few digits, which may be what is left of others.
    overflows
        Also move infinities, to the largest number, so that what may have overflowed changes a lot.

    Returns
    -------
    list
        For each output an array of its shape: the largest change that was seen of each element, infinite where it became NaN or
        infinite, or was no more, and the smallest number where it was a zero of the other sign; None for outputs that are no arrays of
        numbers.

    References
    ----------
    D. S. Parker, B. Pierce, P. R. Eggert, "Monte Carlo arithmetic: how to gamble with floating point and win", Computing in
    Science and Engineering 2(4), 2000.
    """
    with np.errstate(all="ignore"):
        exact = interpret(graph.inputs, graph.outputs, [_private(v) for v in values])
    largest: list[npt.NDArray[np.float64] | None] = [
        np.zeros(x.shape) if isinstance(x, np.ndarray) and x.dtype.kind in "biufc" else None for x in exact
    ]
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        # At random, two moves may cancel out in every run; of many elements there are some for which they do.
        direction = {0: 1.0, 1: -1.0}.get(run, 0.0)
        moves = _Moves(max_ulps, short, overflows, run % 2 == 0, False, 0.0, direction)
        for i, (moved, x) in enumerate(zip(_moved_run(graph, values, moves, rng), exact, strict=True)):
            seen = largest[i]
            if seen is not None:
                changed = _change(moved, x) if isinstance(moved, np.ndarray) and moved.shape == x.shape else np.inf
                largest[i] = np.maximum(seen, changed)
    return largest


def _private(value: Any) -> Any:
    return np.array(value) if isinstance(value, np.ndarray) else value


def _moved_run(graph: FunctionGraph, values: Sequence[Any], moves: _Moves, rng: np.random.Generator) -> list[Any]:
    computed: dict[Variable[Any], Any] = dict(zip(graph.inputs, [_private(v) for v in values], strict=True))
    within: dict[Variable[Any], Array] = {}  # results without what is too large or too small for their dtype

    def value_of(variable: Variable[Any]) -> Any:
        return computed[variable] if variable in computed else variable.stored_value()

    for node in graph.order:
        given = [value_of(v) for v in node.inputs]
        given = [
            _mixed(x, within[v], moves, rng) if v in within else x for v, x in zip(node.inputs, given, strict=True)
        ]
        if isinstance(node.op, _ACCUMULATING):
            given = [_moved(x, attrs.evolve(moves, direction=0.0), rng) for x in given]
        if isinstance(node.op, Prod | Sum):
            given = [_in_another_order(node.op, given[0], moves, rng)]
        try:
            results = perform_node(node, given)
        except Exception:  # noqa: BLE001  # moved numbers may be what no Op accepts: then nothing is known of what follows
            return [None] * len(graph.outputs)
        if isinstance(node.op, _SUMS_OF_PRODUCTS):
            results = [_unknown_where_not_finite(x, moves) for x in results]
        if isinstance(node.op, _MATRIX_PRODUCTS):
            results = [_zeros_of_any_sign(x, moves, rng) for x in results]
        function = node.op.scalar_op if isinstance(node.op, Elemwise) else None
        here = moves
        if function is not None:
            least_size = 1.0 if isinstance(function, GammaLn) else 0.0
            here = attrs.evolve(moves, rounded=_was_rounded(function, given, results[0]), least_size=least_size)
        elif isinstance(node.op, LogSoftmax | LogSumExp | Softmax):
            here = attrs.evolve(moves, rounded=True)
        views = node.op.view_map
        for i, (variable, result) in enumerate(zip(node.outputs, results, strict=True)):
            if variable not in computed:
                computed[variable] = result if i in views else _moved(result, here, rng)
            if isinstance(function, _OVERFLOWING):
                within[variable] = _within_range(function, given, computed[variable])
    return [value_of(v) for v in graph.outputs]


def _was_rounded(function: ScalarOp[Any], given: Sequence[Array], result: Array) -> bool | npt.NDArray[np.bool_]:
    """Return where a number with few digits may be what an elementwise function rounded to it."""
    if isinstance(function, _SATURATING):
        return True
    if not isinstance(function, Add | Sub) or len(given) != 2 or result.dtype.kind != "f":
        return False
    x, y = [np.asarray(operand, result.dtype) for operand in given]
    y = y if isinstance(function, Add) else -y
    with np.errstate(all="ignore"):
        of_y = result - x
        lost = (x - (result - of_y)) + (y - of_y)  # the error of the sum, exactly, by Knuth
    # The sign of a zero is lost too.
    return np.asarray((lost != 0) | ((x == 0) & np.signbit(x)) | ((y == 0) & np.signbit(y)), bool)


def _within_range(function: ScalarOp[Any], given: Sequence[Array], result: Array) -> Array:
    """Return a result with the largest number of its dtype where it overflowed, and the smallest where it vanished."""
    if result.dtype.kind != "f":
        return result
    limits = np.finfo(result.dtype)
    bounded = np.clip(result, limits.min, limits.max)
    if not isinstance(function, Add | Sub):  # a sum that is 0 is exact
        bounded = np.where(result == 0, np.copysign(limits.smallest_subnormal, result), bounded)
    return np.where(reduce(np.logical_and, [np.isfinite(x) & (x != 0) for x in given]), bounded, result)


def _mixed(value: Array, other: Array, moves: _Moves, rng: np.random.Generator) -> Array:
    """Return elements of one array or the other: all of one, all of the other, or any at random."""
    if moves.direction:
        return other if moves.direction > 0 else value
    return np.where(rng.integers(0, 2, value.shape), other, value)


def _unknown_where_not_finite(value: Any, moves: _Moves) -> Any:
    if not isinstance(value, np.ndarray) or value.dtype.kind != "c":
        return value
    unknown = complex(np.nan, np.nan) if moves.nan else 0
    return np.where(np.isfinite(value), value, np.asarray(unknown, value.dtype))


def _in_another_order(op: Prod | Sum, value: Array, moves: _Moves, rng: np.random.Generator) -> Array:
    """Return an array in another order along the axes that are reduced: parts of sums and products may overflow or vanish."""
    for axis in range(value.ndim) if op.axis is None else op.axis:
        if moves.direction:  # the least first, or the greatest: that is where parts go furthest
            keys = np.abs(value) if isinstance(op, Prod) else value
            order = np.argsort(keys, axis)
            value = np.take_along_axis(value, order if moves.direction > 0 else np.flip(order, axis), axis)
        else:
            value = rng.permutation(value, axis)
    return value


def _zeros_of_any_sign(value: Any, moves: _Moves, rng: np.random.Generator) -> Any:
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc":
        return value
    if value.dtype.kind == "c":
        signed = np.empty(value.shape, value.dtype)
        signed.real, signed.imag = [_zeros_of_any_sign(part, moves, rng) for part in (value.real, value.imag)]
        return signed
    signs = np.asarray(moves.direction or rng.choice(_AMOUNTS, value.shape), value.dtype)
    return np.where(value == 0, np.copysign(value, signs), value)


def _moved(value: Any, moves: _Moves, rng: np.random.Generator) -> Any:
    if isinstance(value, np.generic):
        return _moved(np.asarray(value), moves, rng)[()]
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc":
        return value
    if value.dtype.kind == "c":
        moved = np.empty(value.shape, value.dtype)
        moved.real, moved.imag = [_moved(part, moves, rng) for part in (value.real, value.imag)]
        return moved
    largest = np.finfo(value.dtype).max
    with np.errstate(all="ignore"):
        mantissa, _ = np.frexp(value)
        few = np.ldexp(mantissa, (np.finfo(value.dtype).nmant + 1) // 2)
        long = np.isfinite(value) & ((few != np.rint(few)) | moves.short | (moves.rounded & (value != 0)))
        signs = moves.direction or rng.choice(_AMOUNTS, value.shape)
        spacing = np.maximum(np.spacing(np.abs(value)), np.spacing(value.dtype.type(moves.least_size)))
        step = np.where(long, np.copysign(spacing, value), 0) * (moves.ulps * signs)
        base = np.clip(value, -largest, largest) if moves.overflows and rng.integers(0, 2) else value
        # What stays keeps the sign of a zero, too.
        moved = np.where(long, base + step.astype(value.dtype), base).astype(value.dtype)
        signed_nan = np.copysign(moved, np.asarray(signs, value.dtype))
        return np.where(np.isnan(moved), signed_nan, moved)


def _change(moved: Array, exact: Array) -> npt.NDArray[np.float64]:
    if exact.dtype.kind == "c":
        return np.maximum(_change(moved.real, exact.real), _change(moved.imag, exact.imag))
    with np.errstate(all="ignore"):
        difference = np.abs(moved.astype(np.float64) - exact.astype(np.float64))
    same = (moved == exact) | (np.isnan(moved) & np.isnan(exact))
    of_equal = np.where((exact == 0) & (np.copysign(1, moved) != np.copysign(1, exact)), _SMALLEST, 0.0)
    return np.where(same, of_equal, np.where(np.isfinite(difference), difference, np.inf))
