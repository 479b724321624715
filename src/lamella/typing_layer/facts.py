"""Facts about nodes, Variables and graphs, remembered for as long as these live.

A node never changes, so what follows from its ancestors is true for ever: it is found once. A rule for a fact is a generator:
it yields each thing whose fact it needs, is sent that fact, and returns its own, so that chains of any length need no recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final, Generic, TypeVar, final

from lamella.ir import Apply, FunctionGraph, Memory, Variable

__all__ = ["Fact", "GraphFact", "Rule"]

K = TypeVar("K", bound=Variable[Any] | Apply[Any])
T = TypeVar("T")

Rule = Generator[K, T, T]
"""The run of a rule: yields what it needs to know about, is sent the facts, returns a fact."""


_UNKNOWN: Final[Any] = object()


@final
class Fact(Generic[K, T]):
    """A fact that each thing has.

    Parameters
    ----------
    rule
        How the fact about a thing follows from those about others.
    circular
        What to tell a rule that needs a fact which is being found.
    """

    __slots__ = ("_circular", "_known", "_rule")

    def __init__(self, rule: Callable[[K], Rule[K, T]], circular: T) -> None:
        self._rule = rule
        self._circular = circular
        self._known: Memory[K, T] = Memory()

    def of(self, thing: K) -> T:
        """Return the fact about a thing."""
        known = self._known.find(thing, _UNKNOWN)
        return known if known is not _UNKNOWN else self._found(thing)

    def _found(self, thing: K) -> T:
        memory = self._known
        runs: dict[K, Rule[K, T]] = {thing: self._rule(thing)}
        answer: tuple[T] | None = None
        while True:
            current, run = next(reversed(runs.items()))
            try:
                wanted = next(run) if answer is None else run.send(answer[0])
            except StopIteration as finished:
                del runs[current]
                memory.remember(current, finished.value)
                if not runs:
                    found: T = finished.value
                    return found
                answer = (finished.value,)
                continue
            known = memory.find(wanted, _UNKNOWN)
            if known is not _UNKNOWN:
                answer = (known,)
            elif wanted in runs:
                answer = (self._circular,)
            else:
                runs[wanted] = self._rule(wanted)
                answer = None


@final
class GraphFact(Generic[T]):
    """A fact about whole graphs, found once for each.

    Parameters
    ----------
    find
        Finds the fact.
    """

    __slots__ = ("_find", "_known")

    def __init__(self, find: Callable[[FunctionGraph], T]) -> None:
        self._find = find
        self._known: Memory[FunctionGraph, T] = Memory()

    def of(self, fgraph: FunctionGraph) -> T:
        """Return the fact about a graph."""
        known = self._known.find(fgraph, _UNKNOWN)
        if known is _UNKNOWN:
            known = self._find(fgraph)
            self._known.remember(fgraph, known)
        return known
