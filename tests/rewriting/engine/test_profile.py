"""The profile of rewriting: as data, and printed."""

import re
from typing import Any

from lamella.ir import Apply, FunctionGraph
from lamella.rewriting import (
    EquilibriumGraphRewriter,
    GraphRewriter,
    PatternNodeRewriter,
    RemovalNodeRewriter,
    SequentialGraphRewriter,
    SubstitutionNodeRewriter,
    in2out,
    node_rewriter,
    profile_rewriting,
)
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
    assert lines[:6] == [
        "Rewriter profile",
        "----------------",
        "TIME - everything (SequentialGraphRewriter), 5/5 nodes before/after",
        "  TIME - canonicalize (EquilibriumGraphRewriter), 5/4 nodes before/after",
        "      pass 0 - TIME - 5 nodes - (remove_identity, 2) (sub_to_add, 1)",
        "      time - times applied - nodes made - name",
    ]
    # the two that fired are listed by their time, which is of one order
    assert sorted(lines[6:8]) == ["      TIME - 1 - 2 - sub_to_add", "      TIME - 2 - 0 - remove_identity"]
    assert lines[8:] == [
        "      TIME - in 1 rewriters that replaced nothing",
        "        TIME - 1 calls - idle",
        "  TIME - log_to_neg (WalkingGraphRewriter), 4/4 nodes before/after",
        "      pass 0 - TIME - 4 nodes - (log_to_neg, 1)",
        "      time - times applied - nodes made - name",
        "      TIME - 1 - 1 - log_to_neg",
        "  TIME - Mine (Mine), 4/5 nodes before/after, 1 replacements, 2 nodes made",
    ]
