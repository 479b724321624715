"""`checkpoint`: the same values and gradients; on the way back, values are computed again instead of kept."""

from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.errors import MissingInputError
from lamella.ir import Recompute, TensorVariable
from lamella.testing import verify_grad
from lamella.typing_layer import ScheduledGraph
from tests.ir.control.counted import Counted

x = lt.dvector("x")
in_each_mode = pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])


def piece(v: TensorVariable) -> TensorVariable:
    return lt.exp(lt.sin(v) * 2) + v


@in_each_mode
def test_values_and_gradients_are_the_same(mode: str) -> None:
    plain, again = piece(piece(x)), lm.checkpoint(piece)(lm.checkpoint(piece)(x))
    f = lm.function([x], [plain, again, lm.grad(lt.sum(plain), x), lm.grad(lt.sum(again), x)], mode=mode)
    first, second, slope, other_slope = f([0.1, -2.0, 3.0])
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(slope, other_slope, rtol=1e-13)


def test_gradients_of_gradients_and_tangents() -> None:
    point = [np.array([0.3, -0.4])]

    def cost(v: TensorVariable) -> TensorVariable:
        return lt.sum(lm.checkpoint(piece)(v) ** 2)

    verify_grad(lambda v: lm.grad(cost(v), v), point, mode="FAST_COMPILE")
    pushed = lm.Rop(cost(x), x, lt.ones_like(x))
    np.testing.assert_allclose(pushed.eval({x: point[0]}), lm.grad(cost(x), x).eval({x: point[0]}).sum())


@in_each_mode
def test_the_part_is_computed_twice_and_no_rewrite_undoes_it(mode: str) -> None:
    log: list[str] = []

    def counted(v: TensorVariable) -> TensorVariable:
        return lt.exp(Counted("part", log)(lt.sin(v)))

    z = lm.checkpoint(counted)(x)
    f = lm.function([x], [z, lm.grad(lt.sum(z), x)], mode=mode)
    np.testing.assert_allclose(f([1.0])[1], np.exp(np.sin(1.0)) * np.cos(1.0))
    assert log == ["part", "part"]
    log.clear()
    lm.function([x], lm.grad(lt.sum(z), x))([1.0])
    assert log == ["part"]  # the forward pass itself is not needed


def most_alive(scheduled: ScheduledGraph, length: int) -> int:
    """How many vectors of a length are alive at once."""
    alive = set(scheduled.fgraph.inputs)
    most = 0
    for node, dead in zip(scheduled.order, scheduled.storage.last_read_after, strict=True):
        alive.update([v for v in node.outputs if not node.op.view_map])
        most = max(most, sum([v.type.shape == (length,) for v in alive]))
        alive.difference_update(dead)
    return most


def test_less_is_kept() -> None:
    """Of a chain of n steps the gradient keeps n values; checkpointed in pieces of sqrt(n) steps, about 2 sqrt(n)."""
    n = 36
    start = lt.tensor("start", dtype="float64", shape=(7,))

    def steps(v: TensorVariable, count: int) -> TensorVariable:
        for _ in range(count):
            v = lt.dot(lt.outer(v, v), lt.sin(v))  # no fusion joins these
        return v

    def kept(z: TensorVariable) -> int:
        mode = lm.get_mode("FAST_RUN").excluding("fusion", "inplace")
        return most_alive(lm.function([start], lm.grad(lt.sum(z), start), mode=mode).scheduled, 7)

    plain = kept(steps(start, n))
    pieces = start
    for _ in range(6):
        pieces = lm.checkpoint(lambda v: steps(v, 6))(pieces)
    assert plain > n
    assert kept(pieces) < plain / 2


def test_recomputation_waits_for_the_cotangents() -> None:
    z = lm.checkpoint(piece)(x)
    cost = lt.sum(lt.sqr(z))
    f = lm.function([x], lm.grad(cost, x))
    order = [type(node.op).__name__ for node in f.scheduled.order]
    (place,) = [i for i, node in enumerate(f.scheduled.order) if isinstance(node.op, Recompute)]
    assert place > 0
    assert len(f.scheduled.order[place].inputs) == 2
    assert f.scheduled.order[place].inputs[1].owner in f.scheduled.order[:place], order


@in_each_mode
def test_what_a_function_takes_from_elsewhere_has_a_gradient_too(mode: str) -> None:
    log: list[str] = []
    weights = lm.shared(np.array([1.0, 2.0]), "weights")
    scale = Counted("outside", log)(lt.exp(x))
    z = lm.checkpoint(lambda v: lt.sin(v * weights) * scale)(x)
    plain = lt.sin(x * weights) * lt.exp(x)
    f = lm.function([x], lm.grad(lt.sum(z), [x, weights]), mode=mode)
    g = lm.function([x], lm.grad(lt.sum(plain), [x, weights]), mode=mode)
    for found, expected in zip(f([0.3, 0.7]), g([0.3, 0.7]), strict=True):
        np.testing.assert_allclose(found, expected)
    assert log == ["outside"]


def test_variables_instead_of_a_function() -> None:
    middle = lt.exp(x)
    z = lt.sin(middle) * middle
    whole = lm.checkpoint(z)
    from_middle = lm.checkpoint(z, [middle])
    several = lm.checkpoint([z, middle * 2], [middle])
    assert isinstance(several, list)
    expected = lm.grad(lt.sum(z), x).eval({x: [0.5]})
    for made in (whole, from_middle, several[0]):
        np.testing.assert_allclose(made.eval({x: [0.5]}), z.eval({x: [0.5]}))
        np.testing.assert_allclose(lm.grad(lt.sum(made), x).eval({x: [0.5]}), expected)


def test_functions_of_several_values() -> None:
    def both(a: TensorVariable, b: TensorVariable) -> tuple[TensorVariable, TensorVariable]:
        return a * b, lt.sin(a)

    y = lt.dvector("y")
    first, second = lm.checkpoint(both)(x, y)
    given: dict[Any, Any] = {x: [2.0], y: [3.0]}
    assert lm.grad(lt.sum(first), [x, y])[1].eval(given) == 2.0
    np.testing.assert_allclose(lm.grad(lt.sum(second), x).eval(given), np.cos([2.0]))
    np.testing.assert_allclose(lm.grad(lt.sum(first + second), x).eval(given), 3.0 + np.cos([2.0]))


def test_a_function_keeps_its_name_and_its_options() -> None:
    @lm.checkpoint
    def power(v: TensorVariable, exponent: int = 2) -> TensorVariable:
        """Raise to a power."""
        return v**exponent

    assert (power.__name__, power.__doc__) == ("power", "Raise to a power.")
    assert lm.grad(lt.sum(power(x, exponent=3)), x).eval({x: [2.0]}) == 12.0


def test_what_the_inputs_do_not_give_is_missed() -> None:
    y = lt.dvector("y")
    with pytest.raises(MissingInputError, match="y"):
        lm.checkpoint(x * y, [x])


def test_shapes_need_no_recomputation() -> None:
    log: list[str] = []
    z = lm.checkpoint(lambda v: Counted("part", log)(v)[1:])(x)
    assert lm.function([x], lm.grad(lt.sum(z), x).shape[0])([1.0, 2.0]) == 2
    assert log == []
