"""`Gemm` and `Gemv`: what they mean, what they refuse, their gradients."""

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.errors import StaticShapeError
from lamella.ir import Gemm, Gemv, TensorVariable, interpret
from lamella.testing import verify_op

RNG = np.random.default_rng(0)
FACTORS = (np.asarray(0.5), np.asarray(-2.0))


def _arguments(*shapes: tuple[int, ...]) -> list[object]:
    z, x, y = [RNG.normal(size=shape) for shape in shapes]
    return [z, FACTORS[0], x, y, FACTORS[1]]


@pytest.mark.parametrize("inplace", [False, True])
def test_the_contract_of_an_op(inplace: bool) -> None:
    verify_op(Gemm(inplace), *_arguments((2, 4), (2, 3), (3, 4)), backends=("PerformLinker",))
    verify_op(Gemv(inplace), *_arguments((2,), (2, 3), (3,)), backends=("PerformLinker",))


def test_factors_of_zero_do_not_hide_infinities() -> None:
    z, x = lt.matrix("z"), lt.matrix("x")
    infinite = np.full((1, 1), np.inf)
    for alpha, beta, there, factor in [(0.0, 1.0, np.ones((1, 1)), infinite), (1.0, 0.0, infinite, np.ones((1, 1)))]:
        (found,) = interpret([z, x], [Gemm()(z, alpha, x, x, beta)], [there, factor])
        assert np.isnan(found).all()


def test_what_is_refused() -> None:
    z, x, v = lt.matrix("z"), lt.matrix("x"), lt.vector("v")
    single: TensorVariable = lt.matrix("single", dtype="float32")
    with pytest.raises(TypeError, match="of one of the dtypes"):
        Gemm()(z, 1.0, x, single, 1.0)
    with pytest.raises(TypeError, match="dimensions"):
        Gemm()(z, 1.0, x, v, 1.0)
    with pytest.raises(StaticShapeError, match="lengths that must be equal are not"):
        Gemm()(np.ones((2, 2)), 1.0, np.ones((2, 3)), np.ones((4, 2)), 1.0)
    with pytest.raises(ValueError, match="does not fit"):
        interpret([z, x], [Gemm()(z, 1.0, x, x, 1.0)], [np.ones((2, 1)), np.ones((2, 2))])
    with pytest.raises(ValueError, match="does not fit"):
        interpret([v, x], [Gemv()(v, 1.0, x, v, 1.0)], [np.ones(2), np.ones((2, 3))])
