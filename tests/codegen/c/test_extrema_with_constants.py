"""The greater or lesser of an element and a known number: the same bits as that of two elements."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt

NUMBERS: Final = (0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan, 5e-324)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_as_of_two_elements(dtype: str) -> None:
    x, other = lt.TensorType(dtype, (None,))("x"), lt.TensorType(dtype, (None,))("other")
    numbers = [np.asarray(number, dtype) for number in NUMBERS]
    known = [op(x, number) for number in numbers for op in (lt.maximum, lt.minimum)]
    known += [op(number, x) for number in numbers for op in (lt.maximum, lt.minimum)]
    f = lm.function([x], known)
    g = lm.function(
        [x, other], [lt.maximum(x, other), lt.minimum(x, other), lt.maximum(other, x), lt.minimum(other, x)]
    )
    elements = np.array([*NUMBERS, *np.linspace(-3, 3, 25)], dtype)
    found = f(elements)
    wanted: list[Any] = []
    swapped: list[Any] = []
    for number in numbers:
        results = g(elements, np.full_like(elements, number))
        wanted += results[:2]
        swapped += results[2:]
    for a, b in zip(found, [*wanted, *swapped], strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(np.signbit(a)[~np.isnan(a)], np.signbit(b)[~np.isnan(b)])
