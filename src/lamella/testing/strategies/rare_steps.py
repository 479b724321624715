"""Steps with Ops that are met more rarely: indexing by several arrays, accumulated products, recurrences, choices, checks."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from lamella.ir import (
    Assert,
    CheckMask,
    Gemm,
    Gemv,
    LinearRecurrence,
    OpFromGraph,
    TensorVariable,
    checkpoint,
    constant,
    grad,
    ifelse,
    lt,
)
from lamella.testing.strategies.pool import Pool, Step

__all__ = ["RARE_STEPS"]

Made = Sequence[TensorVariable]

_FUNCTIONS: Final = (
    *(lt.arccos, lt.arccosh, lt.arctanh, lt.digamma, lt.erfc, lt.erfcx, lt.log10, lt.log2, lt.rad2deg, lt.sinh),
    *(partial(lt.polygamma, 1), lt.identity, partial(lt.round, decimals=1)),
)
_BINARY_FUNCTIONS: Final = (lt.logaddexp2, lt.xlogy, lt.power, lt.isclose, lt.annihilating_mul, lt.power)
_SHIFTS: Final = (lt.left_shift, lt.right_shift)
_INTEGER_FUNCTIONS: Final = (*_SHIFTS, lt.bitwise_or, lt.bitwise_and, lt.bitwise_xor)
_BLAS_KINDS: Final = {"float32": "f", "float64": "f", "complex64": "c", "complex128": "c"}


def _function(pool: Pool) -> Made:
    return [pool.choose(_FUNCTIONS)(pool.pick("f"))]


def _binary(pool: Pool) -> Made:
    x = pool.pick("f")
    return [pool.choose(_BINARY_FUNCTIONS)(x, pool.like(x, "f"))]


def _of_integers(pool: Pool) -> Made:
    x = pool.pick("iu")
    function, y = pool.choose(_INTEGER_FUNCTIONS), pool.like(x, "iu")
    if function in _SHIFTS:
        y = lt.mod(y, 8)  # what a shift by more bits than there are gives is up to the processor
    return [function(x, y)]


def _bits(pool: Pool) -> Made:
    x = pool.pick("biu", min_dims=1)
    function = pool.choose([lt.bitwise_and_reduce, lt.bitwise_or_reduce, lt.bitwise_xor_reduce])
    return [function(x, axis=pool.choose([None, 0, -1]), keepdims=pool.flag())]


def _index_arrays(pool: Pool, shape: Sequence[int]) -> tuple[Any, ...] | None:
    """Return an index of two axes by arrays, with a slice before, between or after them; None where there are no such axes."""
    axes = [axis for axis, n in enumerate(shape) if n]
    if len(axes) < 2:
        return None
    first, second = pool.choose([(a, b) for a in axes for b in axes if a < b])
    count = pool.integer(0, 3)
    index: list[Any] = [slice(None, None, pool.choose([1, -1])) for _ in shape]
    for axis in (first, second):
        places = [pool.integer(-shape[axis], shape[axis] - 1) for _ in range(count)]
        index[axis] = constant(np.array(places, pool.choose(["int64", "int32"])))
    if pool.flag():
        index[first] = index[first].dimshuffle(0, "x")
    return tuple(index)


def _several_arrays(pool: Pool) -> Made:
    x = pool.pick(min_dims=2)
    index = _index_arrays(pool, pool.values[x].shape)
    if index is None:
        return []
    if pool.flag():
        return [x[index]]
    value = pool.pick(np.dtype(x.dtype).kind, max_dims=0)
    return [pool.choose([lt.set_subtensor, lt.inc_subtensor])(x[index], value)]


def _along_axis(pool: Pool) -> Made:
    x = pool.pick("biuf", min_dims=1, fits=lambda value: value.size > 0)
    if not pool.values[x].size:
        return []
    axis = pool.integer(0, x.ndim - 1)
    return [lt.take_along_axis(x, lt.argsort(x, axis=axis), axis)]


def _masked(pool: Pool) -> Made:
    x = pool.pick(min_dims=1)
    shape = pool.values[x].shape
    mask = pool.pick("b", shape=shape)
    if pool.flag():
        return [x[mask]]
    if pool.flag():
        return [CheckMask()(mask, *[x.shape[i] for i in range(x.ndim)])]
    return [pool.choose([lt.set_subtensor, lt.inc_subtensor])(x[mask], pool.choose([0, 1]))]


def _accumulated(pool: Pool) -> Made:
    x = pool.pick("fc", min_dims=2, max_dims=2)
    if x.dtype not in _BLAS_KINDS:
        return []
    n, k = pool.values[x].shape
    m = pool.integer(0, 3)

    def of_its_dtype(shape: Sequence[int]) -> TensorVariable:
        found = pool.pick(_BLAS_KINDS[x.dtype], shape=shape)
        narrower = np.result_type(found.dtype, x.dtype) != x.dtype
        return lt.cast(lt.real(found) if narrower else found, x.dtype)

    alpha, beta = [pool.choose([constant(np.array(c, x.dtype)) for c in (0, 1, 2, -0.5)]) for _ in range(2)]
    if pool.flag():
        alpha = of_its_dtype(())
    if pool.flag():
        return [Gemm()(of_its_dtype((n, m)), alpha, x, of_its_dtype((k, m)), beta)]
    return [Gemv()(of_its_dtype((n,)), alpha, x, of_its_dtype((k,)), beta)]


def _recurrence(pool: Pool) -> Made:
    x = pool.pick("f", min_dims=1)
    y = lt.cast(pool.pick("f", shape=pool.values[x].shape), x.dtype)
    return [LinearRecurrence(pool.integer(0, x.ndim - 1), pool.choose([0.0, 1.0]), pool.flag())(x, y)]


def _at_an_index(pool: Pool) -> Made:
    """Compute with elements at an index, and add what was computed at the same or another one: fusion makes one loop of it."""
    x = pool.pick("fiuc", min_dims=1, max_dims=1, fits=lambda value: value.size > 0)
    length = pool.values[x].size
    if not length:
        return []
    count = pool.choose([2, 5, 17, 300])
    first, *others = [constant(np.array([pool.integer(-length, length - 1) for _ in range(5)])) for _ in range(2)]
    spread = lt.mod(lt.arange(count) * 7 + first[0], length)
    index = pool.choose([first, spread])
    taken = lt.cast(x[index], x.dtype) * x[pool.choose([index, *others]) if index is first else index]
    made = [taken, lt.inc_subtensor(lt.zeros_like(x)[index], -taken if x.dtype[0] != "u" else taken)]
    return [*made, lt.inc_subtensor(x[index], taken), lt.sum(taken + taken)][pool.integer(0, 1) :]


def _unwritten(pool: Pool) -> Made:
    x = pool.pick(min_dims=1)
    return [lt.set_subtensor(lt.empty([x.shape[i] for i in range(x.ndim)], x.dtype)[...], x)]


def _unbroadcast(pool: Pool) -> Made:
    x = pool.pick(min_dims=1)
    ones = [axis for axis, n in enumerate(x.type.shape) if n == 1]
    return [lt.unbroadcast(x, [pool.choose(ones)])] if ones else []


def _number(pool: Pool) -> Made:
    """Compute with numbers that are no arrays."""
    x, y = [lt.scalar_from_tensor(pool.pick(max_dims=0)) for _ in range(2)]
    function = pool.choose([operator.add, operator.mul, operator.truediv, lambda a, b: a * b + a])
    return [lt.tensor_from_scalar(pool.choose([x, function(x, y)]))]


def _condition(pool: Pool) -> TensorVariable:
    return lt.any(lt.gt(pool.pick("biuf"), 0))


def _choice(pool: Pool) -> Made:
    x = pool.pick()
    y = pool.pick(np.dtype(x.dtype).kind, shape=pool.values[x].shape)
    return [ifelse(_condition(pool), x, y)] if y.dtype == x.dtype else []


def _check(pool: Pool) -> Made:
    x = pool.pick()
    return [Assert("never")(x, lt.ge(x.size, 0), lt.logical_or(_condition(pool), True))]


def _inner_graph(pool: Pool) -> Made:
    x = pool.pick()
    y = pool.like(x)
    a, b = x.type(), y.type()
    return list(OpFromGraph([a, b], pool.choose([[lt.add(a, b), a], [b, lt.second(a, b)], [a.T, a]]))(x, y))


def _recomputed(pool: Pool) -> Made:
    x = pool.pick_phase()
    if x is None:
        return []
    z = checkpoint(lambda v: lt.sin(v) * v)(x)
    return [z, grad(lt.sum(z * z), x)]


RARE_STEPS: Final[tuple[Step, ...]] = (
    *(_function, _function, _binary, _of_integers, _bits, _several_arrays, _along_axis, _masked, _accumulated),
    *(_recurrence, _at_an_index, _unwritten, _unbroadcast, _number, _choice, _check, _inner_graph, _recomputed),
)
"""What `DEFAULT_STEPS` has beside the steps that apply most Ops."""
