"""What a function with choices is run by, as tables: which steps compute what each step needs, and what must come before it.

The host runs such a function on demand: a step that no output needs, because a choice does without it, does not run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lamella.codegen.c.unit import initializer
from lamella.ir import Apply, IfElse, TensorType, Variable, readers_before
from lamella.typing_layer import ScheduledGraph

__all__ = ["demand_tables", "has_choices", "only_choices_are_lazy"]


def _is_choice(node: Apply[Any]) -> bool:
    return isinstance(node.op, IfElse) and all([isinstance(v.type, TensorType) for v in node.inputs])


def has_choices(scheduled: ScheduledGraph) -> bool:
    """Whether a graph has a lazy node that its compiled function knows how to decide: a choice between tensors."""
    return any([_is_choice(node) for node in scheduled.order])


def only_choices_are_lazy(scheduled: ScheduledGraph) -> bool:
    """Whether every lazy node of a graph is a choice between tensors, so that one compiled function runs all of it on demand."""
    return all([_is_choice(node) for node in scheduled.order if node.op.is_lazy])


def demand_tables(scheduled: ScheduledGraph, numbers: Mapping[Variable[Any], int]) -> str:
    """Return the tables of a graph with choices, and the ``lm_demand`` that names them.

    Parameters
    ----------
    scheduled
        The graph.
    numbers
        The number of each Variable that the function has.
    """
    order, outputs = scheduled.order, scheduled.fgraph.outputs
    places = {node: i for i, node in enumerate(order)}
    given = set(scheduled.fgraph.inputs)
    producers = [-1] * len(numbers)
    uses = [0] * len(numbers)
    for i, node in enumerate(order):
        for variable in node.outputs:
            if variable not in given:
                producers[numbers[variable]] = i
        for variable in node.inputs:
            if variable in numbers:
                uses[numbers[variable]] += 1
    for variable in outputs:
        uses[numbers[variable]] += 1
    before = readers_before(order)
    first = [[places[other] for other in before.get(node, ())] for node in order]
    inputs = [_list([numbers.get(v, -1) for v in node.inputs]) for node in order]
    choices = [node.op.n_outs if isinstance(node.op, IfElse) and _is_choice(node) else 0 for node in order]
    edges = sum([node.nin for node in order]) + sum([len(others) for others in first])
    # A step is looked at three times at most: for its condition, for what it needs, and to run.
    most_waiting = len(outputs) + 3 * (len(order) + edges) + 1
    return f"""static const int producers[] = {_list(producers)};
static const int uses[] = {_list(uses)};
static const int *const inputs[] = {{{", ".join([f"(const int[]){listed}" for listed in inputs])}}};
static const int *const before[] = {{{", ".join([f"(const int[]){_list([*others, -1])}" for others in first])}}};
static const int choices[] = {_list(choices)};
static const lm_demand demand = {{producers, uses, inputs, before, choices, {most_waiting}}};"""


def _list(integers: list[int]) -> str:
    return initializer([str(i) for i in integers])
