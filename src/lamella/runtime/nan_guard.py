"""`NanGuardMode`: an error at the first node that computes NaN, infinite or very large numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

from lamella.errors import NanGuardError
from lamella.ir import AllocEmpty, Apply, FunctionGraph, Variable, describe_node
from lamella.rewriting import GraphRewriter, RewriteDatabase, RewriteDatabaseQuery, optdb
from lamella.runtime.linking import Executable, PerNodeLinker
from lamella.runtime.mode import FAST_RUN_QUERY, Mode
from lamella.runtime.vm_linker import VMLinker
from lamella.runtime.wrap_linker import NodeThunk, WrapLinker
from lamella.typing_layer import ScheduledGraph

__all__ = ["NanGuardMode"]

BIG: Final = 1e10
"""What is larger than this is big."""

_UNFUSED: Final = FAST_RUN_QUERY.excluding("fusion")


@final
@attrs.frozen
class NanGuardMode(Mode):
    """A mode that stops at the first suspicious number: in what the function is given, or in what a node computes.

    Values of constants are not looked at, nor is what `AllocEmpty` allocates, whose elements mean nothing until they are set. Fusion is left
    out, so that the node that is named is one of those that were written.

    Attributes
    ----------
    nan_is_error
        Whether a NaN is an error.
    inf_is_error
        Whether an infinite number is an error.
    big_is_error
        Whether a number larger than 1e10 is an error.
    linker
        What runs the nodes.
    query, database
        Which rewrites are applied; those of ``FAST_RUN``, but for fusion, by default.
    """

    nan_is_error: bool
    inf_is_error: bool
    big_is_error: bool = True
    linker: PerNodeLinker = attrs.field(factory=VMLinker)
    query: RewriteDatabaseQuery = _UNFUSED
    database: RewriteDatabase[Any, GraphRewriter] = attrs.field(default=optdb, repr=False)

    @override
    def link(self, scheduled: ScheduledGraph, original: FunctionGraph) -> Executable:
        kinds = (self.nan_is_error, self.inf_is_error, self.big_is_error)
        guard = _Guard(*kinds, frozenset(scheduled.fgraph.inputs), _meaningless(scheduled.order))
        return WrapLinker([self.linker], guard).link(scheduled)


def _meaningless(order: Sequence[Apply[Any]]) -> frozenset[Variable[Any]]:
    """Return the Variables whose elements mean nothing: arrays that were only allocated, and views of them."""
    found: set[Variable[Any]] = set()
    for node in order:
        if isinstance(node.op, AllocEmpty):
            found.update(node.outputs)
        for o, places in node.op.view_map.items():
            if any([node.inputs[i] in found for i in places]):
                found.add(node.outputs[o])
    return frozenset(found)


@final
@attrs.frozen(eq=False)
class _Guard:
    nan_is_error: bool
    inf_is_error: bool
    big_is_error: bool
    given: frozenset[Variable[Any]]
    meaningless: frozenset[Variable[Any]]

    def __call__(self, fgraph: FunctionGraph, i: int, node: Apply[Any], /, *thunks: NodeThunk) -> None:
        (thunk,) = thunks
        for place, (variable, cell) in enumerate(zip(node.inputs, thunk.inputs, strict=True)):
            if variable in self.given:
                self._check(f"input {place}", node, cell[0], thunk)
        thunk()
        for place, (variable, cell) in enumerate(zip(node.outputs, thunk.outputs, strict=True)):
            if variable not in self.meaningless:
                self._check(f"output {place}", node, cell[0], thunk)

    def _check(self, place: str, node: Apply[Any], value: Any, thunk: NodeThunk) -> None:
        for numbers in _numbers(value):
            kind = self._suspicious(numbers)
            if kind is not None:
                values = [cell[0] for cell in thunk.inputs]
                raise NanGuardError(
                    f"{place} of {node!r} holds {kind}\n" + "\n".join(describe_node(node, values)), kind, node
                )

    def _suspicious(self, numbers: npt.NDArray[Any]) -> str | None:
        if self.nan_is_error and np.isnan(numbers).any():
            return "NaN"
        if self.inf_is_error and np.isinf(numbers).any():
            return "an infinite number"
        if self.big_is_error:
            with np.errstate(invalid="ignore", over="ignore"):
                if (np.isfinite(numbers) & (np.abs(numbers) > BIG)).any():
                    return f"a number larger than {BIG:g}"
        return None


def _numbers(value: Any) -> Iterator[npt.NDArray[Any]]:
    """Give the arrays of floating-point numbers in a value: itself, or the elements of a list."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list | tuple):
            waiting.extend(part)
        elif isinstance(part, np.ndarray | np.generic | float | complex):
            array = np.asarray(part)
            if array.dtype.kind in "fc":
                yield array
