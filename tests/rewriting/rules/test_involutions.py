"""Functions that undo themselves or do nothing a second time, on all kinds of numbers."""

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import DTYPES, FunctionGraph
from lamella.rewriting.rules.involutions import idempotent_of_itself, involution_of_itself, rounding_of_rounded
from tests.rewriting.rules.before_and_after import after, applied, assert_same_meaning

SPECIAL = [0.0, -0.0, 1.5, -1.5, 2.5, np.nan, np.inf, -np.inf]
RULES = (idempotent_of_itself, involution_of_itself, rounding_of_rounded)
x = lt.vector("x")


@pytest.mark.parametrize("name", ["neg", "conj"])
def test_two_of_an_involution_are_nothing(name: str) -> None:
    f = getattr(lt, name)
    assert after([x], f(f(x)), [SPECIAL], *RULES) == "return %x"


def test_a_negation_of_what_is_no_boolean_says_more_than_it() -> None:
    b = lt.vector("b", dtype="bool")
    assert after([b], lt.logical_not(lt.logical_not(b)), [[True, False]], *RULES) == "return %b"
    assert after([x], lt.logical_not(lt.logical_not(x)), [SPECIAL], *RULES).count("LogicalNot") == 2


@pytest.mark.parametrize("name", ["abs", "sign", "floor", "ceil", "rint", "trunc"])
def test_what_is_idempotent_is_done_once(name: str) -> None:
    f = getattr(lt, name)
    assert after([x], f(f(f(x))), [SPECIAL], *RULES) == after([x], f(x), [SPECIAL])


def test_a_rounded_number_needs_no_rounding() -> None:
    assert after([x], lt.ceil(lt.rint(x)), [SPECIAL], *RULES) == "%0: float64[?] = Rint(%x)\nreturn %0"


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_dtypes(dtype: str) -> None:
    v = lt.vector("v", dtype=dtype)
    names = ["neg", "conj", "logical_not", "bitwise_not", "abs", "sign", "real", "floor", "ceil", "rint", "trunc"]
    outputs = []
    for f in [getattr(lt, name) for name in names]:
        for g in [getattr(lt, name) for name in names]:
            try:
                outputs.append(f(g(v)))
            except TypeError:  # not defined for the dtype
                continue
    values = np.array([0, 1, 2, 100, 1.5, -0.0] if np.dtype(dtype).kind in "fc" else [0, 1, 2, 100]).astype(dtype)
    if dtype.startswith("int"):
        values = np.array([0, 1, -1, np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    old = FunctionGraph([v], outputs)
    new = applied(old, *RULES)
    assert len(new.order) < len(old.order)
    assert_same_meaning(old, new, [values])
