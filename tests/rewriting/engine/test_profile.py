"""The profile of rewriting: as data, and printed."""

import re
from typing import Any

import attrs
import pytest

from lamella.ir import Apply, FunctionGraph
from lamella.rewriting import (
    EquilibriumGraphRewriter,
    GraphRewriter,
    PatternNodeRewriter,
    ProfileObserver,
    RemovalNodeRewriter,
    SequentialGraphRewriter,
    SubstitutionNodeRewriter,
    in2out,
    node_rewriter,
    profile_rewriting,
)
from lamella.typing_layer import DestroyHandler
from tests.rewriting.toys import add, exp, graph_of, identity, log, neg, real, show, sub

x, y = real("x"), real("y")


@node_rewriter([add])
def idle(fgraph: FunctionGraph, node: Apply[Any]) -> None:
    return None


class Mine(GraphRewriter):
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        return fgraph.replace(exp(x), exp(neg(neg(x))))


canonical = EquilibriumGraphRewriter(
    [
        idle,
        RemovalNodeRewriter(identity, name="remove_identity"),
        PatternNodeRewriter((sub, "x", "y"), (add, "x", (neg, "y")), name="sub_to_add"),
    ],
    name="canonicalize",
)
walk = in2out(SubstitutionNodeRewriter(log, neg, name="log_to_neg"))
everything = SequentialGraphRewriter(canonical, walk, Mine(), name="everything")
e = graph_of(sub(identity(log(x)), identity(y)), exp(x))


def test_a_profile_as_data() -> None:
    profiled = profile_rewriting(everything, e)
    assert profiled.fgraph == everything.rewrite(e)
    assert show(profiled.fgraph) == "add(neg(x), neg(y)), exp(neg(neg(x)))"
    profile = profiled.profile
    assert (profile.name, profile.kind) == ("everything", "SequentialGraphRewriter")
    assert (profile.nodes_before, profile.nodes_after) == (5, 5)
    first, second, third = profile.inner
    assert [inner.name for inner in profile.inner] == ["canonicalize", "log_to_neg", "Mine"]
    assert 0 < sum(inner.seconds for inner in profile.inner) <= profile.seconds
    by_name = {r.name: r for r in first.node_rewriters}
    assert {name: (r.hits, r.nodes_made) for name, r in by_name.items()} == {
        "idle": (0, 0),
        "remove_identity": (2, 0),
        "sub_to_add": (1, 2),
    }
    assert by_name["idle"].calls == 1
    assert all(0 <= r.seconds <= first.seconds for r in first.node_rewriters)
    assert [(p.nodes, p.hits) for p in first.passes] == [(5, (("remove_identity", 2), ("sub_to_add", 1)))]
    assert (second.node_rewriters[0].hits, second.hits) == (1, 0)
    assert (third.hits, third.nodes_made) == (1, 2)


def test_a_profile_printed() -> None:
    printed = re.sub(r"\d\.\d{6}s", "TIME", str(profile_rewriting(everything, e).profile))
    lines = printed.splitlines()
    assert lines[:7] == [
        "Rewriter profile",
        "----------------",
        "TIME - everything (SequentialGraphRewriter), 5/5 nodes before/after",
        "  TIME - canonicalize (EquilibriumGraphRewriter), 5/4 nodes before/after",
        "      1 passes, TIME in node rewriters, at most 5 nodes",
        "      pass 0 - TIME - 5 nodes - (remove_identity, 2) (sub_to_add, 1)",
        "      time - times applied - nodes made - name",
    ]
    # the two that fired are listed by their time, which is of one order
    assert sorted(lines[7:9]) == ["      TIME - 1 - 2 - sub_to_add", "      TIME - 2 - 0 - remove_identity"]
    assert lines[9:] == [
        "      TIME - in 1 rewriters that replaced nothing",
        "        TIME - 1 calls - idle",
        "  TIME - log_to_neg (WalkingGraphRewriter), 4/4 nodes before/after",
        "      1 passes, TIME in node rewriters, at most 4 nodes",
        "      pass 0 - TIME - 4 nodes - (log_to_neg, 1)",
        "      time - times applied - nodes made - name",
        "      TIME - 1 - 1 - log_to_neg",
        "  TIME - Mine (Mine), 4/5 nodes before/after, 1 replacements, 2 nodes made",
    ]


def test_the_listing_does_not_tell_of_hundreds_that_did_nothing() -> None:
    @node_rewriter([exp])
    def nothing(fgraph: FunctionGraph, node: Apply[Any]) -> None:
        return None

    many = in2out(*[attrs.evolve(nothing, name=f"nothing_{i}") for i in range(30)], name="many")
    printed = str(profile_rewriting(many, e).profile)
    assert "in 30 rewriters that replaced nothing" in printed
    assert printed.count(" calls - nothing_") == 20
    assert printed.splitlines()[-1].strip() == "and 10 more that took less"


def test_totals_by_rewriter() -> None:
    twice = SequentialGraphRewriter(everything, in2out(RemovalNodeRewriter(neg, name="remove_identity")), name="twice")
    totals = {one.name: one for one in profile_rewriting(twice, e).profile.totals()}
    assert {name: (one.calls, one.hits, one.nodes_made) for name, one in totals.items()} == {
        "idle": (1, 0, 0),
        "remove_identity": (4, 4, 0),
        "sub_to_add": (1, 1, 2),
        "log_to_neg": (1, 1, 1),
        "Mine": (1, 1, 2),
    }
    seconds = [one.seconds for one in profile_rewriting(twice, e).profile.totals()]
    assert seconds == sorted(seconds, reverse=True)


def test_a_profile_of_nothing() -> None:
    with pytest.raises(ValueError, match="there is no profile yet"):
        _ = ProfileObserver(e).profile


def test_features_that_judge_the_result_change_no_count() -> None:
    """A pass is made once, whether or not something may refuse what it makes."""
    plain = profile_rewriting(everything, e).profile
    judged = profile_rewriting(everything, e.with_feature(DestroyHandler())).profile
    for ours, theirs in zip(plain.inner, judged.inner, strict=True):
        assert [one.hits for one in ours.passes] == [one.hits for one in theirs.passes]
        hits = [{r.name: (r.hits, r.nodes_made) for r in one.node_rewriters} for one in (ours, theirs)]
        assert hits[0] == hits[1]
    logs = [everything.rewrite_with_log(graph).log for graph in (e, e.with_feature(DestroyHandler()))]
    assert [str(step) for step in logs[0]] == [str(step) for step in logs[1]]
