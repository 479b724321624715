"""A user's own rewrites, registered in `optdb`, are in effect in compiled functions: before all others, and in place."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.errors import RewriteLoopError
from lamella.rewriting import optdb

x, y = lt.dvector("x"), lt.dvector("y")


@pytest.fixture(autouse=True)
def _registry() -> Iterator[None]:
    """Take what a test has registered out of the databases again."""
    databases = [optdb, optdb["canonicalize"]]
    before = [set(db) for db in databases if isinstance(db, lm.RewriteDatabase)]
    yield
    for db, names in zip(databases, before, strict=True):
        assert isinstance(db, lm.RewriteDatabase)
        for name in set(db) - names:
            db.unregister(name)


class Simplify(lm.GraphRewriter):
    """x*y/y -> x, whatever the shapes and values are: wrong where y is 0 or makes the result longer, and so easy to see."""

    def apply(self, fgraph: lm.FunctionGraph) -> lm.FunctionGraph:
        for node in fgraph.toposort():
            if node.op == lt.true_div:
                numerator, denominator = node.inputs
                if numerator.owner and numerator.owner.op == lt.mul:
                    a, b = numerator.owner.inputs
                    if denominator == a:
                        fgraph = fgraph.replace(node.outputs[0], b)
                    elif denominator == b:
                        fgraph = fgraph.replace(node.outputs[0], a)
        return fgraph


@pytest.mark.parametrize("mode", [lm.FAST_RUN, lm.Mode(lm.PerformLinker(), lm.FAST_RUN.query)])
def test_a_rewrite_at_half_past_the_first_merge(mode: lm.Mode) -> None:
    expression = (y * x) / y + 1
    values = [2.0, 3.0], [0.0, 1.0]
    compiled_before = lm.function([x, y], expression, mode=mode)
    optdb.register("simplify", Simplify(), "fast_run", position=0.5)
    f = lm.function([x, y], expression, mode=mode, on_unused_input="ignore")
    np.testing.assert_array_equal(f(*values), [3.0, 4.0])
    assert "Simplify" in [step.rewriter for step in f.rewrite_log]
    # what was compiled before stays what it is, and a query can leave it out
    np.testing.assert_array_equal(compiled_before(*values), [np.nan, 4.0])
    without = lm.function([x, y], expression, mode=mode.excluding("simplify"))
    np.testing.assert_array_equal(without(*values), [np.nan, 4.0])
    slow = lm.function([x, y], expression, mode="FAST_COMPILE")
    np.testing.assert_array_equal(slow(*values), [np.nan, 4.0])
    optdb.unregister("simplify")
    np.testing.assert_array_equal(lm.function([x, y], expression, mode=mode)(*values), [np.nan, 4.0])


class Triple(lm.Op[[lt.TensorLike], lt.TensorVariable]):
    """Three times a vector; in place, it overwrites the vector."""

    __props__ = ("inplace",)

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace
        if inplace:
            self.destroy_map = {0: [0]}

    def make_node(self, v: lt.TensorLike) -> lm.Apply[lt.TensorVariable]:
        v = lt.as_tensor_variable(v)
        return lm.Apply(self, [v], [v.type()])

    def perform(self, node: lm.Apply[Any], inputs: Sequence[Any], output_storage: lm.OutputStorage) -> None:
        (v,) = inputs
        output_storage[0][0] = np.multiply(v, 3.0, out=v if self.inplace else None)


@lm.node_rewriter([Triple()], inplace=True)
def triple_in_place(fgraph: lm.FunctionGraph, node: lm.Apply[Any]) -> Sequence[lm.Variable[Any]]:
    (v,) = node.inputs
    return Triple(inplace=True).make_node(lt.as_tensor_variable(v)).outputs


def test_a_rewrite_in_place_at_half_past_fifty() -> None:
    optdb.register("triple_in_place", lm.WalkingGraphRewriter(triple_in_place), "fast_run", "inplace", position=50.5)
    triple = Triple()
    mutable = lt.dvector("mutable")
    kept = triple(lt.exp(y))
    outputs = [triple(lt.exp(x)), triple(x), triple(mutable), kept, kept + lt.exp(y)]
    mode = lm.Mode(lm.PerformLinker(), lm.FAST_RUN.query).excluding("fusion", "reduction_fusion")
    for chosen in (mode, lm.FAST_RUN):
        f = lm.function([x, y, lm.In(mutable, mutable=True)], outputs, mode=chosen)
        given = [np.array([0.0, 1.0]), np.array([2.0, -1.0]), np.array([1.0, 5.0])]
        kept_values = [value.copy() for value in given]
        results = f(*given)
        wanted: list[Any] = [3 * np.exp(given[0]), 3 * given[0], [3.0, 15.0]]
        for result, expected in zip(results, wanted, strict=False):
            np.testing.assert_allclose(result, expected)
        np.testing.assert_allclose(results[4], 4 * np.exp(kept_values[1]))
        # what may be overwritten is, and nothing else: not what the caller keeps, not what is still needed
        np.testing.assert_array_equal(given[:2], kept_values[:2])
        np.testing.assert_array_equal(given[2], [3.0, 15.0])
        in_place = [node.inputs[0] for node in f.fgraph.order if node.op == Triple(inplace=True)]
        assert mutable in in_place
        assert len(in_place) == 2
    without = lm.function([mutable], triple(mutable), mode=mode.excluding("inplace"))
    value = np.array([1.0, 2.0])
    without(value)
    np.testing.assert_array_equal(value, [1.0, 2.0])


class There(Triple):
    """One of two forms of the same."""


class Back(Triple):
    """The other one."""


def test_two_rewrites_that_undo_one_another_are_named_when_a_function_is_compiled() -> None:
    lm.register_canonicalize(lm.SubstitutionNodeRewriter(There(), Back(), name="there_to_back"))
    lm.register_canonicalize(lm.SubstitutionNodeRewriter(Back(), There(), name="back_to_there"))
    with pytest.raises(RewriteLoopError, match="the rewriters back_to_there, there_to_back undo one another"):
        lm.function([x], There()(x))
    f = lm.function([x], There()(x), mode=lm.FAST_RUN.excluding("there_to_back"))
    np.testing.assert_array_equal(f([1.0]), [3.0])


def test_two_graph_rewriters_that_undo_one_another_are_named_too() -> None:
    @lm.graph_rewriter
    def forth(fgraph: lm.FunctionGraph) -> lm.FunctionGraph:
        return lm.in2out(lm.SubstitutionNodeRewriter(There(), Back())).rewrite(fgraph)

    lm.register_canonicalize(lm.SubstitutionNodeRewriter(Back(), There(), name="back_to_there"))
    canonicalize = optdb["canonicalize"]
    assert isinstance(canonicalize, lm.EquilibriumDB)
    canonicalize.register("forth", forth, "fast_run")
    message = "canonicalize made a graph that it had before; the rewriters that undo one another are among back_to_there, forth$"
    with pytest.raises(RewriteLoopError, match=message):
        lm.function([x], There()(x))
