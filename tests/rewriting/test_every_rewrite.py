"""Every rewrite of `optdb`: it has graphs on which it fires, and it keeps what they mean."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import settings

from lamella.ir import Apply, Elemwise, FunctionGraph, Log, TensorVariable, as_tensor_variable, lt
from lamella.rewriting import (
    NodeRewriter,
    OpPattern,
    PatternNodeRewriter,
    RewriteDatabase,
    node_rewriter,
    optdb,
    register_canonicalize,
)
from lamella.rewriting.database.builtin import ALGEBRA, STABILIZE, STRUCTURE
from lamella.testing import RewriteContractError, makers_for, register_graphs, registered_rewrites, verify_rewrite

NAMES = sorted({rewrite.name for rewrite in registered_rewrites()})


def without_graphs() -> list[str]:
    """The rewrites that are registered by now and have no generator of graphs."""
    return [rewrite.name for rewrite in registered_rewrites() if not makers_for(rewrite)]


@contextmanager
def planted(rewriter: NodeRewriter, *tags: str) -> Iterator[str]:
    """Have a rewriter be registered for a while."""
    register_canonicalize(rewriter, *tags)
    try:
        yield rewriter.name
    finally:
        canonicalize = optdb["canonicalize"]
        assert isinstance(canonicalize, RewriteDatabase)
        canonicalize.unregister(rewriter.name)


@pytest.mark.parametrize("name", NAMES)
def test_it_fires_and_keeps_what_graphs_mean(name: str) -> None:
    report = verify_rewrite(name, graphs=max(4, settings().max_examples // 20))  # ten; hundreds by `make fuzz`
    print(report)  # `pytest -rP` shows how often each fired
    assert report.fired > 0
    assert report.runs > report.fired


def test_all_rewrites_are_among_them() -> None:
    builtin = {builtin.rewriter.name for builtin in (*STRUCTURE, *ALGEBRA, *STABILIZE)}
    assert builtin | {"merge1", "merge", "fusion", "add_destroy_handler", "inplace_elemwise"} <= set(NAMES)
    assert without_graphs() == []


@node_rewriter([OpPattern(Elemwise, scalar_op=Log)])
def log_of_abs(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log(log(x)) -> log(log(abs(x)))``: what is wrong, for x below 0."""
    (inner,) = node.inputs
    if inner.owner is None or inner.owner.op != lt.log:
        return None
    (x,) = inner.owner.inputs
    return None if x.owner is not None else [lt.log(lt.log(lt.abs(as_tensor_variable(x))))]


def test_a_rewrite_without_graphs_is_missed() -> None:
    with planted(log_of_abs) as name:
        assert without_graphs() == [name]
        with pytest.raises(LookupError, match=r"no generator of graphs on which 'log_of_abs' fires.*register_graphs"):
            test_it_fires_and_keeps_what_graphs_mean(name)
    assert without_graphs() == []


def test_a_pattern_needs_no_graphs() -> None:
    with planted(PatternNodeRewriter((lt.true_divide, (lt.mul, "x", "y"), "y"), "x", name="planted_pattern")) as name:
        assert without_graphs() == []
        with pytest.raises(RewriteContractError, match="planted_pattern: it changes a result"):
            test_it_fires_and_keeps_what_graphs_mean(name)


def test_a_wrong_rewrite_is_found_out() -> None:
    with planted(log_of_abs) as name:
        register_graphs(name, lambda draw: lt.log(lt.log(draw.floats())))
        with pytest.raises(RewriteContractError, match="it changes a result"):
            test_it_fires_and_keeps_what_graphs_mean(name)
        register_graphs(name, lambda draw: lt.exp(draw.floats()))
        with pytest.raises(RewriteContractError, match="it did not fire on any graph"):
            test_it_fires_and_keeps_what_graphs_mean(name)
