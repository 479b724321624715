"""What a compiled function tells of its compilation: how its graph was rewritten, and what that cost."""

import copy
import pickle
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.rewriting import GraphRewriter, RewriteLog, explain, optdb
from lamella.runtime import FAST_COMPILE, FAST_RUN, Function, Mode, PerformLinker, function

x, y = lt.dvector("x"), lt.dvector("y")
IN_PYTHON = Mode(PerformLinker(), FAST_RUN.query)
UNFUSED = IN_PYTHON.excluding("fusion", "reduction_fusion", "inplace")


def model() -> lt.TensorVariable:
    h = lt.sigmoid(1.0 * x + y)
    return lt.sum(-lt.log(h))


def compiled(mode: Mode = UNFUSED) -> Function:
    return function([x, y], [model(), y], mode=mode)


def test_every_node_is_explained() -> None:
    f = compiled()
    log = f.rewrite_log
    assert isinstance(log, RewriteLog)
    assert log.start.outputs == f.original_fgraph.outputs
    explanations = [log.explanation(node) for node in f.fgraph.order]
    assert all(explanation.is_known for explanation in explanations)
    made_by = {name for explanation in explanations for name in explanation.rewriters}
    assert {"log_of_sigmoid", "copy_returned"} <= made_by
    lines = {str(origin.origin) for explanation in explanations for origin in explanation.origins}
    first = model.__code__.co_firstlineno
    assert {f"{__file__}:{first + i}, in model" for i in (1, 2)} <= lines


def test_a_function_is_printed_with_its_explanations() -> None:
    f = compiled()
    text = explain(f, file="str")
    assert text == explain(f.fgraph, f, file="str") == explain(f.fgraph, f.rewrite_log, file="str")
    line = model.__code__.co_firstlineno + 2
    made = rf" ┆ made by log_of_sigmoid\n.* ┆ from Log\(Sigmoid.0\), at .*:{line}, in model\n"
    assert re.search(r"LogSigmoid \[id .\] \d\n.*" + made, text)
    assert re.search(r"Add \[id .\] \d\n.* ┆ as it was built, but for its inputs, at .*, in model", text)
    assert re.search(r"DeepCopyOp.*\n ┆ made by copy_returned\n ┆ from y\n", text)
    stable = next(v for v in f.fgraph.variables if v.owner and str(v.owner.op) == "LogSigmoid")
    assert explain(stable, f, file="str").startswith("LogSigmoid [id A]\n ┆ made by log_of_sigmoid\n")


def test_what_was_fused_is_told_node_by_node() -> None:
    f = function([x, y], lt.exp(lt.neg(x) * y), mode=IN_PYTHON.including("fusion"))
    (node,) = f.fgraph.order
    explanation = f.rewrite_log.explanation(node)
    assert "fusion" in explanation.rewriters
    assert {"Exp", "Mul", "Neg"} >= {str(origin.op) for origin in explanation.origins} >= {"Exp", "Mul"}


def test_nothing_is_to_be_told_where_nothing_was_rewritten() -> None:
    f = function([x, y], x + y, mode=FAST_COMPILE)
    assert [step.rewriter for step in f.rewrite_log] == []
    assert re.fullmatch(
        r"Add \[id A\] 0\n ┆ as it was built, at .*\n ├─ x \[id B\]\n └─ y \[id C\]\n", explain(f, file="str")
    )


class Doubles(GraphRewriter):
    """Makes of a graph another one."""

    name = "doubles"

    def apply(self, fgraph: lm.FunctionGraph) -> lm.FunctionGraph:
        return fgraph.with_outputs([v + v for v in fgraph.outputs if isinstance(v, lt.TensorVariable)])


@pytest.fixture
def _doubling() -> Iterator[None]:
    optdb.register("doubles", Doubles(), "fast_run", position=0.5)
    yield
    if "doubles" in optdb:
        optdb.unregister("doubles")


@pytest.mark.usefixtures("_doubling")
def test_the_log_is_of_the_rewriters_that_were_registered_when_it_was_compiled() -> None:
    f = function([x], [lt.exp(x)], mode=IN_PYTHON)
    np.testing.assert_array_equal(f([0.0])[0], [2.0])
    optdb.unregister("doubles")
    made = {name for node in f.fgraph.order for name in f.rewrite_log.rewriters_of(node)}
    assert "doubles" in made
    assert "doubles" in {name for node in f.copy().fgraph.order for name in f.copy().rewrite_log.rewriters_of(node)}
    # one that comes out of a pickle asks for what is registered where it is now, and says what it does not know
    elsewhere = pickle.loads(pickle.dumps(f))
    assert not all(elsewhere.rewrite_log.explanation(node).is_known for node in elsewhere.fgraph.order)


def test_pickles_and_copies_tell_the_same() -> None:
    state = lt.dvector("state")
    total = lm.shared(np.zeros(2), name="total")
    f = function([lm.In(state, mutable=True)], state * 2 + total, updates={total: total + 1}, mode=IN_PYTHON)
    for other in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f), f.copy()):
        assert [step.rewriter for step in other.rewrite_log] == [step.rewriter for step in f.rewrite_log]
        assert all(other.rewrite_log.explanation(node).is_known for node in other.fgraph.order)
    assert pickle.loads(pickle.dumps(f)).compile_profile is None
    assert f.copy().compile_profile == f.compile_profile


# What it cost


def test_the_cost_of_compiling_is_known() -> None:
    f = compiled()
    profile = f.compile_profile
    assert profile is not None
    assert (profile.nodes_before, profile.nodes_after) == (len(f.original_fgraph.order), len(f.fgraph.order))
    parts = profile.rewriting_seconds + profile.scheduling_seconds + profile.linking_seconds
    assert 0 < parts <= profile.seconds
    assert f.rewrite_profile is None
    assert re.fullmatch(
        r"Compile profile\n-+\nTIME - in all, \d+/\d+ nodes before/after\n  TIME - rewriting\n  TIME - scheduling\n  TIME - linking",
        re.sub(r"\d+\.\d{6}s", "TIME", str(profile)),
    )


def test_profiling_of_rewrites_by_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    plain = compiled()
    assert capsys.readouterr() == ("", "")
    with lm.config.override(profile_rewrites=True):
        f = compiled()
    assert f.fgraph == plain.fgraph
    profile = f.rewrite_profile
    assert profile is not None
    assert f.compile_profile is not None
    assert f.compile_profile.rewriting is profile
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == f"{f.compile_profile}\n"
    assert "\n\nRewriter profile\n----------------\n" in printed.err
    assert profile.name == "optdb"
    assert profile.nodes_before == f.compile_profile.nodes_before
    totals = {one.name: one for one in profile.totals()}
    assert totals["log_of_sigmoid"].hits == 1
    assert totals["log_of_sigmoid"].nodes_made == 1
    stages = [inner.name for inner in profile.inner]
    assert stages == sorted(stages, key=[entry.name for entry in optdb.entries].index)
    for inner in profile.inner:
        assert inner.seconds <= profile.seconds


def test_profiling_of_rewrites_of_expressions(capsys: pytest.CaptureFixture[str]) -> None:
    expected = lm.rewrite_graph(model(), include=["fast_run"])
    with lm.config.override(profile_rewrites=True):
        assert lm.rewrite_graph(model(), include=["fast_run"]) is expected
    printed = capsys.readouterr().err
    assert printed.startswith("Rewriter profile\n----------------\n")
    assert "log_of_sigmoid" in printed


def test_profiling_is_switched_on_by_the_environment() -> None:
    from lamella.config import read_config

    assert read_config({"LAMELLA_FLAGS": "profile_rewrites=true"}).profile_rewrites


def test_modes_that_check_what_they_rewrite_are_profiled_too(capsys: pytest.CaptureFixture[str]) -> None:
    class Watching(Mode):
        def rewrite(self, fgraph: lm.FunctionGraph) -> lm.FunctionGraph:
            watched.append(fgraph)
            return super().rewrite(fgraph)

    watched: list[Any] = []
    with lm.config.override(profile_rewrites=True):
        f = function([x], lt.exp(x), mode=Watching(PerformLinker(), FAST_RUN.query))
    assert len(watched) == 1
    assert f.rewrite_profile is not None
    assert "Rewriter profile" in capsys.readouterr().err
