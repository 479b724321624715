"""NumPy's functions on symbolic tensors: the same expression on arrays and on variables gives the same values."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import lamella.tensor as lt
from lamella.ir import TensorVariable

A = np.array([[0.5, -0.25, 0.75], [0.125, 0.4, -0.3]])
N = np.array([[5, 2, 7], [1, 4, 3]])

UFUNCS: list[np.ufunc] = [
    getattr(np, name)
    for name in [
        "absolute",
        "add",
        "arccos",
        "arccosh",
        "arcsin",
        "arcsinh",
        "arctan",
        "arctan2",
        "arctanh",
        "ceil",
        "conjugate",
        "copysign",
        "cos",
        "cosh",
        "deg2rad",
        "degrees",
        "divmod",
        "equal",
        "exp",
        "exp2",
        "expm1",
        "floor",
        "floor_divide",
        "greater",
        "greater_equal",
        "hypot",
        "isfinite",
        "isinf",
        "isnan",
        "less",
        "less_equal",
        "log",
        "log10",
        "log1p",
        "log2",
        "logaddexp",
        "logaddexp2",
        "logical_and",
        "logical_not",
        "logical_or",
        "logical_xor",
        "maximum",
        "minimum",
        "multiply",
        "negative",
        "not_equal",
        "positive",
        "power",
        "rad2deg",
        "radians",
        "reciprocal",
        "remainder",
        "rint",
        "sign",
        "signbit",
        "sin",
        "sinh",
        "sqrt",
        "square",
        "subtract",
        "tan",
        "tanh",
        "true_divide",
        "trunc",
    ]
]
INTEGER_UFUNCS: list[np.ufunc] = [
    getattr(np, name) for name in ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]
]
SPECIAL: list[np.ufunc] = [
    getattr(scipy.special, name) for name in ["erf", "erfc", "erfcx", "expit", "gammaln", "log_expit", "psi", "xlogy"]
]


def same(made: Any, expected: Any, values: dict[TensorVariable, Any]) -> None:
    if isinstance(expected, tuple | list):
        assert len(made) == len(expected)
        for one, other in zip(made, expected, strict=True):
            same(one, other, values)
        return
    assert isinstance(made, TensorVariable)
    np.testing.assert_allclose(made.eval(dict(values)), expected, rtol=1e-6 if made.dtype == "float32" else 1e-13)
    assert made.dtype == np.asarray(expected).dtype


@pytest.mark.parametrize("ufunc", [*UFUNCS, *SPECIAL], ids=lambda u: u.__name__)
@np.errstate(all="ignore")
def test_ufuncs(ufunc: np.ufunc) -> None:
    x, y = lt.matrices("x y")
    if ufunc.nin == 1:
        same(ufunc(x), ufunc(A), {x: A})
        return
    same(ufunc(x, y), ufunc(A, A[::-1]), {x: A, y: A[::-1]})
    same(ufunc(A, y), ufunc(A, A[::-1]), {y: A[::-1]})
    same(ufunc(x, 2.0), ufunc(A, 2.0), {x: A})


@pytest.mark.parametrize("ufunc", INTEGER_UFUNCS, ids=lambda u: u.__name__)
def test_ufuncs_of_integers(ufunc: np.ufunc) -> None:
    x = lt.lmatrix("x")
    operands = [N] if ufunc.nin == 1 else [N, N[::-1]]
    same(ufunc(x, *operands[1:]), ufunc(*operands), {x: N})


ANY_NUMPY: Any = np
"""What NumPy's stubs say of functions of what is no array depends on its version."""

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda a: np.sum(a, axis=0),
    "sum by place": lambda a: np.sum(a, 1, "float32"),
    "sum with dimensions kept": lambda a: np.sum(a, axis=1, keepdims=True),
    "prod": np.prod,
    "max": lambda a: np.max(a, axis=1),
    "amin": np.amin,
    "ptp": lambda a: np.ptp(a, axis=0),
    "all": np.all,
    "any": lambda a: np.any(a, axis=0),
    "count_nonzero": lambda a: np.count_nonzero(a, axis=0),
    "mean": lambda a: np.mean(a, axis=1),
    "var": lambda a: np.var(a, ddof=1),
    "std": lambda a: np.std(a, 0),
    "argmax": np.argmax,
    "argmin": lambda a: np.argmin(a, axis=1),
    "cumsum": lambda a: np.cumsum(a, 1),
    "cumprod": np.cumprod,
    "diff": lambda a: np.diff(a, axis=1),
    "where": lambda a: np.where(a > 0, a, 0),
    "where with one operand": lambda a: np.where(a > 0),
    "clip": lambda a: np.clip(a, -0.1, 0.4),
    "clip by names": lambda a: np.clip(a, min=0.0),
    "round": lambda a: np.round(a, 1),
    "around": np.around,
    "real": np.real,
    "imag": np.imag,
    "angle": np.angle,
    "angle in degrees": lambda a: np.angle(a, deg=True),
    "isclose": lambda a: np.isclose(a, 0.5),
    "allclose": lambda a: np.asarray(np.allclose(a, 0.5)) if isinstance(a, np.ndarray) else np.allclose(a, 0.5),
    "copy": np.copy,
    "shape": np.shape,
    "size": np.size,
    "size of an axis": lambda a: np.size(a, 1),
    "reshape": lambda a: np.reshape(a, (3, 2)),
    "ravel": np.ravel,
    "transpose": np.transpose,
    "transpose by axes": lambda a: np.transpose(a, (1, 0)),
    "matrix_transpose": np.matrix_transpose,
    "swapaxes": lambda a: np.swapaxes(a, 0, 1),
    "moveaxis": lambda a: np.moveaxis(a, 0, 1),
    "squeeze": np.squeeze,
    "expand_dims": lambda a: np.expand_dims(a, 1),
    "atleast_1d": np.atleast_1d,
    "atleast_2d": np.atleast_2d,
    "atleast_3d": np.atleast_3d,
    "broadcast_to": lambda a: np.broadcast_to(a, (2, 2, 3)),
    "flip": lambda a: np.flip(a, axis=1),
    "roll": lambda a: np.roll(a, 1, axis=1),
    "repeat": lambda a: np.repeat(a, 2, axis=0),
    "tile": lambda a: np.tile(a, (2, 1)),
    "concatenate": lambda a: np.concatenate([a, A], axis=1),
    "concatenate as float32": lambda a: (
        np.concatenate([a, A], dtype="float32", casting="same_kind")
        if isinstance(a, np.ndarray)
        else np.concatenate([a, A], dtype="float32")
    ),
    "stack": lambda a: np.stack([a, A]),
    "hstack": lambda a: np.hstack([a, A]),
    "vstack": lambda a: np.vstack([a, A]),
    "take": lambda a: np.take(a, np.array([1, 0]), axis=1),
    "take_along_axis": lambda a: np.take_along_axis(a, np.argsort(A, axis=1), axis=1),
    "nonzero": np.nonzero,
    "flatnonzero": np.flatnonzero,
    "argwhere": np.argwhere,
    "sort": np.sort,
    "argsort": lambda a: np.argsort(a, axis=0),
    "diag": np.diag,
    "diagonal": lambda a: np.diagonal(a, 1),
    "trace": np.trace,
    "tril": np.tril,
    "triu": lambda a: np.triu(a, 1),
    "dot": lambda a: np.dot(a, A.T),
    "matmul": lambda a: np.matmul(A.T, a),
    "vdot": lambda a: np.vdot(a, A),
    "inner": lambda a: np.inner(a, A),
    "outer": lambda a: np.outer(a, A),
    "tensordot": lambda a: np.tensordot(a, A, axes=2),
    "zeros_like": np.zeros_like,
    "ones_like": lambda a: np.ones_like(a, dtype="int8"),
    "full_like": lambda a: np.full_like(a, 2.5),
    "add.reduce": lambda a: ANY_NUMPY.add.reduce(a),
    "multiply.reduce": lambda a: ANY_NUMPY.multiply.reduce(a, axis=1, keepdims=True),
    "maximum.reduce": lambda a: ANY_NUMPY.maximum.reduce(a, axis=None),
    "minimum.reduce": lambda a: ANY_NUMPY.minimum.reduce(a, axis=1),
    "logical_and.reduce": lambda a: ANY_NUMPY.logical_and.reduce(a),
    "logical_or.reduce": lambda a: ANY_NUMPY.logical_or.reduce(a),
    "logaddexp.reduce": lambda a: ANY_NUMPY.logaddexp.reduce(a),
    "add.accumulate": lambda a: ANY_NUMPY.add.accumulate(a),
    "multiply.accumulate": lambda a: ANY_NUMPY.multiply.accumulate(a, axis=1),
    "subtract.outer": lambda a: ANY_NUMPY.subtract.outer(a, A),
    "an operator": lambda a: A @ a.T - 2 * a[0, 0] + np.float32(1) / a[:, :2],
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_functions(function: Callable[[Any], Any]) -> None:
    x = lt.matrix("x")
    same(function(x), function(A), {x: A})


def test_facts_about_the_type() -> None:
    x, z = lt.matrix("x"), lt.zvector("z")
    assert np.ndim(x) == 2
    assert np.isrealobj(x)
    assert np.iscomplexobj(z)
    made: Any = np.empty_like(x)
    assert made.type.ndim == 2


def test_an_array_on_the_left_knows_its_shape() -> None:
    product: Any = np.zeros((20, 19)) @ lt.tensor(shape=(19, 19))
    assert product.type.shape == (20, 19)
    total: Any = np.zeros(3) + lt.vector("x")
    assert total.type.shape == (3,)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda x: np.cbrt(x), "np.cbrt is not defined for symbolic tensors"),
        (lambda x: np.linalg.norm(x), "np.linalg.norm is not defined for symbolic tensors"),
        (lambda x: np.add(x, 1, out=np.zeros((2, 3))), "np.add of symbolic tensors takes no out"),
        (lambda x: np.sum(x, out=np.zeros(())), "np.sum of symbolic tensors takes no out"),
        (lambda x: np.add(x, 1, where=A > 0), "np.add of symbolic tensors takes no argument 'where'"),
        (lambda x: np.add(x, 1, dtype="float32"), "np.add of symbolic tensors takes no argument 'dtype'"),
        (lambda x: np.sum(x, where=A > 0), "np.sum of symbolic tensors takes a, axis, dtype, keepdims: .*'where'"),
        (lambda x: ANY_NUMPY.add.reduce(x, initial=3), "np.add.reduce of symbolic tensors takes no argument 'initial'"),
        (lambda x: ANY_NUMPY.subtract.reduce(x), "np.subtract.reduce is not defined for symbolic tensors"),
        (lambda x: ANY_NUMPY.add.reduceat(x, [0]), "np.add.reduceat is not defined for symbolic tensors"),
        (lambda x: np.ravel(x, order="F"), "symbolic tensors have no memory layout"),
        (lambda x: ANY_NUMPY.where(x, 1, None), "takes both x and y, or neither"),
    ],
)
def test_what_cannot_be_done_is_said(build: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        build(lt.matrix("x"))


def test_an_array_is_not_written_to() -> None:
    a = np.ones(3)
    with pytest.raises(TypeError, match="takes no out"):
        a += lt.vector("x")  # type: ignore[arg-type]  # refused at run time too
    np.testing.assert_array_equal(a, [1.0, 1.0, 1.0])
