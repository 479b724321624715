"""`as_op`: Ops made of Python functions."""

import copy
import pickle
import types
from collections.abc import Callable, Sequence
from typing import Any

import cloudpickle
import pytest

from lamella.errors import GradientNotImplementedError, ShapeNotInferred
from lamella.ir import Apply, FromFunctionOp, FunctionGraph, Op, as_op, generic, perform_node, wrap_py
from tests.ir.graph.toys import NUMBER, POSITIVE, number


def first_shape(
    fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]], /
) -> Sequence[tuple[Any, ...]]:
    return shapes[:1]


@as_op(itypes=[NUMBER, NUMBER], otypes=[NUMBER], infer_shape=first_shape)
def product(a: float, b: float) -> float:
    return a * b


@as_op([NUMBER], (NUMBER, POSITIVE))
def split(a: float) -> tuple[float, float]:
    return a - 1.0, abs(a) + 1.0


def plain(a: float) -> float:
    return -a


negated = wrap_py(NUMBER, NUMBER)(plain)


class Holder:
    @as_op(NUMBER, NUMBER)
    @staticmethod
    def halved(a: float) -> float:
        return a / 2


def test_a_function_becomes_an_op() -> None:
    x, y = number("x"), number("y")
    assert isinstance(product, Op)
    assert str(product) == "FromFunctionOp{product}"
    assert product(x, y).eval({x: 2.0, y: 3.0}) == 6.0
    assert product(x, y) is product(x, y)
    low, high = split(x)
    assert (high.type, high.eval({x: -3.0}), low.eval({x: -3.0})) == (POSITIVE, 4.0, -4.0)
    assert negated(2).eval() == -2.0
    assert product.function(2, 3) == 6
    assert wrap_py is as_op


def test_the_number_of_inputs_is_checked() -> None:
    with pytest.raises(TypeError, match=r"FromFunctionOp\{product\} takes 2 inputs, not 1"):
        product(number())


def test_what_is_no_type_is_refused() -> None:
    with pytest.raises(TypeError, match="itypes and otypes are Types, and 'float64' is a str"):
        as_op(["float64"], [NUMBER])  # type: ignore[list-item]  # on purpose
    with pytest.raises(TypeError, match="and <class 'float'> is a type"):
        as_op([NUMBER], [float])  # type: ignore[list-item]  # on purpose


def test_results_are_converted_and_checked() -> None:
    @as_op(NUMBER, NUMBER)
    def integer(a: float) -> int:
        return 3

    @as_op(NUMBER, POSITIVE)
    def negative(a: float) -> float:
        return -1.0

    @as_op(NUMBER, NUMBER)
    def two(a: float) -> tuple[float, float]:
        return a, a

    @as_op(NUMBER, NUMBER)
    def listed(a: float) -> list[float]:
        return [a]

    x = number("x")
    result = integer(x).eval({x: 1.0})
    assert (result, type(result)) == (3.0, float)
    with pytest.raises(TypeError, match=r"-1\.0 is not positive"):
        negative(x).eval({x: 1.0})
    with pytest.raises(ValueError, match=r"FromFunctionOp\{two\} returned 2 values, but has 1 outputs"):
        two(x).eval({x: 1.0})
    assert listed(x).eval({x: 2.0}) == 2.0


def test_a_result_that_is_an_input_is_copied() -> None:
    @as_op(generic, generic)
    def same(value: Any) -> tuple[Any]:
        return (value,)

    value = {"a": [1]}
    node = same.make_node(generic())
    (result,) = perform_node(node, [value])
    assert result == value
    assert result is not value
    assert result["a"] is not value["a"]


def test_shapes_come_from_the_given_function() -> None:
    x = number("x")
    node = product.make_node(x, x)
    assert product.infer_shape(None, node, [(1,), (2,)]) == [(1,)]
    with pytest.raises(ShapeNotInferred, match=r"FromFunctionOp\{split\} has no infer_shape"):
        split.infer_shape(None, split.make_node(x), [()])


def test_there_is_no_gradient() -> None:
    x = number("x")
    with pytest.raises(GradientNotImplementedError, match=r"FromFunctionOp\{product\} has no gradient"):
        product.L_op([x, x], [product(x, x)], [x])


def test_equality_is_that_of_the_function_and_the_types() -> None:
    assert as_op(NUMBER, NUMBER)(plain) == negated
    assert as_op(NUMBER, POSITIVE)(plain) != negated
    assert as_op(NUMBER, NUMBER)(lambda a: -a) != as_op(NUMBER, NUMBER)(lambda a: -a)


@pytest.mark.parametrize("op", [product, split, negated, Holder.halved])
@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps])
def test_ops_of_functions_in_modules_pickle(op: FromFunctionOp, dumps: Callable[[object], bytes]) -> None:
    restored = pickle.loads(dumps(op))
    assert restored == op
    assert copy.deepcopy(op) == op
    x = number("x")
    inputs = [x] * len(op.itypes)
    graph = op.make_node(*inputs).outputs[0]
    again = pickle.loads(dumps(graph))
    assert again.owner.op == op


def test_ops_of_decorated_functions_pickle_as_themselves() -> None:
    assert pickle.loads(pickle.dumps(product)) is product
    assert pickle.loads(pickle.dumps(Holder.halved)) is Holder.halved


def test_what_cannot_be_pickled_says_so() -> None:
    def local(a: float) -> float:
        return a

    for op, name in ((as_op(NUMBER, NUMBER)(lambda a: a), "<lambda>"), (as_op(NUMBER, NUMBER)(local), "local")):
        with pytest.raises(TypeError) as caught:
            pickle.dumps(op(number()))
        message = str(caught.value)
        assert message.startswith(f"FromFunctionOp{{{name}}} cannot be pickled: its function, test_what_cannot_")
        assert message.endswith("Define it with `def` at the top of a module, or use cloudpickle")
        restored = pickle.loads(cloudpickle.dumps(op))
        x = number("x")
        assert restored(x).eval({x: 4.0}) == 4.0


def test_callable_objects_are_functions_too() -> None:
    class Counts:
        def __call__(self, a: float) -> float:
            return a + 1

    op = as_op(NUMBER, NUMBER)(Counts())
    x = number("x")
    assert op(x).eval({x: 1.0}) == 2.0
    assert str(op).startswith("FromFunctionOp{<")
    assert isinstance(op.make_node(x).op, FromFunctionOp)
    assert not isinstance(op.function, types.FunctionType)
