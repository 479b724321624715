"""The steps of which random graphs are made; together they apply every kind of tensor Op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lamella.ir import TensorVariable, constant, deep_copy_op, grad, grad_clip, lt, view_op
from lamella.testing.strategies.pool import Pool, Step
from lamella.testing.strategies.rare_steps import RARE_STEPS

__all__ = ["DEFAULT_STEPS"]

Array = npt.NDArray[Any]
Made = Sequence[TensorVariable]

_FLOAT_FUNCTIONS: Final = (
    *(lt.exp, lt.expm1, lt.log1p, lt.sin, lt.cos, lt.tanh, lt.arctan, lt.sigmoid, lt.softplus, lt.log_sigmoid),
    *(lt.sqrt, lt.log, lt.erf, lt.arcsinh, lt.reciprocal, lt.exp2, lt.gammaln, lt.tan, lt.arcsin, lt.cosh, lt.log1mexp),
)
_PERIODIC: Final = (lt.sin, lt.cos, lt.tan)
_NUMBER_FUNCTIONS: Final = (
    *(lt.neg, lt.abs, lt.square, lt.sign, lt.floor, lt.ceil, lt.trunc, lt.rint, lt.signbit, lt.isnan, lt.isfinite),
    *(lt.logical_not, lt.bitwise_not, lt.conj, lt.real, lt.imag, lt.tensor_copy, lt.isinf, lt.deg2rad, lt.angle),
    lt.conj,
)
_BINARY_FUNCTIONS: Final = (
    *(lt.add, lt.sub, lt.mul, lt.true_divide, lt.maximum, lt.minimum, lt.add, lt.mul, lt.sub, lt.true_divide),
    *(lt.lt, lt.le, lt.eq, lt.neq, lt.gt, lt.ge, lt.floor_divide, lt.mod, lt.logical_and, lt.logical_or),
    *(lt.bitwise_and, lt.bitwise_xor, lt.arctan2, lt.hypot, lt.logaddexp, lt.copysign, lt.second, lt.logical_xor),
)
_LONGEST_SQUARED: Final = 300  # the square of a vector of 70 000 elements fills the memory
_LITERALS: Final = (0, 1, 2, -1, 3, 0.0, 1.0, 0.5, 2.0, -1.0, True, -0.0)


def _unary(pool: Pool) -> Made:
    return [pool.choose(_NUMBER_FUNCTIONS)(pool.pick())]


def _of_floats(pool: Pool) -> Made:
    function = pool.choose(_FLOAT_FUNCTIONS)
    x = pool.pick_phase() if function in _PERIODIC else pool.pick("f")
    return [] if x is None else [function(x)]


def _binary(pool: Pool) -> Made:
    x = pool.pick()
    y = pool.like(x)
    a, b = (x, y) if pool.flag() else (y, x)
    return [pool.choose(_BINARY_FUNCTIONS)(a, b)]


def _with_literal(pool: Pool) -> Made:
    x, literal = pool.pick(), pool.choose(_LITERALS)
    function = pool.choose(_BINARY_FUNCTIONS)
    try:
        return [function(x, literal) if pool.flag() else function(literal, x)]
    except OverflowError:  # a literal that the dtype has no place for
        return []


def _integer_power(pool: Pool) -> Made:
    return [pool.pick("fc") ** pool.choose([0, 1, 2, 3, -1, -2, 0.5])]


def _sum_of_several(pool: Pool) -> Made:
    x = pool.pick()
    return [pool.choose([lt.add, lt.mul])(x, pool.like(x), x)]


def _switch(pool: Pool) -> Made:
    x = pool.pick()
    condition = pool.like(x, "b") if pool.flag() else lt.gt(x, 0) if x.dtype[:3] != "com" else lt.isnan(x)
    return [lt.switch(condition, x, pool.like(x))]


def _clip(pool: Pool) -> Made:
    return [lt.clip(pool.pick("f"), pool.choose([-1.0, 0.0, 0.5]), pool.choose([0.5, 1.0, 2.0]))]


def _cast(pool: Pool) -> Made:
    x = pool.pick()
    kinds = {"b": "biufc", "i": "bifc", "u": "biufc", "f": "fc", "c": "c"}[np.dtype(x.dtype).kind]
    targets = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float32", "float64", "complex64", "complex128"]
    return [lt.cast(x, pool.choose([t for t in targets if np.dtype(t).kind in kinds]))]


def _axis(pool: Pool, x: TensorVariable, several: bool = True) -> Any:
    if x.ndim == 0 or pool.flag():
        return None
    if several and x.ndim > 1 and pool.flag():
        return (0, x.ndim - 1)
    return pool.integer(-x.ndim, x.ndim - 1)


def _has_elements(value: Array) -> bool:
    return value.size > 0


def _reduction(pool: Pool) -> Made:
    function = pool.choose([lt.sum, lt.prod, lt.all, lt.any, lt.sum, lt.mean, lt.count_nonzero])
    x = pool.pick()
    return [function(x, axis=_axis(pool, x), keepdims=pool.flag())]


def _extreme(pool: Pool) -> Made:
    x = pool.pick("biuf", fits=_has_elements)
    if not _has_elements(pool.values[x]):
        return []
    if pool.flag():
        return [pool.choose([lt.argmax, lt.argmin])(x, axis=_axis(pool, x, several=False))]
    return [pool.choose([lt.max, lt.min])(x, axis=_axis(pool, x), keepdims=pool.flag())]


def _of_exponentials(pool: Pool) -> Made:
    x = pool.pick("f", min_dims=1, fits=_has_elements)
    function = pool.choose([lt.softmax, lt.log_softmax, lt.logsumexp])
    return [function(x, axis=_axis(pool, x))] if _has_elements(pool.values[x]) else []


def _variance(pool: Pool) -> Made:
    x = pool.pick("f", min_dims=1, fits=_has_elements)
    return [lt.var(x, axis=_axis(pool, x))] if _has_elements(pool.values[x]) else []


def _running(pool: Pool) -> Made:
    x = pool.pick("biuf", min_dims=1)
    return [pool.choose([lt.cumsum, lt.cumprod])(x, axis=_axis(pool, x, several=False))]


def _sorted(pool: Pool) -> Made:
    x = pool.pick("biuf", min_dims=1)
    return [pool.choose([lt.sort, lt.argsort])(x, axis=_axis(pool, x, several=False))]


def _axes(pool: Pool) -> Made:
    x = pool.pick(min_dims=1)
    kind = pool.integer(0, 5)
    if kind == 0:
        return [x.T]
    if kind == 1:
        return [lt.expand_dims(x, pool.integer(0, x.ndim))] if x.ndim < 4 else []
    if kind == 2:
        known = [i for i, n in enumerate(x.type.shape) if n == 1]
        return [lt.squeeze(x, pool.choose(known))] if known else []
    if kind == 3:
        return [lt.moveaxis(x, 0, -1)]
    if kind == 4:
        return [lt.flip(x, pool.integer(0, x.ndim - 1))]
    return [lt.roll(x, pool.integer(-3, 3), pool.integer(0, x.ndim - 1))]


def _reshape(pool: Pool) -> Made:
    x = pool.pick()
    shape = pool.values[x].shape
    kind = pool.integer(0, 3)
    if kind == 0:
        return [lt.flatten(x)]
    if kind == 1 and x.ndim:
        return [lt.reshape(x, (x.shape[-1], *[x.shape[i] for i in range(x.ndim - 1)]))]
    if kind == 2 and 0 not in shape:
        return [lt.reshape(x, (-1, *shape[1:]) if shape else (1, -1))]
    return [lt.reshape(x, shape[::-1])]


def _filled(pool: Pool) -> Made:
    x = pool.pick()
    value = pool.pick(max_dims=0)
    kind = pool.integer(0, 4)
    if kind == 0:
        return [lt.fill(x, value)]
    if kind == 1:
        return [lt.alloc(value, *[x.shape[i] for i in range(x.ndim)])]
    if kind == 2:
        return [pool.choose([lt.zeros_like, lt.ones_like])(x)]
    if kind == 3 and x.ndim < 4:
        return [lt.broadcast_to(x, (2, *[x.shape[i] for i in range(x.ndim)]))]
    return [lt.full(pool.values[x].shape, value)]


def _lengths(pool: Pool) -> Made:
    x = pool.pick(min_dims=1)
    n = x.shape[pool.integer(0, x.ndim - 1)]
    kind = pool.integer(0, 4)
    if kind == 0:
        return [n]
    if kind == 1:
        return [lt.arange(n)]
    if kind == 2:
        return [lt.eye(n, pool.integer(0, 3), pool.integer(-1, 1))]
    if kind == 3:
        return [lt.shape(x)]
    return [lt.arange(pool.integer(-2, 3), n * 2, pool.integer(1, 3))]


def _bound(pool: Pool) -> Any:
    kind = pool.integer(0, 4)
    if kind == 0:
        return pool.pick("i", max_dims=0, fits=lambda value: -6 < int(value) < 6)
    return None if kind == 1 else pool.integer(-4, 4)


def _index_of(pool: Pool, shape: Sequence[int]) -> tuple[Any, ...]:
    """Return a basic index that is within bounds for arrays of a shape."""
    index: list[Any] = []
    for n in shape[: pool.integer(1, len(shape))] if shape else []:
        kind = pool.integer(0, 4)
        if kind == 0 and n:
            place = pool.integer(-n, n - 1)
            index.append(constant(place) if pool.flag() else place)
        elif kind == 1 and n:
            index.append(_computed_place(pool, n))
        elif kind == 2:
            index.append(slice(None))
        else:
            index.append(slice(_bound(pool), _bound(pool), pool.choose([None, 1, 2, -1, -2])))
    if pool.integer(0, 4) == 0 and len(shape) < 4:
        index.insert(pool.integer(0, len(index)), None)
    if pool.integer(0, 5) == 0:
        index.append(...)
    return tuple(index)


def _computed_place(pool: Pool, n: int) -> TensorVariable:
    """Return an integer below `n` that only a run can tell."""
    place = pool.pick("i", max_dims=0)
    if n > np.iinfo(place.dtype).max:
        place = lt.cast(place, "int64")
    return lt.minimum(lt.maximum(place, -n), n - 1)


def _select(pool: Pool) -> Made:
    x = pool.pick(min_dims=1)
    return [x[_index_of(pool, pool.values[x].shape)]]


def _places(pool: Pool, n: int) -> TensorVariable:
    """Return a vector of places of an axis of length `n`; some of them may be the same."""
    if n == 0:
        return constant(np.zeros(0, "int64"))
    if pool.flag():
        return constant(np.array([pool.integer(-n, n - 1) for _ in range(pool.integer(0, 4))], "int64"))
    vector = pool.pick("iu", min_dims=1, max_dims=1)
    return lt.cast(lt.mod(lt.cast(vector, "int64"), n), "int64")


def _advanced(pool: Pool) -> Made:
    x = pool.pick(min_dims=1)
    shape = pool.values[x].shape
    kind = pool.integer(0, 3)
    if kind == 0:
        mask = pool.pick("b", shape=shape[:1])
        return [x[mask]]
    if kind == 1:
        return [lt.take(x, _places(pool, shape[-1]), axis=-1)]
    if kind == 2 and x.ndim > 1:
        return [x[_places(pool, shape[0]), ::-1]]
    return [x[_places(pool, shape[0])]]


def _write(pool: Pool) -> Made:
    x = pool.pick(min_dims=1)
    shape = pool.values[x].shape
    kind = pool.integer(0, 3)
    if kind == 0:
        part = x[_places(pool, shape[0])]
    elif kind == 1:
        part = x[pool.pick("b", shape=shape[:1])]
    else:
        part = x[_index_of(pool, shape)]
    if part.owner is None or part is x:
        return []
    value: Any = pool.choose([0, 1, 2])
    same_kind = {"c": "c", "f": "f", "i": "i", "u": "u", "b": "b"}[np.dtype(x.dtype).kind]
    if pool.integer(0, 2):
        value = pool.pick(same_kind, max_dims=0)
    elif pool.flag():
        pool.add([part])
        value = pool.like(part, same_kind)
    return [pool.choose([lt.set_subtensor, lt.inc_subtensor])(part, value)]


def _joined(pool: Pool) -> Made:
    x = pool.pick(min_dims=1)
    axis = pool.integer(0, x.ndim - 1)
    y = pool.pick(shape=pool.values[x].shape)
    if pool.flag():
        return [lt.stack([x, y, x], axis=axis)] if x.ndim < 4 else []
    return [lt.concatenate([x, y], axis=axis)]


def _split(pool: Pool) -> Made:
    x = pool.pick(min_dims=1)
    n = pool.values[x].shape[0]
    first = pool.integer(0, n)
    made = lt.split(x, [first, n - first], 2)
    return list(made)


def _product(pool: Pool) -> Made:
    x = pool.pick("biufc", min_dims=1, max_dims=3)
    shape = pool.values[x].shape
    kind = pool.integer(0, 3)
    if kind == 0:
        return [lt.dot(x, pool.pick(shape=shape[-1:]))]
    if kind == 1 and x.ndim == 2 and shape[0] <= _LONGEST_SQUARED:
        return [lt.dot(x, x.T)]
    if kind == 2 and x.ndim >= 2:
        return [lt.matmul(x, pool.pick(shape=(shape[-1], 2)))]
    return [lt.matmul(x, lt.swapaxes(x, -1, -2))] if x.ndim == 3 and shape[1] <= _LONGEST_SQUARED else []


def _diagonal(pool: Pool) -> Made:
    if pool.flag():
        x = pool.pick(min_dims=1, max_dims=1)
        return [lt.diag(x, pool.integer(-1, 1))] if pool.values[x].size <= _LONGEST_SQUARED else []
    return [lt.diagonal(pool.pick(min_dims=2), pool.integer(-1, 1))]


def _nonzero(pool: Pool) -> Made:
    return list(lt.nonzero(pool.pick(min_dims=1, max_dims=2)))


def _narrowed(pool: Pool) -> Made:
    x = pool.pick(min_dims=1)
    shape = pool.values[x].shape
    return [lt.specify_shape(x, [n if pool.flag() else None for n in shape])]


def _same(pool: Pool) -> Made:
    x = pool.pick()
    same: Sequence[Callable[[TensorVariable], Any]] = [
        *(view_op, deep_copy_op, lt.tensor_copy),
        partial(grad_clip, lower_bound=-1.0, upper_bound=1.0),
        lambda v: v.named("again") if v.owner is not None else v.T,
    ]
    return [pool.choose(same)(x)]


def _gradient(pool: Pool) -> Made:
    """Differentiate a sum of some floats by an input."""
    inputs = [v for v in pool.inputs if v.dtype in ("float32", "float64")]
    costs = [v for v in pool.values if v.owner is not None and v.dtype in ("float32", "float64")]
    if not inputs or not costs:
        return []
    x, y = pool.choose(inputs), pool.choose(costs[-4:])
    return [grad(lt.sum(y), x, disconnected_inputs="ignore")]


DEFAULT_STEPS: Final[tuple[Step, ...]] = (
    *(_unary, _unary, _of_floats, _of_floats, _of_floats, _binary, _binary, _with_literal, _with_literal),
    *(_integer_power, _sum_of_several),
    *(_switch, _clip, _cast, _reduction, _extreme, _of_exponentials, _variance, _running, _sorted),
    *(_axes, _axes, _reshape, _filled, _lengths, _select, _select, _advanced, _write, _write),
    *(_joined, _split, _product, _diagonal, _nonzero, _narrowed, _same, _gradient),
    *RARE_STEPS,
)
"""The steps of `graphs`; what stands here twice is taken more often."""
