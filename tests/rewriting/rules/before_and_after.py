"""What the tests of rules ask: how a graph prints when a rule was applied, and that it still means the same, to the sign of zero."""

from collections.abc import Iterable, Sequence
from textwrap import dedent
from typing import Any

import numpy as np
import numpy.typing as npt

from lamella.config import config
from lamella.ir import FunctionGraph, Variable, interpret, to_text
from lamella.rewriting import EquilibriumGraphRewriter, GraphRewriter, NodeRewriter
from lamella.testing import value_difference
from lamella.typing_layer import schedule

Array = npt.NDArray[Any]


def computed(fgraph: FunctionGraph, values: Sequence[Any]) -> list[Any]:
    """Run a graph, in an order in which nothing is read after it was overwritten."""
    arrays = [np.array(value, v.type.dtype) for v, value in zip(fgraph.inputs, values, strict=True)]
    return interpret(fgraph.inputs, fgraph.outputs, arrays, schedule(fgraph).order)


def assert_same_values(found: Sequence[Any], expected: Sequence[Any]) -> None:
    """See that arrays are equal: dtypes, shapes, NaN, signs of zeros."""
    for a, b in zip(found, expected, strict=True):
        assert value_difference(a, b) is None


def assert_same_meaning(old: FunctionGraph, new: FunctionGraph, values: Sequence[Any]) -> None:
    """See that two graphs compute the same, and that the types of the new one tell the truth and no less than those of the old one."""
    results = computed(new, values)
    assert_same_values(results, computed(old, values))
    for was, now, result in zip(old.outputs, new.outputs, results, strict=True):
        assert was.type.is_super(now.type) is not None
        now.type.filter(result, strict=True)


def applied(fgraph: FunctionGraph, *rules: NodeRewriter | GraphRewriter) -> FunctionGraph:
    """Apply rules until none changes anything, checking the graph after each."""
    with config.override(check_rewrites=True):
        return EquilibriumGraphRewriter(rules).rewrite(fgraph)


def after(
    inputs: Iterable[Variable[Any]],
    outputs: Variable[Any] | Sequence[Variable[Any]],
    values: Sequence[Any],
    *rules: NodeRewriter | GraphRewriter,
) -> str:
    """Return what is between the braces of a printed graph to which rules were applied, having seen that it means the same."""
    old = FunctionGraph(inputs, [outputs] if isinstance(outputs, Variable) else outputs)
    new = applied(old, *rules)
    assert_same_meaning(old, new, values)
    return body(new)


def body(fgraph: FunctionGraph) -> str:
    """Return what is between the braces of a printed graph."""
    text = to_text(fgraph)
    return dedent(text[text.index("{") + 2 : text.index("\n}")])
