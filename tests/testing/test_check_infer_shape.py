"""`check_infer_shape` and `InferShapeTester` accept right shapes and refuse wrong ones."""

import numpy as np
import pytest

from lamella.ir import lt
from lamella.testing import InferShapeTester, check_infer_shape
from tests.testing import own_ops as ops

X = np.arange(6.0).reshape(2, 3)


def test_right_shapes_pass() -> None:
    check_infer_shape(ops.Scale(), [X])
    check_infer_shape(lambda x, y: [lt.dot(x, y), lt.concatenate([x, x])], [X, X.T[:, :1]], mode="FAST_COMPILE")
    check_infer_shape(lt.exp, [np.array(1.0)], mode="FAST_COMPILE")
    check_infer_shape(lt.exp, [np.zeros((0, 2))], mode="FAST_COMPILE")


def test_wrong_shapes_fail() -> None:
    with pytest.raises(AssertionError, match=r"output 0: the inferred shape is \(3, 2\), the value has \(2, 3\)"):
        check_infer_shape(ops.WrongShape(), [X], mode="FAST_COMPILE")


def test_a_wrong_static_shape_fails() -> None:
    with pytest.raises(AssertionError, match="where the lengths of the inputs are known"):
        check_infer_shape(ops.WrongStaticShape(), [X], mode="FAST_COMPILE")


@pytest.mark.parametrize("op", [ops.ShapeByComputing(), ops.NoShape()], ids=str)
def test_shapes_that_need_the_op_fail(op: ops.Scale) -> None:
    with pytest.raises(AssertionError, match="can only be found by computing"):
        check_infer_shape(op, [X], mode="FAST_COMPILE")
    with pytest.raises(AssertionError, match="can only be found by computing"):
        check_infer_shape(lambda x: lt.exp(op(x)), [X], op_class=type(op), mode="FAST_COMPILE")


def test_equal_lengths_are_warned_of() -> None:
    with pytest.warns(UserWarning, match="exchanged axes would go unnoticed"):
        check_infer_shape(ops.WrongShape(), [np.ones((2, 2))], mode="FAST_COMPILE")
    check_infer_shape(ops.WrongShape(), [np.ones((2, 2))], mode="FAST_COMPILE", warn=False)


class TestScale(InferShapeTester):
    mode = "FAST_COMPILE"

    def test_scale(self) -> None:
        x = lt.matrix("x")
        self._compile_and_check([x], [ops.Scale()(x)], [X], ops.Scale)

    def test_excluding(self) -> None:
        x = lt.matrix("x")
        self._compile_and_check([x], [ops.Scale()(x)], [X], ops.Scale, excluding=["canonicalize"])

    def test_without_a_look_at_the_graph(self) -> None:
        x = lt.matrix("x")
        self._compile_and_check([x], [ops.NoShape()(x)], [X], ops.NoShape, check_topo=False)

    def test_wrong(self) -> None:
        x = lt.matrix("x")
        with pytest.raises(AssertionError, match="the inferred shape"):
            self._compile_and_check([x], [ops.WrongShape()(x)], [X], ops.WrongShape)
