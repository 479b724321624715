"""`check_rop_lop` and `RopLopChecker` see where `R_op` and `L_op` disagree."""

from typing import Any

import numpy as np
import pytest

from lamella.ir import FLOAT_DTYPES, TensorVariable, disconnected_grad, grad_scale, lt
from lamella.testing import RopLopChecker, check_rop_lop
from tests.testing import own_ops as ops

X = np.array([[0.5, -1.25, 2.0], [0.75, 1.5, -0.3]])


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_right_products_pass(dtype: str) -> None:
    x = X.astype(dtype)
    check_rop_lop(lt.exp, [x], mode="FAST_COMPILE")
    check_rop_lop(ops.Scale(), [x], mode="FAST_COMPILE")
    check_rop_lop(lambda x, y: [lt.dot(x, y.T), x * y, lt.argmax(x)], [x, x], mode="FAST_COMPILE")
    check_rop_lop(lambda x: lt.sum(x, axis=0), [np.zeros((0, 3), dtype)], mode="FAST_COMPILE")


def test_a_wrong_tangent_fails() -> None:
    with pytest.raises(AssertionError, match=r"output 0, element \[0, 0\]: R_op gives .*, L_op differentiated gives"):
        check_rop_lop(ops.WrongTangent(), [X], mode="FAST_COMPILE")


def test_a_wrong_cotangent_fails_though_both_agree() -> None:
    with pytest.raises(AssertionError, match="but numerically the derivative along the tangents is"):
        check_rop_lop(ops.WrongGradient(), [X], mode="FAST_COMPILE")
    with pytest.raises(AssertionError, match="numerically"):
        check_rop_lop(lambda x: lt.sin(grad_scale(x, 1.01)), [X], mode="FAST_COMPILE")


@pytest.mark.parametrize(("fun", "x"), [(lt.exp, np.arange(2)), (lambda x: x > 0, X)])
def test_only_floats_are_varied(fun: Any, x: Any) -> None:
    with pytest.raises(TypeError, match="floats"):
        check_rop_lop(fun, [x], mode="FAST_COMPILE")


class TestChecker(RopLopChecker):
    def test_vectors(self) -> None:
        self.check_rop_lop(self.x[1:4] * 2, (3,), mode="FAST_COMPILE")
        self.check_rop_lop(lt.outer(self.x, self.x), self.in_shape * 2, mode="FAST_COMPILE")

    def test_matrices(self) -> None:
        self.check_mat_rop_lop(lt.sum(self.mx, axis=0), self.mat_in_shape[1:], mode="FAST_COMPILE")

    def test_another_shape(self) -> None:
        with pytest.raises(AssertionError, match="has the shape"):
            self.check_rop_lop(self.x, (3, 3), mode="FAST_COMPILE")

    def test_a_wrong_tangent(self) -> None:
        with pytest.raises(AssertionError, match="R_op gives"):
            self.check_rop_lop(ops.WrongTangent()(self.x), self.in_shape, mode="FAST_COMPILE")

    def test_no_derivative(self) -> None:
        self.check_nondiff_rop(ops.NoGradient()(self.x))
        self.check_nondiff_rop(disconnected_grad(self.x))
        with pytest.raises(AssertionError, match="raises nothing"):
            self.check_nondiff_rop(lt.exp(self.x))


def test_the_checker_needs_no_pytest() -> None:
    checker = RopLopChecker()
    checker.setup_method()
    y: TensorVariable = lt.cumsum(checker.x)
    checker.check_rop_lop(y, checker.in_shape, mode="FAST_COMPILE")
