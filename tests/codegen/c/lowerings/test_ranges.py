"""Ranges: as many elements as NumPy's, computed as NumPy computes them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import ARange, TensorType, interpret
from tests.codegen.agreement import compiled

from .against_perform import assert_same_as_perform, assert_same_error, is_in_c, same

NUMBERS = [
    *["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
    *["float16", "float32", "float64"],
]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_integer_bounds(dtype: str) -> None:
    bounds = [lt.lscalar(name) for name in ("start", "stop", "step")]
    output = ARange(dtype)(*bounds)
    assert is_in_c(bounds, [output])
    lowest = 0 if dtype.startswith("u") else -5
    cases = [
        [0, 5, 1],
        [1, 1, 1],
        [5, 0, -1],
        [7, lowest, -3],
        [0, 100, 7],
        [3, 0, 1],
        [0, 3, -1],
        [lowest, 2, 2],
        [0, 1, 50],
    ]
    assert_same_as_perform(bounds, [output], *[[np.array(b) for b in case] for case in cases], layouts=["contiguous"])
    zero = [np.array(b) for b in (0, 3, 0)]
    assert_same_error(bounds, [output], zero)


def test_integers_that_the_dtype_does_not_hold() -> None:
    bounds = [lt.lscalar(name) for name in ("start", "stop", "step")]
    for dtype, case in [
        ("int8", [200, 202, 1]),
        ("int8", [0, 600, 300]),
        ("uint8", [-1, 3, 1]),
        ("uint64", [3, -3, -4]),
    ]:
        assert_same_error(bounds, [ARange(dtype)(*bounds)], [np.array(b) for b in case])
    wrapping = ARange("int8")(*bounds)
    assert_same_as_perform(bounds, [wrapping], [np.array(b) for b in (100, 160, 9)], layouts=["contiguous"])


def test_mixed_and_unsigned_bounds() -> None:
    start, stop = TensorType("uint64", ())("start"), TensorType("int8", ())("stop")
    step = TensorType("int32", ())("step")
    outputs = [ARange("int64")(start, stop, step), ARange("float64")(start, stop, step)]
    assert_same_as_perform(
        [start, stop, step],
        outputs,
        [np.array(9, "uint64"), np.array(-4, "int8"), np.array(-3, "int32")],
        [np.array(2, "uint64"), np.array(9, "int8"), np.array(2, "int32")],
    )


FLOATS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 0.1, -0.1, 1e-3, 0.3, 1e16, -1e16, 1e308, 5e-324, np.inf, -np.inf, np.nan]),
    st.floats(-100, 100),
)


@pytest.mark.parametrize(
    ("dtypes", "dtype"),
    [
        (("float16", "float16", "float16"), "float16"),
        (("float16", "float16", "float16"), "float64"),
        (("float32", "float32", "float32"), "float32"),
        (("float32", "float32", "float32"), "float64"),
        (("float64", "float64", "float64"), "float64"),
        (("float64", "float64", "float64"), "uint64"),
        (("int8", "float16", "uint8"), "float16"),
        (("float64", "int64", "float32"), "float32"),
        (("float32", "float64", "int32"), "int16"),
    ],
)
def test_floating_bounds(dtypes: tuple[str, str, str], dtype: str) -> None:
    bounds = [TensorType(d, ())(name) for d, name in zip(dtypes, ("start", "stop", "step"), strict=True)]
    output = ARange(dtype)(*bounds)
    function = compiled(bounds, [output])
    assert is_in_c(bounds, [output])

    @settings(max_examples=300, deadline=None)
    @given(FLOATS, FLOATS, FLOATS)
    def check(start: float, stop: float, step: float) -> None:
        with np.errstate(all="ignore"):
            values = [np.array(b).astype(d) for b, d in zip((start, stop, step), dtypes, strict=True)]
            length = float((values[1] - values[0]) / values[2])
        if abs(length) > 1e5:
            return
        try:
            with np.errstate(all="ignore"):
                (wanted,) = interpret(bounds, [output], values)
        except Exception as error:  # noqa: BLE001  # it is compared by its class
            with pytest.raises(type(error)):
                function(values)
        else:
            same(function(values)[0], wanted, (start, stop, step), bitwise=False)

    check()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8"])
def test_floating_bounds_of_other_dtypes(dtype: str) -> None:
    bounds = [TensorType("float64", ())("start"), TensorType("int64", ())("stop"), TensorType("float32", ())("step")]
    output = ARange(dtype)(*bounds)
    values = [np.array(0.5), np.array(7), np.array(1.25, "float32")]
    assert_same_as_perform(bounds, [output], values, layouts=["contiguous"])


def test_known_lengths() -> None:
    assert_same_as_perform([], [lt.sum(lt.arange(5)), lt.arange(3, 9, 2), lt.arange(0.0, 1.0, 0.25)], [])
