"""`verify_op` accepts right Ops, and names the promise that a wrong one breaks."""

from typing import Any

import numpy as np
import pytest

from lamella import Op, Variable
from lamella.ir import Add, Dot, Subtensor, as_op, lt, slice_type
from lamella.ir import TensorType as TT
from lamella.testing import OpContractError, verify_op
from tests.testing import own_ops as ops

POINT = np.random.default_rng(0).normal(size=(2, 3))
FAST = ["PerformLinker"]


def op_of(variable: Variable[Any]) -> Op[Any, Any]:
    assert variable.owner is not None
    return variable.owner.op


def test_a_right_op_passes_in_every_backend() -> None:
    verify_op(ops.Scale(3.0), POINT, gradient=True, infers_shape=True)


def test_an_op_that_declares_what_it_overwrites_passes() -> None:
    verify_op(ops.InPlace(), POINT)


@pytest.mark.parametrize(
    ("op", "values"),
    [
        (lt.exp, [POINT]),
        (Add(), [POINT, POINT[:1]]),
        (lt.logaddexp, [POINT, 1.0]),
        (Dot(), [POINT, np.ones((3, 4))]),
        (op_of(lt.softmax(lt.matrix(), axis=0)), [POINT]),
        (op_of(lt.sum(lt.matrix(), axis=1)), [POINT]),
        (op_of(lt.dimshuffle(lt.matrix(), 1, "x", 0)), [POINT]),
        (op_of(lt.matrix()[::-1, 1]), [POINT]),
    ],
    ids=lambda value: str(value) if isinstance(value, Op) else "",
)
def test_ops_of_the_library_pass(op: Op[Any, Any], values: list[Any]) -> None:
    verify_op(op, *values, gradient=True, infers_shape=True, backends=FAST)


@as_op([TT("float64", (None,)), slice_type], [TT("float64", (None,))])
def take(x: Any, part: slice) -> Any:
    return x[part]


def test_arguments_need_not_be_tensors() -> None:
    verify_op(take, np.arange(5.0), (slice_type, slice(1, 4, 2)), backends=FAST)


@pytest.mark.parametrize(
    ("op", "promise", "words"),
    [
        (ops.WrongGradient(), "L_op", "numerically"),
        (ops.TooManyCotangents(), "L_op", "2 cotangents for 1 inputs"),
        (ops.WrongTangent(), "R_op", "R_op gives"),
        (ops.WrongShape(), "infer_shape", "inferred shape is"),
        (ops.TooManyShapes(), "infer_shape", "2 shapes for 1 outputs"),
        (ops.ShapeByComputing(), "infer_shape", "only be found by computing"),
        (ops.WrongStaticShape(), "static shapes", "declared as float64[3, 2]"),
        (ops.WrongDtype(), "types", "float32 where float64 is expected"),
        (ops.PythonNumber(), "types", "a float where an array is expected"),
        (ops.OverwritesInput(), "destroy_map", "overwrites input 0"),
        (ops.GivesView(), "view_map", "output 0 shares memory with input 0"),
        (ops.GivesViewOfReversed(), "view_map", "(reversed)"),
        (ops.Impure(), "purity", "is another one"),
        (ops.KeepsBuffer(), "purity", "a later call changes output 0"),
        (ops.AddsToStorage(), "storage", "what its storage held"),
        (ops.BelievesInContiguity(), "layouts", "for reversed arrays"),
        (ops.NewNodeEveryTime(), "identity", "makes two nodes"),
        (ops.ConvertsTwice(), "make_node", "makes another node"),
        (ops.WrongPattern(), "connection_pattern", "a row for each of 1 inputs"),
        (ops.Unpicklable(), "pickling", "it holds a lock"),
    ],
    ids=lambda value: str(value) if isinstance(value, Op) else "",
)
def test_a_broken_promise_is_named(op: Op[Any, Any], promise: str, words: str) -> None:
    with pytest.raises(OpContractError) as caught:
        verify_op(op, POINT, backends=FAST)
    assert caught.value.promise == promise
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{op} breaks its promise of {promise}: ")


def test_a_gradient_of_another_dtype_is_named() -> None:
    with pytest.raises(OpContractError, match="cotangent of input 0 has the dtype float64, the input float32"):
        verify_op(ops.GradientOfAnotherDtype(), POINT.astype("float32"), backends=FAST)


def test_what_is_missing_is_an_error_only_where_it_is_asked_for() -> None:
    verify_op(ops.NoGradient(), POINT, backends=FAST)
    verify_op(ops.NoShape(), POINT, backends=FAST)
    with pytest.raises(OpContractError, match="it has no gradient"):
        verify_op(ops.NoGradient(), POINT, backends=FAST, gradient=True)
    with pytest.raises(OpContractError, match="it has none"):
        verify_op(ops.NoShape(), POINT, backends=FAST, infers_shape=True)
    with pytest.raises(OpContractError, match="there can be no gradient"):
        verify_op(ops.Scale(), np.arange(3), backends=FAST, gradient=True)


def test_what_is_wrong_can_be_left_out() -> None:
    verify_op(ops.WrongGradient(), POINT, backends=FAST, gradient=False)
    verify_op(ops.WrongShape(), POINT, backends=FAST, infers_shape=False)


def test_a_slice_is_a_view_and_says_so() -> None:
    op = op_of(lt.vector()[1:])
    assert isinstance(op, Subtensor)
    verify_op(op, np.arange(4.0), backends=FAST)
