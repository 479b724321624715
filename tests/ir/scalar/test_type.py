"""ScalarType: what it takes, constants by their bits, and SciPy left alone until it is needed."""

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from lamella.ir import ScalarType

F32, F64, I8, C64 = [ScalarType(dtype) for dtype in ("float32", "float64", "int8", "complex64")]


@pytest.mark.parametrize(
    ("type", "value", "expected"),
    [
        (F64, 1, np.float64(1.0)),
        (F64, np.int32(3), np.float64(3.0)),
        (F64, np.array(2.5, "float32"), np.float64(2.5)),
        (F32, 0.1, np.float32(0.1)),
        (F32, True, np.float32(1.0)),
        (I8, -128, np.int8(-128)),
        (C64, 1.5, np.complex64(1.5)),
        (C64, 1j, np.complex64(1j)),
    ],
)
def test_values_it_takes(type: ScalarType, value: Any, expected: np.generic) -> None:
    found = type.filter(value)
    assert found == expected
    assert found.dtype == expected.dtype


@pytest.mark.parametrize(
    ("type", "value", "error"),
    [
        (I8, 2.5, TypeError),
        (I8, 128, OverflowError),
        (I8, np.int64(3), TypeError),
        (F32, np.float64(0.1), TypeError),
        (F64, 1j, TypeError),
        (F64, [1.0, 2.0], TypeError),
        (F64, "1.0", TypeError),
        (F64, None, TypeError),
    ],
)
def test_values_it_refuses(type: ScalarType, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        type.filter(value)


def test_strict_and_downcast() -> None:
    assert F32.filter(np.float64(0.1), allow_downcast=True) == np.float32(0.1)
    assert F32.is_valid_value(np.float32(1.0))
    assert not F32.is_valid_value(1.0)
    assert not F32.is_valid_value(np.float64(1.0))


def test_constants_are_told_apart_by_their_bits() -> None:
    assert F64.make_constant(1) is F64.make_constant(1.0)
    assert F64.make_constant(0.0) is not F64.make_constant(-0.0)
    assert F64.make_constant(np.nan) is F64.make_constant(np.nan)
    assert F64.make_constant(1.0) is not F32.make_constant(1.0)


def test_equality() -> None:
    assert ScalarType("float64") == ScalarType(np.float64) == ScalarType(float)
    assert pickle.loads(pickle.dumps(F32)) == F32
    assert str(F32) == "float32"
    assert repr(F32) == "ScalarType(float32)"
    with pytest.raises(TypeError, match="no tensor has the dtype 'object'"):
        ScalarType("object")


def test_values_eq() -> None:
    assert F64.values_eq(np.float64(np.nan), np.float64(np.nan))
    assert not F64.values_eq(np.float64(1.0), np.float64(1.0 + 1e-15))
    assert F64.values_eq_approx(np.float64(1.0), np.float64(1.0 + 1e-15))


def test_scipy_is_not_loaded_before_it_is_needed() -> None:
    program = (
        "import sys, lamella.tensor as lt\n"
        "y = lt.erf(lt.gammaln(lt.vector('x')))\n"
        "assert 'scipy' not in sys.modules\n"
        "y.eval({'x': [1.0]})\n"
        "assert 'scipy' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
