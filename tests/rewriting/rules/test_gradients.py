"""Gradients as a user takes them: what is left of them after rewriting, and that they mean the same."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.ir import Alloc, Elemwise, FunctionGraph, Second, TensorVariable
from lamella.rewriting import rewrite_graph
from tests.rewriting.rules.before_and_after import computed

x, y, s = lt.vector("x"), lt.vector("y"), lt.scalar("s")
m, w = lt.matrix("m"), lt.matrix("w")
RNG = np.random.default_rng(0)
VALUES = {x: RNG.random(3), y: RNG.random(3), s: np.array(0.5), m: RNG.random((3, 3)), w: RNG.random((3, 3))}


def _rewritten(cost: TensorVariable, wrt: Sequence[TensorVariable]) -> FunctionGraph:
    """Rewrite gradients, and see that their values and types stay."""
    old = FunctionGraph([x, y, s, m, w], lm.grad(cost, list(wrt)))
    new = rewrite_graph(old, include=["fast_run"], exclude=["nan_unsafe", "inplace"])
    values = [VALUES[v] for v in (x, y, s, m, w)]
    for was, now, result, expected in zip(
        old.outputs, new.outputs, computed(new, values), computed(old, values), strict=True
    ):
        assert was.type.is_super(now.type) is not None
        np.testing.assert_allclose(result, expected, rtol=1e-12)
    return new


def _names(fgraph: FunctionGraph) -> list[str]:
    return ["Elemwise" if isinstance(node.op, Elemwise) else type(node.op).__name__ for node in fgraph.order]


@pytest.mark.parametrize(
    ("cost", "left"),
    [
        (lt.sum(lt.exp(x * 2) * y), ["Elemwise"]),
        (lt.sum(lt.tanh(x) ** 2), ["Elemwise"]),
        (lt.sum(lt.switch(x > 0, lt.log(x), 0.0)), ["Elemwise"]),
        (lt.sum(lt.exp(x.reshape((3, 1)))), ["Elemwise"]),
        (lt.sum(lt.softplus(-x) + s), ["Elemwise"]),
        (lt.sum(lt.square(x.dimshuffle("x", 0)) + m.T), ["Elemwise", "Elemwise"]),  # one of them on a number
    ],
    ids=str,
)
def test_elementwise_gradients_are_one_node(cost: TensorVariable, left: list[str]) -> None:
    """But for views, which cost nothing, and lengths."""
    free = {"DimShuffle", "Shape_i", "Reshape", "SpecifyShape", "MakeVector"}
    names = _names(_rewritten(cost, [x]))
    assert [name for name in names if name not in free] == left


def test_a_gradient_that_is_the_same_everywhere_is_allocated() -> None:
    assert set(_names(_rewritten(lt.sum(x * 2.0), [x]))) <= {"Shape_i", "Alloc"}


def test_the_gradient_of_a_broadcast_operand_is_a_sum() -> None:
    names = _names(_rewritten(lt.sum(lt.exp(m + x)), [x]))
    assert names == ["DimShuffle", "ReducedElemwise"]  # which makes no array of what it adds up


def test_a_mean_divides_by_lengths_of_inputs() -> None:
    new = _rewritten(lt.mean(lt.log(m)), [m])
    assert sum(name == "Elemwise" for name in _names(new)) <= 2  # one of them for a number
    shapes = [node for node in new.order if type(node.op).__name__ == "Shape_i"]
    assert all(node.inputs[0] is m for node in shapes)


def test_nothing_is_filled_to_be_used_elementwise() -> None:
    costs: list[Any] = [
        lt.sum(lt.log_softmax(m @ w, axis=1)[:, 0]),
        lt.mean(lt.square(m @ w - y)),
        lt.sum(lt.max(m, axis=1) * x),
        lt.sum(lt.exp(m[1:, ::2]) * s),
    ]
    for cost in costs:
        new = _rewritten(cost, [m])
        for node in new.order:
            if isinstance(node.op, Elemwise):
                assert not isinstance(node.op.scalar_op, Second)
                for variable in node.inputs:
                    assert variable.owner is None or not isinstance(variable.owner.op, Alloc)


def test_the_demonstrated_model_is_small() -> None:
    from lamella.cli.digits import build_model

    model = build_model(64)
    old = FunctionGraph([model.parameters, model.images, model.labels], [model.loss, model.gradient])
    new = rewrite_graph(old, include=["fast_run"], exclude=["nan_unsafe"])
    assert len(new.order) <= 26 < len(old.order)
    assert sum(name == "Dot" for name in _names(new)) == 2
