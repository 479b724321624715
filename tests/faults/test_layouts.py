"""Arrays however they lie in memory: reversed, with gaps, of one row, of nothing; narrow floats."""

import numpy as np

import lamella as lm
import lamella.tensor as lt
from tests.faults.three_ways import MODES, check


def test_products_of_arrays_with_negative_strides_and_of_thin_ones() -> None:
    x, v, w = lt.dmatrix("x"), lt.dvector("v"), lt.dvector("w")
    outputs = [x @ v, x.T @ w, x @ x.T, x.T @ x, lt.sum(x), lt.sum(x, axis=0)]
    rng = np.random.default_rng(0)
    functions = {name: lm.function([x, v, w], outputs, mode=mode) for name, mode in MODES.items()}
    for n, m in [(4, 3), (1, 5), (3, 1), (1, 1), (0, 5), (3, 0)]:
        wide = rng.standard_normal((2 * n, 2 * m))
        for matrix in (wide[::-2, ::-1][:, :m], wide[::2, 1::2], wide.T[::-2, ::-2].T, np.asfortranarray(wide[:n, :m])):
            left, right = rng.standard_normal(2 * n)[::-2], rng.standard_normal(2 * m)[::2]
            expected = [
                matrix @ right,
                matrix.T @ left,
                matrix @ matrix.T,
                matrix.T @ matrix,
                matrix.sum(),
                matrix.sum(0),
            ]
            for name, f in functions.items():
                for found, wanted in zip(f(matrix, right, left), expected, strict=True):
                    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12, err_msg=name)


def test_filling_from_a_view_of_length_1() -> None:
    x, n = lt.dvector("x"), lt.lscalar("n")
    filled = lt.alloc(lt.specify_shape(x, (1,)), 5, n)
    check({x: [0.0], n: 3}, (filled, np.zeros((5, 3))), (filled + 1.0, np.ones((5, 3))))


def test_narrow_floats() -> None:
    x = lt.tensor("x", dtype="float16", shape=(None,))
    values = np.full(5000, 0.1, np.float16)
    check({x: values}, (lt.exp(x[:2]), np.exp(values[:2])), rtol=2e-3)
    for name, mode in MODES.items():
        total = lm.function([x], lt.sum(x), mode=mode)(values)
        assert total.dtype == np.float16, name
        assert abs(float(total) - 500) < 2, name
