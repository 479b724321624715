"""Slopes of products divided by the product again."""

import numpy as np
import pytest

from lamella.ir import TensorType, TensorVariable, grad, interpret, lt
from lamella.rewriting import rewrite_graph
from lamella.rewriting.rules.slope_of_prod import slope_of_prod_by_prod
from tests.rewriting.rules.special_values import rewritten
from tests.rewriting.rules.stable_forms import matrix


def gradient(cost: TensorVariable, x: TensorVariable) -> tuple[TensorVariable, TensorVariable]:
    slope = grad(cost, x)
    return slope, rewrite_graph(slope, include=("fast_run",), exclude=("nan_unsafe", "inplace", "fusion"))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_gradient_of_the_logarithm_of_a_product_that_underflows_or_overflows(dtype: str) -> None:
    v = TensorType(dtype, (None,))("v")
    old, new = gradient(lt.log(lt.prod(v)), v)
    assert new is lt.reciprocal(v)
    for size in (1e-3, 1e3):
        values = np.full(300, size, dtype)
        plain, stable = interpret([v], [old, new], [values])
        np.testing.assert_allclose(stable, 1 / values)
        assert not np.allclose(plain, stable)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_along_an_axis_and_weighted(axis: int, keepdims: bool) -> None:
    m = matrix()("m")
    old, new = gradient(lt.sum(lt.log(lt.prod(m, axis=axis, keepdims=keepdims)) * 2.5), m)
    values = np.array([[0.5, 2.0, -1.0], [3.0, 0.25, -4.0]])
    plain, stable = interpret([m], [old, new], [values])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(stable, 2.5 / values, rtol=1e-14)
        np.testing.assert_allclose(plain, stable, rtol=1e-14)


def test_other_products_stay() -> None:
    m, w = matrix()("m"), matrix()("w")
    total = lt.sum(lt.prod(m, axis=1))
    slope = grad(total, m)  # of the product itself
    assert rewritten(slope, slope_of_prod_by_prod) is rewritten(slope)
    of_another = lt.reciprocal(lt.prod(w, axis=1, keepdims=True)) * slope
    assert rewritten(of_another, slope_of_prod_by_prod) is rewritten(of_another)
    of_another_axis = lt.reciprocal(lt.prod(m, axis=0, keepdims=True)) * slope
    assert rewritten(of_another_axis, slope_of_prod_by_prod) is rewritten(of_another_axis)
