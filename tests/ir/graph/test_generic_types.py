"""Types of Python objects, slices, and the identity Ops."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from lamella.ir import (
    Constant,
    DeepCopyOp,
    DisconnectedType,
    Generic,
    NoneConst,
    NoneTypeT,
    SharedVariable,
    SliceType,
    StorageCell,
    ViewOp,
    deep_copy_op,
    generic,
    make_slice,
    none_type_t,
    perform_node,
    slice_type,
    view_op,
)
from tests.ir.graph.toys import NUMBER, POSITIVE, NumberVariable, number


def test_generic_takes_anything_but_variables() -> None:
    value = object()
    assert generic.filter(value, strict=True) is value
    assert generic.filter(None) is None
    with pytest.raises(TypeError, match="a value is expected, not the variable x"):
        generic.filter(number("x"))
    assert Generic() == generic
    assert generic.make_constant([1]) is not generic.make_constant([1])


def test_none() -> None:
    assert none_type_t.filter(None, strict=True) is None
    with pytest.raises(TypeError, match="None is expected, not 0"):
        none_type_t.filter(0)
    assert isinstance(NoneConst, Constant)
    assert NoneConst.data is None
    assert str(NoneConst) == "NoneConst"
    assert none_type_t.make_constant(None, "NoneConst") is NoneConst
    assert NoneTypeT() == none_type_t
    assert pickle.loads(pickle.dumps(NoneConst)) is NoneConst


def test_slices() -> None:
    value = slice(1, None, -2)
    assert slice_type.filter(value, strict=True) is value
    assert SliceType() == slice_type
    for wrong in (5, slice(1.5, None), slice("a")):
        with pytest.raises(TypeError, match="slice"):
            slice_type.filter(wrong)
    constant = slice_type.make_constant
    assert constant(slice(1, 2)) is constant(slice(1, 2, None))
    assert constant(slice(1, 2)) is not constant(slice(1, 2, 1))
    assert constant(slice(True, 2)).data == slice(1, 2)


@pytest.mark.parametrize("bounds", [(5,), (1, 5), (1, 5, 2), (None, None, -1), (0,)])
def test_make_slice_is_like_the_built_in(bounds: tuple[int | None, ...]) -> None:
    assert make_slice(*bounds).eval() == slice(*bounds)
    assert make_slice(slice(*bounds)) is make_slice(*bounds)
    assert make_slice(*bounds).type == slice_type


def test_make_slice_of_variables() -> None:
    start = generic("start")
    assert make_slice(start, None).eval({start: 3}) == slice(3, None, None)
    node = make_slice.make_node(start, 4)
    assert node.inputs == (start, generic.make_constant(4), NoneConst)
    assert make_slice.connection_pattern(node) == [[False]] * 3
    assert [g.type for g in make_slice.L_op(node.inputs, node.outputs, [start])] == [DisconnectedType()] * 3
    with pytest.raises(TypeError):
        make_slice(start).eval({start: 1.5})


@pytest.mark.parametrize("wrong", [(), (1, 2, 3, 4)])
def test_make_slice_takes_one_to_three_bounds(wrong: tuple[int, ...]) -> None:
    with pytest.raises(TypeError, match=f"one to three bounds, not of {len(wrong)}"):
        make_slice(*wrong)


@pytest.mark.parametrize(("apply", "op"), [(view_op, ViewOp()), (deep_copy_op, DeepCopyOp())])
def test_identities(apply: Callable[[Any], Any], op: Any) -> None:
    assert apply == op
    x: NumberVariable = POSITIVE("x")
    y = apply(x)
    assert y.type == POSITIVE
    assert y.eval({x: 2.0}) == 2.0
    assert op.infer_shape(None, y.owner, [(1, 2)]) == [(1, 2)]
    g = number("g")
    assert list(op.L_op([x], [y], [g])) == [g]
    assert list(op.R_op([x], [None])) == [None]
    with pytest.raises(TypeError, match="takes one input, not 2"):
        op.make_node(x, x)


def test_a_view_is_the_very_value_and_a_copy_is_not() -> None:
    value = [[1]]
    x = generic("x")
    assert view_op.view_map == {0: [0]}
    assert deep_copy_op.view_map == {}
    (viewed,) = perform_node(view_op.make_node(x), [value])
    assert viewed is value
    (copied,) = perform_node(deep_copy_op.make_node(x), [value])
    assert copied == value
    assert copied[0] is not value[0]


def test_a_view_of_a_shared_value_leaves_eval_as_a_copy() -> None:
    shared = SharedVariable(generic, StorageCell([1]))
    viewed: Any = view_op(shared)
    viewed.eval().append(2)
    assert shared.get_value() == [1]


def test_calls_are_typed() -> None:
    x: NumberVariable = NUMBER("x")
    y: NumberVariable = view_op(x)
    z: NumberVariable = deep_copy_op(y)
    assert z.type == NUMBER
