"""`function`: inputs, outputs, defaults, errors."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from typing import Any, ClassVar

import cloudpickle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lamella as lm
import lamella.tensor as lt
from lamella import Apply, Op, OutputStorage
from lamella.errors import (
    BroadcastError,
    ConfigError,
    InconsistencyError,
    MissingInputError,
    UnusedInputError,
)
from lamella.ir import interpret
from lamella.runtime import FAST_RUN, Mode, PerformLinker
from lamella.tensor import TensorLike, TensorVariable, as_tensor_variable

MODES = ["FAST_RUN", "FAST_COMPILE"]


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def test_outputs_come_back_in_the_form_they_were_given(mode: str) -> None:
    x = lt.vector("x")
    one, two = x + 1.0, x * 2.0
    point = np.arange(3.0)
    single = lm.function([x], one, mode=mode)(point)
    np.testing.assert_array_equal(single, point + 1)
    as_list = lm.function([x], [one, two], mode=mode)(point)
    assert isinstance(as_list, list)
    np.testing.assert_array_equal(as_list[1], point * 2)
    as_tuple = lm.function([x], (one, two), mode=mode)(point)
    assert isinstance(as_tuple, tuple)
    as_dict = lm.function([x], {"one": one, 2: two}, mode=mode)(point)
    assert list(as_dict) == ["one", 2]
    np.testing.assert_array_equal(as_dict[2], point * 2)
    assert lm.function([x], None, mode=mode, on_unused_input="ignore")(point) is None
    assert lm.function([x], [one], mode=mode)(point)[0].shape == (3,)


def test_arguments_by_name_and_defaults(mode: str) -> None:
    x, y = lt.scalars("x y")
    f = lm.function([x, (y, 10.0)], x - y, mode=mode)
    assert f(1.0) == -9.0
    assert f(1.0, 2.0) == -1.0
    assert f(y=3.0, x=1.0) == -2.0
    named = lm.function([lm.In(x, name="first"), lm.In(y, value=1.0)], x - y, mode=mode)
    assert named(first=5.0) == 4.0


def test_wrong_arguments_are_told_apart(mode: str) -> None:
    x, y = lt.vector("x"), lt.scalar("y")
    f = lm.function([x, y], x * y, name="f", mode=mode)
    with pytest.raises(TypeError, match=r"'f' was not given its input 1 \(y\)"):
        f(np.ones(2))
    with pytest.raises(TypeError, match="takes 2 inputs, but 3 were given"):
        f(np.ones(2), 1.0, 2.0)
    with pytest.raises(TypeError, match="has no input named 'z'; there are x, y"):
        f(np.ones(2), z=2.0)
    with pytest.raises(TypeError, match="was given its input 'x' twice"):
        f(np.ones(2), x=np.ones(2))
    with pytest.raises(TypeError, match="2 dimensions where 1 are expected") as caught:
        f(np.ones((2, 2)), 1.0)
    assert any("the function 'f' as input 0 (x, float64[?])" in note for note in caught.value.__notes__)
    with pytest.raises(TypeError, match="no array of numbers"):
        f("text", 1.0)


def test_values_are_converted_where_nothing_is_lost(mode: str) -> None:
    x = lt.vector("x", dtype="float32")
    f = lm.function([x], x + 1, mode=mode)
    assert f([1, 2]).dtype == np.float32
    with pytest.raises(TypeError, match="without loss"):
        f(np.array([0.1]))
    assert lm.function([x], x + 1, mode=mode, allow_input_downcast=True)(np.array([0.1])).dtype == np.float32
    strict = lm.function([lm.In(x, strict=True)], x + 1, mode=mode)
    with pytest.raises(TypeError, match="dtype int64 where float32 is expected"):
        strict(np.array([1, 2]))


def test_inputs_are_checked_while_compiling() -> None:
    x, y = lt.vectors("x y")
    with pytest.raises(MissingInputError, match="is needed by") as missing:
        lm.function([x], x * y)
    assert any("among the inputs" in note for note in missing.value.__notes__)
    with pytest.raises(UnusedInputError, match=r"input 1 \(y, float64\[\?\]\) takes no part"):
        lm.function([x, y], x)
    with pytest.warns(UserWarning, match="takes no part"):
        lm.function([x, y], x, on_unused_input="warn")
    with pytest.raises(ValueError, match="is given twice"):
        lm.function([x, x], x)
    with pytest.raises(TypeError, match="an input is a Variable"):
        lm.function([3.0], x)  # type: ignore[list-item]  # refused at run time too
    with pytest.raises(TypeError, match="is an input of every function that needs it"):
        lm.function([lm.shared(1.0)], x)
    with pytest.raises(ConfigError, match="no mode is named 'SLOW'"):
        lm.function([x], x, mode="SLOW")


def test_an_intermediate_result_can_be_an_input(mode: str) -> None:
    x = lt.vector("x")
    y = lt.exp(x)
    np.testing.assert_array_equal(lm.function([y], y * 2.0, mode=mode)(np.ones(2)), [2.0, 2.0])


def test_givens_take_the_place_of_variables(mode: str) -> None:
    x, y = lt.vectors("x y")
    f = lm.function([y], lt.exp(x), givens={x: y * 2.0}, mode=mode)
    np.testing.assert_allclose(f(np.ones(2)), np.exp([2.0, 2.0]))
    with pytest.raises(TypeError):
        lm.function([y], lt.exp(x), givens={x: lt.matrix("m")})


def test_a_returned_array_is_the_callers_own(mode: str) -> None:
    x = lt.matrix("x")
    f = lm.function([x], [x, x.T, x[0], x, lt.as_tensor_variable([1.0, 2.0])], mode=mode)
    point = np.arange(4.0).reshape(2, 2)
    first = f(point)
    for i, array in enumerate(first):
        for other in (point, *first[:i], *first[i + 1 :]):
            assert not np.shares_memory(array, other)
        assert array.flags.writeable
        array[...] = -1.0
    np.testing.assert_array_equal(point, np.arange(4.0).reshape(2, 2))
    np.testing.assert_array_equal(f(point)[4], [1.0, 2.0])


@given(st.data())
@settings(max_examples=40)
def test_a_copy_that_is_overwritten_is_not_the_one_that_is_returned(data: st.DataObject) -> None:
    x, y = lt.vector("x"), lt.vector("y")
    copy, copy_of_view = lm.deep_copy_op(x), lm.deep_copy_op(lm.view_op(x))
    options = [copy + y, lt.exp(copy), copy_of_view * y, x, x, lm.view_op(x), copy]
    outputs = data.draw(st.lists(st.sampled_from(options), min_size=2, max_size=6))
    values = [np.array([0.5, -1.0]), np.array([2.0, 3.0])]
    f = lm.function([x, y], outputs, mode=Mode(PerformLinker(), FAST_RUN.query), on_unused_input="ignore")
    found = f(*values)
    for i, (result, wanted) in enumerate(zip(found, interpret([x, y], outputs, values), strict=True)):
        np.testing.assert_allclose(result, wanted, rtol=1e-15)
        assert not any([np.shares_memory(result, other) for other in (*values, *found[:i])])


def test_a_borrowed_output_may_be_the_input(mode: str) -> None:
    x = lt.vector("x")
    point = np.arange(3.0)
    assert np.shares_memory(lm.function([x], lm.Out(x, borrow=True), mode=mode)(point), point)


def test_an_argument_is_not_changed_unless_it_is_mutable(mode: str) -> None:
    x = lt.vector("x")
    point = np.arange(4.0)
    y = lt.set_subtensor(x[1:], 9.0) * 2.0 + lt.exp(x)
    lm.function([x], y, mode=mode)(point)
    np.testing.assert_array_equal(point, np.arange(4.0))
    expected = y.eval({x: np.arange(4.0)})
    np.testing.assert_allclose(lm.function([lm.In(x, mutable=True)], y, mode=mode)(point), expected)


class _Destroyer(Op[[TensorLike], TensorVariable]):
    __props__: ClassVar[tuple[str, ...]] = ()
    destroy_map = {0: [0]}

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        variable = as_tensor_variable(x)
        return Apply(self, [variable], [variable.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        inputs[0][...] += 1
        output_storage[0][0] = inputs[0]


def test_destroying_a_protected_input_is_refused(mode: str) -> None:
    x = lt.vector("x")
    with pytest.raises(InconsistencyError, match="protected input"):
        lm.function([x], _Destroyer()(x), mode=mode)
    point = np.zeros(2)
    result = lm.function([lm.In(x, mutable=True)], _Destroyer()(x), mode=mode)(point)
    np.testing.assert_array_equal(result, [1.0, 1.0])


def test_one_array_for_two_mutable_inputs_is_taken_apart(mode: str) -> None:
    x, y = lt.vectors("x y")
    f = lm.function([lm.In(x, mutable=True), lm.In(y, mutable=True)], _Destroyer()(x) * _Destroyer()(y), mode=mode)
    point = np.zeros(3)
    np.testing.assert_array_equal(f(point, point), [1.0, 1.0, 1.0])


class _Fails(Op[[TensorLike], TensorVariable]):
    __props__: ClassVar[tuple[str, ...]] = ()

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        variable = as_tensor_variable(x)
        return Apply(self, [variable], [variable.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        raise ZeroDivisionError("as promised")


def test_an_error_at_run_time_names_the_node_and_the_line(mode: str) -> None:
    x = lt.matrix("x")
    y = _Fails()(x)
    f = lm.function([x], y + 1.0, mode=mode)
    with pytest.raises(ZeroDivisionError, match="as promised") as caught:
        f(np.ones((2, 3))[:, ::2])
    (note,) = caught.value.__notes__
    assert "node: _Fails" in note
    assert "x, float64[?, ?], shape (2, 2), strides (24, 16)" in note
    assert "test_function.py" in note


def test_lengths_that_do_not_fit_name_the_variable_the_axis_and_the_remedy(mode: str) -> None:
    x, y = lt.vectors("x y")
    f = lm.function([x, y], x + y, mode=mode)
    with pytest.raises(BroadcastError, match=r"input 1 \(y\) has length 1") as caught:
        f(np.ones(3), np.ones(1))
    assert "along axis 0" in str(caught.value)
    assert "specify_shape(y, ...)" in str(caught.value)
    with pytest.raises(BroadcastError, match="has length 2"):
        f(np.ones(3), np.ones(2))


def test_functions_can_be_pickled_and_copied(mode: str) -> None:
    x = lt.vector("x")
    state = lm.shared(np.zeros(2), name="state")
    f = lm.function([(x, np.ones(2))], state + x, updates={state: state + x}, mode=mode, name="f", trust_input=True)
    for dumps in (pickle.dumps, cloudpickle.dumps):
        loaded = pickle.loads(dumps(f))
        assert loaded.name == "f"
        assert loaded.trust_input
        np.testing.assert_array_equal(loaded(), [1.0, 1.0])
        np.testing.assert_array_equal(loaded(), [2.0, 2.0])
    np.testing.assert_array_equal(state.get_value(), [0.0, 0.0])
    deep = copy.deepcopy(f)
    deep()
    np.testing.assert_array_equal(state.get_value(), [0.0, 0.0])
    f.copy()()
    np.testing.assert_array_equal(state.get_value(), [1.0, 1.0])


def test_what_a_function_tells_of_itself() -> None:
    x = lt.vector("x")
    f = lm.function([x], lt.exp(x) + 0.0, name="f")
    assert repr(f) == "<Function f(x)>"
    assert f.inputs[0].variable is x
    assert f.fgraph.inputs == (x,)
    assert f.original_fgraph.outputs[0].owner is not None
    assert f.mode == lm.FAST_RUN
