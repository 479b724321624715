"""Elementwise functions that are more than one scalar Op, and the reports of faults of this kind."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella import grad
from lamella.errors import NullTypeGradError
from lamella.ir import DTYPES, TensorType, TensorVariable


def at(made: TensorVariable, **values: Any) -> Any:
    return made.eval(dict(values))


def test_aliases_are_the_same_functions() -> None:
    for alias, function in [
        (lt.absolute, lt.abs),
        (lt.sqr, lt.square),
        (lt.true_div, lt.true_divide),
        (lt.int_div, lt.floor_divide),
        (lt.pow, lt.power),
        (lt.invert, lt.bitwise_not),
        (lt.expit, lt.sigmoid),
        (lt.psi, lt.digamma),
        (lt.subtract, lt.sub),
    ]:
        assert alias is function


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_cast(dtype: str, target: str) -> None:
    x = TensorType(dtype, (None,))("x")
    if dtype.startswith("complex") and not target.startswith(("complex", "bool")):
        with pytest.raises(TypeError, match="the imaginary part would be lost"):
            lt.cast(x, target)
        return
    value = np.array([0, 1, 3, 7]).astype(dtype)
    made = lt.cast(x, target)
    assert (made is x) == (dtype == target)
    np.testing.assert_array_equal(at(made, x=value), value.astype(target), strict=True)


@pytest.mark.parametrize(
    "bounds", [(-1, 300), (None, 3), (1, None), (2, 1), (1.5, 3), (-(10**30), 10**30), (0, 255), (None, None)]
)
def test_clip(bounds: tuple[Any, Any]) -> None:
    for dtype in ("uint8", "int16", "float32"):
        if dtype == "float32" and None not in bounds and bounds[1] == 10**30:
            continue
        x = TensorType(dtype, (None,))("x")
        value = np.array([0, 1, 2, 3, 200], dtype)
        np.testing.assert_array_equal(at(lt.clip(x, *bounds), x=value), np.clip(value, *bounds), strict=True)


def test_where() -> None:
    x, c = lt.fvector("x"), lt.lvector("c")
    made = lt.where(c, x, 0)
    assert made.dtype == "float32"
    np.testing.assert_array_equal(
        at(made, x=np.array([1.5, 2.5], "float32"), c=[0, 7]), np.array([0.0, 2.5], "float32")
    )
    assert lt.where(c, 1, 2).dtype == "int64"
    assert lt.where(c, True, False).dtype == "bool"
    assert lt.where(c, x, np.float64(0)).dtype == "float64"


@given(st.data())
def test_round_of_integers_is_exact(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(["int8", "uint8", "int32", "int64", "uint64"]))
    limits = np.iinfo(dtype)
    numbers = data.draw(st.lists(st.integers(limits.min, limits.max), min_size=1, max_size=5))
    decimals = data.draw(st.integers(-20, 3))
    wide = np.iinfo("uint64" if dtype == "uint64" else "int64")
    numbers = [n for n in numbers if wide.min <= round(n, decimals) <= wide.max]
    x = TensorType(dtype, (None,))("x")
    found = at(lt.round(x, decimals), x=np.array(numbers, dtype))
    # Python rounds integers exactly; NumPy wraps around what does not fit.
    expected = [(round(n, decimals) - limits.min) % 2 ** (8 * found.itemsize) + limits.min for n in numbers]
    assert found.dtype == dtype
    assert found.tolist() == expected


@pytest.mark.parametrize("decimals", [0, 1, 2, -1, -2])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex128", "bool"])
def test_round_of_floats(dtype: str, decimals: int) -> None:
    value = np.array([0.5, 1.5, 2.5, -0.25, 0.35, 14.5, 155.0, 2.675]).astype(dtype)
    x = TensorType(dtype, (None,))("x")
    expected = np.round(value, 0 if dtype == "bool" else decimals)
    found = at(lt.round(x, decimals), x=value)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-15 if dtype == "complex128" else 0)


def test_isclose_and_allclose() -> None:
    x, y = lt.vectors("x y")
    a = np.array([1.0, 1.0, np.nan, np.inf, np.inf, 0.0, 1e-9])
    b = np.array([1.0 + 1e-6, 1.1, np.nan, np.inf, -np.inf, 1e-9, 2.0])
    for equal_nan in (False, True):
        np.testing.assert_array_equal(
            at(lt.isclose(x, y, equal_nan=equal_nan), x=a, y=b), np.isclose(a, b, equal_nan=equal_nan)
        )
    assert at(lt.allclose(x, y), x=a[:1], y=b[:1])
    assert not at(lt.allclose(x, y), x=a, y=b)
    i = lt.lvector("i")
    np.testing.assert_array_equal(at(lt.isclose(i, 3), i=[3, 4]), [True, False])


def test_stable_functions_far_out() -> None:
    x = lt.vector("x")
    far = np.array([-1000.0, -40.0, 0.0, 40.0, 1000.0])
    np.testing.assert_allclose(at(lt.softplus(x), x=far), [0.0, np.exp(-40.0), np.log(2), 40.0, 1000.0])
    np.testing.assert_allclose(at(lt.log_sigmoid(x), x=far), [-1000.0, -40.0, -np.log(2), -np.exp(-40.0), 0.0])
    np.testing.assert_allclose(at(lt.log1mexp(x), x=[-1e-10, -0.5, -1.0, -50.0]), [
        np.log(1e-10) - 5e-11, np.log(-np.expm1(-0.5)), np.log1p(-np.exp(-1.0)), -np.exp(-50.0),
    ], rtol=1e-14)  # fmt: skip
    np.testing.assert_array_equal(at(lt.logaddexp(x, -np.inf), x=far), far)


def test_polygamma() -> None:
    from_recurrence = [np.pi**2 / 6, np.pi**2 / 6 - 1]
    x = lt.vector("x")
    np.testing.assert_allclose(at(lt.trigamma(x), x=[1.0, 2.0]), from_recurrence)
    g = grad(lt.sum(lt.digamma(x)), x)
    np.testing.assert_allclose(at(g, x=[1.0, 2.0]), from_recurrence)
    second = grad(lt.sum(g), x)
    np.testing.assert_allclose(at(second, x=[1.0]), [-2 * 1.2020569031595942])

    n = lt.vector("n")
    with pytest.raises(NullTypeGradError, match="polygamma has no derivative by its order n"):
        grad(lt.sum(lt.polygamma(n, x)), n)


# Reports of users of such libraries, restated.


def test_integers_to_negative_powers() -> None:
    x, y = lt.lvectors("x y")
    with pytest.raises(ValueError, match="integers to negative integer powers are not allowed"):
        _ = x**-1
    with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
        at(x**y, x=[2], y=[-1])
    np.testing.assert_array_equal(at(x**y, x=[2], y=[3]), [8])
    np.testing.assert_array_equal(at(x**-1.0, x=[2]), [0.5])


def test_a_negative_number_to_a_fractional_power_is_nan() -> None:
    x = lt.vector("x")
    assert np.isnan(at(x**0.01, x=[-1.0])).all()
    assert np.isnan(lt.power(-1.0, 0.01).eval())


def test_unsigned_and_signed_integers_are_compared_exactly() -> None:
    x, y = TensorType("uint64", (None,))("x"), lt.lvector("y")
    values = {"x": np.array([2**63, 0, 5], "uint64"), "y": np.array([-1, -1, 5])}
    np.testing.assert_array_equal(at(lt.gt(x, y), **values), [True, True, False])
    np.testing.assert_array_equal(at(lt.eq(x, y), **values), [False, False, True])
    np.testing.assert_array_equal(at(x > -1, x=values["x"]), [True, True, True])
    np.testing.assert_array_equal(at(y < 2**63, y=values["y"]), [True, True, True])
    small = TensorType("uint8", (None,))("s")
    for made, expected in [
        (small < 300, True),
        (small > -1, True),
        (lt.eq(small, 256), False),
        (lt.neq(small, -1), True),
    ]:
        np.testing.assert_array_equal(at(made, s=np.array([0, 255], "uint8")), [expected, expected])


def test_small_unsigned_integers_wrap_around() -> None:
    x = TensorType("uint8", (None,))("x")
    value = np.array([100, 2], "uint8")
    for made, expected in [(x + np.uint8(200), [44, 202]), (x - 3, [97, 255]), (-x, [156, 254]), (x + 0, [100, 2])]:
        np.testing.assert_array_equal(at(made, x=value), np.array(expected, "uint8"), strict=True)
    total = lt.sum(x)
    assert (total.dtype, int(at(total, x=value))) == ("uint64", 102)
    mean = lt.mean(x)
    assert (mean.dtype, float(at(mean, x=value))) == ("float64", 51.0)


def test_booleans() -> None:
    b = TensorType("bool", (None,))("b")
    with pytest.raises(TypeError, match="subtract is not defined for bool and bool"):
        _ = b - b
    with pytest.raises(TypeError, match="negative is not defined for bool"):
        _ = -b
    value = np.array([True, False])
    np.testing.assert_array_equal(at(b + b, b=value), [True, False], strict=True)
    np.testing.assert_array_equal(at(b * True, b=value), [True, False], strict=True)
    np.testing.assert_array_equal(at(~b, b=value), [False, True], strict=True)
    assert (b + 1).dtype == "int64"


def test_division_at_its_corners() -> None:
    i, j = lt.lvectors("i j")
    values = {"i": [-7, 7, -7, 7, 5, np.iinfo("int64").min], "j": [2, -2, -2, 2, 0, -1]}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = np.floor_divide(values["i"], values["j"]), np.remainder(values["i"], values["j"])
    np.testing.assert_array_equal(at(i // j, **values), expected[0])
    np.testing.assert_array_equal(at(i % j, **values), expected[1])
    np.testing.assert_array_equal(expected[0][:5], [-4, -4, 3, 3, 0])
    np.testing.assert_array_equal(expected[1][:5], [1, -1, -1, 1, 0])
    x, y = lt.vectors("x y")
    floats = {"x": [5.5, np.inf, 1.0, -1.0, 5.5, -0.0], "y": [-np.inf, 2.0, 0.0, 0.0, np.inf, 3.0]}
    np.testing.assert_array_equal(at(x // y, **floats), [-1.0, np.nan, np.inf, -np.inf, 0.0, -0.0])


def test_clip_with_bounds_crossed_gives_the_upper_one() -> None:
    np.testing.assert_array_equal(at(lt.clip(lt.lvector("x"), 1, -1), x=[-2, 0, 2]), [-1, -1, -1])


def test_square_roots_of_squares() -> None:
    x = lt.vector("x")
    np.testing.assert_array_equal(at(lt.sqrt(lt.square(x)), x=[-3.0, 0.0, 2.0]), [3.0, 0.0, 2.0])
    np.testing.assert_allclose(at(lt.square(lt.sqrt(x)), x=[-3.0, 0.0, 2.0]), [np.nan, 0.0, 2.0])


def test_a_gradient_by_an_integer_condition() -> None:
    x = lt.lmatrix("x")
    g = grad(lt.cast(lt.sum(lt.switch(0, x, -x)), "float64"), x)
    np.testing.assert_array_equal(at(g, x=[[1, 2]]), [[0.0, 0.0]], strict=True)


def test_a_literal_too_large_for_a_narrow_dtype_is_infinite_without_a_warning() -> None:
    x = lt.fvector("x")
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        made = [x * 1.5e200, x + -1.5e200, x * 1.5e-200, lt.maximum(lt.vector("h", dtype="float16"), 70000.25)]
    found = made[0].eval({x: [1.0, -2.0]})
    assert found.dtype == "float32"
    np.testing.assert_array_equal(found, [np.inf, -np.inf])
