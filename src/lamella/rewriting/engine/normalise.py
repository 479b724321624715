"""One pass of node rewriters over a graph: each node is brought to its normal form once, however many others use it.

Inputs first (the usual order), a node is met when its inputs are in normal form. If they changed, it is applied anew to the new ones.
Then the rewriters that track its Op are tried in order, and what the first that fires returns is brought to normal form in turn. So when
a pass ends, no rewriter fires on any node of the result, as far as it looks at what lies behind the node.

    neg(neg(exp(log(x))))    with    exp_of_log, neg_of_neg
    log(x) is normal;   exp(log(x)) -> x;   neg(neg(x)) is met as such, and -> x
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import partial
from typing import Any, Final, Generic, TypeVar, final

import attrs
from typing_extensions import override

from lamella.errors import RewriteError, RewriteLoopError, RewriteTypeError
from lamella.ir import (
    BUILT_FOR,
    Apply,
    FunctionGraph,
    Memory,
    Op,
    Variable,
    annotate_error,
    canonical,
    rebuild_node,
    toposort,
)
from lamella.rewriting.engine.clients import PassClients, graph_during_pass
from lamella.rewriting.engine.observer import Observer, Transform
from lamella.rewriting.engine.rewriter import FromFunctionNodeRewriter, NodeRewriter
from lamella.rewriting.engine.tracking import DispatchTable, OpKey

__all__ = ["Entry", "NodePass", "RewriteTable", "UseBound"]

Outputs = Sequence[Variable[Any]]

USES_ALLOWED_ANYWAY: Final = 1000
"""Uses of one rewriter that are allowed however small the graph is: an expansion of one node may take many."""

_MOST_GROUPS_KNOWN: Final = 64
"""Groups of rewriters that have left nodes alone, for each of which a table keeps what is left to try."""


@final
@attrs.frozen(eq=False)
class Entry:
    """A node rewriter as a pass calls it.

    Attributes
    ----------
    rewriter, name, transform, reads_graph
        The rewriter, and what is asked of it often.
    bit
        What stands for the Ops of which one is to have computed an input; 0 where the rewriter does not say.
    """

    rewriter: NodeRewriter
    name: str
    transform: Transform
    reads_graph: bool
    bit: int = 0


V = TypeVar("V")


class _ByOp(dict[int, V], ABC, Generic[V]):
    """What is found once for each Op that is met, by the address of what stands for it and its equals: hashing it would cost more.

    It is forgotten when that dies: a table lives as long as its rewriter.
    """

    __slots__ = ("_refs",)

    def __init__(self) -> None:
        super().__init__()
        self._refs: dict[int, weakref.ref[object]] = {}

    @abstractmethod
    def _find(self, op: Op[Any, Any]) -> V:
        """Return what is to be found for an Op."""

    def find(self, op: Op[Any, Any]) -> V:
        """Return what is found for an Op, and keep it."""
        found = self._find(op)
        stands_for_it = canonical(op)
        address = id(stands_for_it)
        self._refs[address] = weakref.ref(stands_for_it, partial(self._forget, address))
        self[address] = found
        return found

    def _forget(self, address: int, ref: weakref.ref[object]) -> None:
        # It may run at any moment in any thread: each step is one operation on a dictionary, and none can fail.
        self._refs.pop(address, None)
        self.pop(address, None)


@final
class _Candidates:
    """The entries for one Op, and which of them to try on a node whose inputs are computed by given Ops.

    Attributes
    ----------
    entries
        All.
    asked
        The bits of those that say which Ops are to have computed an input.
    chosen
        By the bits among these that inputs have: the entries to try.
    """

    __slots__ = ("asked", "chosen", "entries")

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = tuple(entries)
        self.asked = 0
        for entry in self.entries:
            self.asked |= entry.bit
        self.chosen: dict[int, tuple[Entry, ...]] = {}

    def choose(self, bits: int) -> tuple[Entry, ...]:
        """Return the entries to try where inputs have these bits, and keep them."""
        found = self.chosen[bits] = tuple([entry for entry in self.entries if not entry.bit or entry.bit & bits])
        return found


@final
class _Bits(_ByOp[int]):
    """The bits that stand for an Op, by what rewriters say of the Ops of their inputs."""

    __slots__ = ("_table",)

    def __init__(self, keys: Iterable[Sequence[OpKey]]) -> None:
        super().__init__()
        self._table = DispatchTable([(each, 1 << place) for place, each in enumerate(keys)])

    @override
    def _find(self, op: Op[Any, Any]) -> int:
        return sum(self._table.find(op))


@final
class _All(_ByOp[_Candidates]):
    """All entries for each Op."""

    __slots__ = ("_table",)

    def __init__(self, entries: Iterable[Entry]) -> None:
        super().__init__()
        self._table = DispatchTable([(entry.rewriter.tracks(), entry) for entry in entries])

    @override
    def _find(self, op: Op[Any, Any]) -> _Candidates:
        return _Candidates(self._table.find(op))


@final
@attrs.frozen(eq=False)
class Tried:
    """Rewriters that do not look at the graph, and have left a node alone: they always will."""

    rewriters: tuple[NodeRewriter, ...]
    ids: frozenset[int]

    def joined(self, others: Tried) -> Tried:
        """Return what holds the rewriters of both."""
        if others.ids <= self.ids:
            return self
        new = [rewriter for rewriter in others.rewriters if id(rewriter) not in self.ids]
        return Tried((*self.rewriters, *new), self.ids | others.ids)


LEFT_ALONE: Final[Memory[Apply[Any], Tried]] = Memory()
"""The rewriters that are known to leave a node alone. Groups of rewriters share many: none need be tried on a node again."""


@final
class _Rest(_ByOp[_Candidates]):
    """Those of the entries for each Op that some condition holds for."""

    __slots__ = ("_all", "_condition")

    def __init__(self, all_entries: _All, condition: Callable[[Entry], bool]) -> None:
        super().__init__()
        self._all = all_entries
        self._condition = condition

    @override
    def _find(self, op: Op[Any, Any]) -> _Candidates:
        candidates = self._all.get(id(canonical(op)))
        if candidates is None:
            candidates = self._all.find(op)
        return _Candidates([entry for entry in candidates.entries if self._condition(entry)])


@final
class RewriteTable:
    """Node rewriters, found by the Ops that they track.

    Attributes
    ----------
    entries
        All of them.
    bits
        What the Op that computes an input tells of which of them to try.
    readers
        Those that look at the graph; None where there are none.
    lasting
        Those that do not.
    """

    __slots__ = ("_after", "bits", "entries", "lasting", "readers")

    def __init__(self, rewriters: Sequence[NodeRewriter], observer: Observer | None = None) -> None:
        entries = []
        places: dict[tuple[OpKey, ...], int] = {}
        for rewriter in rewriters:
            # Of a rewriter that is a function, the function itself: a call less for each node and rewriter.
            transform: Transform = (
                rewriter.function if isinstance(rewriter, FromFunctionNodeRewriter) else rewriter.transform
            )
            if observer is not None:
                transform = observer.transform_of(rewriter, transform)
            keys = rewriter.tracks_inputs()
            bit = 0 if keys is None else 1 << places.setdefault(tuple(keys), len(places))
            entries.append(Entry(rewriter, rewriter.name, transform, rewriter.reads_graph, bit))
        self.entries = _All(entries)
        self.bits = _Bits(places)
        reads = any(entry.reads_graph for entry in entries)
        self.readers = _Rest(self.entries, lambda entry: entry.reads_graph) if reads else None
        lasting = tuple([entry.rewriter for entry in entries if not entry.reads_graph])
        self.lasting = Tried(lasting, frozenset(map(id, lasting)))
        self._after: dict[Tried, tuple[_Rest, Tried]] = {}

    def after(self, tried: Tried) -> tuple[_Rest, Tried]:
        """Return the entries to try on a node which some rewriters have left alone, and those that have when these do so too."""
        found = self._after.get(tried)
        if found is None:
            if len(self._after) >= _MOST_GROUPS_KNOWN:
                self._after.clear()
            rest = _Rest(self.entries, lambda entry: entry.reads_graph or id(entry.rewriter) not in tried.ids)
            found = self._after[tried] = (rest, tried.joined(self.lasting))
        return found


@final
class UseBound:
    """Counts the uses of each rewriter, and turns too many into an error.

    Attributes
    ----------
    counts
        The uses so far, by the name of the rewriter.
    """

    __slots__ = ("_bound", "_ratio", "_recent", "counts")

    def __init__(self, max_use_ratio: float) -> None:
        self.counts: dict[str, int] = {}
        self._ratio = max_use_ratio
        self._bound = 0.0
        self._recent: deque[str] = deque(maxlen=64)

    def anew(self) -> UseBound:
        """Return a bound of the same ratio with nothing counted."""
        return UseBound(self._ratio)

    def allow_for(self, nodes: int) -> None:
        """Take the size of the graph into account."""
        self._bound = max(self._bound, self._ratio * nodes + USES_ALLOWED_ANYWAY)

    def count(self, name: str) -> None:
        """Count a use.

        Raises
        ------
        RewriteLoopError
            The rewriter was used too often.
        """
        uses = self.counts.get(name, 0) + 1
        self.counts[name] = uses
        self._recent.append(name)
        if uses > self._bound:
            raise RewriteLoopError(
                f"rewriting does not come to an end: the rewriter {name} was used {uses} times. The last ones used: "
                f"{', '.join(sorted(set(self._recent)))}. Make them agree on a normal form, or raise max_use_ratio"
            )


@final
class NodePass:
    """One pass over one graph.

    Parameters
    ----------
    fgraph
        The graph.
    table
        The rewriters.
    ignore_newtrees
        Leave the nodes that rewriters make as they are: each node of the graph is tried once.
    uses
        Bounds how often rewriters may be used.
    observer
        Is told of every replacement.
    settled
        Nodes that only rewriters which look at the graph need to see again; the pass adds to them.
    refused
        Uses of an entry on a node that shall not happen.
    limit
        How many uses may happen at most.

    Attributes
    ----------
    beyond
        Replacements of Variables other than a node's own outputs, as rewriters asked for them.
    uses_made
        The uses of entries on nodes that happened, in order.
    """

    def __init__(
        self,
        fgraph: FunctionGraph,
        table: RewriteTable,
        ignore_newtrees: bool,
        uses: UseBound,
        observer: Observer | None = None,
        settled: set[Apply[Any]] | None = None,
        refused: Set[tuple[Entry, Apply[Any]]] = frozenset(),
        limit: int | None = None,
    ) -> None:
        self.beyond: dict[Variable[Any], Variable[Any]] = {}
        self.uses_made: list[tuple[Entry, Apply[Any]]] = []
        self._fgraph = fgraph
        self._table = table
        # An observer, such as a profile, is told of every trial; and what is refused, or comes too late, would have fired.
        self._remembers = observer is None and not refused and limit is None
        self._ignore_newtrees = ignore_newtrees
        self._uses = uses
        self._observer = observer
        self._settled: set[Apply[Any]] = set() if settled is None else settled
        self._refused = refused
        self._limit = limit
        self._clients = None if table.readers is None else PassClients(fgraph)
        self._seen = fgraph if self._clients is None else graph_during_pass(fgraph, self._clients)
        self._normal: dict[Variable[Any], Variable[Any]] = {}  # what stands for a Variable, where that is another
        self._done: set[Apply[Any]] = {v.owner for v in fgraph.inputs if v.owner is not None}  # not to be looked behind
        self._pending: dict[Apply[Any], tuple[Entry | None, Outputs]] = {}  # what a node becomes when that is normal
        uses.allow_for(len(fgraph.order))

    def inputs_first(self) -> list[Variable[Any]]:
        """Return the outputs of the graph in normal form, having met each node after its inputs."""
        done, normal = self._done, self._normal
        for node in self._fgraph.order:
            if node in done:
                continue
            met = node
            if normal:
                for variable in node.inputs:
                    if variable in normal:
                        met = self._rebuild(node)
                        break
            if met not in done:
                found = self._try(met)
                if found is None:
                    done.add(met)
                elif self._ignore_newtrees:
                    self._finish(met, found[1])
                else:
                    self._pending[met] = found
                    self._settle(met)
            if met is not node:
                self._finish(node, met.outputs)
        return [normal.get(variable, variable) for variable in self._fgraph.outputs]

    def only(self, node: Apply[Any]) -> dict[Variable[Any], Variable[Any]]:
        """Return what the rewriters replace when they are tried on one node, and nothing else is done."""
        found = self._try(node)
        new = node.outputs if found is None else found[1]
        return {a: b for a, b in zip(node.outputs, new, strict=True) if a is not b} | self.beyond

    def _settle(self, first: Apply[Any]) -> None:
        """Bring what a node becomes to normal form, and with it the new nodes that this depends on."""
        done, pending = self._done, self._pending
        stack = [first]
        while stack:
            node = stack[-1]
            if node in done:
                stack.pop()
                continue
            becomes = pending.get(node)
            if becomes is None:
                if self._push(stack, node.inputs):
                    continue
                if node not in self._fgraph.apply_nodes and self._clients is not None:
                    self._clients.met(node)
                rebuilt = self._rebuild(node)
                if rebuilt is not node:
                    becomes = (None, rebuilt.outputs)
                else:
                    becomes = self._try(node)
                    if becomes is None:
                        done.add(node)
                        stack.pop()
                        continue
                pending[node] = becomes
            if not self._push(stack, becomes[1]):
                self._finish(node, becomes[1])
                stack.pop()

    def outputs_first(self) -> list[Variable[Any]]:
        """Return the outputs of the graph, having met each node before what it depends on."""
        done, pending = self._done, self._pending
        opened: set[Apply[Any]] = set()
        stack: list[Apply[Any]] = []
        self._push(stack, tuple(reversed(self._fgraph.outputs)))
        while stack:
            node = stack[-1]
            if node in done:
                stack.pop()
                continue
            becomes = pending.get(node)
            if becomes is None and node not in opened:
                if not self._ignore_newtrees or node in self._fgraph.apply_nodes:
                    becomes = self._try(node)
                if becomes is None:
                    opened.add(node)
                    self._push(stack, tuple(reversed(node.inputs)))
                else:
                    pending[node] = becomes
                    self._push(stack, becomes[1])
                continue
            stack.pop()
            self._finish(node, self._rebuild(node).outputs if becomes is None else becomes[1])
        return [self._normal.get(variable, variable) for variable in self._fgraph.outputs]

    def apply_beyond(self, fgraph: FunctionGraph) -> FunctionGraph:
        """Return the graph that this pass has made with the replacements that reach beyond a node."""
        # Keys and values are in terms of Variables of the graph the pass began with, or of those it made.
        old = self._rebuild_all(self.beyond, dict(self._normal))
        new = self._rebuild_all(self.beyond.values(), dict(self._normal))
        # What a Variable has become since may have a narrower type than its replacement, which is then of no use any more.
        replaced = {a: b for a, b in zip(old, new, strict=True) if a is not b and a.type.is_super(b.type) is not None}
        outputs = self._rebuild_all(fgraph.outputs, replaced)
        return fgraph if tuple(outputs) == fgraph.outputs else fgraph.with_outputs(outputs)

    def _rebuild_all(
        self, variables: Iterable[Variable[Any]], replaced: dict[Variable[Any], Variable[Any]]
    ) -> list[Variable[Any]]:
        wanted = list(variables)
        for node in toposort(wanted, [*self._fgraph.inputs, *replaced]):
            rebuilt = rebuild_node(node, replaced)
            if rebuilt is not node:
                for before, after in zip(node.outputs, rebuilt.outputs, strict=True):
                    replaced.setdefault(before, after)
                if self._observer is not None:
                    self._observer.replaced(None, node.outputs, rebuilt.outputs)
        return [replaced.get(variable, variable) for variable in wanted]

    def _push(self, stack: list[Apply[Any]], variables: Outputs) -> bool:
        """Push the nodes of Variables that are not in normal form yet; say whether there were any."""
        pushed = False
        node = stack[-1] if stack else None
        for variable in variables:
            owner = variable.owner
            if owner is not None and owner is not node and owner not in self._done:  # an output that stays is no loop
                if owner in self._pending:
                    if self._ignore_newtrees:
                        continue  # what replaces a node may use it: there it stays what it is
                    raise self._loop(owner, stack)
                stack.append(owner)
                pushed = True
        return pushed

    def _loop(self, node: Apply[Any], stack: Sequence[Apply[Any]]) -> RewriteLoopError:
        entries = [self._pending[other][0] for other in stack[stack.index(node) :] if other in self._pending]
        names = sorted({entry.name for entry in entries if entry is not None})
        who = f"the rewriters {', '.join(names)} undo one another" if len(names) > 1 else f"{names[0]} undoes itself"
        return RewriteLoopError(
            f"rewriting does not come to an end: {who}; a replacement of {node} is replaced by something that needs {node} again"
        )

    def _rebuild(self, node: Apply[Any]) -> Apply[Any]:
        """Apply a node's Op to the normal forms of its inputs."""
        try:
            rebuilt = rebuild_node(node, self._normal)
        except Exception as error:
            annotate_error(error, node)
            error.add_note("while this node was applied anew to rewritten inputs")
            raise
        if rebuilt is node:
            return node
        if self._clients is not None:
            for out, old in zip(rebuilt.outputs, node.outputs, strict=True):
                self._clients.stands_for(out, old)
        if self._observer is not None:
            self._observer.replaced(None, node.outputs, rebuilt.outputs)
        return rebuilt

    def _finish(self, node: Apply[Any], becomes: Outputs) -> None:
        normal = self._normal
        for out, new in zip(node.outputs, becomes, strict=True):
            final = normal.get(new, new)
            if final is not out:
                normal[out] = final
        self._done.add(node)

    def _try(self, node: Apply[Any]) -> tuple[Entry, Outputs] | None:
        """Return what the first rewriter that fires on a node makes of its outputs."""
        table: _All | _Rest = self._table.entries
        address = id(canonical(node.op))
        candidates = table.get(address)
        if candidates is None:
            candidates = table.find(node.op)
        if not candidates.entries:
            return None
        tried = self._table.lasting
        if node in self._settled:
            if self._table.readers is None:
                return None
            table = self._table.readers
        elif self._remembers:
            known = LEFT_ALONE.find(node, None)
            if known is not None:
                table, tried = self._table.after(known)
        if table is not self._table.entries:
            candidates = table.get(address)
            if candidates is None:
                candidates = table.find(node.op)
        entries = self._chosen(candidates, node) if candidates.asked else candidates.entries
        if entries:
            uses = len(self.uses_made)
            attributed = BUILT_FOR.set(node.built_at)
            try:
                found = self._first_that_fires(entries, node)
            finally:
                BUILT_FOR.reset(attributed)
            # What was replaced beyond the node may make it look another way; and past the limit not all have been tried.
            if found is not None or len(self.uses_made) != uses or uses == self._limit:
                return found
        if node not in self._settled:
            self._settled.add(node)
            if self._remembers and candidates.entries:
                LEFT_ALONE.remember(node, tried)
        return None

    def _chosen(self, candidates: _Candidates, node: Apply[Any]) -> tuple[Entry, ...]:
        """Return the entries to try, given the Ops that compute the inputs of a node."""
        known = self._table.bits
        bits = 0
        for variable in node.inputs:
            owner = variable.owner
            if owner is not None:
                op = owner.op
                found = known.get(id(canonical(op)))
                bits |= known.find(op) if found is None else found
        chosen = candidates.chosen.get(bits & candidates.asked)
        return candidates.choose(bits & candidates.asked) if chosen is None else chosen

    def _first_that_fires(self, entries: Iterable[Entry], node: Apply[Any]) -> tuple[Entry, Outputs] | None:
        for entry in entries:
            try:
                result = entry.transform(self._seen, node)
            except Exception as error:
                annotate_error(error, node)
                error.add_note(f"while the rewriter {entry.name} looked at this node")
                raise
            if result is None or result is False:
                continue
            if self._refused and (entry, node) in self._refused:
                continue
            if self._limit is not None and len(self.uses_made) >= self._limit:
                return None
            outputs = self._accept(entry, node, result)
            if outputs is not None:
                return entry, outputs
        return None

    def _accept(self, entry: Entry, node: Apply[Any], result: object) -> Outputs | None:
        """Check what a rewriter returned; return what the node's outputs become, or None where they stay."""
        outputs: list[Variable[Any]] = list(node.outputs)
        used = False
        if isinstance(result, Mapping):
            for old, new in result.items():
                _check_replacement(entry, node, old, new)
                if new is old:
                    continue
                if old.owner is node:
                    outputs[old.index or 0] = new
                elif old not in self.beyond:
                    self.beyond[old] = new
                    used = True
                    if self._observer is not None:
                        self._observer.replaced(entry.name, [old], [new])
        elif isinstance(result, Sequence):
            if len(result) != len(outputs):
                raise RewriteError(
                    f"{entry.name} returned {len(result)} replacements for the {len(outputs)} outputs of {node!r}"
                )
            for i, replacement in enumerate(result):
                if replacement is not None:
                    _check_replacement(entry, node, outputs[i], replacement)
                    outputs[i] = replacement
        else:
            hint = ": a single replacement is returned as [variable]" if isinstance(result, Variable) else ""
            raise RewriteError(
                f"{entry.name} returned {result!r} for {node!r}, which is neither a sequence nor a mapping{hint}"
            )
        changed = tuple(outputs) != node.outputs  # Variables compare by identity
        if not changed and not used:
            return None
        self._uses.count(entry.name)
        self.uses_made.append((entry, node))
        if not changed:
            return None
        if self._clients is not None:
            for new, old in zip(outputs, node.outputs, strict=True):
                self._clients.stands_for(new, old)
        if self._observer is not None:
            self._observer.replaced(entry.name, node.outputs, outputs)
        return outputs


def _check_replacement(entry: Entry, node: Apply[Any], old: object, new: object) -> None:
    if not isinstance(new, Variable) or not isinstance(old, Variable):
        raise RewriteError(f"{entry.name} returned {new!r} as replacement of {old!r} for {node!r}; both are Variables")
    if old.type is not new.type and old.type.is_super(new.type) is None:
        raise RewriteTypeError(
            f"{entry.name} replaced {old!r} of type {old.type}, at {node!r}, by {new!r} of type {new.type}, "
            "which that type does not include"
        )
