"""Destruction: which nodes overwrite what, and which order of the nodes that allows.

A node whose Op has a ``destroy_map`` overwrites the memory of some of its inputs. Whatever was in that memory must have been
read by then: by the readers of the input, of whatever it views, and of every view of that. So each of those readers must come
before the destroyer, and where that is impossible the graph means nothing.

The unit of this analysis is not the buffer but its *contents*. A Variable that has memory of its own brings contents into
being; a view shows the contents of what it views; the output of a node that overwrites a buffer is new contents, though in
old memory. Contents may be destroyed once, after all their readers; then whoever destroys the new contents runs later by
the data flow alone, so a chain of in-place operations on one buffer needs no rule of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, final

import attrs
from typing_extensions import override

from lamella.errors import GraphCheckError, InconsistencyError
from lamella.ir import Apply, Feature, FunctionGraph, NamesVariables, Op, Variable
from lamella.typing_layer.aliasing import merged
from lamella.typing_layer.checker import map_problems
from lamella.typing_layer.facts import GraphFact
from lamella.typing_layer.ordering import Cycle, constrained_order

__all__ = ["DestroyHandler", "Supervisor", "destruction_order"]

AnyNode = Apply[Any]
AnyOp = Op[Any, Any]
AnyVariable = Variable[Any]


def destroyed_inputs(op: AnyOp) -> tuple[int, ...]:
    """Return the places of the inputs that an Op overwrites, each once, in order."""
    destroy_map = op.destroy_map
    return tuple(sorted({place for places in destroy_map.values() for place in places})) if destroy_map else ()


def destructive_nodes(order: Iterable[AnyNode]) -> list[AnyNode]:
    """Return the nodes that overwrite an input."""
    return [node for node in order if node.op.destroy_map]


@final
@attrs.frozen(eq=False, repr=False)
class Contents:
    """What each Variable shows: the contents that each of some Variables brought into being."""

    shown: Mapping[AnyVariable, tuple[AnyVariable, ...]]

    def of(self, variable: AnyVariable) -> tuple[AnyVariable, ...]:
        """Return the Variables whose contents a Variable may show; itself alone where it views nothing."""
        return self.shown.get(variable, (variable,))

    def overlap(self, a: AnyVariable, b: AnyVariable) -> bool:
        """Whether two Variables may show the same contents."""
        return a is b or not set(self.of(a)).isdisjoint(self.of(b))


def output_contents(
    op: AnyOp, node: AnyNode, shown: Mapping[AnyVariable, tuple[AnyVariable, ...]]
) -> list[tuple[AnyVariable, ...]]:
    """Return what each output of a node shows where it applies `op`, given what is shown by Variables that show another's contents."""
    view_map, destroy_map = op.view_map, op.destroy_map
    found: list[tuple[AnyVariable, ...]] = []
    writer: dict[int, AnyVariable] = {}
    for index, output in enumerate(node.outputs):
        parts: list[tuple[AnyVariable, ...]] = []
        overwritten = destroy_map.get(index, ())
        if overwritten:
            # Outputs written over the same input lie in one buffer: together they are its new contents.
            parts.append(tuple(dict.fromkeys([writer.setdefault(place, output) for place in overwritten])))
        viewed = [node.inputs[place] for place in view_map.get(index, ()) if place not in overwritten]
        parts.extend([shown.get(variable, (variable,)) for variable in viewed])
        found.append(merged(parts) if parts else (output,))
    return found


def find_contents(order: Iterable[AnyNode], inputs: Iterable[AnyVariable]) -> Contents:
    """Return which contents each Variable of a graph shows.

    Raises
    ------
    GraphCheckError
        A ``view_map`` or ``destroy_map`` speaks of inputs or outputs that a node does not have.
    """
    given = frozenset(inputs)
    shown: dict[AnyVariable, tuple[AnyVariable, ...]] = {}
    for node in order:
        if node.op.view_map or node.op.destroy_map:
            wrong = tuple(map_problems(node))
            if wrong:
                raise GraphCheckError(wrong)
            found = zip(node.outputs, output_contents(node.op, node, shown), strict=True)
            shown.update({output: parts for output, parts in found if output not in given and parts != (output,)})
    return Contents(shown)


CONTENTS: Final = GraphFact(lambda fgraph: find_contents(fgraph.data_order, fgraph.inputs))
"""What each Variable of a graph shows; finding it raises as `find_contents` does."""

Reader = tuple[AnyNode | None, AnyVariable]
"""A node, or None for the graph's outputs, and the Variable it reads."""


def find_readers(
    fgraph: FunctionGraph, contents: Contents, wanted: frozenset[AnyVariable] | None = None
) -> dict[AnyVariable, list[Reader]]:
    """Return who reads contents, through whichever Variable; of the wanted contents only, where some are."""
    found: dict[AnyVariable, list[Reader]] = {}
    for variable, clients in fgraph.clients.items():
        for content in contents.of(variable):
            if wanted is None or content in wanted:
                found.setdefault(content, []).extend([(node, variable) for node, _ in clients])
    return found


def tolerates(op: AnyOp, destroyed: int, other: int, same: bool) -> bool:
    """Whether an Op may overwrite one input while another one is the same Variable (`same`), or shares its memory.

    An Op says so in the attributes ``destroyhandler_tolerate_same`` (for the same Variable) and
    ``destroyhandler_tolerate_aliased`` (for any sharing): pairs of an overwritten input and another one.
    """
    pair = (destroyed, other)
    if pair in getattr(op, "destroyhandler_tolerate_aliased", ()):
        return True
    return same and pair in getattr(op, "destroyhandler_tolerate_same", ())


@final
@attrs.frozen(eq=False, repr=False)
class Destruction:
    """The order that destruction demands, and what no order can mend.

    Attributes
    ----------
    before
        For a node that overwrites something, the other readers of that, each with the Variable overwritten and the one it reads.
    conflicts
        What cannot be, whatever the order.
    """

    before: Mapping[AnyNode, Mapping[AnyNode, tuple[AnyVariable, AnyVariable]]]
    conflicts: tuple[str, ...]


def _name(variable: AnyVariable) -> str:
    return f"`{variable}`"


def _through(variable: AnyVariable, destroyed: AnyVariable) -> str:
    return _name(destroyed) if variable is destroyed else f"{_name(destroyed)} (through {_name(variable)})"


def _find_destruction(fgraph: FunctionGraph) -> Destruction:
    destroyers = destructive_nodes(fgraph.data_order)
    if not destroyers:
        return Destruction({}, ())
    contents = CONTENTS.of(fgraph)
    wanted = frozenset(
        [c for node in destroyers for i in destroyed_inputs(node.op) for c in contents.of(node.inputs[i])]
    )
    readers = find_readers(fgraph, contents, wanted)
    protected = protected_contents(fgraph.features, contents)
    conflicts: list[str] = []
    before: dict[AnyNode, dict[AnyNode, tuple[AnyVariable, AnyVariable]]] = {}
    destroyed_by: dict[AnyVariable, AnyNode] = {}
    for node in destroyers:
        places = destroyed_inputs(node.op)
        for place in places:
            destroyed = node.inputs[place]
            conflicts.extend(own_conflicts(node.op, node, place, contents))
            for content in contents.of(destroyed):
                what = forbidden(content, protected)
                if what is not None:
                    conflicts.append(f"{node} overwrites {_through(destroyed, content)}, which is {what}")
                    continue
                first = destroyed_by.setdefault(content, node)
                if first is not node:
                    conflicts.append(f"{first} and {node} both overwrite {_name(content)}")
                    continue
                for reader, variable in readers.get(content, ()):
                    if reader is None:
                        conflicts.append(
                            f"{node} overwrites {_name(destroyed)}, whose memory the output {_name(variable)} of the graph shows"
                        )
                    elif reader is not node:
                        before.setdefault(node, {}).setdefault(reader, (destroyed, variable))
    return Destruction(before, tuple(dict.fromkeys(conflicts)))


DESTRUCTION: Final = GraphFact(_find_destruction)
"""What a graph overwrites, and what must come before."""


def own_conflicts(op: AnyOp, node: AnyNode, place: int, contents: Contents) -> list[str]:
    """Return why a node that applies `op` cannot overwrite one of its inputs because of another one."""
    destroyed = node.inputs[place]
    places = destroyed_inputs(op)
    return [
        f"{op} would overwrite its input {place}, {_name(destroyed)}, while its input {other}, {_name(variable)}, "
        + ("is the same variable" if variable is destroyed else "may share its memory")
        for other, variable in enumerate(node.inputs)
        if other != place
        and not (other in places and other < place)
        and contents.overlap(destroyed, variable)
        and not tolerates(op, place, other, variable is destroyed)
    ]


def protected_contents(supervisors: Iterable[Feature], contents: Contents) -> dict[AnyVariable, str]:
    """Return the contents that a `Supervisor` among some features protects from being overwritten, and what they are."""
    found: dict[AnyVariable, str] = {}
    for feature in supervisors:
        if isinstance(feature, Supervisor):
            for variable in feature.protected:
                for content in contents.of(variable):
                    what = (
                        "a protected input"
                        if content is variable
                        else f"the memory of {_name(variable)}, a protected input"
                    )
                    found.setdefault(content, f"{what} (it was not declared mutable)")
    return found


def forbidden(content: AnyVariable, protected: Mapping[AnyVariable, str]) -> str | None:
    """Return what some contents are that may not be overwritten, else None."""
    return "a constant" if content.is_constant else protected.get(content)


def ordering_constraints(fgraph: FunctionGraph, facts: Destruction | None = None) -> dict[AnyNode, list[AnyNode]]:
    """Return, for a node, the nodes that must come before it because of what it overwrites or because a feature says so."""
    facts = DESTRUCTION.of(fgraph) if facts is None else facts
    found = {node: list(nodes) for node, nodes in facts.before.items()}
    for feature in fgraph.features:
        if not isinstance(feature, DestroyHandler):
            for node, nodes in feature.orderings(fgraph).items():
                found.setdefault(node, []).extend(nodes)
    return found


def _explain(cycle: Cycle, found: Destruction, fgraph: FunctionGraph) -> str:
    given = frozenset(fgraph.inputs)
    links: list[str] = []
    for first, second in zip(cycle.nodes, (*cycle.nodes[1:], cycle.nodes[0]), strict=True):
        used = [v for v in second.inputs if v.owner is first and v not in given]
        if used:
            links.append(f"{first} must come before {second}, which uses {_name(used[0])}")
        elif first in found.before.get(second, ()):
            destroyed, read = found.before[second][first]
            shared = "" if read is destroyed else f", whose memory {_name(read)} may share"
            links.append(f"{first} must come before {second}, which overwrites {_name(destroyed)}{shared}")
        else:
            links.append(f"{first} must come before {second}, as a feature of the graph demands")
    shown = links if len(links) <= 6 else [*links[:3], f"... ({len(links) - 6} more) ...", *links[-3:]]
    return "no order satisfies all: " + "; ".join(shown)


def _find_order(fgraph: FunctionGraph) -> tuple[AnyNode, ...]:
    found = DESTRUCTION.of(fgraph)
    conflicts = list(found.conflicts)
    order = constrained_order(fgraph.data_order, ordering_constraints(fgraph, found), fgraph.inputs)
    if isinstance(order, Cycle):
        conflicts.append(_explain(order, found, fgraph))
    elif not conflicts:
        return order
    raise InconsistencyError("the graph overwrites what it still needs:\n" + "\n".join(f"- {c}" for c in conflicts))


_ORDER: Final = GraphFact(_find_order)


def destruction_order(fgraph: FunctionGraph) -> tuple[AnyNode, ...]:
    """Return the nodes of a graph in an order in which nothing is overwritten before it was read.

    The order is that of the data flow, changed as little as need be; it satisfies the orderings of all features of the graph.

    Raises
    ------
    InconsistencyError
        There is no such order; or a node overwrites a constant, an input that a `Supervisor` of the graph protects, the memory of an output of
        the graph, or memory that another of its own inputs shares. The message names the nodes and Variables.
    """
    return _ORDER.of(fgraph)


@final
@attrs.frozen
class DestroyHandler(Feature):
    """Keeps a graph free of nodes that overwrite what is still needed, and orders its nodes accordingly.

    A graph that carries it is checked whenever it is made, so a replacement that would break it is refused.
    """

    @override
    def validate(self, fgraph: FunctionGraph) -> None:
        """Raise `InconsistencyError` where no order of the nodes satisfies what they overwrite."""
        destruction_order(fgraph)

    @override
    def orderings(self, fgraph: FunctionGraph) -> Mapping[AnyNode, Sequence[AnyNode]]:
        """Return, for each node that overwrites something, the other readers of what it overwrites."""
        return {node: tuple(readers) for node, readers in DESTRUCTION.of(fgraph).before.items()}


def _as_tuple(variables: Iterable[AnyVariable]) -> tuple[AnyVariable, ...]:
    return tuple(dict.fromkeys(variables))


@final
@attrs.frozen
class Supervisor(NamesVariables):
    """Protects Variables, usually the inputs of a function that are not mutable, from being overwritten.

    Parameters
    ----------
    protected
        The Variables.
    """

    protected: tuple[AnyVariable, ...] = attrs.field(converter=_as_tuple)

    @override
    def validate(self, fgraph: FunctionGraph) -> None:
        """Raise `InconsistencyError` where a node overwrites a protected Variable."""
        destroyers = destructive_nodes(fgraph.data_order)
        if not destroyers:
            return
        contents = CONTENTS.of(fgraph)
        protected = protected_contents([self], contents)
        for node in destroyers:
            for variable in [node.inputs[place] for place in destroyed_inputs(node.op)]:
                for content in contents.of(variable):
                    if content in protected:
                        raise InconsistencyError(
                            f"{node} overwrites {_through(variable, content)}, which is {protected[content]}"
                        )

    @override
    def orderings(self, fgraph: FunctionGraph) -> Mapping[AnyNode, Sequence[AnyNode]]:
        """Return nothing: protection asks for no order."""
        return {}

    @override
    def with_variables(self, replaced: Mapping[AnyVariable, AnyVariable]) -> Supervisor:
        """Protect what stands for the protected Variables."""
        return Supervisor([replaced.get(variable, variable) for variable in self.protected])
