"""Random graphs with choices, checks, inner graphs, checkpoints and their gradients: every mode computes what the interpreter does."""

from collections.abc import Sequence

import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.ir import TensorVariable
from lamella.runtime import FAST_RUN, Mode, PerformLinker
from lamella.testing.strategies import Pool, graphs
from tests.fuzzing import Fuzzing
from tests.graph_batches import Backends, check_random_graphs

Made = Sequence[TensorVariable]
BACKENDS: Backends = {"": ["PerformLinker", Mode(PerformLinker(), FAST_RUN.query), "FAST_RUN"]}


def a_condition(pool: Pool) -> TensorVariable:
    x = pool.pick("biuf")
    return lt.any(lt.gt(x, 0))


def choice(pool: Pool) -> Made:
    x = pool.pick()
    y = pool.like(x)
    return [lm.ifelse(a_condition(pool), x, y)] if x.ndim == y.ndim else []


def check(pool: Pool) -> Made:
    x = pool.pick()
    return [lm.Assert("never")(x, lt.ge(x.size, 0), lt.logical_or(a_condition(pool), True))]


def inner_graph(pool: Pool) -> Made:
    x = pool.pick()
    y = pool.like(x)
    a, b = x.type(), y.type()
    results = pool.choose([[lt.add(a, b), a], [lt.mul(a, b).T, lt.add(a, b)], [b, lt.second(a, b)], [a.T, a]])
    found = lm.OpFromGraph([a, b], results, inline=pool.flag())(x, y)
    return list(found)


def recomputed(pool: Pool) -> Made:
    return [lm.checkpoint(lambda v: lt.sin(v) * v)(pool.pick("f"))]


def gradient(pool: Pool) -> Made:
    x = pool.pick("f")
    z = lm.ifelse(a_condition(pool), lm.checkpoint(lambda v: lt.sin(v) * v)(x), lt.exp(x))
    return [lm.grad(lt.sum(z), x)]


def function(pool: Pool) -> Made:
    x = pool.pick("f")
    return [pool.choose([lt.sin, lt.exp, lt.neg, lt.square])(x)]


def combination(pool: Pool) -> Made:
    x = pool.pick()
    return [pool.choose([lt.add, lt.mul, lt.maximum])(x, pool.like(x))] if x.dtype[:3] != "com" else []


def part(pool: Pool) -> Made:
    x = pool.pick(min_dims=1)
    return [pool.choose([x[1:], x[::-1], x.T, x[:1], lt.sum(x, axis=0)])] if x.ndim else []


def written(pool: Pool) -> Made:
    x = pool.pick("f", min_dims=1)
    return [pool.choose([lt.set_subtensor, lt.inc_subtensor])(x[1:], 2.0)] if x.ndim else []


STEPS = (choice, choice, choice, check, inner_graph, inner_graph, recomputed, gradient)
OTHERS = (function, function, combination, combination, part, part, written)


@pytest.mark.fuzz
@pytest.mark.timeout(7200)  # `make fuzz` draws thousands
def test_every_mode_computes_what_the_interpreter_does(fuzzing: Fuzzing) -> None:
    count = fuzzing.count // 5
    check_random_graphs(graphs(steps=(*STEPS, *OTHERS), min_steps=4), count, BACKENDS, fuzzing.seed, fuzzing.report)
