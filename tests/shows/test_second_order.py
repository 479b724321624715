"""Second derivatives of random graphs: `hessian`, `Rop` and `grad` of `grad` are what they are without rewriting."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lamella as lm
import lamella.tensor as lt
from lamella.ir import TensorType, TensorVariable, ancestors
from lamella.rewriting import PatternNodeRewriter, RewriteDatabaseQuery, in2out
from lamella.runtime import FAST_RUN, Mode, PerformLinker, function
from lamella.testing.strategies import Pool, RandomGraph, arrays, static_shapes

Array = npt.NDArray[Any]

UNARY = (
    *(lt.exp, lt.tanh, lt.sin, lt.sigmoid, lt.softplus, lt.square, lt.arctan, lt.erf, lt.neg, lt.log_sigmoid, lt.expm1),
    *(lt.cosh, lt.abs, lt.reciprocal),
)
STABLE = (
    lambda x: lt.log(1 + lt.exp(x)),
    lambda x: 1 / (1 + lt.exp(-x)),
    lambda x: lt.log(lt.cosh(x)),
    lambda x: lt.sqrt(1 + lt.square(x)),
    lambda x: lt.log(1 + lt.square(x)),
    lambda x: lt.exp(lt.log(1 + lt.square(x))),
    lambda x: x**3,
    lambda x: (x * 2.0) * 3.0 - x / 4.0,
    lambda x: lt.switch(lt.gt(x, 0.5), lt.sin(x), x * x),
)


@attrs.define(eq=False)
class FloatPool(Pool):
    """A pool whose inputs are of float64."""

    def new_input(self, kinds: str = "biufc", shape: Sequence[int] | None = None) -> TensorVariable:
        lengths = self.draw(st.lists(st.sampled_from([2, 3, 1]), max_size=2)) if shape is None else shape
        value = self.draw(arrays("float64", lengths, special=False))
        variable = TensorType("float64", self.draw(static_shapes(lengths)))(f"x{len(self.inputs)}")
        self.inputs[variable] = self.values[variable] = value
        return variable


def _unary(pool: Pool) -> list[TensorVariable]:
    return [pool.choose(UNARY)(_tamed(pool.pick("f")))]


def _written_out(pool: Pool) -> list[TensorVariable]:
    return [pool.choose(STABLE)(_tamed(pool.pick("f")))]


def _binary(pool: Pool) -> list[TensorVariable]:
    x = pool.pick("f")
    y = pool.like(x, "f")
    return [pool.choose([lt.add, lt.mul, lt.sub, lt.mul, lt.maximum, lt.logaddexp])(x, y)]


def _quotient(pool: Pool) -> list[TensorVariable]:
    x = pool.pick("f")
    return [x / (1.5 + lt.square(pool.like(x, "f")))]


def _reduced(pool: Pool) -> list[TensorVariable]:
    picked = pool.pick("f", min_dims=1, fits=lambda value: value.size > 0)
    if not pool.values[picked].size:
        return []
    x = _tamed(picked)
    axis = pool.integer(0, x.ndim - 1)
    of = pool.choose([lt.sum, lt.mean, lt.logsumexp, lt.softmax, lt.log_softmax, lt.max, lt.prod, lt.cumsum])
    return [of(x, axis=axis)]


def _moved(pool: Pool) -> list[TensorVariable]:
    x = pool.pick("f", min_dims=1)
    how = pool.integer(0, 4)
    if how == 0:
        return [x.T]
    if how == 1:
        return [x[1:]]
    if how == 2:
        return [lt.concatenate([x, lt.square(x)], axis=0)]
    if how == 3:
        return [lt.reshape(x, (-1,))]
    return [x[::-1]]


def _written(pool: Pool) -> list[TensorVariable]:
    x = pool.pick("f", min_dims=1, fits=lambda value: value.shape[0] > 1)
    if pool.values[x].shape[0] < 2:
        return []
    y = pool.pick("f", max_dims=0)
    return [pool.choose([x[1:].inc(y), x[0].set(y), x[[0, 1, 0]].inc(y)])]


def _product(pool: Pool) -> list[TensorVariable]:
    x = pool.pick("f", min_dims=2, max_dims=2)
    return [lt.dot(x, lt.sin(x).T), lt.dot(x, pool.pick("f", shape=pool.values[x].shape[-1:]))]


def _tamed(x: TensorVariable) -> TensorVariable:
    """Keep numbers small: exponentials of exponentials are compared by no one."""
    return x if x.owner is None else 2.0 * lt.sin(x)


STEPS = (
    _unary,
    _unary,
    _written_out,
    _written_out,
    _written_out,
    _binary,
    _binary,
    _quotient,
    _reduced,
    _moved,
    _written,
    _product,
)
TOLERANCE = {"float16": 0.1, "float32": 1e-3, "float64": 1e-8}
WITHOUT_REWRITING = Mode(PerformLinker(), RewriteDatabaseQuery([]))
REWRITTEN = Mode(PerformLinker(), FAST_RUN.query)


@st.composite
def smooth_graphs(draw: st.DrawFn) -> RandomGraph:
    """Generate graphs of functions that have second derivatives, almost everywhere."""
    pool = FloatPool(draw, special=False)
    made: list[TensorVariable] = []
    for step in draw(st.lists(st.sampled_from(STEPS), min_size=2, max_size=7)):
        new = step(pool)
        pool.add(new)
        made += new
    return RandomGraph(tuple(made[-2:]) or (pool.new_input(),), dict(pool.inputs))


def second_derivatives(
    outputs: Sequence[TensorVariable], wrt: TensorVariable, direction: TensorVariable
) -> list[TensorVariable]:
    """A Hessian, a product of a Jacobian with a direction, and the gradient of a function of a gradient."""
    cost = lt.zeros(())
    for out in outputs:
        cost = cost + lt.mean(lt.sin(out))
    gradient = lm.grad(cost, wrt, disconnected_inputs="ignore")
    return [
        lm.hessian(cost, wrt, disconnected_inputs="ignore"),
        lm.Rop(outputs[0], wrt, direction, disconnected_outputs="ignore"),
        lm.Rop(gradient, wrt, direction, disconnected_outputs="ignore"),
        lm.grad(lt.sum(lt.square(gradient) * direction), wrt, disconnected_inputs="ignore"),
    ]


@settings(max_examples=80)
@given(smooth_graphs(), st.integers(0, 1000))
def test_second_derivatives_are_what_they_are_without_rewriting(graph: RandomGraph, seed: int) -> None:
    check(graph, seed, REWRITTEN)


def test_a_wrong_rewrite_of_a_second_derivative_is_seen() -> None:
    wrong = PatternNodeRewriter((lt.sin, "x"), (lt.tanh, "x"), name="planted")
    x = lt.vector("x")
    graph = RandomGraph((lt.cos(x),), {x: np.ones(2)})
    check(graph, 0, REWRITTEN)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check(graph, 0, Mode(PerformLinker(), FAST_RUN.query.register((in2out(wrong), 0.7))))


def check(graph: RandomGraph, seed: int, rewritten: Mode) -> None:
    used = set(ancestors(graph.outputs))
    wrt = next((x for x in graph.inputs if x in used), None)
    if wrt is None or graph.inputs[wrt].size == 0:
        return
    direction = wrt.type("direction")
    rng = np.random.default_rng(seed)
    inputs = [*graph.inputs, direction]
    derivatives = second_derivatives(graph.outputs, wrt, direction)
    # Away from kinks, which numbers of few digits meet.
    values = [x + rng.uniform(0.01, 0.1, x.shape) for x in graph.inputs.values()]
    values.append(rng.uniform(0.5, 1.5, graph.inputs[wrt].shape))
    with np.errstate(all="ignore"):
        expected, found = [
            function(inputs, derivatives, mode=mode, on_unused_input="ignore")(*values)
            for mode in (WITHOUT_REWRITING, rewritten)
        ]
    dtypes = {v.type.dtype for v in graph.fgraph.variables if isinstance(v, TensorVariable)}
    tolerance = max([TOLERANCE.get(dtype, 0.0) for dtype in dtypes])
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert_close(a, b, tolerance)


def assert_close(found: Array, expected: Array, tolerance: float) -> None:
    """See that arrays agree, up to rounding of numbers as large as theirs."""
    known = np.isfinite(expected)
    scale = np.maximum(1.0, np.abs(expected[known]).max(initial=0.0))
    np.testing.assert_allclose(found[known], expected[known], rtol=tolerance, atol=tolerance * scale)
