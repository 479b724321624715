"""How far functions of floats are off, in units in the last place, in vector code; what is exact, infinite or NaN is so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.codegen.c.machine import cpu_features
from lamella.ir import TensorType

Exact = Callable[[Any], Any]

SPECIAL: Final = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan)


def _spread(low: float, high: float) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(17)
    return np.concatenate([rng.uniform(low, high, 4000), np.exp(rng.uniform(-30, 0, 1000)) * high])


FUNCTIONS: Final[dict[str, tuple[Any, Exact, np.ndarray[Any, Any]]]] = {
    "exp": (lt.exp, np.exp, _spread(-86, 88)),
    "exp2": (lt.exp2, np.exp2, _spread(-125, 127)),
    "expm1": (lt.expm1, np.expm1, _spread(-20, 40)),
    "log": (lt.log, np.log, _spread(1e-30, 1e30)),
    "log2": (lt.log2, np.log2, _spread(1e-3, 1e3)),
    "log10": (lt.log10, np.log10, _spread(1e-3, 1e3)),
    "log1p": (lt.log1p, np.log1p, _spread(-0.99, 1e3)),
    "sin": (lt.sin, np.sin, _spread(-100, 100)),
    "cos": (lt.cos, np.cos, _spread(-100, 100)),
    "tan": (lt.tan, np.tan, _spread(-100, 100)),
    "arcsin": (lt.arcsin, np.arcsin, _spread(-1, 1)),
    "arccos": (lt.arccos, np.arccos, _spread(-1, 1)),
    "arctan": (lt.arctan, np.arctan, _spread(-100, 100)),
    "sinh": (lt.sinh, np.sinh, _spread(-80, 80)),
    "cosh": (lt.cosh, np.cosh, _spread(-80, 80)),
    "tanh": (lt.tanh, np.tanh, _spread(-20, 20)),
    "arcsinh": (lt.arcsinh, np.arcsinh, _spread(-1e3, 1e3)),
    "arccosh": (lt.arccosh, np.arccosh, _spread(1, 1e3)),
    "arctanh": (lt.arctanh, np.arctanh, _spread(-1, 1)),
    "sigmoid": (lt.sigmoid, lambda x: 1 / (1 + np.exp(-x)), _spread(-80, 80)),
    "softplus": (lt.softplus, lambda x: np.logaddexp(x, np.longdouble(0)), _spread(-80, 80)),
    "square root": (lt.sqrt, np.sqrt, _spread(0, 1e3)),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_at_most_four_units_in_the_last_place(dtype: str) -> None:
    xs = [TensorType(dtype, (None,))(f"x{i}") for i in range(len(FUNCTIONS))]
    compiled = lm.function(xs, [function(x) for x, (function, _, _) in zip(xs, FUNCTIONS.values(), strict=True)])
    given = [np.concatenate([values, SPECIAL]).astype(dtype) for _, _, values in FUNCTIONS.values()]
    for name, x, found in zip(FUNCTIONS, given, compiled(*given), strict=True):
        with np.errstate(all="ignore"):
            exact = FUNCTIONS[name][1](x.astype(np.longdouble))
            rounded = exact.astype(dtype)
        is_finite = np.isfinite(rounded) & (rounded != 0)
        np.testing.assert_array_equal(found[~is_finite], rounded[~is_finite], err_msg=name)
        off = np.abs(found[is_finite] - exact[is_finite]) / np.spacing(np.abs(rounded[is_finite]))
        assert off.max() < 4, (name, x[is_finite][np.argmax(off)], off.max())


def test_exponentials_where_vectors_have_512_bits() -> None:
    rng = np.random.default_rng(18)
    x = np.concatenate([rng.uniform(-708, 709.7, 20000), rng.uniform(-1, 1, 20000), rng.uniform(-745.2, -708, 1000)])
    exact = np.exp(x.astype(np.longdouble))
    found = lm.function([v := lt.vector("v")], lt.exp(v))(x)
    off = np.abs(found - exact) / np.spacing(exact.astype("float64"))
    assert off.max() < (0.85 if "avx512f" in cpu_features() else 4)
    for value in (*SPECIAL, 709.782712893384, 709.7827128933841, -745.1332191019411, -745.1332191019412, 1e300, -1e300):
        for length in (1, 3, 4, 9):
            with np.errstate(over="ignore", under="ignore"):
                expected = np.exp(np.full(length, value))
            np.testing.assert_allclose(lm.function([v], lt.exp(v))(np.full(length, value)), expected, rtol=4e-16)
