"""What mypy accepts and refuses of rewriters: `mypy --strict` runs over this file, and an ignore that is not needed is an error."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, assert_type

import pytest

import lamella.tensor as lt
from lamella.ir import Apply, FunctionGraph, TensorVariable, Variable
from lamella.rewriting import (
    EquilibriumDB,
    EquilibriumGraphRewriter,
    FromFunctionGraphRewriter,
    FromFunctionNodeRewriter,
    GraphRewriter,
    LocalGroupDB,
    NodeRewriter,
    PatternNodeRewriter,
    RewriteDatabaseQuery,
    SequenceDB,
    SequentialGraphRewriter,
    SequentialNodeRewriter,
    TopoDB,
    TransformResult,
    WalkingGraphRewriter,
    graph_rewriter,
    in2out,
    node_rewriter,
    optdb,
    register_canonicalize,
    rewrite_graph,
)

query = RewriteDatabaseQuery(["fast_run"])


def test_what_is_accepted() -> None:
    class AsInTheTutorial(NodeRewriter):
        def transform(self, fgraph: FunctionGraph, node: Apply) -> list[Variable] | Literal[False]:
            return list(node.inputs) if len(node.inputs) == 1 else False

        def tracks(self) -> list[Any]:
            return [lt.exp]

    class Typed(NodeRewriter):
        def transform(self, fgraph: FunctionGraph, node: Apply[Any]) -> TransformResult:
            return None

    @node_rewriter([lt.exp])
    def gives_tensors(fgraph: FunctionGraph, node: Apply[TensorVariable]) -> Sequence[TensorVariable | None] | None:
        return None

    @node_rewriter([lt.exp])
    def gives_a_mapping(fgraph: FunctionGraph, node: Apply[Any]) -> Mapping[Variable[Any], Variable[Any]]:
        return {}

    @graph_rewriter
    def whole(fgraph: FunctionGraph) -> FunctionGraph:
        return fgraph

    assert_type(gives_tensors, FromFunctionNodeRewriter)
    assert_type(whole, FromFunctionGraphRewriter)
    assert_type(in2out(AsInTheTutorial(), Typed(), gives_tensors, gives_a_mapping), WalkingGraphRewriter)
    assert_type(optdb.query(query), SequentialGraphRewriter)
    assert_type(EquilibriumDB().query(query), EquilibriumGraphRewriter)
    assert_type(LocalGroupDB().query(query), SequentialNodeRewriter)
    assert_type(TopoDB(LocalGroupDB()).query(query), WalkingGraphRewriter)
    x = lt.dvector("x")
    assert_type(rewrite_graph(x), TensorVariable)
    assert_type(rewrite_graph([x]), list[TensorVariable])
    assert_type(rewrite_graph(FunctionGraph([x], [x])), FunctionGraph)


def test_what_is_refused() -> None:
    """Every line that mypy refuses; most of them mean nothing when they are run."""

    class NoGraph(NodeRewriter):
        def transform(self, node: Apply[Any]) -> None:  # type: ignore[override]  # takes no graph
            return None

    class NoList(NodeRewriter):
        def transform(self, fgraph: FunctionGraph, node: Apply[Any]) -> Variable[Any]:  # type: ignore[override]  # a Variable is no list
            return node.out

    class GivesTrue(NodeRewriter):
        def transform(self, fgraph: FunctionGraph, node: Apply[Any]) -> bool:  # type: ignore[override]  # True says nothing
            return True

    class ChangesInPlace(GraphRewriter):
        def apply(self, fgraph: FunctionGraph) -> None:  # type: ignore[override]  # returns no graph
            return None

    class Unfinished(NodeRewriter):
        def tracks(self) -> None:
            return None

    with pytest.raises(TypeError, match="abstract"):
        Unfinished()  # type: ignore[abstract]  # has no transform

    @node_rewriter([lt.exp])  # type: ignore[arg-type]  # takes no graph
    def no_graph(node: Apply[Any]) -> None:
        return None

    @node_rewriter([lt.exp])  # type: ignore[arg-type]  # a Variable is no list
    def no_list(fgraph: FunctionGraph, node: Apply[Any]) -> Variable[Any]:
        return node.out

    @node_rewriter(["exp"])  # type: ignore[list-item]  # a name names no Op
    def no_op(fgraph: FunctionGraph, node: Apply[Any]) -> None:
        return None

    @graph_rewriter  # type: ignore[arg-type]  # takes a node
    def no_whole(fgraph: FunctionGraph, node: Apply[Any]) -> FunctionGraph:
        return fgraph

    def misuses(walk: WalkingGraphRewriter, group: SequenceDB) -> None:
        walk.name = "other"  # type: ignore[misc]  # frozen
        walk.rewrite(lt.dvector("x"))  # type: ignore[arg-type]  # a Variable is no graph
        in2out(walk)  # type: ignore[arg-type]  # a graph rewriter is no node rewriter
        group.register("node", NoGraph())  # type: ignore[arg-type]  # a node rewriter is no graph rewriter
        group.register("group", LocalGroupDB())  # type: ignore[arg-type]  # gives a node rewriter
        TopoDB(EquilibriumDB())  # type: ignore[arg-type]  # gives a graph rewriter
        register_canonicalize(walk)  # type: ignore[call-overload]  # a graph rewriter is no node rewriter
        PatternNodeRewriter((lt.exp, None), "x")  # type: ignore[arg-type]  # None is no pattern
        rewrite_graph(lt.dvector("x"), custom_rewrite=NoGraph())  # type: ignore[call-overload]  # a node rewriter is no graph rewriter

    assert callable(misuses)
