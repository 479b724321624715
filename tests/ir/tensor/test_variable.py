"""Operators and methods of tensor variables."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import TensorVariable

A = np.array([[5.0, -2.0, 7.0], [1.5, 4.0, -3.0]])
B = np.array([[2.0, 3.0, -4.0], [1.0, -2.0, 5.0]])
N, J = A.astype("int64"), np.array([[2, 3, 4], [1, 2, 5]])

BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod]
BITWISE = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
COMPARING = [operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("function", [*BINARY, *COMPARING, operator.pow], ids=lambda f: f.__name__)
def test_operators_of_floats(function: Callable[[Any, Any], Any]) -> None:
    x, y = lt.matrices("x y")
    base = np.abs(A)
    for made, expected in [
        (function(x, y), function(base, B)),
        (function(x, B), function(base, B)),
        (function(base, y), function(base, B)),
        (function(x, 2.5), function(base, 2.5)),
        (function(2.5, y), function(2.5, B)),
        (function(np.float64(2.5), y), function(2.5, B)),
    ]:
        np.testing.assert_array_equal(made.eval({x: base, y: B}), expected, strict=True)


@pytest.mark.parametrize(
    "function", [*BITWISE, operator.floordiv, operator.mod, operator.pow], ids=lambda f: f.__name__
)
def test_operators_of_integers(function: Callable[[Any, Any], Any]) -> None:
    x, y = lt.lmatrices("x y")
    for made, expected in [
        (function(x, y), function(N, J)),
        (function(N, y), function(N, J)),
        (function(x, 3), function(N, 3)),
        (function(3, y), function(3, J)),
    ]:
        np.testing.assert_array_equal(made.eval({x: N, y: J}), expected, strict=True)


def test_unary_operators_and_divmod() -> None:
    x, i = lt.matrix("x"), lt.lmatrix("i")
    for made, expected in [
        (-x, -A),
        (+x, +A),
        (abs(x), abs(A)),
        (~i, ~N),
        (divmod(x, 2)[0], A // 2),
        (divmod(7, x)[1], 7 % A),
    ]:
        np.testing.assert_array_equal(made.eval({x: A, i: N}), expected, strict=True)


def test_matrix_products() -> None:
    x, y = lt.matrices("x y")
    products: list[Any] = [x @ y.T, A @ y.T, x @ B.T, x.dot(y.T)]
    for made in products:
        np.testing.assert_allclose(made.eval({x: A, y: B}), A @ B.T)


METHODS: list[tuple[str, Callable[[Any], Any]]] = [
    ("T", lambda a: a.T),
    ("mT", lambda a: a.mT),
    ("real", lambda a: a.real),
    ("imag", lambda a: a.imag),
    ("shape", lambda a: a.shape),
    ("size", lambda a: a.size),
    ("astype", lambda a: a.astype("float32")),
    ("reshape", lambda a: a.reshape((3, 2))),
    ("flatten", lambda a: a.flatten()),
    ("ravel", lambda a: a.ravel()),
    ("transpose", lambda a: a.transpose()),
    ("transpose by axes", lambda a: a.transpose(1, 0)),
    ("swapaxes", lambda a: a.swapaxes(0, 1)),
    ("squeeze", lambda a: a.squeeze()),
    ("diagonal", lambda a: a.diagonal()),
    ("sum", lambda a: a.sum(axis=0)),
    ("prod", lambda a: a.prod(axis=1, keepdims=True)),
    ("max", lambda a: a.max()),
    ("min", lambda a: a.min(axis=1)),
    ("all", lambda a: a.all(axis=0)),
    ("any", lambda a: a.any()),
    ("mean", lambda a: a.mean(axis=0)),
    ("var", lambda a: a.var(axis=0, ddof=1)),
    ("std", lambda a: a.std()),
    ("argmax", lambda a: a.argmax(axis=1)),
    ("argmin", lambda a: a.argmin()),
    ("cumsum", lambda a: a.cumsum(axis=1)),
    ("cumprod", lambda a: a.cumprod()),
    ("argsort", lambda a: a.argsort(axis=0)),
    ("take", lambda a: a.take(np.array([1, 0]), axis=1)),
    ("clip", lambda a: a.clip(-1.0, 4.0)),
    ("round", lambda a: a.round()),
    ("conj", lambda a: a.conj()),
    ("copy", lambda a: a.copy()),
    ("index", lambda a: a[1, ::-1]),
]


@pytest.mark.parametrize("method", [m[1] for m in METHODS], ids=[m[0] for m in METHODS])
def test_methods(method: Callable[[Any], Any]) -> None:
    x = lt.matrix("x")
    made = method(x)
    assert isinstance(made, TensorVariable)
    np.testing.assert_allclose(made.eval({x: A}), np.asarray(method(A)), rtol=1e-14)


def test_methods_that_arrays_do_not_have_so() -> None:
    x = lt.matrix("x")
    for made, expected in [
        (x.dimshuffle(1, "x", 0), A.T[:, None]),
        (x.fill(3.0), np.full_like(A, 3.0)),
        (x.zeros_like(), np.zeros_like(A)),
        (x.ones_like("int8"), np.ones_like(A, "int8")),
        (x.sort(axis=0), np.sort(A, axis=0)),
        (x.nonzero()[0], A.nonzero()[0]),
        (x[0].set(1.0), np.array([[1.0] * 3, A[1]])),
        (x[0].inc(1.0), np.array([A[0] + 1, A[1]])),
    ]:
        np.testing.assert_array_equal(made.eval({x: A}), expected, strict=True)
    assert x.copy("again").name == "again"


def test_a_symbolic_array_has_no_value() -> None:
    x = lt.vector("x")
    with pytest.raises(TypeError, match="it has no truth value while the graph is built"):
        bool(x)
    with pytest.raises(TypeError, match="x is symbolic: it has no value while the graph is built"):
        np.asarray(x)
    with pytest.raises(TypeError, match="the length of x is not known while the graph is built"):
        len(x)
    with pytest.raises(TypeError, match="length of x is not known"):
        list(x)
    with pytest.raises(TypeError):
        float(x)  # type: ignore[arg-type]  # what is tested


def test_known_lengths() -> None:
    x = lt.vector("x", shape=(3,))
    assert len(x) == 3
    a, b, c = x
    np.testing.assert_array_equal((a + b * c).eval({x: [1.0, 2.0, 3.0]}), 7.0)


def test_equality_is_that_of_the_node() -> None:
    x = lt.vector("x")
    assert x == x
    assert x != lt.vector("x")
    assert len({x, x + 1, x + 1}) == 2


def test_printing_of_constants() -> None:
    assert str(lt.constant(2.5)) == "2.5"
    assert str(lt.constant([[0.1]], dtype="float32")) == "0.1"
    assert str(lt.constant([1.0, 2.0])) == "float64[2]{[1., 2.]}"
    assert str(lt.constant(np.arange(100))) == "int64[100]{[ 0,  1, ..., 98, 99]}"
    assert str(lt.constant(1.0, "one")) == "one"
