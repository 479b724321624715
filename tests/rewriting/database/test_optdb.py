"""`optdb`: its map, registration by users, and `rewrite_graph`."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

import lamella.tensor as lt
from lamella.errors import InconsistencyError
from lamella.ir import Apply, FunctionGraph, OutputStorage, Variable
from lamella.rewriting import (
    EquilibriumDB,
    GraphRewriter,
    NodeRewriter,
    PatternNodeRewriter,
    ProxyDB,
    RemovalNodeRewriter,
    RewriteDatabase,
    RewriteDatabaseQuery,
    SequentialGraphRewriter,
    SubstitutionNodeRewriter,
    TopoDB,
    WalkingGraphRewriter,
    graph_rewriter,
    in2out,
    node_rewriter,
    optdb,
    register_canonicalize,
    register_specialize,
    register_stabilize,
    register_uncanonicalize,
    register_useless,
    rewrite_graph,
)
from lamella.typing_layer import DestroyHandler, Supervisor
from tests.rewriting.toys import REAL, RealOp, as_real, graph_of, real, show

FAST_RUN = RewriteDatabaseQuery(["fast_run"])
FAST_COMPILE = RewriteDatabaseQuery(["fast_compile"])


@attrs.frozen(repr=False)
class Mine(RealOp):
    """Ops of these tests."""


def mine(symbol: str) -> Mine:
    return Mine(symbol, abs)


a, b, c, d, e, f, g, h = (mine(symbol) for symbol in "abcdefgh")
x, y = real("x"), real("y")


@pytest.fixture(autouse=True)
def _registry() -> Iterator[None]:
    """Take what a test has registered out of `optdb` again."""
    before = {db: set(db) for db in optdb.all_databases()}
    yield
    for db, names in before.items():
        if not isinstance(db, TopoDB | ProxyDB):
            for name in set(db) - names:
                db.unregister(name)


def test_the_stages_and_their_positions() -> None:
    stages = [(entry.position, entry.name) for entry in optdb.entries]
    assert stages == sorted(stages, key=lambda stage: stage[0])
    expected = {
        "merge1": 0,
        "useless": 0.6,
        "canonicalize": 1,
        "merge1.2": 1.2,
        "stabilize": 1.5,
        "specialize": 2,
        "uncanonicalize": 3,
        "merge2": 49,
        "add_destroy_handler": 49.5,
        "merge3": 100,
    }
    assert {name: position for position, name in stages if name in expected} == expected
    for entry in optdb.entries:
        if "inplace" in entry.tags and entry.name != "add_destroy_handler":
            assert entry.position >= 50
        if "nan_unsafe" in entry.tags:
            assert "fast_run" not in entry.tags


GOLDEN = Path(__file__).parent / "golden" / "stages.txt"


def test_the_printed_map_of_the_stages() -> None:
    """In a process of its own, where nobody has registered anything."""
    code = "from lamella.rewriting import optdb; print(optdb.describe(depth=1))"
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    if os.environ.get("LAMELLA_UPDATE_GOLDENS"):
        GOLDEN.write_text(printed)
    assert printed == GOLDEN.read_text(), (
        f"LAMELLA_UPDATE_GOLDENS=1 pytest {Path(__file__).name} writes {GOLDEN.name} anew"
    )


def test_the_printed_map_holds_every_rewrite_with_its_tags() -> None:
    rows = [line.split() for line in optdb.describe().splitlines()]
    expected: list[list[str]] = [["position", "name", "kind", "tags"]]
    pending = [(entry, True) for entry in reversed(optdb.entries)]
    while pending:
        entry, placed = pending.pop()
        position = [f"{entry.position:g}"] if placed else []
        kind = [type(entry.rewriter).__name__, *(["(cleans", "up)"] if entry.cleanup else [])]
        expected.append([*position, entry.name, *kind, *sorted(entry.tags - {entry.name})])
        inner = entry.rewriter
        if isinstance(inner, RewriteDatabase):
            placed = isinstance(inner, TopoDB) and inner.db.has_positions
            pending.extend([(other, placed) for other in reversed(inner.entries)])
    assert rows == expected
    assert len(rows) > 100
    assert {"nan_unsafe", "shape_unsafe", "reassociates", "inplace"} <= {tag for row in rows for tag in row}


def test_the_tutorials_queries() -> None:
    fast_run = optdb.query(RewriteDatabaseQuery(include=["fast_run"]))
    fast_compile = optdb.query(RewriteDatabaseQuery(include=["fast_compile"]))
    no_inplace = optdb.query(RewriteDatabaseQuery(include=["fast_run"], exclude=["inplace"]))
    for rewriter in (fast_run, fast_compile, no_inplace):
        assert isinstance(rewriter, SequentialGraphRewriter)
        assert rewriter.rewrite(graph_of(a(x))).outputs == (a(x),)
    assert {"merge1", "merge3"} <= {r.name for r in fast_compile.rewriters} < {r.name for r in fast_run.rewriters}
    assert "add_destroy_handler" not in {r.name for r in no_inplace.rewriters}


def test_a_users_rewrite_at_half_past_merging() -> None:
    class Simplify(GraphRewriter):
        def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
            return fgraph.replace(a(x), x)

    simplify = Simplify()
    optdb.register("simplify", simplify, "fast_run", position=0.5)
    names = [rewriter.name for rewriter in optdb.query(FAST_RUN).rewriters]
    assert names.index("merge1") < names.index("Simplify") < names.index("useless")
    assert show(optdb.query(FAST_RUN).rewrite(graph_of(b(a(x))))) == "b(x)"
    assert show(optdb.query(FAST_COMPILE).rewrite(graph_of(b(a(x))))) == "b(a(x))"
    assert show(optdb.query(FAST_RUN.excluding("simplify")).rewrite(graph_of(b(a(x))))) == "b(a(x))"


@attrs.frozen(repr=False)
class Overwriting(Mine):
    """Overwrites its input."""

    destroy_map = {0: [0]}

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = inputs[0]


def test_a_users_rewrite_that_works_in_place() -> None:
    """At 50.5 a rewrite may make Ops that overwrite their inputs: what must not be overwritten is not, all else is."""

    @node_rewriter([c], inplace=True)
    def c_in_place(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]]:
        return [Overwriting("in_place", abs)(*node.inputs)]

    optdb.register("c_in_place", WalkingGraphRewriter(c_in_place), "fast_run", "inplace", position=50.5)
    rewriter = optdb.query(FAST_RUN)
    once, kept, read_later = c(d(x)), c(d(y)), d(y)
    graph = FunctionGraph([x, y], [once, kept, read_later, c(x)]).with_feature(Supervisor([x, y]))
    rewritten = rewriter.rewrite(graph)
    assert show(rewritten) == "in_place(d(x)), c(d(y)), d(y), c(x)"
    assert DestroyHandler() in rewritten.features
    assert show(optdb.query(FAST_RUN.excluding("inplace")).rewrite(graph)) == show(graph)
    with pytest.raises(InconsistencyError, match="overwrites"):
        rewritten.replace(kept, Overwriting("in_place", abs)(d(y)))


def test_registration_as_decorator_with_tags_and_by_call() -> None:
    @register_canonicalize
    @node_rewriter([d])
    def d_of_d(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
        (inner,) = node.inputs
        return list(inner.owner.inputs) if inner.owner and inner.owner.op == d else None

    @register_canonicalize("fast_compile", "shape_unsafe")
    @node_rewriter([e])
    def e_of_e(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
        (inner,) = node.inputs
        return list(inner.owner.inputs) if inner.owner and inner.owner.op == e else None

    pattern = PatternNodeRewriter((f, (f, "x")), "x")
    assert register_specialize(pattern, name="f_of_f") is pattern
    assert register_stabilize(SubstitutionNodeRewriter(g, h), "nan_unsafe", name="g_to_h").op1 == g
    register_uncanonicalize(RemovalNodeRewriter(h), name="remove_h")

    everything = graph_of(d(d(x)), e(e(x)), f(f(x)), g(x), h(x))
    assert show(optdb.query(FAST_RUN).rewrite(everything)) == "x, x, x, g(x), x"
    assert show(optdb.query(FAST_COMPILE).rewrite(everything)) == "d(d(x)), x, f(f(x)), g(x), h(x)"
    assert (
        show(optdb.query(FAST_RUN.excluding("shape_unsafe", "f_of_f")).rewrite(everything))
        == "x, e(e(x)), f(f(x)), g(x), x"
    )
    assert show(optdb.query(FAST_RUN.including("nan_unsafe")).rewrite(everything)) == "x, x, x, x, x"
    canonicalize = optdb["canonicalize"]
    assert isinstance(canonicalize, EquilibriumDB)
    assert canonicalize["d_of_d"] is d_of_d
    assert "e_of_e" in canonicalize
    assert "d_of_d" in optdb.describe()
    with pytest.raises(ValueError, match="has a rewriter named 'd_of_d' already; say overwrite_existing=True"):
        register_canonicalize(d_of_d)
    register_canonicalize(RemovalNodeRewriter(d), name="d_of_d", overwrite_existing=True)
    assert show(optdb.query(FAST_RUN).rewrite(graph_of(d(x)))) == "x"
    with pytest.raises(TypeError, match=r"is no node rewriter; make one of a function by the decorator node_rewriter"):
        register_canonicalize(show)  # type: ignore[call-overload]  # a planted mistake


def test_useless_operations_go_in_all_modes() -> None:
    useless = mine("useless")
    register_useless(RemovalNodeRewriter(useless), name="remove_useless")
    graph = graph_of(a(useless(useless(y))))
    assert show(optdb.query(FAST_RUN).rewrite(graph)) == "a(y)"
    assert show(optdb.query(FAST_COMPILE).rewrite(graph)) == "a(y)"


# rewrite_graph


@pytest.fixture
def wrapped() -> RealOp:
    """An Op that the canonical form does not have."""
    op = mine("wrapped")
    register_canonicalize(RemovalNodeRewriter(op, name="to_input"))
    return op


def test_rewriting_a_variable_several_and_a_graph(wrapped: RealOp) -> None:
    assert rewrite_graph(wrapped(x)) is x
    assert rewrite_graph([wrapped(x), a(wrapped(y))]) == [x, a(y)]
    assert rewrite_graph((wrapped(as_real(2.0)),)) == [as_real(2.0)]
    graph = FunctionGraph([y, x], [wrapped(x)])
    assert rewrite_graph(graph) == FunctionGraph([y, x], [x])
    assert rewrite_graph(graph, clone=True) == rewrite_graph(graph, clone=False)


def test_rewriting_by_tags_and_by_a_rewriter_of_ones_own(wrapped: RealOp) -> None:
    assert rewrite_graph(wrapped(x), include=("specialize",)) == wrapped(x)
    assert rewrite_graph(wrapped(x), exclude=["to_input"]) == wrapped(x)
    assert rewrite_graph(wrapped(x), include=["fast_run"]) is x
    swap = in2out(SubstitutionNodeRewriter(a, b))
    assert rewrite_graph(a(wrapped(x)), custom_rewrite=swap) == b(x)
    assert rewrite_graph(a(wrapped(x)), include=[], custom_rewrite=swap) == b(wrapped(x))

    @graph_rewriter
    def doubles(fgraph: FunctionGraph) -> FunctionGraph:
        return fgraph.with_outputs([a(v) for v in fgraph.outputs])

    assert rewrite_graph(x, custom_rewrite=doubles) == a(x)


def test_rewriting_in_place_overwrites_no_input() -> None:
    """Neither of an expression nor of a graph; whoever wants inputs to be overwritten says which may not."""

    @node_rewriter([c, g], inplace=True)
    def in_place(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]]:
        return [Overwriting(f"over_{node.op}", abs)(*node.inputs)]

    optdb.register("in_place", WalkingGraphRewriter(in_place), "fast_run", "inplace", position=50.5)
    assert show(rewrite_graph(c(x), include=["fast_run"])) == "c(x)"
    assert show(rewrite_graph(g(c(x)), include=["fast_run"])) == "over_g(c(x))"
    assert [show(v) for v in rewrite_graph([g(c(x)), c(x)], include=["fast_run"])] == ["g(c(x))", "c(x)"]
    graph = FunctionGraph([x, y], [c(x), c(y)])
    assert show(rewrite_graph(graph, include=["fast_run"])) == "c(x), c(y)"
    assert show(optdb.query(FAST_RUN).rewrite(graph)) == "c(x), c(y)"
    allowed = graph.with_feature(Supervisor([y]))
    assert show(rewrite_graph(allowed, include=["fast_run"])) == "over_c(x), c(y)"


def test_rewriting_in_place_leaves_tensors_alone() -> None:
    v, w = lt.dvector("v"), lt.dvector("w")
    expression = lt.exp(v) + v * w
    rewritten = rewrite_graph([expression, lt.exp(v)], include=["fast_run"])
    values = {v: np.array([0.5, -1.0]), w: np.array([2.0, 3.0])}
    before = {variable: value.copy() for variable, value in values.items()}
    for new, old in zip(rewritten, [expression, lt.exp(v)], strict=True):
        np.testing.assert_allclose(new.eval(values), old.eval(before))
    assert all((values[variable] == before[variable]).all() for variable in values)


def test_rewriting_keeps_the_kind_of_variable() -> None:
    v = lt.dvector("v")
    rewritten = rewrite_graph(lt.exp(v))
    assert (rewritten + 1).type == v.type  # a TensorVariable to mypy too


def test_rewriting_needs_no_inputs_to_be_named(wrapped: RealOp) -> None:
    unknown = REAL()
    assert rewrite_graph(wrapped(unknown)) is unknown


def rewriters_of(db: Any) -> list[NodeRewriter]:
    return [db[name] for name in db]


def test_every_rewriter_in_the_groups_says_what_it_tracks_or_that_it_looks_at_all_nodes() -> None:
    for group in ("canonicalize", "stabilize", "specialize", "uncanonicalize", "useless"):
        for rewriter in rewriters_of(optdb[group]):
            if isinstance(rewriter, NodeRewriter):
                assert rewriter.tracks() is None or len(rewriter.tracks() or ()) > 0
