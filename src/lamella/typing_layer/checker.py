"""The graph checker: everything that must be true of a graph and that construction alone does not secure for ever.

`problems` returns a list, one line for each thing that is wrong, and never raises because of one: the more that is wrong, the more it is
needed. It believes nothing that the graph has remembered, but walks it anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from lamella.errors import GraphCheckError
from lamella.ir import Apply, Constant, Feature, FunctionGraph, Op, Type, Variable

__all__ = ["check", "problems"]

AnyNode = Apply[Any]
AnyVariable = Variable[Any]


def check(fgraph: FunctionGraph, remake: bool = True) -> None:
    """Raise an error that lists what is wrong with a graph; do nothing where all is well.

    Parameters
    ----------
    fgraph
        The graph.
    remake
        Also apply each Op again to its inputs and compare types, which costs as much as building the graph.

    Raises
    ------
    GraphCheckError
        Something is wrong.
    """
    found = problems(fgraph, remake)
    if found:
        raise GraphCheckError(found)


def problems(fgraph: FunctionGraph, remake: bool = True) -> tuple[str, ...]:
    """Return what is wrong with a graph, one line for each thing; an empty tuple where all is well.

    Parameters
    ----------
    fgraph
        The graph.
    remake
        Also apply each Op again to its inputs and compare types, which costs as much as building the graph.
    """
    inputs, outputs = _parts(fgraph.inputs), _parts(fgraph.outputs)
    found: list[str] = [*_end_problems("input", inputs), *_end_problems("output", outputs), *_doubled(inputs)]
    given = set(_variables(inputs))
    nodes, cyclic = _walk(outputs, given)
    if cyclic is not None:
        found.append(f"{_node(cyclic)} is computed from its own output")
    places: dict[AnyVariable, tuple[str, AnyNode | None]] = dict.fromkeys(_variables(inputs), ("an input", None))
    for node in nodes:
        own = list(_node_problems(node))
        found.extend(own)
        for i, v in enumerate(_variables(_parts(node.inputs))):
            places.setdefault(v, (f"input {i}", node))
        if remake and not own and cyclic is None:
            found.extend(_remade_problems(node))
    for i, v in enumerate(_variables(outputs)):
        places.setdefault(v, (f"output {i}", None))
    for v, (place, user) in places.items():
        told = [*_variable_problems(v, given), *(_constant_problems(v) if remake else ())]
        if told:
            name = f"`{_shown(v)}`, {place} of {'the graph' if user is None else _node(user)}, "
            found.extend([name + problem for problem in told])
    # What is broken already would only be told again, in other words.
    if not found:
        found.extend(_feature_problems(fgraph))
    return tuple(dict.fromkeys(found))


def _parts(value: object) -> Sequence[object]:
    if type(value) is tuple:
        return value  # always, in a graph that is well formed
    return list(value) if isinstance(value, Iterable) else []


def _variables(parts: Iterable[object]) -> list[AnyVariable]:
    return [v for v in parts if isinstance(v, Variable)]


def _shown(thing: object) -> str:
    try:
        return str(thing)
    except Exception as error:  # noqa: BLE001  # a checker describes what is broken, whatever breaks
        return f"<a {type(thing).__name__} that cannot be printed: {error!r}>"


def _node(node: AnyNode) -> str:
    return f"{_shown(node)} (built at {node.origin})" if node.origin else _shown(node)


def _end_problems(kind: str, ends: Sequence[object]) -> Iterator[str]:
    for i, v in enumerate(ends):
        if not isinstance(v, Variable):
            yield f"{kind} {i} of the graph is no Variable but {v!r}"
        elif kind == "input" and isinstance(v, Constant):
            yield f"input {i} of the graph, `{_shown(v)}`, is a Constant"


def _doubled(inputs: Sequence[object]) -> Iterator[str]:
    seen: set[int] = set()
    for i, v in enumerate(inputs):
        if id(v) in seen:
            yield f"input {i} of the graph, `{_shown(v)}`, is given twice"
        seen.add(id(v))


def _walk(outputs: Iterable[object], given: set[AnyVariable]) -> tuple[list[AnyNode], AnyNode | None]:
    """Return the nodes behind the outputs, each after those that it needs, and one that needs itself, if any does."""
    order: list[AnyNode] = []
    closed: set[AnyNode] = set()
    opened: set[AnyNode] = set()
    cyclic: AnyNode | None = None

    def owners(variables: Iterable[object]) -> list[AnyNode]:
        found = [v.owner for v in _variables(variables) if v not in given]
        return [owner for owner in reversed(found) if isinstance(owner, Apply)]

    stack = owners(outputs)
    while stack:
        node = stack[-1]
        if node in closed:
            stack.pop()
        elif node in opened:
            stack.pop()
            closed.add(node)
            order.append(node)
        else:
            opened.add(node)
            following = owners(_parts(node.inputs))
            for other in following:
                if other in opened and other not in closed:
                    cyclic = cyclic or other
                else:
                    stack.append(other)
    return order, cyclic


def _node_problems(node: AnyNode) -> Iterator[str]:
    if not isinstance(node.op, Op):
        yield f"the op of a node is no Op but {node.op!r}"
        return
    for kind, variables in (("inputs", node.inputs), ("outputs", node.outputs)):
        if not isinstance(variables, tuple):
            yield f"the {kind} of {_node(node)} are no tuple but {variables!r}"
    for i, v in enumerate(_parts(node.inputs)):
        if not isinstance(v, Variable):
            yield f"input {i} of {_node(node)} is no Variable but {v!r}"
    for i, v in enumerate(_parts(node.outputs)):
        if not isinstance(v, Variable):
            yield f"output {i} of {_node(node)} is no Variable but {v!r}"
        elif not isinstance(v.type, Type):
            yield f"output {i} of {_node(node)} has no Type but {v.type!r}"
        elif v.owner is not node:
            yield f"output {i} of {_node(node)} says that it is computed by {_shown(v.owner)}"
        elif v.index != i:
            yield f"output {i} of {_node(node)} says that it is output {v.index}"
    yield from map_problems(node)


def map_problems(node: AnyNode) -> Iterator[str]:
    """Find what is wrong with the ``view_map`` and the ``destroy_map`` of a node's Op, given its numbers of inputs and outputs."""
    yield from _map_problems(node, "view_map")
    yield from _map_problems(node, "destroy_map")


def _map_problems(node: AnyNode, kind: str) -> Iterator[str]:
    op = node.op
    entries = getattr(op, kind)
    if type(entries) in (dict, MappingProxyType) and not entries:
        return
    nin, nout = len(_parts(node.inputs)), len(_parts(node.outputs))
    if not isinstance(entries, Mapping):
        yield f"the {kind} of {op} is no mapping but {entries!r}"
        return
    for output, places in entries.items():
        if not isinstance(output, int) or not 0 <= output < nout:
            yield f"the {kind} of {op} speaks of output {output!r}, but {_node(node)} has {nout}"
        if isinstance(places, str) or not isinstance(places, Sequence):
            yield f"the {kind} of {op} has, for output {output!r}, no sequence of inputs but {places!r}"
            continue
        for place in places:
            if not isinstance(place, int) or not 0 <= place < nin:
                yield f"the {kind} of {op} speaks of input {place!r}, but {_node(node)} has {nin}"
        if len(set(places)) != len(places):
            yield f"the {kind} of {op} names an input twice for output {output!r}: {list(places)}"


def _variable_problems(variable: AnyVariable, given: set[AnyVariable]) -> Iterator[str]:
    owner, index = variable.owner, variable.index
    if not isinstance(variable.type, Type):
        yield f"has no Type but {variable.type!r}"
    elif isinstance(variable, Constant):
        if owner is not None:
            yield f"is a Constant, but says that {_shown(owner)} computes it"
    elif owner is None:
        if index is not None:
            yield f"says that it is output {index}, but not of which node"
        if variable not in given:
            yield "is neither computed, nor a Constant, nor an input of the graph"
    elif not isinstance(owner, Apply):
        yield f"says that it is computed by {owner!r}, which is no Apply node"
    elif not isinstance(index, int) or not 0 <= index < len(owner.outputs) or owner.outputs[index] is not variable:
        yield f"says that it is output {index} of {_node(owner)}, which has another Variable there"


def _constant_problems(variable: AnyVariable) -> Iterator[str]:
    if not isinstance(variable, Constant) or not isinstance(variable.type, Type):
        return
    if not variable.type.is_valid_value(variable.data):
        yield f"holds a value that is not of its type {variable.type}: {variable.data!r}"
    freezes = type(variable.type).freeze is not Type.freeze
    if freezes and isinstance(variable.data, np.ndarray) and variable.data.flags.writeable:
        yield "is a Constant whose value can be written to"


def _remade_problems(node: AnyNode) -> Iterator[str]:
    parts = tuple([v.type for v in node.outputs]), tuple([v.name for v in node.outputs])
    if Apply.with_names(node.op, node.inputs, *parts) is not node:
        yield f"{_node(node)} is not the one node of its Op, inputs and output types: it was changed, or made past the intern table"
        return
    try:
        remade = node.op.rebuild(node, node.inputs)
    except Exception as error:  # noqa: BLE001  # whatever an Op raises, it refuses its own inputs
        yield f"{node.op} refuses the inputs that {_node(node)} has: {type(error).__name__}: {error}"
        return
    if len(remade.outputs) != len(node.outputs):
        yield f"{_node(node)} has {len(node.outputs)} outputs, but applied to the same inputs its Op makes {len(remade.outputs)}"
        return
    for i, (old, new) in enumerate(zip(node.outputs, remade.outputs, strict=True)):
        # Each may know more than the other: a node keeps what it knew when inputs that told less took their place.
        if old.type.is_super(new.type) is None and new.type.is_super(old.type) is None:
            yield f"output {i} of {_node(node)} is of type {old.type}, but applied to the same inputs its Op makes {new.type}"


def _feature_problems(fgraph: FunctionGraph) -> Iterator[str]:
    for feature in fgraph.features:
        if not isinstance(feature, Feature):
            yield f"{feature!r} is carried as a feature, but has no validate and orderings"
            continue
        try:
            feature.validate(fgraph)
        except Exception as error:  # noqa: BLE001  # a feature refuses in its own words
            yield f"{type(feature).__name__} refuses the graph: {error}"
