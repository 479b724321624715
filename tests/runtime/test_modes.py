"""Modes, linkers, and what happens without a compiler."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.rewriting import RewriteDatabaseQuery


def test_modes_by_name_and_by_configuration() -> None:
    assert lm.get_mode("FAST_RUN") == lm.FAST_RUN
    assert lm.get_mode(lm.FAST_COMPILE) is lm.FAST_COMPILE
    with lm.config.override(mode="FAST_COMPILE"):
        assert lm.get_mode() == lm.FAST_COMPILE
    named = lm.Mode(lm.PerformLinker(), RewriteDatabaseQuery(include=[]))
    lm.register_mode("TEST_NOTHING", named)
    assert lm.get_mode("TEST_NOTHING") == named
    with pytest.raises(ValueError, match="another mode is named 'TEST_NOTHING'"):
        lm.register_mode("TEST_NOTHING", lm.FAST_RUN)


def test_a_mode_can_leave_rewrites_out() -> None:
    x = lt.vector("x")
    y = lt.exp(x * 2.0) + 1.0
    fused = lm.function([x], y, mode="FAST_RUN")
    single = lm.function([x], y, mode=lm.FAST_RUN.excluding("fusion"))
    assert len(fused.fgraph.order) == 1
    assert len(single.fgraph.order) == 3
    with lm.config.override(excluded_rewrites="fusion"):
        assert len(lm.function([x], y, mode="FAST_RUN").fgraph.order) == 3
    np.testing.assert_allclose(fused(np.ones(2)), single(np.ones(2)))


WITHOUT_A_COMPILER = """
import warnings
import numpy as np
import lamella as lm, lamella.tensor as lt
x = lt.vector("x")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for factor in (2.0, 3.0):
        f = lm.function([x], lt.exp(x) * factor)
        np.testing.assert_allclose(f(np.ones(2)), np.exp(np.ones(2)) * factor)
assert len(caught) == 1, [str(w.message) for w in caught]
print(caught[0].message)
"""


def test_without_a_compiler_there_is_one_warning_and_numpy() -> None:
    flags = {"LAMELLA_FLAGS": "compiler=/nowhere/cc", "PATH": "/nowhere"}
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_A_COMPILER], env=flags, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "compiler" in ran.stdout
