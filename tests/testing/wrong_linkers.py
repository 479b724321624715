"""Linkers that run a graph in Python and then do one thing wrong."""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from lamella.runtime import Executable, Linker, PerformLinker
from lamella.typing_layer import ScheduledGraph

Spoil = Callable[[Sequence[Any], list[Any]], list[Any]]


@attrs.frozen
class _Run:
    run: Executable
    spoil: Spoil

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        return self.spoil(values, self.run(values))


@attrs.frozen
class SpoilingLinker(Linker):
    """Passes the inputs and outputs of each call through a function."""

    spoil: Spoil

    def link(self, scheduled: ScheduledGraph) -> Executable:
        return _Run(PerformLinker().link(scheduled), self.spoil)


def as_computed(values: Sequence[Any], results: list[Any]) -> list[Any]:
    return results


def first_is(change: Callable[[Any], Any]) -> Spoil:
    return lambda values, results: [change(results[0]), *results[1:]]


def one_ulp_up(values: Sequence[Any], results: list[Any]) -> list[Any]:
    return [np.nextafter(x, np.inf) for x in results]


def changes_input(values: Sequence[Any], results: list[Any]) -> list[Any]:
    values[0][...] = 7
    return results


def returns_input(values: Sequence[Any], results: list[Any]) -> list[Any]:
    return [values[0], *results[1:]]


def fails(values: Sequence[Any], results: list[Any]) -> list[Any]:
    raise IndexError("out of bounds")
