"""`GraphRewriter` and `NodeRewriter`: functions from graph to graph, and from a node to what replaces it."""

from __future__ import annotations

import inspect
import opcode
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Final, Literal, TypeVar, final

import attrs
from typing_extensions import override

from lamella.collector import collecting_rarely
from lamella.config import config
from lamella.errors import GraphCheckError, RewriteError, RewriteTypeError
from lamella.ir import Apply, FunctionGraph, NamesVariables, Variable, substitute
from lamella.rewriting.engine.alignment import report_changes
from lamella.rewriting.engine.log import LogObserver, RewriteLog, Rewritten
from lamella.rewriting.engine.observer import Observer, Transform
from lamella.rewriting.engine.pickling import found_by_name
from lamella.rewriting.engine.tracking import OpKey
from lamella.typing_layer import check

__all__ = [
    "FromFunctionGraphRewriter",
    "FromFunctionNodeRewriter",
    "GraphRewriter",
    "NodeRewriter",
    "Requirement",
    "Rewriter",
    "TransformResult",
    "demanding",
    "graph_rewriter",
    "node_rewriter",
]

TransformResult = Sequence[Variable[Any] | None] | Mapping[Variable[Any], Variable[Any]] | Literal[False] | None
"""What `NodeRewriter.transform` returns.

``False`` or ``None`` where there is nothing to do; a sequence with a replacement for each output of the node (``None`` for one
that is used by nobody, which stays what it is); or a mapping from Variables, the node's own or others, to their replacements.
"""

Requirement = Callable[[FunctionGraph], FunctionGraph]
"""Adds to a graph the features that a rewriter needs."""


class Rewriter(ABC):
    """What graph rewriters and node rewriters have in common.

    Attributes
    ----------
    name
        The name that logs, profiles and errors use; that of the class unless a subclass or object says otherwise.
    """

    __slots__ = ()

    name: str

    @override
    def __init_subclass__(cls) -> None:
        if "name" not in cls.__dict__ and "name" not in inspect.get_annotations(cls):  # an attrs field
            cls.name = cls.__name__

    def add_requirements(self, fgraph: FunctionGraph) -> FunctionGraph:
        """Return the graph with the features that this rewriter needs."""
        return fgraph

    @override
    def __str__(self) -> str:
        return self.name


class GraphRewriter(Rewriter):
    """A function from graph to graph. A subclass writes `apply`."""

    __slots__ = ()

    @abstractmethod
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        """Return the rewritten graph; the given one stays what it is.

        Parameters
        ----------
        fgraph
            A graph that has the features `add_requirements` adds.

        Returns
        -------
        FunctionGraph
            A graph of the same inputs, whose outputs have the same types or narrower ones; the very same
            graph where there is nothing to do.
        """

    def apply_observed(self, fgraph: FunctionGraph, observer: Observer | None) -> FunctionGraph:
        """Do what `apply` does, telling `observer` what is replaced by what.

        A rewriter that consists of others overrides this and has them report, and so does one that knows better; of one that
        only has `apply`, the two graphs are compared.
        """
        rewritten = self.apply(fgraph)
        if observer is not None and rewritten is not fgraph:
            report_changes(self.name, fgraph, rewritten, observer)
        return rewritten

    @final
    def run(self, fgraph: FunctionGraph, observer: Observer | None = None) -> FunctionGraph:
        """Apply the rewriter, hold it to its contract, and report to `observer`: what rewriters that hold others call.

        Raises
        ------
        RewriteError
            It returned no graph, or a graph of other inputs, or of outputs whose types those of the old outputs do not
            include.
            Under ``config.check_rewrites``, the graph it returned is not well formed.
        """
        if observer is not None:
            observer.entered(self, fgraph)
        rewritten = self.apply_observed(fgraph, observer)
        if rewritten is not fgraph:
            _check_contract(self, fgraph, rewritten)
            if config.check_rewrites:
                _check_graph(self, rewritten)
        if observer is not None:
            observer.left(self, rewritten)
        return rewritten

    def rewrite(self, fgraph: FunctionGraph) -> FunctionGraph:
        """Return the rewritten graph: adds the requirements, then applies.

        Inputs that a node computes are taken as they are: nothing behind them is looked at or changed.

        Raises
        ------
            As `run`.
        """
        return _rewrite(self, fgraph, None)

    @final
    def rewrite_observed(self, fgraph: FunctionGraph, observer: Observer) -> FunctionGraph:
        """Rewrite a graph as `rewrite` does, telling `observer` what happens."""
        return _rewrite(self, fgraph, observer)

    @final
    def rewrite_with_log(self, fgraph: FunctionGraph) -> Rewritten:
        """Rewrite a graph as `rewrite` does, and say for each new node which rewriters made it from what."""
        observer = LogObserver()
        rewritten = _rewrite(self, fgraph, observer)
        return Rewritten(rewritten, RewriteLog(fgraph, tuple(observer.steps)))

    def __call__(self, fgraph: FunctionGraph) -> FunctionGraph:
        """Return the rewritten graph; the same as `rewrite`."""
        return self.rewrite(fgraph)


def _rewrite(rewriter: GraphRewriter, fgraph: FunctionGraph, observer: Observer | None) -> FunctionGraph:
    # A rewriter looks at `variable.owner`, which must not lead it behind an input.
    computed = [variable for variable in fgraph.inputs if variable.owner is not None]
    if computed:
        roots = {variable: variable.type.make_variable(variable.name) for variable in computed}
        start = _with_inputs(fgraph, roots)
        if observer is not None:
            observer.replaced(None, fgraph.outputs, start.outputs)
    else:
        roots = {}
        start = fgraph
    with collecting_rarely():
        rewritten = rewriter.run(rewriter.add_requirements(start), observer)
    if not roots:
        return rewritten
    restored = _with_inputs(rewritten, {root: variable for variable, root in roots.items()})
    if observer is not None:
        observer.replaced(None, rewritten.outputs, restored.outputs)
    return restored


def _with_inputs(fgraph: FunctionGraph, replaced: Mapping[Variable[Any], Variable[Any]]) -> FunctionGraph:
    inputs = [replaced.get(variable, variable) for variable in fgraph.inputs]
    features = [f.with_variables(replaced) if isinstance(f, NamesVariables) else f for f in fgraph.features]
    return FunctionGraph(inputs, substitute(fgraph.outputs, replaced, fgraph.inputs), features)


def _check_contract(rewriter: GraphRewriter, old: FunctionGraph, new: object) -> None:
    if not isinstance(new, FunctionGraph):
        raise RewriteError(
            f"{rewriter.name}.apply returned {new!r}, not a FunctionGraph; graphs never change, so a rewriter returns the new one"
        )
    if new.inputs != old.inputs:
        raise RewriteError(f"{rewriter.name} changed the inputs of the graph from {old.inputs} to {new.inputs}")
    if len(new.outputs) != len(old.outputs):
        raise RewriteError(
            f"{rewriter.name} made a graph of {len(new.outputs)} outputs from one of {len(old.outputs)} outputs"
        )
    for i, (was, now) in enumerate(zip(old.outputs, new.outputs, strict=True)):
        if was.type.is_super(now.type) is None:
            raise RewriteTypeError(
                f"{rewriter.name} replaced output {i}, {was!r} of type {was.type}, by {now!r} of type {now.type}, which that type "
                "does not include"
            )


def _check_graph(rewriter: GraphRewriter, fgraph: FunctionGraph) -> None:
    try:
        check(fgraph)
    except GraphCheckError as error:
        error.add_note(f"this is the graph that the rewriter {rewriter.name} made")
        raise


RewriterT = TypeVar("RewriterT", bound=Rewriter)


class NodeRewriter(Rewriter):
    """A function from a node to what replaces its outputs. A subclass writes `transform`, and `tracks`.

    A transformation depends on its arguments only, and is right whatever surrounds the node: the graph may be asked, say for
    clients, to decide whether it pays.
    """

    __slots__ = ()

    @abstractmethod
    def transform(self, fgraph: FunctionGraph, node: Apply[Any]) -> TransformResult:
        """Return what replaces the outputs of `node`.

        Parameters
        ----------
        fgraph
            The graph that the pass began with. Its clients are also known for Variables that were made since.
        node
            A node of the graph as it is being rewritten; its inputs have been rewritten already, in the usual order.

        Returns
        -------
        False or None
            Nothing is to be done.
        sequence of Variable or None
            A replacement for each output; None for one that nobody uses. A replacement's type is included in that of the output.
        mapping of Variable to Variable
            Replacements of any Variables of the graph.
        """

    def tracks(self) -> Sequence[OpKey] | None:
        """Return the Ops, Op classes or `OpPattern` of the nodes that this rewriter is for; None for all nodes."""
        return None

    def tracks_inputs(self) -> Sequence[OpKey] | None:
        """Return the Ops, Op classes or `OpPattern` of which one must have computed an input, for there to be anything to do.

        A walk passes over the nodes without such an input; to say it here saves asking. None where it does not depend on that.
        """
        return None

    @property
    def reads_graph(self) -> bool:
        """Whether `transform` looks at its graph, and not only at the node and what it is computed from.

        If it does not, a node that it left alone needs no second visit when the graph around changed. By default, whether the
        code of `transform` uses its first argument.
        """
        return _uses_argument(type(self).transform, 1)


def _uses_argument(function: Callable[..., object], place: int) -> bool:
    code = getattr(function, "__code__", None)
    if code is None or place >= code.co_argcount:
        return True
    if code.co_varnames[place] in code.co_cellvars:
        return True
    # An argument of 256 or more begins with another instruction; to take it for a smaller one is to look at the graph too often.
    instructions, arguments = code.co_code[::2], code.co_code[1::2]
    alone, in_pair = _arguments_that_name(place)
    of_one = _marked(instructions, _OF_ONE) & _marked(arguments, alone)
    return of_one != 0 or _marked(instructions, _OF_TWO) & _marked(arguments, in_pair) != 0


@cache
def _arguments_that_name(place: int) -> tuple[bytes, bytes]:
    """Return which arguments name a local variable, of instructions that take one and of those that take two."""
    return (
        bytes([argument == place for argument in range(256)]),
        bytes([place in divmod(argument, 16) for argument in range(256)]),
    )


def _marked(units: bytes, table: bytes) -> int:
    """Return the bytes that a table gives for each, as one number: there are many functions to look at before the first graph is rewritten."""
    return int.from_bytes(units.translate(table), "big")


_LOCALS: Final = [name.split("_").count("FAST") for name in [*opcode.opname, *[""] * 256][:256]]
_OF_ONE: Final = bytes([count == 1 for count in _LOCALS])
"""Which instructions take a local variable."""
_OF_TWO: Final = bytes([count == 2 for count in _LOCALS])
"""Which take two: each has four bits of the argument."""


def demanding(rewriters: Iterable[RewriterT]) -> tuple[RewriterT, ...]:
    """Return those of some rewriters that may need features; of many rewriters these are few."""
    return tuple(
        [
            rewriter
            for rewriter in rewriters
            if type(rewriter).add_requirements is not Rewriter.add_requirements
            and (not isinstance(rewriter, FromFunctionNodeRewriter) or rewriter.requirements)
        ]
    )


def _as_requirements(requirements: Sequence[Requirement]) -> tuple[Requirement, ...]:
    return tuple(requirements)


def _as_tracks(tracks: Sequence[OpKey] | None) -> tuple[OpKey, ...] | None:
    return None if tracks is None else tuple(tracks)


@final
@attrs.frozen(repr=False)
class FromFunctionGraphRewriter(GraphRewriter):
    """A graph rewriter that is a function.

    Parameters
    ----------
    function
        Returns a graph for a graph.
    requirements
        Functions that add features to a graph.
    name
        The name of the rewriter; by default that of the function.
    """

    function: Callable[[FunctionGraph], FunctionGraph]
    requirements: tuple[Requirement, ...] = attrs.field(default=(), converter=_as_requirements)
    name: str = attrs.field(default=attrs.Factory(lambda self: _function_name(self.function), takes_self=True))

    @override
    def add_requirements(self, fgraph: FunctionGraph) -> FunctionGraph:
        for requirement in self.requirements:
            fgraph = requirement(fgraph)
        return fgraph

    @override
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        return self.function(fgraph)

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.function, self.requirements, self.name)
        return found_by_name(self, self.function) or (FromFunctionGraphRewriter, parts)

    @override
    def __repr__(self) -> str:
        return f"FromFunctionGraphRewriter({self.name})"


@final
@attrs.frozen(repr=False)
class FromFunctionNodeRewriter(NodeRewriter):
    """A node rewriter that is a function; see `node_rewriter`."""

    function: Transform
    keys: tuple[OpKey, ...] | None = attrs.field(default=None, converter=_as_tracks)
    requirements: tuple[Requirement, ...] = attrs.field(default=(), converter=_as_requirements)
    inplace: bool = False
    states_reads_graph: bool | None = None
    input_keys: tuple[OpKey, ...] | None = attrs.field(default=None, converter=_as_tracks)
    name: str = attrs.field(default=attrs.Factory(lambda self: _function_name(self.function), takes_self=True))

    @override
    def transform(self, fgraph: FunctionGraph, node: Apply[Any]) -> TransformResult:
        return self.function(fgraph, node)

    @override
    def tracks(self) -> Sequence[OpKey] | None:
        return self.keys

    @override
    def tracks_inputs(self) -> Sequence[OpKey] | None:
        return self.input_keys

    @cached_property
    @override
    def reads_graph(self) -> bool:
        return _uses_argument(self.function, 0) if self.states_reads_graph is None else self.states_reads_graph

    @override
    def add_requirements(self, fgraph: FunctionGraph) -> FunctionGraph:
        for requirement in self.requirements:
            fgraph = requirement(fgraph)
        return fgraph

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        parts = attrs.astuple(self, recurse=False)
        return found_by_name(self, self.function) or (FromFunctionNodeRewriter, parts)

    @override
    def __repr__(self) -> str:
        return f"FromFunctionNodeRewriter({self.name})"


def _function_name(function: Callable[..., object]) -> str:
    return getattr(function, "__name__", None) or type(function).__name__


def graph_rewriter(function: Callable[[FunctionGraph], FunctionGraph]) -> FromFunctionGraphRewriter:
    """Make a graph rewriter of a function; for use as a decorator."""
    return FromFunctionGraphRewriter(function)


def node_rewriter(
    tracks: Sequence[OpKey] | None,
    inplace: bool = False,
    requirements: Sequence[Requirement] = (),
    reads_graph: bool | None = None,
    tracks_inputs: Sequence[OpKey] | None = None,
) -> Callable[[Transform], FromFunctionNodeRewriter]:
    """Make a node rewriter of a function of a graph and a node; for use as a decorator.

    Parameters
    ----------
    tracks
        The Ops, Op classes or `OpPattern` of the nodes it is for; None for all nodes.
    inplace
        Whether what it makes may overwrite inputs.
    requirements
        Functions that add to a graph the features that the rewriter needs.
    reads_graph
        Whether the function looks at the graph; by default, whether it uses its first argument. See `NodeRewriter`.
    tracks_inputs
        The Ops, Op classes or `OpPattern` of which one must have computed an input, for there to be anything to do.

    Examples
    --------
    >>> @node_rewriter([exp])  # doctest: +SKIP
    ... def exp_of_log(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
    ...     (x,) = node.inputs
    ...     return list(x.owner.inputs) if x.owner and x.owner.op == log else None
    """

    def decorate(function: Transform) -> FromFunctionNodeRewriter:
        return FromFunctionNodeRewriter(function, tracks, requirements, inplace, reads_graph, tracks_inputs)

    return decorate
