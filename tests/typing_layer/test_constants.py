"""Constant and uniform values: what is known equals what is computed, bit by bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.ir import Shape, TensorType, TensorVariable, Variable, constant, lt
from lamella.typing_layer import constant_value, uniform_value


def tensor(*shape: int | None, name: str = "x", dtype: str = "float64") -> TensorVariable:
    return TensorType(dtype, shape)(name)


x = tensor(None, 5)
n = tensor(name="n", dtype="int64")

FLOATS = st.sampled_from([0.0, -0.0, 1.5, -2.0, np.nan, np.inf, 1e308])

UNARY: list[Callable[[TensorVariable], TensorVariable]] = [
    lt.exp,
    lt.neg,
    lt.sqrt,
    lambda v: v + v,
    lambda v: v * 0.5,
    lambda v: lt.cast(v, "float32"),
    lambda v: lt.reshape(v, (-1,)),
    lambda v: lt.reshape(v, (v.ndim * (1,))) if v.type.shape == v.ndim * (1,) else v,
    lambda v: v[::-1] if v.ndim else v,
    lambda v: lt.stack([v, v]),
    lambda v: lt.alloc(v, 2, *[length if length is not None else 1 for length in v.type.shape]),
    lambda v: lt.sum(v) if v.ndim else v,
    lambda v: lt.max(v) if v.ndim else v,
    lambda v: lt.zeros_like(v),
    lambda v: lt.switch(lt.gt(v, 0.0), v, 1.0),
    lambda v: lt.specify_shape(v, v.type.shape) if v.ndim else v,
]


@given(
    st.lists(FLOATS, min_size=1, max_size=3), st.booleans(), st.lists(st.sampled_from(UNARY), min_size=1, max_size=4)
)
def test_what_is_known_is_what_is_computed(
    values: list[float], unknown: bool, steps: list[Callable[[TensorVariable], TensorVariable]]
) -> None:
    data = np.array(values)
    v = start = tensor(*data.shape) if unknown else constant(data)
    for step in steps:
        v = step(v)
    expected = v.eval({start: data} if unknown else {})
    value, uniform = constant_value(v), uniform_value(v)
    for found in ([] if value is None else [value]) + (
        [] if uniform is None else [np.broadcast_to(uniform, expected.shape)]
    ):
        assert not found.flags.writeable
        assert (str(found.dtype), found.shape, found.tobytes()) == (v.dtype, expected.shape, expected.tobytes())


@given(st.lists(FLOATS, min_size=1, max_size=3), st.lists(st.sampled_from(UNARY), min_size=1, max_size=4))
def test_what_follows_from_few_constants_is_known(
    values: list[float], steps: list[Callable[[TensorVariable], TensorVariable]]
) -> None:
    v: TensorVariable = constant(np.array(values))
    for step in steps:
        v = step(v)
    if np.prod([length or 0 for length in v.type.shape]) <= 64 and None not in v.type.shape:
        assert constant_value(v) is not None


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        (constant(3), 3),
        (x.shape[1], 5),
        (Shape()(tensor(2, 3)), [2, 3]),
        (lt.stack([x.shape[1], constant(2) * 3]), [5, 6]),
        (lt.stack([x.shape[0], x.shape[1]])[1], 5),
        (lt.alloc(0.5, x.shape[1]), [0.5] * 5),
        (lt.zeros_like(tensor(2, 2)), [[0.0, 0.0], [0.0, 0.0]]),
        (lt.dot(tensor(4, None), tensor(None, 3)).shape[1] + 1, 4),
    ],
)
def test_values_are_known(variable: TensorVariable, value: object) -> None:
    found = constant_value(variable)
    assert found is not None
    np.testing.assert_array_equal(found, value)
    assert found.dtype == variable.dtype


@pytest.mark.parametrize(
    "variable",
    [
        n,
        x.shape[0],
        lt.stack([x.shape[0], x.shape[1]]),
        lt.alloc(0.5, n),
        lt.alloc(0.5, 65),
        constant(np.arange(65.0)) + 1.0,
        n * 0,
        constant(1.0) / x.shape[0],
    ],
)
def test_values_are_not_known(variable: TensorVariable) -> None:
    assert constant_value(variable) is None


def test_a_large_constant_is_its_own_value() -> None:
    c = constant(np.arange(1000.0))
    assert constant_value(c) is c.stored_value()


def test_what_would_raise_is_not_known() -> None:
    assert constant_value(lt.power(constant(2), constant(-1))) is None
    assert uniform_value(lt.power(lt.alloc(2, n), lt.alloc(-1, n))) is None


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        (lt.zeros_like(x), 0.0),
        (lt.zeros_like(x) + 1.0, 1.0),
        (lt.exp(lt.alloc(0.0, n, 3)).T[::2, 0], 1.0),
        (lt.fill(x, 2.0), 2.0),
        (lt.fill(x, x) * 0.0 + 1.0, None),
        (lt.concatenate([lt.zeros_like(x), lt.zeros_like(x)]), 0.0),
        (lt.concatenate([lt.zeros_like(x), lt.ones_like(x)]), None),
        (lt.concatenate([lt.zeros_like(x), -lt.zeros_like(x)]), None),
        (constant(np.full((3, 4), np.nan)), np.nan),
        (constant(np.array([0.0, -0.0])), None),
        (constant(np.zeros((0, 3))), None),
        (x, None),
        (x * 0.0, None),
        (lt.cast(lt.alloc(3, n), "int8"), 3),
    ],
)
def test_uniform_values(variable: TensorVariable, value: float | None) -> None:
    found = uniform_value(variable)
    if value is None:
        assert found is None
    else:
        assert found is not None
        assert found.dtype == variable.dtype
        assert found.tobytes() == np.array(value, dtype=variable.dtype).tobytes()


def test_an_empty_array_takes_no_part_in_being_uniform_but_for_its_type() -> None:
    values: dict[Variable[Any] | str, object] = {n: 0}
    v = lt.alloc(1.5, n)
    assert uniform_value(v) == 1.5
    assert v.eval(values).shape == (0,)


def test_long_chains_are_followed() -> None:
    value: TensorVariable = constant(1.0)
    uniform = lt.alloc(1.0, n)
    for _ in range(5_000):
        value, uniform = -value, -uniform
    assert constant_value(value) == 1.0
    assert uniform_value(uniform) == 1.0
