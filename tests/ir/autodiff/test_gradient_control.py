"""Identities that change what flows backwards."""

from __future__ import annotations

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.errors import DisconnectedInputError, NullTypeGradError

X = np.array([-2.0, 0.5])


def test_values_are_those_of_the_input() -> None:
    x = lt.vector("x")
    for identity in (
        lm.grad_clip(x, -1.0, 1.0),
        lm.grad_scale(x, 3.0),
        lm.zero_grad(x),
        lm.disconnected_grad(x),
        lm.undefined_grad(x),
        lm.consider_constant(x),
    ):
        np.testing.assert_array_equal(identity.eval({x: X}), X)


def test_grad_clip_limits_each_element() -> None:
    x = lt.vector("x")
    gradient = lm.grad(lt.sum(lm.grad_clip(x, -1.0, 1.5) ** 2), x)
    np.testing.assert_array_equal(gradient.eval({x: X}), [-1.0, 1.0])


def test_grad_scale_multiplies() -> None:
    x = lt.vector("x")
    np.testing.assert_array_equal(lm.grad(lt.sum(lm.grad_scale(x, 3.0)), x).eval({x: X}), [3.0, 3.0])


def test_zero_grad_is_connected_and_zero() -> None:
    x = lt.vector("x")
    np.testing.assert_array_equal(lm.grad(lt.sum(lm.zero_grad(x)), x).eval({x: X}), [0.0, 0.0])
    np.testing.assert_array_equal(lm.grad(lt.sum(x * lm.consider_constant(x)), x).eval({x: X}), X)


def test_disconnected_grad_cuts() -> None:
    x = lt.vector("x")
    with pytest.raises(DisconnectedInputError):
        lm.grad(lt.sum(lm.disconnected_grad(x)), x)
    np.testing.assert_array_equal(lm.grad(lt.sum(x * lm.disconnected_grad(x)), x).eval({x: X}), X)


def test_undefined_grad_raises_where_it_is_needed() -> None:
    x, y = lt.vectors("x y")
    cost = lt.sum(lm.undefined_grad(x) * y)
    with pytest.raises(NullTypeGradError, match="declared so by undefined_grad"):
        lm.grad(cost, x)
    np.testing.assert_array_equal(lm.grad(cost, y).eval({x: X, y: X}), X)


def test_consider_constant_takes_several() -> None:
    x, y = lt.vectors("x y")
    first, second = lm.consider_constant([x, y])
    np.testing.assert_array_equal((first + second).eval({x: X, y: X}), 2 * X)
