"""Advanced indexing: any index that NumPy takes, read, set and added to; bounds; in place, where memory overlaps."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
    ArrayEntry,
    TensorType,
    TensorVariable,
)
from tests.codegen.agreement import compiled
from tests.ir.tensor.index_expressions import advanced_indices
from tests.ir.tensor.written_values import written_values

from .against_perform import (
    DTYPE_OF_EACH_SIZE,
    DTYPES,
    Array,
    assert_same_as_perform,
    assert_same_error,
    bits,
    is_in_c,
    numbers,
    same,
)


@pytest.mark.parametrize("dtype", DTYPE_OF_EACH_SIZE)
def test_reading_and_setting_elements_of_each_size(dtype: str) -> None:
    x, v = TensorType(dtype, (None, None, None))("x"), TensorType(dtype, (None,))("v")
    i, j = [lt.vector(name, dtype="int64") for name in "ij"]
    outputs = [
        *[AdvancedSubtensor1(axis)(x, i) for axis in range(3)],
        x[i, :, j],
        x[:, i, j],
        x[i, j, ::-1],
        AdvancedIncSubtensor1(0, False, True)(x, v.dimshuffle(0, "x", "x"), i),
        AdvancedIncSubtensor1(1, False, True)(x, v.dimshuffle("x", 0, "x"), i),
        AdvancedIncSubtensor1(2, False, True)(x, v.dimshuffle("x", "x", 0), i),
        lt.set_subtensor(x[i, j], v.dimshuffle(0, "x")),
        lt.set_subtensor(x[:, i, j], v.dimshuffle("x", 0)),
    ]
    assert is_in_c([x, i, j, v], outputs)
    indices = [np.array([1, 0, -1, 1]), np.array([0, -2, 1, -1])]
    assert_same_as_perform([x, i, j, v], outputs, [bits((2, 2, 2), dtype), *indices, bits((4,), dtype, 1)])


@pytest.mark.parametrize("dtype", DTYPES)
def test_adding(dtype: str) -> None:
    x, v = TensorType(dtype, (None, None))("x"), TensorType(dtype, (None,))("v")
    i, j = [lt.vector(name, dtype="int64") for name in "ij"]
    outputs = [
        AdvancedIncSubtensor1(0)(x, v.dimshuffle(0, "x"), i),
        AdvancedIncSubtensor1(1)(x, v.dimshuffle("x", 0), i),
        lt.inc_subtensor(x[i, j], v),
        lt.inc_subtensor(x[::-1][i, j], v),
    ]
    assert is_in_c([x, i, j, v], outputs)
    values = [numbers((3, 3), dtype), np.array([1, 0, -1, 1]), np.array([0, -3, 0, 2]), numbers((4,), dtype, 1)]
    assert_same_as_perform([x, i, j, v], outputs, values, bitwise=False)
    assert_same_error([x, i, j, v], outputs[:1], [*values[:3], numbers((2,), dtype)])


@settings(max_examples=8, deadline=None)
@given(st.data(), st.lists(st.integers(0, 4), max_size=3).map(tuple), st.sampled_from(["float64", "int8"]))
def test_any_index(data: st.DataObject, shape: tuple[int, ...], dtype: str) -> None:
    x = TensorType(dtype, [n if data.draw(st.booleans()) else None for n in shape])("x")
    values: dict[TensorVariable, Array] = {x: numbers(shape, dtype)}
    outputs: list[TensorVariable] = []
    for _ in range(6):
        case = data.draw(advanced_indices(shape))
        selected = numbers(shape, dtype)[case.plain].shape
        variable, value = data.draw(written_values(selected, dtype))
        values |= {**case.values, variable: value}
        part = x[case.symbolic]
        outputs += [part, lt.set_subtensor(part, variable), lt.inc_subtensor(part, variable)]
    assert_same_as_perform(list(values), outputs, list(values.values()), layouts=["contiguous", "fortran", "reversed"])


@settings(max_examples=12, deadline=None)
@given(st.data(), st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple))
def test_any_wrong_index(data: st.DataObject, shape: tuple[int, ...]) -> None:
    x = TensorType("float64", [None] * len(shape))("x")
    case = data.draw(advanced_indices(shape, wrong=True))
    try:
        part = x[case.symbolic]
    except IndexError:
        return  # refused already
    values = {x: numbers(shape, "float64"), **case.values}
    functions = [part] if part.owner is None else [part, lt.set_subtensor(part, 0.0), lt.inc_subtensor(part, 1.0)]
    try:
        numbers(shape, "float64")[case.plain]
    except IndexError:
        for output in functions:
            assert_same_error(list(values), [output], list(values.values()))
    else:
        assert_same_as_perform(list(values), functions, list(values.values()), layouts=["contiguous"])


def test_no_index_is_so_far_off_that_it_is_within_again() -> None:
    x, i = lt.dvector("x"), lt.vector("i", dtype="int64")
    function = compiled([x, i], [AdvancedIncSubtensor1(inplace=True)(x, lt.ones((1,)), i)])
    far = np.iinfo("int64")
    for length in (1, 3, 40):
        for index in (-length - 1, -length, -1, 0, length - 1, length, far.min, far.min + 1, far.max - 1, far.max):
            indices = np.zeros(41, "int64")
            indices[17] = index
            for positions in (indices, np.repeat(indices, 2)[::2]):
                array, expected = np.zeros(length), np.zeros(length)
                if -length <= index < length:
                    np.add.at(expected, positions, 1.0)
                    np.testing.assert_array_equal(function([array, positions])[0], expected)
                else:
                    with pytest.raises(IndexError):
                        function([array, positions])
                np.testing.assert_array_equal(array, expected)


def test_general_indices_need_no_interpreter() -> None:
    x = lt.dtensor3("x")
    i, j = lt.vector("i", dtype="int64"), lt.matrix("j", dtype="int64")
    flag = TensorType("bool", ())("flag")
    part = [x[i], x[:, j], x[1:, i, ::2], x[i, None, i], x[lt.arange(x.shape[0]), i], x[j[:, :1], :, j[:1]], x[flag, i]]
    assert is_in_c(
        [x, i, j, flag], [*part, *[lt.set_subtensor(p, 0) for p in part], *[lt.inc_subtensor(p, 1) for p in part]]
    )


def test_the_last_of_several_is_set_and_all_are_added() -> None:
    x, v, i = lt.dvector("x"), lt.dvector("v"), lt.vector("i", dtype="int64")
    function = compiled([x, v, i], [lt.set_subtensor(x[i], v), lt.inc_subtensor(x[i], v)])
    index = np.tile([0, 2, -1], 400)
    values = np.arange(1200.0)
    written, added = function([np.zeros(4), values, index])
    np.testing.assert_array_equal(written, [1197.0, 0.0, 1198.0, 1199.0])
    np.testing.assert_array_equal(added, [values[::3].sum(), 0.0, values[1::3].sum(), values[2::3].sum()])


def test_two_dimensions_of_indices_are_written_in_their_order() -> None:
    x, v, i = lt.dvector("x"), lt.dmatrix("v"), lt.matrix("i", dtype="int64")
    outputs = [lt.set_subtensor(x[i], v), lt.inc_subtensor(x[i], v)]
    rng = np.random.default_rng(0)
    cases = [[np.zeros(5), rng.normal(size=(7, 30)), rng.integers(-5, 5, (7, 30))] for _ in range(3)]
    assert_same_as_perform([x, v, i], outputs, *cases)


def test_many_places() -> None:
    x, v = lt.fmatrix("x"), lt.fvector("v")
    i, j = [lt.vector(name, dtype="int64") for name in "ij"]
    outputs = [x[i], x[:, j], x[i, j], lt.inc_subtensor(x[i, j], v), lt.inc_subtensor(x[i], v.dimshuffle(0, "x"))]
    rng = np.random.default_rng(0)
    values = [
        rng.normal(size=(50, 40)),
        rng.integers(-50, 50, 70_000),
        rng.integers(-40, 40, 70_000),
        rng.normal(size=70_000),
    ]
    typed = [v.astype(u.dtype) for u, v in zip((x, i, j, v), values, strict=True)]
    assert_same_as_perform([x, i, j, v], outputs, typed, layouts=["contiguous", "fortran"])


@pytest.mark.parametrize("set_instead_of_inc", [True, False])
def test_nothing_is_written_where_one_index_is_wrong(set_instead_of_inc: bool) -> None:
    x, v = lt.dvector("x"), lt.dvector("v")
    i, j = [lt.vector(name, dtype="int64") for name in "ij"]
    one = AdvancedIncSubtensor1(0, True, set_instead_of_inc)(x, v, i)
    m = lt.dmatrix("m")
    two = AdvancedIncSubtensor((ArrayEntry(0), ArrayEntry(1)), True, set_instead_of_inc)(m, v, i, j)
    array, matrix, values = np.zeros(3), np.zeros((3, 3)), np.ones(600)
    index = np.zeros(600, dtype="int64")
    wrong = index.copy()
    wrong[-1] = 3
    assert_same_error([x, v, i], [one], [array, values, wrong], [array, values, -wrong - 1])
    assert_same_error([m, v, i, j], [two], [matrix, values, wrong, index], [matrix, values, index, -wrong - 1])
    assert_same_error([x, v, i], [one], [array, values[:1], index], [array, values, index[:5]])


@pytest.mark.parametrize("set_instead_of_inc", [True, False])
def test_written_in_place(set_instead_of_inc: bool) -> None:
    x, v, i = lt.dmatrix("x"), lt.dmatrix("v"), lt.vector("i", dtype="int64")
    op = AdvancedIncSubtensor1(1, True, set_instead_of_inc)
    assert is_in_c([x, v, i], [op(x, v, i)])
    function = compiled([x, v, i], [op(x, v, i)])
    array, values, index = numbers((3, 4), "float64"), numbers((3, 2), "float64", 1), np.array([-1, 0])
    wanted = array.copy()
    if set_instead_of_inc:
        wanted[:, index] = values
    else:
        wanted[:, index] += values
    (got,) = function([array, values, index])
    same(got, wanted)
    assert np.shares_memory(got, array)


def test_what_others_see_is_not_written_where_an_index_is_wrong() -> None:
    x, v, i = lt.dmatrix("x"), lt.dmatrix("v"), lt.vector("i", dtype="int64")
    op = AdvancedIncSubtensor1(0, True, True)
    computed = lt.exp(x)
    wrong = [numbers((300, 4), "float64"), numbers((290, 4), "float64", 1), np.arange(20, 310)]
    for inputs in ([x, v, i], [computed, v, i]):  # in the second function, it is the caller's
        assert_same_error(inputs, [op(computed, v, i)], wrong)


def test_indices_of_a_frame_of_known_shape() -> None:
    x = TensorType("float32", (3, 4))("x")
    i = TensorType("int64", (2,))("i")
    outputs = [lt.sum(x[i]), lt.sum(lt.set_subtensor(x[i], x[:2])), x[lt.constant([0, -1])]]
    assert_same_as_perform([x, i], outputs, [numbers((3, 4), "float32"), np.array([2, -3])])
    assert_same_error([x, i], outputs, [numbers((3, 4), "float32"), np.array([2, 3])])


def test_empty() -> None:
    x, i, j = lt.dmatrix("x"), lt.vector("i", dtype="int64"), lt.vector("j", dtype="int64")
    outputs: list[Any] = [x[i], x[:, i], lt.set_subtensor(x[i], 1.0), lt.inc_subtensor(x[:, i], 1.0)]
    none = np.array([], dtype="int64")
    assert_same_as_perform([x, i], outputs, [np.zeros((0, 3)), none], [np.zeros((3, 0)), none], [np.ones((2, 3)), none])
    assert_same_as_perform([x, i, j], [x[i, j]], [np.zeros((0, 0)), none, none])
    for output in outputs:
        assert_same_error([x, i], [output], [np.zeros((0, 0)), np.array([0])])
    assert_same_error([x, i], [AdvancedSubtensor((ArrayEntry(0),))(x, i)], [np.zeros((3, 0)), np.array([3])])
