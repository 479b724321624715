"""A topological order that is kept up to date while constraints are added: may this come before that as well?

The algorithm is that of D. J. Pearce and P. H. J. Kelly, "A dynamic topological sort algorithm for directed acyclic
graphs", ACM Journal of Experimental Algorithmics 11 (2006): an edge that agrees with the order costs nothing; one against it is looked into
only between the places of its two ends. Two things keep graphs of neural networks cheap, where a forward step often has a reader
at the far end of the backward pass: nodes begin in the order of their depth, so whatever is no deeper cannot be a descendant, and a
spanning tree that hangs each node below its last predecessor recognises most descendants at once. What is left is searched
within a bound on the total effort, past which a constraint is refused: that loses an opportunity, never correctness.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

__all__ = ["DynamicOrder"]


@final
class DynamicOrder:
    """An order of the numbers ``0 .. n-1``.

    Parameters
    ----------
    needs
        For each number, those that must come before it.
    order
        An order that satisfies this, to begin with.
    effort
        How many steps to search in all for each number and each pair given.
    """

    def __init__(self, needs: Sequence[Sequence[int]], order: Sequence[int], effort: int) -> None:
        self._before = [list(found) for found in needs]
        self._after: list[list[int]] = [[] for _ in needs]
        for number, found in enumerate(needs):
            for other in found:
                self._after[other].append(number)
        depth = [0] * len(needs)
        for number in order:
            depth[number] = 1 + max([depth[other] for other in needs[number]], default=-1)
        self._place = [0] * len(needs)
        for place, number in enumerate(sorted(order, key=depth.__getitem__)):
            self._place[number] = place
        self._left = effort * (len(needs) + sum(map(len, needs)) + 1)
        self._opened, self._closed = self._spanning_tree()

    def _spanning_tree(self) -> tuple[list[int], list[int]]:
        children: list[list[int]] = [[] for _ in self._before]
        roots: list[int] = []
        for number, found in enumerate(self._before):
            if found:
                children[max(found, key=self._place.__getitem__)].append(number)
            else:
                roots.append(number)
        opened, closed = [0] * len(children), [0] * len(children)
        clock = 0
        stack = roots
        while stack:
            number = stack.pop()
            clock += 1
            if number < 0:
                closed[~number] = clock
            else:
                opened[number] = clock
                stack.append(~number)
                stack.extend(children[number])
        return opened, closed

    def _surely_after(self, late: int, early: int) -> bool:
        return self._opened[early] <= self._opened[late] and self._closed[late] <= self._closed[early]

    @property
    def exhausted(self) -> bool:
        """Whether the effort is used up."""
        return self._left < 0

    def spend(self, steps: int) -> bool:
        """Take some of the effort that is left; return whether there was enough."""
        self._left -= steps
        return self._left >= 0

    def add(self, early: int, late: int) -> bool:
        """Demand that one number come before another.

        Returns
        -------
        bool
            Whether it can, and from now on does; else nothing has changed.
        """
        if self._place[early] > self._place[late] and not self._move(early, late):
            return False
        self._before[late].append(early)
        self._after[early].append(late)
        return True

    def remove(self, early: int, late: int) -> None:
        """Take back a demand that was added."""
        self._before[late].remove(early)
        self._after[early].remove(late)

    def _move(self, early: int, late: int) -> bool:
        first, last = self._place[late], self._place[early]
        forward = self._search(late, self._after, first, last, early)
        backward = None if forward is None else self._search(early, self._before, first, last, None)
        if forward is None or backward is None:
            return False
        moved = sorted(backward, key=self._place.__getitem__) + sorted(forward, key=self._place.__getitem__)
        for number, place in zip(moved, sorted([self._place[n] for n in moved]), strict=True):
            self._place[number] = place
        return True

    def _search(
        self, start: int, edges: Sequence[Sequence[int]], first: int, last: int, forbidden: int | None
    ) -> set[int] | None:
        """Return what is reached from `start` between two places; None where that is, or leads to, what is forbidden."""
        found = {start}
        stack = [start]
        while stack:
            number = stack.pop()
            if forbidden is not None and (number == forbidden or self._surely_after(forbidden, number)):
                return None
            if not self.spend(1 + len(edges[number])):
                return None
            for other in edges[number]:
                if other not in found and first <= self._place[other] <= last:
                    found.add(other)
                    stack.append(other)
        return found
