"""`ARange`, `arange` and `linspace`."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from lamella.ir import ARange, TensorType, TensorVariable, constant, grad, lt
from tests.ir.tensor.agreement import Values, agrees, run

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint64"]
FLOATS = ["float16", "float32", "float64"]


def scalar(name: str, dtype: str) -> TensorVariable:
    return TensorType(dtype, ())(name)


@given(st.integers(-20, 20), st.integers(-20, 20), st.integers(-5, 5), st.sampled_from(INTEGERS))
def test_integer_ranges(start: int, stop: int, step: int, dtype: str) -> None:
    assume(step != 0)
    if dtype.startswith("u"):
        assume(min(start, stop, step) >= 0)
    a, b, c = scalar("a", dtype), scalar("b", dtype), scalar("c", dtype)
    values: Values = {a: np.array(start, dtype), b: np.array(stop, dtype), c: np.array(step, dtype)}
    expected = np.arange(start, stop, step, dtype=np.result_type("int64", dtype))
    agrees(lt.arange(a, b, c), values, expected)
    agrees(lt.arange(a, b), values, np.arange(start, stop, dtype=expected.dtype))
    agrees(lt.arange(b), values, np.arange(stop, dtype=expected.dtype))
    known = lt.arange(start, stop, step)
    assert known.type.shape == expected.shape
    agrees(known, {}, np.arange(start, stop, step))
    agrees(lt.arange(start, b, step, "float32"), values, np.arange(start, stop, step, dtype="float32"))


finite = st.floats(-8, 8, width=16)


@given(finite, finite, finite, st.sampled_from(FLOATS))
@example(0.0, 1.0, 0.0999755859375, "float16")
@example(1.0, 0.0, -0.300048828125, "float32")
@example(2.0**-24, 0.0, -2.0, "float16")
@example(2.0**-24, 0.0, 2.0, "float16")
@example(0.0, 5.0, np.inf, "float64")
@example(0.0, 5.0, -np.inf, "float64")
def test_float_ranges(start: float, stop: float, step: float, dtype: str) -> None:
    assume(abs(step) > 0.05)
    kind = np.dtype(dtype).type
    expected = np.arange(kind(start), kind(stop), kind(step))
    a, b, c = scalar("a", dtype), scalar("b", dtype), scalar("c", dtype)
    values: Values = {v: np.array(x, dtype) for v, x in [(a, start), (b, stop), (c, step)]}
    agrees(lt.arange(a, b, c), values, expected)
    known = lt.arange(kind(start), kind(stop), kind(step))
    assert known.type.shape == expected.shape
    agrees(known, {}, expected)


def test_literals_and_mixed_dtypes() -> None:
    x = scalar("x", "float64")
    values: Values = {x: np.array(2.5)}
    agrees(lt.arange(x), values, np.arange(2.5))
    agrees(lt.arange(0, x, 0.5), values, np.arange(0, 2.5, 0.5))
    agrees(lt.arange(0.5, 4), {}, np.arange(0.5, 4))
    agrees(lt.arange(5, dtype="float16"), {}, np.arange(5, dtype="float16"))
    p = scalar("p", "bool")
    agrees(lt.arange(p), {p: np.array(True)}, np.arange(np.True_))
    for dtype in INTEGERS + FLOATS:
        assert lt.arange(scalar("n", dtype)).dtype == np.arange(np.dtype(dtype).type(1)).dtype


def test_the_length_of_an_array_is_the_length_of_its_range() -> None:
    x = TensorType("float64", (None, 3))("x")
    places = lt.arange(lt.shape_i(x, 0))
    node = places.owner
    assert node is not None
    ((length,),) = node.op.infer_shape(None, node, [(), (), ()])
    assert length is lt.shape_i(x, 0)
    assert lt.arange(lt.shape(x)[1]).type.shape == (3,)


def test_unsigned_bounds_do_not_wrap() -> None:
    a, b = scalar("a", "uint8"), scalar("b", "uint8")
    agrees(lt.arange(a, b), {a: np.array(5, "uint8"), b: np.array(3, "uint8")}, np.zeros(0, "int64"))


def test_a_length_that_floats_would_round() -> None:
    stop = lt.lscalar("stop")
    assert lt.arange(0, 10**17 + 1, 10**17).eval().tolist() == [0, 10**17]
    assert lt.arange(0, stop, 10**17).eval({stop: 10**17 + 1}).tolist() == [0, 10**17]
    np.testing.assert_array_equal(lt.arange(2**62 + 3, 2**62, -1).eval(), np.array([2**62 + 3, 2**62 + 2, 2**62 + 1]))


def test_steps_of_nothing_and_lengths_without_end() -> None:
    n, x = scalar("n", "int64"), scalar("x", "float64")
    with pytest.raises(ZeroDivisionError, match="the step is 0"):
        lt.arange(0, 5, 0)
    with pytest.raises(ZeroDivisionError, match="the step is 0"):
        lt.arange(0, 5, n).eval({n: 0})
    with pytest.raises(ValueError, match="has no length"):
        lt.arange(0.0, np.inf)
    for stop in (np.inf, np.nan):
        with pytest.raises(ValueError):
            lt.arange(x).eval({x: stop})


def test_other_arguments_are_refused() -> None:
    for wrong in [TensorType("float64", (1,))(), scalar("z", "complex128")]:
        with pytest.raises(TypeError, match="a bound of a range is a real scalar"):
            lt.arange(wrong)
    for dtype in ("bool", "complex64"):
        with pytest.raises(TypeError, match="there is no range of dtype"):
            ARange(dtype)


def test_derivatives() -> None:
    a, c = scalar("a", "float64"), scalar("c", "float32")
    cost = lt.sum(lt.arange(a, a + 2.5, c) * np.array([1.0, 10.0, 100.0]))
    ga, gc = run(grad(cost, [a, c]), {a: np.array(3.0), c: np.array(1.0, "float32")})
    assert (ga, gc) == (111.0, 210.0)
    assert gc.dtype == "float32"
    n = scalar("n", "int64")
    gn = grad(lt.sum(lt.arange(n, dtype="float64")), n, disconnected_inputs="ignore")
    assert gn.eval({n: 3}) == 0
    integers = grad(lt.sum(lt.arange(a, 5, dtype="int64") * 1.5), a, disconnected_inputs="ignore")
    assert integers.eval({a: 2.0}) == 0


@given(finite, finite, st.integers(0, 9), st.booleans(), st.sampled_from([None, "float32", "int64"]))
def test_linspace_is_numpys(start: float, stop: float, num: int, endpoint: bool, dtype: str | None) -> None:
    a, b = scalar("a", "float64"), scalar("b", "float64")
    out = lt.linspace(a, b, num, endpoint, dtype)
    assert out.type.shape == (num,)
    expected = np.linspace(start, stop, num, endpoint, dtype=dtype)
    agrees(out, {a: np.array(start), b: np.array(stop)}, expected)


def test_linspace_of_arrays_and_integers() -> None:
    agrees(lt.linspace(0, 10, 5), {}, np.linspace(0, 10, 5))
    ends = np.array([[1.0, 2.0], [3.0, 4.0]])
    agrees(lt.linspace(constant(ends[0]), constant(ends[1]), 4), {}, np.linspace(ends[0], ends[1], 4))
    agrees(lt.linspace(constant(1.0), constant(ends[0]), 3), {}, np.linspace(1.0, ends[0], 3))
    with pytest.raises(ValueError, match="is negative"):
        lt.linspace(0, 1, -1)
