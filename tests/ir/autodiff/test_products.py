"""`Lop`, `Rop`, Jacobians and Hessians."""

from __future__ import annotations

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.errors import DisconnectedInputError

X = np.array([1.0, 2.0])
Y = np.array([3.0, 4.0])


def test_lop_and_rop_of_an_elementwise_expression() -> None:
    x, v = lt.vectors("x v")
    f = lt.exp(x) * x
    expected = np.exp(X) * (X + 1) * Y
    np.testing.assert_allclose(lm.Lop(f, x, v).eval({x: X, v: Y}), expected)
    np.testing.assert_allclose(lm.Rop(f, x, v).eval({x: X, v: Y}), expected)


def test_lop_and_rop_are_transposes() -> None:
    rng = np.random.default_rng(0)
    w, x, u, v = lt.matrix("w"), lt.vector("x"), lt.vector("u"), lt.vector("v")
    f = lt.tanh(w @ x) * lt.sum(x)
    point = {w: rng.normal(size=(3, 4)), x: rng.normal(size=4), u: rng.normal(size=3), v: rng.normal(size=4)}
    left = np.dot(lm.Lop(f, x, u).eval({w: point[w], x: point[x], u: point[u]}), point[v])
    right = np.dot(point[u], lm.Rop(f, x, v).eval({w: point[w], x: point[x], v: point[v]}))
    np.testing.assert_allclose(left, right)


def test_lop_of_expressions_that_depend_on_each_other() -> None:
    x = lt.scalar("x")
    y = x * x
    z = y * y
    total = lm.Lop([y, z], x, [lt.as_tensor_variable(1.0), lt.as_tensor_variable(1.0)])
    assert total.eval({x: 2.0}) == 2 * 2.0 + 4 * 2.0**3


def test_rop_through_several_variables_and_a_disconnected_output() -> None:
    x, y, u, v = lt.vectors("x y u v")
    both = lm.Rop(lt.sum(x * y), [x, y], [u, v])
    assert both.eval({x: X, y: Y, u: Y, v: X}) == np.sum(Y * Y + X * X)
    with pytest.raises(DisconnectedInputError, match="does not depend differentiably"):
        lm.Rop(lt.exp(y), x, u)
    zero = lm.Rop(lt.exp(y), x, u, disconnected_outputs="ignore")
    np.testing.assert_array_equal(zero.eval({y: Y}), [0.0, 0.0])
    with pytest.raises(ValueError, match="1 eval_points for 2 variables"):
        lm.Rop(lt.sum(x * y), [x, y], [u])


def test_jacobian_of_a_vector() -> None:
    x = lt.vector("x")
    y = lt.vector("y")
    jacobian = lm.jacobian(lt.exp(x) * y, x)
    assert jacobian.ndim == 2
    np.testing.assert_allclose(jacobian.eval({x: X, y: Y}), np.diag(np.exp(X) * Y))
    by_both = lm.jacobian(lt.exp(x) * y, [x, y])
    np.testing.assert_allclose(by_both[1].eval({x: X, y: Y}), np.diag(np.exp(X)))


def test_jacobian_of_a_matrix_and_of_an_empty_vector() -> None:
    m = lt.matrix("m")
    point = np.arange(1.0, 7.0).reshape(2, 3)
    jacobian = lm.jacobian(m**2, m).eval({m: point})
    assert jacobian.shape == (2, 3, 2, 3)
    np.testing.assert_allclose(jacobian, np.diag(2 * point.ravel()).reshape(2, 3, 2, 3))
    x = lt.vector("x")
    assert lm.jacobian(x * x, x).eval({x: np.zeros(0)}).shape == (0, 0)
    y = lt.vector("y")
    empty = lm.jacobian(lt.exp(y[2:]), y)
    assert empty.eval({y: np.zeros(2)}).shape == (0, 2)


def test_hessian_and_its_gradient() -> None:
    x = lt.vector("x")
    cost = lt.sum(lt.exp(x) * x * x)
    hessian = lm.hessian(cost, x)
    np.testing.assert_allclose(hessian.eval({x: X}), np.diag(np.exp(X) * (X * X + 4 * X + 2)))
    third = lm.grad(lt.sum(hessian), x)
    np.testing.assert_allclose(third.eval({x: X}), np.exp(X) * (X * X + 6 * X + 6))


def test_hessian_of_a_linear_cost_is_zero() -> None:
    x = lt.vector("x")
    np.testing.assert_array_equal(lm.hessian(lt.sum(2.0 * x), x).eval({x: X}), np.zeros((2, 2)))


def test_hessian_vector_product_is_the_product() -> None:
    x, p = lt.vectors("x p")
    cost = lt.sum(x) ** 3 * lt.sum(lt.sin(x))
    product = lm.hessian_vector_product(cost, x, p).eval({x: X, p: Y})
    np.testing.assert_allclose(product, lm.hessian(cost, x).eval({x: X}) @ Y)


def test_hessians_through_stack() -> None:
    a, b = lt.scalars("a b")
    stacked = lt.stack([a, b])
    cost = stacked @ stacked
    for variable in (a, b):
        second = lm.grad(lm.grad(cost, variable), variable)
        assert second.eval({a: 1.0, b: 2.0}) == 2.0
