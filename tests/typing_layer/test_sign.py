"""Signs: whatever is called non-negative has no negative element."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.ir import Shape, TensorType, TensorVariable, Variable, constant, lt
from lamella.typing_layer import is_nonnegative

x = TensorType("float64", (3,))("x")
i = TensorType("int8", (3,))("i")
u = TensorType("uint8", (3,))("u")
b = TensorType("bool", (3,))("b")

Op1 = Callable[[TensorVariable], TensorVariable]
Op2 = Callable[[TensorVariable, TensorVariable], TensorVariable]

UNARY: list[Op1] = [
    *(
        lt.exp,
        lt.exp2,
        lt.expm1,
        lt.log1p,
        lt.sqr,
        lt.sqrt,
        lt.sign,
        lt.sigmoid,
        lt.softplus,
        lt.cosh,
        lt.sinh,
        lt.tanh,
    ),
    *(lt.arccos, lt.arctan, lt.arcsinh, lt.arctanh, lt.erf, lt.erfc, lt.floor, lt.ceil, lt.neg, lt.reciprocal, lt.sin),
    *(lt.softmax, lt.log, lt.abs, lt.rint, lt.trunc),
    lambda v: lt.cast(v, "int16"),
    lambda v: lt.cast(v, "float32"),
    lambda v: lt.cast(v, "uint8"),
    lambda v: v[::-1],
    lambda v: lt.alloc(v[0], 3),
    lambda v: lt.sum(v) + lt.zeros_like(v),
    lambda v: lt.max(v) * lt.ones_like(v),
    lambda v: lt.cumsum(v),
    lambda v: lt.clip(v, 0, 3),
    lambda v: v * v,
]
BINARY: list[Op2] = [
    *(
        lt.add,
        lt.mul,
        lt.true_divide,
        lt.maximum,
        lt.minimum,
        lt.hypot,
        lt.floor_divide,
        lt.mod,
        lt.sub,
        lt.power,
        lt.fill,
    ),
    lambda v, w: lt.switch(lt.gt(v, 0), v, w),
    lambda v, w: lt.concatenate([v, w])[1:4],
]


@st.composite
def expressions(draw: st.DrawFn) -> TensorVariable:
    known: list[TensorVariable] = [
        x,
        i,
        u,
        b,
        constant([0.0, 1.5, np.inf]),
        constant([-0.0, -1.0, 2.0]),
        constant([2, 0, 3]),
    ]
    v = draw(st.sampled_from(known))
    for _ in range(draw(st.integers(1, 4))):
        other = draw(st.sampled_from([*known, v]))
        try:
            v = draw(st.sampled_from(UNARY))(v) if draw(st.booleans()) else draw(st.sampled_from(BINARY))(v, other)
        except TypeError:
            continue  # not defined for this dtype
    return v


EDGES = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.5, -3.5, np.inf, -np.inf, np.nan, 1e-300])


@given(expressions(), st.lists(EDGES, min_size=3, max_size=3), st.lists(st.integers(-128, 127), min_size=3, max_size=3))
def test_no_element_is_negative(v: TensorVariable, floats: list[float], integers: list[int]) -> None:
    if not is_nonnegative(v):
        return
    values: dict[Variable[Any] | str, object] = {
        x: np.array(floats),
        i: np.array(integers, dtype="int8"),
        u: np.array(integers).astype("uint8"),
        b: np.array(integers) > 0,
    }
    with np.errstate(all="ignore"):
        try:
            value = v.eval(values)
        except ValueError:
            return  # an integer to a negative power
    assert not (value < 0).any()


@pytest.mark.parametrize(
    "variable",
    [
        lt.exp(x),
        lt.sqrt(x) * lt.abs(x) + 1.0,
        Shape()(x),
        x.shape[0],
        lt.maximum(x, 0.0),
        lt.maximum(i, 0),
        lt.sum(lt.sqr(x)),
        lt.sum(u),
        x * x,
        lt.switch(b, lt.exp(x), 0.0),
        lt.softmax(x),
        lt.clip(i, 0, 5),
        lt.mod(i, 7),
        lt.cast(u, "int16"),
        lt.gt(x, 0),
        lt.stack([lt.exp(x), lt.abs(x)])[0],
    ],
)
def test_what_cannot_be_negative_is_recognised(variable: TensorVariable) -> None:
    assert is_nonnegative(variable)


@pytest.mark.parametrize(
    "variable",
    [
        x,
        lt.sqr(i),  # wraps around
        lt.abs(i),  # so does abs(-128)
        lt.sum(lt.cast(u, "int64")),
        lt.cast(u, "int8"),
        1.0 / lt.sqrt(x),  # sqrt(-0.0) is -0.0
        lt.exp(x) - 1.0,
        lt.minimum(lt.exp(x), x),
        constant([1.0, -1.0]),
        lt.exp(lt.cast(x, "complex128")),
    ],
)
def test_what_may_be_negative_is_not_trusted(variable: TensorVariable) -> None:
    assert not is_nonnegative(variable)


def test_a_long_chain_is_followed() -> None:
    v = lt.exp(x)
    for _ in range(5_000):
        v = lt.tanh(v)
    assert is_nonnegative(v)
