"""The log of what `optdb` does: every node of every rewritten graph is explained by what was written."""

import pytest
from hypothesis import given, settings

from lamella.ir import FunctionGraph, grad
from lamella.rewriting import RewriteDatabaseQuery, optdb
from lamella.typing_layer import Supervisor
from tests.rewriting.rules.random_graphs import RandomGraph, random_graphs
from tests.shows.models import MODELS, Model

FAST_RUN = RewriteDatabaseQuery(["fast_run"], exclude=["nan_unsafe"])


def check_that_all_is_explained(graph: FunctionGraph) -> None:
    start = graph.with_feature(Supervisor(graph.inputs))
    rewriter = optdb.query(FAST_RUN)
    rewritten = rewriter.rewrite_with_log(start)
    assert rewritten.fgraph.outputs == rewriter.rewrite(start).outputs
    for node in rewritten.fgraph.order:
        explanation = rewritten.log.explanation(node)
        assert explanation.is_known
        assert (explanation.steps == ()) == (node in start.apply_nodes)
        assert set(explanation.origins) <= start.apply_nodes
        assert explanation.origins or explanation.roots


@pytest.mark.parametrize("model", MODELS, ids=[model.name for model in MODELS])
def test_models_with_their_gradients(model: Model) -> None:
    outputs = [model.cost, *grad(model.cost, list(model.parameters))]
    check_that_all_is_explained(FunctionGraph(model.inputs, outputs))


@settings(max_examples=30)
@given(random_graphs())
def test_random_graphs(graph: RandomGraph) -> None:
    check_that_all_is_explained(FunctionGraph(graph.inputs, [variable for variable, _ in graph.made[-3:]]))
