"""`grad`: values, dtypes, disconnected and null gradients, messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella import Apply, Op, OutputStorage, Variable
from lamella.errors import DisconnectedInputError, GradientNotImplementedError, NullTypeGradError
from lamella.tensor import TensorLike, TensorVariable, as_tensor_variable


def test_gradient_of_several_variables() -> None:
    x, y = lt.vectors("x y")
    cost = lt.sum(lt.exp(2.0 * x) * y / x)
    point = {x: np.array([1.0, 2.0]), y: np.array([3.0, 4.0])}
    gx, gy = lm.grad(cost, [x, y])
    a, b = point[x], point[y]
    np.testing.assert_allclose(gx.eval(point), np.exp(2 * a) * b * (2 / a - 1 / a**2))
    np.testing.assert_allclose(gy.eval(point), np.exp(2 * a) / a)


def test_one_variable_gives_one_gradient() -> None:
    x = lt.scalar("x")
    assert isinstance(lm.grad(x * x, x), TensorVariable)
    assert isinstance(lm.grad(x * x, [x]), list)


def test_gradient_of_the_cost_itself_is_one() -> None:
    x = lt.scalar("x")
    cost = x * 3.0
    assert lm.grad(cost, cost).eval({x: 2.0}) == 1.0


def test_gradient_with_respect_to_an_intermediate_result_and_what_it_is_made_of() -> None:
    x = lt.scalar("x")
    y = x * x
    gx, gy = lm.grad(lt.exp(y), [x, y])
    assert gy.eval({x: 0.5}) == pytest.approx(np.exp(0.25))
    assert gx.eval({x: 0.5}) == pytest.approx(np.exp(0.25))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_gradient_has_the_dtype_of_its_variable(dtype: str) -> None:
    x = lt.vector("x", dtype=dtype)
    w = lt.vector("w", dtype="float64")
    assert lm.grad(lt.sum(lt.exp(x) * w), x).dtype == dtype


def test_gradient_with_respect_to_integers_is_zero_and_of_floats() -> None:
    x = lt.vector("x", dtype="int64")
    gradient = lm.grad(lt.sum(x * 2.0), x)
    assert gradient.dtype == "float64"
    np.testing.assert_array_equal(gradient.eval({x: np.array([1, 2])}), [0.0, 0.0])


def test_gradient_of_an_integer_cost_is_zero() -> None:
    x = lt.matrix("x", dtype="int64")
    gradient = lm.grad(lt.sum(lt.switch(0, x, -x)), x)
    assert gradient.dtype == "float64"
    np.testing.assert_array_equal(gradient.eval({x: np.array([[1, 2]])}), [[0.0, 0.0]])
    y = lt.vector("y")
    np.testing.assert_array_equal(lm.grad(lt.sum(lt.cast(y, "int64")), y).eval({y: [1.5]}), [0.0])


def test_gradient_through_a_broadcast_is_summed() -> None:
    row, matrix = lt.row("row"), lt.matrix("matrix")
    gradient = lm.grad(lt.sum(row * matrix), row)
    assert gradient.type.shape == (1, None)
    np.testing.assert_array_equal(
        gradient.eval({row: np.ones((1, 3)), matrix: np.arange(6.0).reshape(2, 3)}), [[3, 5, 7]]
    )


def test_the_cost_must_be_a_real_scalar() -> None:
    x = lt.vector("x")
    with pytest.raises(TypeError, match=r"the cost is a scalar; .* has 1 dimensions"):
        lm.grad(x, x)
    z = lt.scalar("z", dtype="complex128")
    with pytest.raises(TypeError, match="the cost is real; z is of complex128"):
        lm.grad(z, z)
    with pytest.raises(TypeError, match="needs a cost or known_grads"):
        lm.grad(None, x)
    with pytest.raises(TypeError, match="with respect to Variables"):
        lm.grad(lt.sum(x), [3.0])  # type: ignore[list-item]  # refused at run time too


def test_disconnected_inputs() -> None:
    x, y = lt.vectors("x y")
    cost = lt.sum(x)
    with pytest.raises(DisconnectedInputError, match="does not depend differentiably on y"):
        lm.grad(cost, y)
    with pytest.warns(UserWarning, match="does not depend differentiably on y"):
        lm.grad(cost, y, disconnected_inputs="warn")
    zero = lm.grad(cost, y, disconnected_inputs="ignore")
    np.testing.assert_array_equal(zero.eval({y: np.ones(3)}), np.zeros(3))
    assert lm.grad(cost, y, disconnected_inputs="ignore", return_disconnected="none") is None
    marked = lm.grad(cost, y, disconnected_inputs="ignore", return_disconnected="disconnected")
    assert isinstance(marked.type, lm.DisconnectedType)


def test_a_shape_does_not_connect() -> None:
    x = lt.vector("x")
    cost = lt.cast(x.shape[0], "float64") * 2.0
    with pytest.raises(DisconnectedInputError, match="only through shapes"):
        lm.grad(cost, x)


def test_known_grads_take_the_place_of_what_would_be_computed() -> None:
    x = lt.scalar("x")
    y = lt.exp(x)
    assert lm.grad(None, x, known_grads={y: as_tensor_variable(3.0)}).eval({x: 0.0}) == 3.0
    assert lm.grad(y * y, x, known_grads={y: as_tensor_variable(3.0)}).eval({x: 0.0}) == 3.0
    with pytest.raises(ValueError, match="has 1 dimensions, the variable has 0"):
        lm.grad(None, x, known_grads={y: lt.vector("v")})


def test_consider_constant_blocks_the_gradient() -> None:
    x = lt.scalar("x")
    y = x * x
    assert lm.grad(y * x, x, consider_constant=[y]).eval({x: 3.0}) == 9.0


class _NoGradient(Op[[TensorLike], TensorVariable]):
    __props__: ClassVar[tuple[str, ...]] = ()

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        variable = as_tensor_variable(x)
        return Apply(self, [variable], [variable.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = inputs[0] + 0


class _Undefined(_NoGradient):
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        return [lm.grad_undefined(self, 0, inputs[0], "it jumps")]


def test_an_op_without_a_gradient_is_named_with_the_path_to_it() -> None:
    x = lt.scalar("x")
    cost = lt.exp(_NoGradient()(lt.sin(x)))
    with pytest.raises(GradientNotImplementedError, match="_NoGradient has no gradient") as caught:
        lm.grad(cost, x)
    notes = "\n".join(caught.value.__notes__)
    assert "Exp <- _NoGradient" in notes
    assert "test_grad.py" in notes


def test_an_op_without_a_gradient_does_no_harm_off_the_path() -> None:
    x, y = lt.scalars("x y")
    assert lm.grad(x * _NoGradient()(y), x).eval({x: 1.0, y: 4.0}) == 4.0


def test_null_gradients_raise_or_are_returned() -> None:
    x = lt.scalar("x")
    cost = _Undefined()(lt.exp(x)) * 2.0
    with pytest.raises(NullTypeGradError, match="not defined: it jumps"):
        lm.grad(cost, x)
    returned = lm.grad(cost, x, null_gradients="return")
    assert isinstance(returned.type, lm.NullType)


class _WrongGradient(_NoGradient):
    def __init__(self, kind: str) -> None:
        self.kind = kind

    __props__ = ("kind",)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        match self.kind:
            case "count":
                return [output_grads[0], output_grads[0]]
            case "none":
                return [None]  # type: ignore[list-item]  # what the error is about
            case _:
                return [lt.sum(output_grads[0])]


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("count", ValueError, "returned 2 cotangents for 1 inputs"),
        ("none", TypeError, "returned None for input 0; a Variable is expected"),
        ("ndim", ValueError, "a cotangent of 0 dimensions for input 0, which has 1"),
    ],
)
def test_a_wrong_l_op_is_named(kind: str, error: type[Exception], message: str) -> None:
    x = lt.vector("x")
    with pytest.raises(error, match=message):
        lm.grad(lt.sum(_WrongGradient(kind)(x)), x)


def test_subgraph_grad_chains_to_the_whole_gradient() -> None:
    x, w1, w2 = lt.vector("x"), lt.matrix("w1"), lt.vector("w2")
    hidden = lt.tanh(x @ w1)
    cost = lt.sum((hidden * w2) ** 2)
    (g2,), (gh,) = lm.subgraph_grad([w2], [hidden], cost=cost)
    (g1,), _ = lm.subgraph_grad([w1], [x], start={hidden: gh})
    rng = np.random.default_rng(0)
    point = {x: rng.normal(size=3), w1: rng.normal(size=(3, 4)), w2: rng.normal(size=4)}
    for part, whole in zip([g1, g2], lm.grad(cost, [w1, w2]), strict=True):
        np.testing.assert_allclose(part.eval(point), whole.eval(point))
    with pytest.raises(ValueError, match="needs a cost or start"):
        lm.subgraph_grad([w2], [hidden])


def test_a_branch_not_taken_contributes_exactly_zero() -> None:
    x = lt.vector("x")
    point = {x: np.array([0.0, 1.0])}
    np.testing.assert_array_equal(lm.grad(lt.sum(lt.switch(x > 0, lt.log(x), 0.0)), x).eval(point), [0.0, 1.0])
    np.testing.assert_array_equal(lm.grad(lt.sum(lt.switch(x > 0, lt.sqrt(x), 0.0)), x).eval(point), [0.0, 0.5])
    t = lt.scalar("t")
    assert lm.grad(lt.switch(t < 1e-12, 1.0, lt.sin(t) / t), t).eval({t: 0.0}) == 0.0


def test_a_long_chain() -> None:
    x = lt.scalar("x")
    y = x
    for _ in range(20_000):
        y = lt.sin(y)
    gradient = lm.grad(y, x)
    value = 0.5
    slope = 1.0
    for _ in range(20_000):
        slope *= np.cos(value)
        value = np.sin(value)
    assert gradient.eval({x: 0.5}) == pytest.approx(slope)
