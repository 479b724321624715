"""`FunctionGraph`: the graph of a function, as a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol, TypeVar, final, runtime_checkable

import attrs
from typing_extensions import override

from lamella.errors import MissingInputError
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.memory import Remembered
from lamella.ir.graph.replace import substitute
from lamella.ir.graph.serialize import FlatGraph, flatten, restore_variables
from lamella.ir.graph.traversal import toposort
from lamella.ir.graph.variable import Constant, Variable

K = TypeVar("K", bound=Variable[Any])

__all__ = ["Client", "Feature", "FunctionGraph", "NamesVariables"]

Client = tuple[Apply[Any] | None, int]
"""Who uses a Variable: a node and the place among its inputs, or None and the place among the graph's outputs."""


@runtime_checkable
class Feature(Protocol):
    """A frozen value that a FunctionGraph carries: it may refuse replacements and constrain the order of the nodes."""

    def validate(self, fgraph: FunctionGraph) -> None:
        """Raise `InconsistencyError` where the graph is not acceptable."""

    def orderings(self, fgraph: FunctionGraph) -> Mapping[Apply[Any], Sequence[Apply[Any]]]:
        """Return, for a node, nodes that must come before it though it does not use their outputs."""


@runtime_checkable
class NamesVariables(Feature, Protocol):
    """A feature that names Variables of its graph."""

    def with_variables(self, replaced: Mapping[Variable[Any], Variable[Any]]) -> Feature:
        """Return this feature for a graph in which other Variables stand for some of the inputs."""


def _as_tuple(variables: Iterable[Variable[Any]]) -> tuple[Variable[Any], ...]:
    if isinstance(variables, Variable):  # one that can be iterated over would pass for the Variables of its elements
        raise TypeError(f"inputs and outputs of a graph are sequences of Variables; write [{variables!r}]")
    return tuple(variables)


def _as_features(features: Iterable[Feature]) -> tuple[Feature, ...]:
    return tuple(features)


@final
@attrs.frozen(repr=False, weakref_slot=True)
class FunctionGraph(Remembered):
    """Inputs and outputs, and features; all else is derived from them.

    Parameters
    ----------
    inputs
        The inputs. The graph is not looked at behind them.
    outputs
        The outputs.
    features
        What constrains replacements and order; see `Feature`.

    Raises
    ------
    MissingInputError
        The outputs need a Variable that is neither an input, nor a Constant, nor computed by a node.
    ValueError
        An input is given twice.
    InconsistencyError
        A feature refuses the graph.
    """

    inputs: tuple[Variable[Any], ...] = attrs.field(converter=_as_tuple)
    outputs: tuple[Variable[Any], ...] = attrs.field(converter=_as_tuple)
    features: tuple[Feature, ...] = attrs.field(default=(), converter=_as_features)

    def __attrs_post_init__(self) -> None:
        given = set(self.inputs)
        if len(given) != len(self.inputs):
            twice = next(v for v in self.inputs if self.inputs.count(v) > 1)
            raise ValueError(f"the input {twice!r} is given twice")
        for node in self.data_order:
            for variable in node.inputs:
                if variable.owner is None and variable not in given and not isinstance(variable, Constant):
                    raise MissingInputError(
                        f"{variable!r} of type {variable.type} is needed by {node!r}"
                        f"{f' (built at {node.origin})' if node.origin else ''}, but is no input of the graph"
                    )
        for variable in self.outputs:
            if variable.owner is None and variable not in given and not isinstance(variable, Constant):
                raise MissingInputError(
                    f"the output {variable!r} of type {variable.type} is neither computed nor an input"
                )
        for feature in self.features:
            feature.validate(self)

    @cached_property
    def data_order(self) -> tuple[Apply[Any], ...]:
        """The nodes, each after those that it needs, whatever features say."""
        return tuple(toposort(self.outputs, self.inputs))

    @cached_property
    def order(self) -> tuple[Apply[Any], ...]:
        """The nodes, each after those that it needs and those that a feature puts before it."""
        constraints: dict[Apply[Any], list[Apply[Any]]] = {}
        for feature in self.features:
            for node, before in feature.orderings(self).items():
                constraints.setdefault(node, []).extend(before)
        return tuple(toposort(self.outputs, self.inputs, constraints)) if constraints else self.data_order

    def toposort(self) -> list[Apply[Any]]:
        """Return the nodes, each after those that it needs and those that a feature puts before it."""
        return list(self.order)

    @cached_property
    def apply_nodes(self) -> frozenset[Apply[Any]]:
        """The nodes."""
        return frozenset(self.data_order)

    @cached_property
    def variables(self) -> tuple[Variable[Any], ...]:
        """All Variables: inputs, constants, and the outputs of the nodes, each once, in order."""
        found: dict[Variable[Any], None] = dict.fromkeys(self.inputs)
        for node in self.data_order:
            found.update(dict.fromkeys(node.inputs))
            found.update(dict.fromkeys(node.outputs))
        found.update(dict.fromkeys(self.outputs))
        return tuple(found)

    @cached_property
    def clients(self) -> Mapping[Variable[Any], tuple[Client, ...]]:
        """Who uses each Variable; Variables that nobody uses are missing."""
        found: dict[Variable[Any], list[Client]] = {}
        for node in self.data_order:
            for i, variable in enumerate(node.inputs):
                found.setdefault(variable, []).append((node, i))
        for i, variable in enumerate(self.outputs):
            found.setdefault(variable, []).append((None, i))
        return MappingProxyType({variable: tuple(users) for variable, users in found.items()})

    def get_clients(self, variable: Variable[Any]) -> tuple[Client, ...]:
        """Return who uses a Variable; an empty tuple where nobody does."""
        return self.clients.get(variable, ())

    def replace(self, variable: Variable[Any], replacement: Variable[Any]) -> FunctionGraph:
        """Return this graph with one Variable in place of another.

        Raises
        ------
        TypeError
            The replacement's type is not included in that of the Variable.
        InconsistencyError
            A feature refuses the new graph. The old one is what it was.
        """
        return self.replace_all({variable: replacement})

    def replace_all(self, replacements: Mapping[K, Variable[Any]]) -> FunctionGraph:
        """Return this graph with several Variables replaced at once.

        Raises
        ------
        TypeError, InconsistencyError
            As `replace`.
        """
        outputs = substitute(self.outputs, replacements, self.inputs)
        return attrs.evolve(self, outputs=outputs)

    def replace_validate(self, variable: Variable[Any], replacement: Variable[Any]) -> FunctionGraph:
        """Return this graph with one Variable in place of another: the tutorial's name for `replace`, which always validates."""
        return self.replace(variable, replacement)

    def replace_all_validate(self, replacements: Iterable[tuple[Variable[Any], Variable[Any]]]) -> FunctionGraph:
        """Return this graph with several Variables replaced at once, given as pairs: the tutorial's name for `replace_all`."""
        return self.replace_all(dict(replacements))

    def attach_feature(self, feature: Feature) -> FunctionGraph:
        """Return this graph carrying one more feature: the tutorial's name for `with_feature`."""
        return self.with_feature(feature)

    def with_outputs(self, outputs: Iterable[Variable[Any]]) -> FunctionGraph:
        """Return the graph of other outputs, with the same inputs and features."""
        return attrs.evolve(self, outputs=tuple(outputs))

    def with_feature(self, feature: Feature) -> FunctionGraph:
        """Return this graph carrying one more feature; the same graph where it carries it already."""
        return self if feature in self.features else attrs.evolve(self, features=(*self.features, feature))

    def without_feature(self, feature: Feature) -> FunctionGraph:
        """Return this graph without a feature."""
        return attrs.evolve(self, features=tuple([f for f in self.features if f != feature]))

    @override
    def __repr__(self) -> str:
        return f"FunctionGraph({list(self.inputs)} -> {list(self.outputs)})"

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore_fgraph, (self.inputs, flatten(self.outputs, self.inputs), self.features))

    def __copy__(self) -> FunctionGraph:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> FunctionGraph:
        return self


def _restore_fgraph(inputs: tuple[Variable[Any], ...], flat: FlatGraph, features: tuple[Feature, ...]) -> FunctionGraph:
    return FunctionGraph(inputs, restore_variables(Apply, flat), features)
