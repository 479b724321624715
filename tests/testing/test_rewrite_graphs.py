"""What generators of graphs draw from: arguments, constants and values of the promised kinds."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.ir import DTYPES, FLOAT_DTYPES, INTEGER_DTYPES, lt
from lamella.testing import Draw, makers_for, register_graphs, registered_rewrites
from lamella.testing.rewrite_graphs import Elements, GraphsFor, Range, graphs_for


@st.composite
def sources(draw: st.DrawFn) -> Callable[[int, int], int]:
    """Generate what a `Draw` is made of."""
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    return lambda low, high: int(rng.integers(low, high, endpoint=True))


@given(st.sampled_from(DTYPES), st.sampled_from(Range), st.integers(0, 1000))
def test_values_have_the_dtype_and_shape_that_are_asked_for(dtype: str, among: Range, seed: int) -> None:
    array = Elements(dtype).array(np.random.default_rng(seed), (2, 3), among)
    assert array.dtype == dtype
    assert array.shape == (2, 3)
    if among in (Range.NONZERO, Range.SMOOTH):
        assert np.isfinite(array).all()


@given(
    st.sampled_from([*FLOAT_DTYPES, *INTEGER_DTYPES]),
    st.sampled_from(Range),
    st.integers(0, 1000),
    st.tuples(st.integers(0, 5), st.integers(0, 5)).map(sorted),
)
def test_values_are_within_bounds(dtype: str, among: Range, seed: int, bounds: list[int]) -> None:
    low, high = bounds
    rng = np.random.default_rng(seed)
    inside = Elements(dtype, low, high).array(rng, (40,), among)
    assert ((inside >= low) & (inside <= high)).all()
    assert (Elements(dtype, low=low).array(rng, (40,), among) >= low).all()
    assert (Elements(dtype, high=high).array(rng, (40,), among) <= high).all()


def test_special_values_come() -> None:
    rng = np.random.default_rng(0)
    floats = Elements("float64").array(rng, (4000,), Range.SPECIAL)
    assert np.isin([np.inf, -np.inf, 5e-324, np.finfo("float64").max], floats).all()
    assert np.isnan(floats).any()
    assert (np.signbit(floats) & (floats == 0)).any()
    bytes_ = Elements("int8").array(rng, (4000,), Range.SPECIAL)
    assert {-128, -127, 127, 0} <= set(bytes_.tolist())
    assert not np.isinf(Elements("float32").array(rng, (4000,), Range.NONZERO)).any()


@given(sources())
def test_arguments_fit_their_values(source: Callable[[int, int], int]) -> None:
    draw = Draw(source)
    x = draw.anything()
    y = draw.like(x)
    z = draw.beside(x)
    c = draw.number(x)
    n = draw.symbolic(3)
    assert x is not y
    assert x.dtype == y.dtype == z.dtype == c.dtype
    assert draw.shape_of(x) == draw.shape_of(y)
    assert np.broadcast_shapes(draw.shape_of(x), draw.shape_of(z)) == draw.shape_of(x)
    assert n.dtype == "int64"
    assert n.ndim == 0
    for argument in draw.arguments:
        for length, known in zip(argument.shape, argument.variable.type.shape, strict=True):
            assert known in (None, length)
    assert sorted(draw.order(3)) == [0, 1, 2]
    assert len(draw.axes(3, least=2)) >= 2
    assert draw.one_of(lambda: 1, lambda: 2) in (1, 2)


def test_a_given_value_stays() -> None:
    draw = Draw(lambda low, high: low)
    x = draw.given(np.array([1.0, np.nan]))
    (argument,) = draw.arguments
    assert argument.variable is x
    assert x.type.shape in ((2,), (None,))
    value = argument.elements.array(np.random.default_rng(0), (5,), Range.SPECIAL)
    np.testing.assert_array_equal(value, [1.0, np.nan])


def test_widened_arguments_are_of_float64() -> None:
    draw = Draw(lambda low, high: high, widened=True)
    assert {draw.floats().dtype for _ in range(4)} == {"float64"}
    assert draw.tensor("float16").dtype == "float64"
    assert draw.tensor("int8").dtype == "int8"


def test_generators_are_registered_and_replaced() -> None:
    register_graphs("of_a_test", lambda draw: draw.floats())
    register_graphs("of_a_test", lambda draw: draw.integers(), lambda draw: lt.exp(draw.floats()))
    known = graphs_for("of_a_test")
    assert known is not None
    assert len(known.makers) == 2
    with pytest.raises(ValueError, match="no generator of graphs is given for 'of_a_test'"):
        GraphsFor("of_a_test")
    (rewrite,) = registered_rewrites(name="mul_by_one")
    builtin = graphs_for("mul_by_one")
    assert builtin is not None
    assert makers_for(rewrite) == builtin.makers
