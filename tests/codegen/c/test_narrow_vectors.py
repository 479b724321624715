"""Code for processors whose vectors are narrower than this one's may be: it loads, and computes the same."""

from __future__ import annotations

import platform

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt

_NARROWER = ["-mno-avx512f", "-mno-avx2", "-mno-avx"] if platform.machine() == "x86_64" else [""]


@pytest.mark.parametrize("flag", _NARROWER)
def test_functions_with_vector_versions_of_our_own(flag: str) -> None:
    x, y, i, j = lt.vector("x"), lt.vector("y"), lt.lvector("i"), lt.lvector("j")
    outputs = [lt.exp(x), lt.gammaln(x), x % y, x // y, i**j, i % (j + 1), lt.sum(lt.exp(x)), lt.logsumexp(x)]
    with lm.config.override(compiler_flags=flag):
        narrow = [lm.function([x, y, i, j], output, on_unused_input="ignore") for output in outputs]
    rng = np.random.default_rng(4)
    for n in (1, 2, 3, 5, 8, 15, 1000):
        values = [rng.uniform(0.1, 9, n), rng.uniform(0.1, 2, n), rng.integers(-9, 10, n), rng.integers(0, 9, n)]
        for function, wanted in zip(narrow, lm.interpret([x, y, i, j], outputs, values), strict=True):
            np.testing.assert_allclose(function(*values), wanted, rtol=1e-14, atol=1e-15)
