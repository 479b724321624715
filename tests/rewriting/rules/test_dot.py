"""Products of transposed matrices."""

import numpy as np

from lamella.ir import FunctionGraph, TensorType, grad, interpret, lt
from lamella.rewriting import EquilibriumGraphRewriter, rewrite_graph
from lamella.rewriting.rules.dot import dot_of_transposed, outer_dot, transposed_dot
from tests.rewriting.rules.special_values import rewritten

X = np.arange(6.0).reshape(2, 3)
Y = np.arange(12.0).reshape(3, 4)


def test_two_transposed_matrices() -> None:
    x, y = TensorType("float64", (None, 3))("x"), TensorType("float64", (3, None))("y")
    product = lt.dot(y.T, x.T)
    assert rewritten(product, dot_of_transposed) is lt.dot(x, y).T
    np.testing.assert_array_equal(interpret([x, y], [lt.dot(x, y).T], [X, Y])[0], Y.T @ X.T)


def test_a_transposed_product_of_a_transposed_matrix() -> None:
    x, y = TensorType("float64", (None, 3))("x"), TensorType("float64", (None, 4))("y")
    z = TensorType("float64", (None, 3))("z")
    for product, expected, inputs, values in [
        (lt.dot(x.T, y).T, lt.dot(y.T, x), [x, y], [X, X[:, [0, 1, 2, 0]]]),
        (lt.dot(x, z.T).T, lt.dot(z, x.T), [x, z], [X, Y.T]),
    ]:
        assert rewritten(product, transposed_dot) is expected
        old, new = interpret(inputs, [product, expected], values)
        np.testing.assert_array_equal(old, new)


def test_what_else_needs_the_product_stays() -> None:
    x, y = TensorType("float64", (None, 3))("x"), TensorType("float64", (None, 4))("y")
    product = lt.dot(x.T, y)
    graph = FunctionGraph([x, y], [product, product.T])
    assert EquilibriumGraphRewriter([transposed_dot]).rewrite(graph).outputs == graph.outputs
    assert rewritten(lt.dot(x.T, y), transposed_dot, dot_of_transposed) is lt.dot(x.T, y)


def test_vectors_stay() -> None:
    m, v = TensorType("float64", (None, 3))("m"), TensorType("float64", (None,))("v")
    for product in (lt.dot(m.T, v), lt.dot(v, m), lt.dot(v, v)):
        assert rewritten(product, transposed_dot, dot_of_transposed) is product


def test_gradients_of_products() -> None:
    x, y = TensorType("float64", (None, None))("x"), TensorType("float64", (None, None))("y")
    cost = lt.sum(lt.square(lt.dot(x.T, y.T)))
    found = rewrite_graph(grad(cost, [x, y]), include=("fast_run",), exclude=("nan_unsafe", "inplace"))
    old = interpret([x, y], grad(cost, [x, y]), [X.T.copy(), Y.T.copy()])
    for was, now in zip(old, interpret([x, y], found, [X.T.copy(), Y.T.copy()]), strict=True):
        np.testing.assert_allclose(was, now, rtol=1e-14)


def test_a_column_and_a_row() -> None:
    column, row = TensorType("float64", (None, 1))("column"), TensorType("float64", (1, None))("row")
    expected = lt.add(lt.mul(column, row), 0.0)
    assert rewritten(lt.dot(column, row), outer_dot) is expected
    values = [np.array([[-0.0], [np.inf], [2.0]]), np.array([[1.0, 0.0]])]
    old, new = interpret([column, row], [lt.dot(column, row), expected], values)
    np.testing.assert_array_equal(old, new)
    np.testing.assert_array_equal(np.signbit(old[0]), np.signbit(new[0]))


def test_a_length_that_is_not_known_to_be_one_is_summed_over() -> None:
    """Fault B16: it must be checked, and never broadcast."""
    column, unknown = TensorType("float64", (3, 1))("column"), TensorType("float64", (None, 1))("unknown")
    product = lt.dot(column, unknown)
    assert rewritten(product, outer_dot) is product
