"""What IEEE arithmetic says of special values stays what it says, whatever is rewritten by default."""

import numpy as np
import pytest

from lamella.ir import FunctionGraph, interpret, lt
from lamella.rewriting import rewrite_graph
from lamella.typing_layer import schedule
from tests.rewriting.rules.special_values import Expression, grid, same_bits, variables

FAITHFUL: list[Expression] = [
    lambda x: x - x,
    lambda x: x / x,
    lambda x: 0 * x,
    lambda x: x * 0.0,
    lambda x: lt.eq(x, x),
    lambda x: lt.neq(x, x),
    lambda x: x + 0.0,
    lambda x: 0.0 - x,
    lambda x: (x + 1e20) - 1e20,
    lambda x: (x * np.float64(1e200)) * np.float64(1e-200),
    lambda x: (x / 3.0) * 3.0,
    lambda x: lt.sqrt(x) + 0.0,
    lambda x: lt.maximum(x, np.inf),
    lambda x: lt.minimum(lt.maximum(x, 1), -1),
    lambda x: lt.clip(x, 1, -1),
    lambda x: x // 1.0,
    lambda x: x % 1.0,
    lambda x: lt.switch(x > 0, x, -x),
    lambda x: lt.logical_not(x < 1),
    lambda x: lt.annihilating_mul(x, 1.0),
    lambda x: lt.sign(lt.sign(x)) * -1,
    lambda x, y: (x + y) - y,
    lambda x, y: (x - y) + y,
    lambda x, y: (x * y) / y,
    lambda x, y: x * (y / x),
    lambda x, y: lt.switch(lt.isnan(y), 0.0, x) / y,
    lambda x, y: lt.switch(y > 0, x, 0.0) / y,
    lambda x, y: lt.maximum(x, y) - y,
    lambda x, y: lt.annihilating_mul(x, y) + lt.annihilating_mul(-x, y),
    lambda x, y: -(x - y),
    lambda x, y: lt.logical_not(x <= y),
]


@pytest.mark.parametrize("expression", FAITHFUL)
@pytest.mark.parametrize("include", ["fast_run", "fast_compile"])
def test_special_values_of_floats(expression: Expression, include: str) -> None:
    for dtype in ("float64", "float32"):
        inputs, of = variables(expression, dtype)
        old = FunctionGraph(inputs, [expression(*inputs)])
        new = rewrite_graph(old, include=(include,), exclude=("nan_unsafe",))
        expected = interpret(old.inputs, old.outputs, grid(of))[0]
        found = interpret(new.inputs, new.outputs, grid(of), schedule(new).order)[0]
        assert same_bits(found, expected)


INTEGERS: list[Expression] = [
    lambda x, y: (x // y) * y,
    lambda x, y: (x * y) // y,
    lambda x, y: (x + y) - y,
    lambda x, y: (x - y) - (x - y),
    lambda x: (x * 3) // 3,
    lambda x: lt.abs(lt.abs(x)),
    lambda x: lt.neg(lt.neg(x)),
    lambda x: x / 2,
    lambda x: (x * 2) / 2,
    lambda x: lt.square(x) < 0,
    lambda x: lt.sqrt(lt.square(lt.cast(x, "int64"))),
    lambda x: x**3 - x * x * x,
]


@pytest.mark.parametrize("expression", INTEGERS)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_special_values_of_integers(expression: Expression, dtype: str) -> None:
    inputs, of = variables(expression, dtype)
    old = FunctionGraph(inputs, [expression(*inputs)])
    new = rewrite_graph(old, include=("fast_run",), exclude=("nan_unsafe",))
    expected = interpret(old.inputs, old.outputs, grid(of))[0]
    assert same_bits(interpret(new.inputs, new.outputs, grid(of), schedule(new).order)[0], expected)


def test_stable_forms_are_left_out_by_one_word() -> None:
    inputs, _ = variables(lambda x: x, "float64")
    (x,) = inputs
    plain = lt.log(1 + x)
    assert rewrite_graph(plain, include=("fast_run",), exclude=("nan_unsafe", "inplace")) is lt.log1p(x)
    faithful = rewrite_graph(plain, include=("fast_run",), exclude=("nan_unsafe", "inplace", "stabilize", "fusion"))
    assert faithful is plain
