"""The error function and its complement, each where the other is near 1."""

import math

import numpy as np

from lamella.ir import FLOAT_DTYPES, TensorType, interpret, lt
from lamella.rewriting.rules.error_functions import one_minus_erf, one_plus_erf
from tests.rewriting.rules.special_values import rewritten
from tests.rewriting.rules.stable_forms import check_left_alone


def test_tails_keep_their_digits() -> None:
    x = TensorType("float64", (None,))("x")
    points = [10.0, 25.0, 3.0, -1.0, 0.0]
    upper, lower = rewritten(1 - lt.erf(x), one_minus_erf), rewritten(1 + lt.erf(x), one_plus_erf)
    assert upper is lt.erfc(x)
    assert lower is lt.erfc(-x)
    assert rewritten(lt.erf(x) + 1, one_plus_erf) is lower
    exact = [math.erfc(v) for v in points]
    np.testing.assert_allclose(interpret([x], [upper], [np.array(points)])[0], exact, rtol=1e-13)
    np.testing.assert_allclose(interpret([x], [lower], [-np.array(points)])[0], exact, rtol=1e-13)
    assert interpret([x], [1 - lt.erf(x)], [np.array(points)])[0][0] == 0


def test_the_complement_of_the_complement() -> None:
    x = TensorType("float64", (None,))("x")
    small = rewritten(1 - lt.erfc(x), one_minus_erf)
    assert small is lt.erf(x)
    np.testing.assert_allclose(
        interpret([x], [small], [np.array([1e-20])])[0], [2e-20 / math.sqrt(math.pi)], rtol=1e-14
    )


def test_dtypes_stay() -> None:
    for dtype in FLOAT_DTYPES:
        x = TensorType(dtype, (None,))("x")
        assert rewritten(1 - lt.erf(x), one_minus_erf).type == (1 - lt.erf(x)).type
        assert rewritten(1 + lt.erf(x), one_plus_erf).type == (1 + lt.erf(x)).type
    n = TensorType("bool", (None,))("n")
    assert rewritten(1 - lt.erf(n), one_minus_erf) is lt.erfc(n)


def test_what_is_no_such_form_is_left_alone() -> None:
    check_left_alone(one_minus_erf, lambda x: 2 - lt.erf(x), "float64")
    check_left_alone(one_minus_erf, lambda x: lt.erf(x) - 1, "float64")
    check_left_alone(one_plus_erf, lambda x: 1 + lt.erfc(x), "float64")
    check_left_alone(one_minus_erf, lambda x: 1 - lt.erf(x), "complex128")
