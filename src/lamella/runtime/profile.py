"""`FunctionProfile`: the time and the memory that the calls of a function took, per node, per Op and per class of Op.

Class, Op and node tables are sorted by time:

    Function profile: step, 10 calls, 0.002113s, 0.000211s a call
    0.001904s in 3 nodes, 2400 bytes allocated a call
    Class
     time    seconds  calls  bytes a call  class
    81.2%  0.001546     10           800  Dot
    ...
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from time import perf_counter
from typing import Any, Protocol, final, runtime_checkable

import attrs
from typing_extensions import override

from lamella.ir import Apply
from lamella.runtime.linking import Executable
from lamella.runtime.node_machine import NodeRecorder
from lamella.typing_layer import ScheduledGraph

__all__ = ["FunctionProfile", "NodeProfile", "OpProfile", "ProfiledExecutable"]


@runtime_checkable
class RunsNodes(Protocol):
    """A linked graph that can tell how long each of its nodes takes."""

    scheduled: ScheduledGraph

    def run_recorded(self, values: Sequence[Any], recorder: NodeRecorder) -> list[Any]:
        """Do what a call does, and tell of each node that has run."""


@final
@attrs.frozen
class NodeProfile:
    """What a node cost.

    Attributes
    ----------
    step
        Its place in the order in which nodes run.
    node
        The node.
    calls
        How often it ran.
    seconds
        The time it took in all calls.
    bytes
        The memory that its outputs took in the call where they were largest; none for those that lie in the memory of an input.
    """

    step: int
    node: Apply[Any]
    calls: int
    seconds: float
    bytes: int


@final
@attrs.frozen
class OpProfile:
    """What all nodes of an Op, or of a class of Ops, cost.

    Attributes
    ----------
    name
        The Op, or the class, as text.
    nodes
        How many nodes there are.
    calls, seconds, bytes
        As of a node, added up.
    """

    name: str
    nodes: int
    calls: int
    seconds: float
    bytes: int


@final
class FunctionProfile:
    """The statistics of a function's calls; they grow with every call. Threads may call the function at once.

    Attributes
    ----------
    name
        The name of the function.
    calls, seconds
        How often it was called, and the time that the calls took, without the conversion of arguments.
    """

    def __init__(self, order: Sequence[Apply[Any]], name: str | None = None) -> None:
        self.name = name
        self._order = tuple(order)
        self._guard = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        with self._guard:
            self.calls = 0
            self.seconds = 0.0
            self._node_calls = [0] * len(self._order)
            self._node_seconds = [0.0] * len(self._order)
            self._node_bytes = [0] * len(self._order)

    def called(self, seconds: float) -> None:
        """Note a call."""
        with self._guard:
            self.calls += 1
            self.seconds += seconds

    def ran(self, step: int, seconds: float, size: int) -> None:
        """Note that a node ran: its place in the order, the time, and the bytes of the new values that it computed."""
        with self._guard:
            self._node_calls[step] += 1
            self._node_seconds[step] += seconds
            self._node_bytes[step] = max(self._node_bytes[step], size)

    @property
    def nodes(self) -> tuple[NodeProfile, ...]:
        """What each node that has run cost, in the order in which nodes run; none where nodes are not run one by one."""
        with self._guard:
            rows = list(zip(self._order, self._node_calls, self._node_seconds, self._node_bytes, strict=True))
        return tuple([NodeProfile(i, *row) for i, row in enumerate(rows) if row[1]])

    def by_op(self) -> tuple[OpProfile, ...]:
        """Return what the nodes of each Op cost, the slowest first."""
        return self._grouped(lambda node: node.op, lambda node: str(node.op))

    def by_class(self) -> tuple[OpProfile, ...]:
        """Return what the nodes of each class of Ops cost, the slowest first."""
        return self._grouped(lambda node: type(node.op), lambda node: type(node.op).__name__)

    def _grouped(
        self, key: Callable[[Apply[Any]], Hashable], name: Callable[[Apply[Any]], str]
    ) -> tuple[OpProfile, ...]:
        found: dict[Hashable, list[NodeProfile]] = {}
        for one in self.nodes:
            found.setdefault(key(one.node), []).append(one)
        rows = [
            OpProfile(
                name(group[0].node),
                len(group),
                sum([one.calls for one in group]),
                sum([one.seconds for one in group]),
                sum([one.bytes for one in group]),
            )
            for group in found.values()
        ]
        return tuple(sorted(rows, key=lambda row: -row.seconds))

    @override
    def __str__(self) -> str:
        each = f", {self.seconds / self.calls:.6f}s a call" if self.calls else ""
        lines = [f"Function profile: {self.name or 'unnamed'}, {self.calls} calls, {self.seconds:.6f}s{each}"]
        nodes = self.nodes
        if not nodes:
            if self.calls:
                lines.append("nodes were not timed: the function does not run them one by one")
            return "\n".join(lines)
        total = sum([one.seconds for one in nodes])
        lines.append(
            f"{total:.6f}s in {len(nodes)} nodes, {sum([one.bytes for one in nodes])} bytes allocated a call, at most"
        )
        lines += _table("class", [(row.seconds, row.calls, row.bytes, row.name) for row in self.by_class()], total)
        lines += _table("Op", [(row.seconds, row.calls, row.bytes, row.name) for row in self.by_op()], total)
        slowest = sorted(nodes, key=lambda one: -one.seconds)
        lines += _table("node", [(one.seconds, one.calls, one.bytes, _described(one)) for one in slowest], total)
        return "\n".join(lines)

    @override
    def __repr__(self) -> str:
        return f"FunctionProfile({self.name or 'unnamed'}, {self.calls} calls, {self.seconds:.6f}s)"


def _described(one: NodeProfile) -> str:
    built = f" built at {one.node.origin}" if one.node.origin is not None else ""
    return f"{one.step}: {one.node!r}{built}"


def _table(what: str, rows: Sequence[tuple[float, int, int, str]], total: float) -> list[str]:
    head = f"{'time':>6}  {'seconds':>10}  {'calls':>7}  {'bytes':>12}  {what}"
    return [
        "",
        head,
        *[
            f"{100 * seconds / total if total else 0:5.1f}%  {seconds:10.6f}  {calls:7d}  {size:12d}  {name}"
            for seconds, calls, size, name in rows
        ],
    ]


@final
class ProfiledExecutable:
    """A linked graph whose calls are timed.

    Attributes
    ----------
    profile
        The statistics.
    """

    __slots__ = ("_run", "profile")

    def __init__(self, run: Executable, scheduled: ScheduledGraph, name: str | None) -> None:
        self._run = run
        timed = run.scheduled if isinstance(run, RunsNodes) else scheduled
        self.profile = FunctionProfile(timed.order, name)

    def __call__(self, values: Sequence[Any], /) -> list[Any]:
        """Return the values of the outputs, given those of the inputs, and note the time."""
        run = self._run
        start = perf_counter()
        results = run.run_recorded(values, self.profile) if isinstance(run, RunsNodes) else run(values)
        self.profile.called(perf_counter() - start)
        return results
