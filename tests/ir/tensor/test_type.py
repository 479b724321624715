"""TensorType: the values it takes, narrowing of variables, order among Types, equality."""

import pickle
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import DTYPES, SpecifyShape, TensorType
from lamella.ir import Variable as GraphVariable

F16, F32, F64 = [TensorType(dtype, (None,)) for dtype in ("float16", "float32", "float64")]
I8, I64, U8, U64 = [TensorType(dtype, (None,)) for dtype in ("int8", "int64", "uint8", "uint64")]
C64, BOOL = TensorType("complex64", (None,)), TensorType("bool", (None,))


def test_what_is_of_the_type_is_returned_as_it_is() -> None:
    for value in (np.zeros(3), np.zeros(6)[::2], np.zeros(0)):
        assert F64.filter(value) is value
        assert F64.filter(value, strict=True) is value


@pytest.mark.parametrize(
    ("type", "value"),
    [
        (F64, [1, 2]),
        (F64, (0.5, 2.5)),
        (F64, np.array([1], "int32")),
        (F64, np.array([0.1], ">f8")),
        (F32, np.array([1, 2**24])),
        (F32, np.array([0.5])),
        (F32, np.array([np.nan, np.inf])),
        (F16, [2048]),
        (I8, [-128, 127]),
        (I8, np.array([1], "uint64")),
        (I64, np.array([True])),
        (U64, np.array([0, 2**62])),
        (I64, np.array([2**62], "uint64")),
        (C64, [1.5]),
        (C64, [1 + 2j]),
        (C64, np.array([3], "int8")),
        (BOOL, [True, False]),
    ],
)
def test_values_that_are_kept(type: TensorType, value: Any) -> None:
    for allow_downcast in (None, False, True):
        found = type.filter(value, allow_downcast=allow_downcast)
        assert found.dtype == np.dtype(type.dtype)
        np.testing.assert_array_equal(found, np.asarray(value))
    if not isinstance(value, np.ndarray) or value.dtype != np.dtype(type.dtype):
        assert not type.is_valid_value(value)


@pytest.mark.parametrize(
    ("type", "value"),
    [
        (F32, np.array([0.1])),
        (F32, np.array([1e300])),
        (F32, np.array([2**24 + 1])),
        (F32, np.array([2**63 - 1])),
        (F64, [10**400]),
        (F16, [2049]),
        (I8, [128]),
        (I8, [1.0]),
        (U8, [-1]),
        (U64, np.array([-1])),
        (I64, np.array([2**63], "uint64")),
        (I64, [0.5]),
        (C64, np.array([0.1 + 0j])),
        (BOOL, [1]),
        (BOOL, [0.0]),
    ],
)
def test_values_that_would_change(type: TensorType, value: Any) -> None:
    with pytest.raises(TypeError):
        type.filter(value)


@pytest.mark.parametrize("dtype", ["float64", "int8", "bool"])
@pytest.mark.parametrize("value", [[1 + 0j], np.array([1 + 0j])])
def test_complex_numbers_never_become_real_ones(dtype: str, value: Any) -> None:
    for allow_downcast in (None, False, True):
        with pytest.raises(TypeError, match="the imaginary parts would be lost"):
            TensorType(dtype, (None,)).filter(value, allow_downcast=allow_downcast)


def test_python_floats_are_rounded_to_any_float_dtype() -> None:
    for dtype in ("float16", "float32", "complex64"):
        scalar = TensorType(dtype, ())
        assert scalar.filter(0.1) == np.array(0.1, dtype)
        with pytest.raises(TypeError, match="without loss"):
            scalar.filter(0.1, allow_downcast=False)
        with pytest.raises(TypeError, match="without loss"):
            scalar.filter(1e300)
        assert np.isinf(scalar.filter(float("inf")))
        with pytest.raises(TypeError, match="without loss"):
            scalar.filter(np.float64(0.1))


def test_downcasts_where_they_are_allowed() -> None:
    np.testing.assert_array_equal(I8.filter([300, 2], allow_downcast=True), [44, 2])
    np.testing.assert_array_equal(I64.filter(np.array([1.7]), allow_downcast=True), [1])
    assert F32.filter(np.array([0.1]), allow_downcast=True).dtype == "float32"
    assert BOOL.filter([0, 2], allow_downcast=True).tolist() == [False, True]


def test_strict() -> None:
    scalar = TensorType("float64", ())
    assert scalar.filter(np.float64(1.0), strict=True).shape == ()
    for value in (1.0, np.float32(1.0), [1.0]):
        with pytest.raises(TypeError):
            scalar.filter(value, strict=True)
    with pytest.raises(TypeError, match="an array of dtype int64 where float64 is expected"):
        F64.filter(np.array([1]), strict=True)
    with pytest.raises(TypeError, match="a list where an array is expected"):
        F64.filter([1.0], strict=True)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("text", "no array of numbers"),
        (None, "no array of numbers"),
        ([object()], "no array of numbers"),
        (np.array(["a"]), "no array of numbers"),
        (np.zeros((2, 2)), "an array of 2 dimensions where 1 are expected"),
        (1.0, "an array of 0 dimensions where 1 are expected"),
        (np.zeros(4), "length 4 along axis 0 where 3 is expected"),
        (np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False]), "lose its mask"),
        (lt.vector("v"), "a value is expected, not the variable v"),
        (2**70, "fits no dtype"),
    ],
)
def test_what_is_no_value(value: Any, message: str) -> None:
    type = TensorType("float64", (3,))
    with pytest.raises(TypeError, match=message):
        type.filter(value)
    assert not type.is_valid_value(value, strict=False)


@given(st.sampled_from(DTYPES), st.sampled_from(DTYPES), st.data())
def test_a_conversion_never_changes_values(source: str, target: str, data: st.DataObject) -> None:
    kind = np.dtype(source).kind
    elements: st.SearchStrategy[Any] = st.booleans()
    if kind in "iu":
        limits = np.iinfo(source)
        elements = st.integers(limits.min, limits.max) | st.sampled_from([0, 1, limits.min, limits.max])
    elif kind == "f":
        elements = st.floats(width=8 * np.dtype(source).itemsize)  # type: ignore[arg-type]  # 16, 32 or 64
    elif kind == "c":
        elements = st.complex_numbers(width=8 * np.dtype(source).itemsize)  # type: ignore[arg-type]  # 64 or 128
    array = np.array(data.draw(st.lists(elements, max_size=3)), source)
    try:
        found = TensorType(target, (None,)).filter(array, allow_downcast=False)
    except TypeError:
        assert not np.can_cast(source, target, "safe")
        return
    if np.dtype(target).kind in "fc" and kind in "iu" and np.can_cast(source, target, "safe"):
        return  # NumPy calls int64 to float64 safe
    for one, other in zip(array.tolist(), found.tolist(), strict=True):
        assert one == other or (one != one and other != other)


def test_static_shapes() -> None:
    assert TensorType("float64", [None, np.int64(3)]).shape == (None, 3)
    assert TensorType("float64", (1, None)).broadcastable == (True, False)
    assert TensorType("float64", (2, None)).ndim == 2
    with pytest.raises(ValueError, match="lengths of 0 or more"):
        TensorType("float64", (-1,))
    with pytest.raises(TypeError, match="holds lengths or None, not True"):
        TensorType("float64", (True, False))
    with pytest.raises(TypeError):
        TensorType("float64", (2.5,))  # type: ignore[arg-type]  # what is tested
    with pytest.raises(TypeError, match="no tensor has the dtype 'object'"):
        TensorType(object, ())


def test_equality_and_printing() -> None:
    made = TensorType(np.float64, (None, 3))
    assert made == TensorType("float64", (None, 3)) == TensorType(float, [None, 3])
    assert made != TensorType("float64", (None, None))
    assert hash(made) == hash(pickle.loads(pickle.dumps(made)))
    assert pickle.loads(pickle.dumps(made)) == made
    assert str(made) == "float64[?, 3]"
    assert repr(made) == "TensorType(float64, shape=(None, 3))"
    assert made.clone(dtype="int8") == TensorType("int8", (None, 3))
    assert made.clone(shape=()) == TensorType("float64", ())
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        made.dtype = "int8"  # type: ignore[misc]  # what is tested


def test_order_among_types() -> None:
    wide, narrow = TensorType("float64", (None, 3)), TensorType("float64", (2, 3))
    assert wide.is_super(narrow) is wide
    assert narrow.is_super(wide) is None
    assert wide.is_super(TensorType("float32", (2, 3))) is None
    assert wide.is_super(TensorType("float64", (3,))) is None
    assert wide.in_same_class(narrow)
    assert not wide.in_same_class(TensorType("float64", (1, 3)))


def test_a_variable_is_narrowed_by_an_assertion() -> None:
    x = lt.matrix("x")
    wanted = TensorType("float64", (None, 3))
    narrowed = wanted.filter_variable(x)
    assert narrowed.type == wanted
    assert narrowed.owner is not None
    assert isinstance(narrowed.owner.op, SpecifyShape)
    assert x.type.filter_variable(narrowed) is narrowed
    np.testing.assert_array_equal(narrowed.eval({x: np.ones((2, 3))}), np.ones((2, 3)))
    with pytest.raises(ValueError, match="length"):
        narrowed.eval({x: np.ones((2, 4))})


@pytest.mark.parametrize("other", [lt.fmatrix("x"), lt.vector("x"), TensorType("float64", (None, 4))("x")])
def test_variables_that_are_never_of_the_type(other: GraphVariable[Any]) -> None:
    with pytest.raises(TypeError, match=r"which is no float64\[\?, 3\]"):
        TensorType("float64", (None, 3)).filter_variable(other)
    with pytest.raises(TypeError):
        TensorType("float64", (None, 3)).filter_variable(lt.matrix("x"), allow_convert=False)


def test_values_become_constants() -> None:
    made = F64.filter_variable([1, 2])
    assert made.is_constant
    np.testing.assert_array_equal(made.stored_value(), [1.0, 2.0])
    assert made.type == F64


def test_comparing_values() -> None:
    a = np.array([1.0, np.nan])
    assert F64.values_eq(a, a.copy())
    assert not F64.values_eq(a, a.astype("float32"))
    assert not F64.values_eq(a, a[:1])
    assert F64.values_eq_approx(a, a + 1e-12)
    assert not F64.values_eq_approx(a, a + 1e-3)
    assert not F64.values_eq_approx(a, np.array([np.nan, 1.0]))
    assert not I64.values_eq_approx(np.array([1]), np.array([2]))


def test_memory_and_size() -> None:
    a = np.zeros(10)
    assert F64.may_share_memory(a, a[2:])
    assert not F64.may_share_memory(a, np.zeros(10))
    assert F64.get_size(F64.get_shape_info(a)) == 80


def test_constants_are_private_and_read_only() -> None:
    data = np.arange(3.0)
    made = F64.make_constant(data)
    data[0] = 9
    np.testing.assert_array_equal(made.data, [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="read-only"):
        made.data[0] = 9
    assert F64.make_constant([0, 1, 2]) is made
    assert F64.make_constant([-0.0, 1, 2]) is not made
    big = np.arange(10000.0)
    assert F64.make_constant(big) is F64.make_constant(big.copy())
