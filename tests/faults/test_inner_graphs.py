"""Ops that hold a graph: gradients of related outputs, and outputs that would lie in one memory."""

from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.ir import DisconnectedType
from tests.faults.three_ways import MODES, check

every_mode = pytest.mark.parametrize("mode", MODES.values(), ids=list(MODES))
inlined = pytest.mark.parametrize("inline", [True, False])


@inlined
def test_the_gradient_of_several_related_outputs(inline: bool) -> None:
    a, b = lt.dscalars("a", "b")
    both = lm.OpFromGraph([a, b], [a * b, a + b], inline=inline)
    x, y = lt.dscalars("x", "y")
    product, total = both(x, y)
    check(
        {x: 2.0, y: 3.0},
        (lm.grad(product * total, x), np.float64(21)),
        (lm.grad(product * total, y), np.float64(16)),
        (lm.grad(total, x), np.float64(1)),
        (lm.grad(total, y), np.float64(1)),
    )


def test_a_gradient_of_one_s_own_sees_which_outputs_are_disconnected() -> None:
    seen: list[list[bool]] = []

    def pulled(inputs: Any, outputs: Any, cotangents: Any) -> Any:
        seen.append([isinstance(g.type, DisconnectedType) for g in cotangents])
        return [cotangents[1], cotangents[1]]

    a, b = lt.dscalars("a", "b")
    both = lm.OpFromGraph([a, b], [a * b, a + b], lop_overrides=pulled)
    x, y = lt.dscalars("x", "y")
    gradient = lm.grad(both(x, y)[1], x)
    assert seen == [[True, False]]
    check({x: 2.0, y: 3.0}, (gradient, np.float64(1)))


@every_mode
@inlined
def test_outputs_that_view_one_another_are_each_the_caller_s_own(mode: lm.Mode, inline: bool) -> None:
    a = lt.dmatrix("a")
    views = lm.OpFromGraph([a], [a, a.T, a[::-1]], inline=inline)
    x = lt.dmatrix("x")
    f = lm.function([x], [v + 1 for v in views(x)], mode=mode)
    given = np.zeros((2, 2))
    for found in f(given):
        assert found.tolist() == [[1, 1], [1, 1]]
    g = lm.function([x], list(views(x)), mode=mode)
    results = g(given)
    for i, found in enumerate(results):
        found += i + 1
    assert [float(found[0, 0]) for found in results] == [1, 2, 3]
    assert not given.any()
