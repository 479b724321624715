"""`PatternNodeRewriter`: a rewrite written as a pattern and what it becomes.

PatternNodeRewriter((true_div, (mul, "x", "y"), "y"), "x")          x*y/y -> x
PatternNodeRewriter((exp, (log, "x")), "x")                         exp(log(x)) -> x
PatternNodeRewriter((add, "x", 0), "x")                             x + 0 -> x
PatternNodeRewriter((power, "x", 2), (mul, "x", "x"))               x**2 -> x*x
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import attrs
from typing_extensions import override

from lamella.errors import RewriteError
from lamella.ir import Apply, Constant, FunctionGraph, HasStaticShape, Op, Type, Variable
from lamella.rewriting.engine.literals import Literal, holds_number
from lamella.rewriting.engine.rewriter import NodeRewriter, TransformResult
from lamella.rewriting.engine.tracking import OpKey, OpMatcher, matches_op

__all__ = ["Bindings", "Constrained", "InPattern", "OutPattern", "PatternNodeRewriter"]

Constrained = Mapping[str, object]
"""A part of a pattern under ``"pattern"``, and under ``"constraint"`` a function that says of a Variable whether it will do."""

InPattern = str | Literal | Variable[Any] | Constrained | tuple[OpKey, *tuple["InPattern", ...]]
"""What to look for: a name, a number, a given Variable, a part with a condition, or an Op (a key that names Ops) and what it is applied to.

A name stands for any Variable, the same one wherever the name is repeated.
"""

Bindings = Mapping[str, Variable[Any]]
"""What the names of a pattern stand for."""

Build = Callable[..., Variable[Any]]
OutPattern = (
    str
    | Literal
    | Variable[Any]
    | tuple[Build, *tuple["OutPattern", ...]]
    | Callable[[FunctionGraph, Apply[Any], Bindings], Variable[Any] | None]
)
"""What to put in place: a name, a number, a Variable, an Op or any function with what to call it on, or a function of the
graph, the node and the bindings that returns a Variable, or None to do nothing after all."""
GetNodes = Callable[[FunctionGraph, Apply[Any]], Sequence[Apply[Any]]]
"""Finds the nodes to try a pattern on, from a node that is tracked."""


Constraint = Callable[[Variable[Any]], bool]


@attrs.frozen
class _Part(ABC):
    """A part of a pattern."""

    constraint: Constraint | None

    @abstractmethod
    def fits(self, variable: Variable[Any], bindings: dict[str, Variable[Any]], fgraph: FunctionGraph | None) -> bool:
        """Whether a Variable fits, given what names stand for; those met first are added.

        With a graph, what is inside the pattern may not be used by others in that graph.
        """

    def names(self) -> frozenset[str]:
        """The names in this part."""
        return frozenset()

    @abstractmethod
    def built(self, bindings: Bindings) -> Any:
        """Return what fits this part, up to its condition, given Variables for the names; None where the Op is not said."""


@attrs.frozen
class _Name(_Part):
    name: str

    @override
    def fits(self, variable: Variable[Any], bindings: dict[str, Variable[Any]], fgraph: FunctionGraph | None) -> bool:
        if bindings.setdefault(self.name, variable) is not variable:
            return False
        return self.constraint is None or self.constraint(variable)

    @override
    def names(self) -> frozenset[str]:
        return frozenset([self.name])

    @override
    def built(self, bindings: Bindings) -> Any:
        return bindings[self.name]

    @override
    def __str__(self) -> str:
        return self.name


@attrs.frozen
class _Number(_Part):
    value: Literal

    @override
    def fits(self, variable: Variable[Any], bindings: dict[str, Variable[Any]], fgraph: FunctionGraph | None) -> bool:
        return holds_number(variable, self.value) and (self.constraint is None or self.constraint(variable))

    @override
    def built(self, bindings: Bindings) -> Any:
        return self.value

    @override
    def __str__(self) -> str:
        return str(self.value)


@attrs.frozen
class _Given(_Part):
    given: Variable[Any]

    @override
    def fits(self, variable: Variable[Any], bindings: dict[str, Variable[Any]], fgraph: FunctionGraph | None) -> bool:
        return self._equals(variable) and (self.constraint is None or self.constraint(variable))

    def _equals(self, variable: Variable[Any]) -> bool:
        """Whether a Variable is the given one, or a Constant of the same Type and value."""
        given = self.given
        if variable is given:
            return True
        if not isinstance(variable, Constant) or not isinstance(given, Constant) or variable.type != given.type:
            return False
        key = given.type.constant_key(given.data)
        return key is not None and key == variable.type.constant_key(variable.data)

    @override
    def built(self, bindings: Bindings) -> Any:
        return self.given

    @override
    def __str__(self) -> str:
        return str(self.given)


@attrs.frozen
class _Applied(_Part):
    key: OpKey
    arguments: tuple[_Part, ...]

    @override
    def fits(self, variable: Variable[Any], bindings: dict[str, Variable[Any]], fgraph: FunctionGraph | None) -> bool:
        node = variable.owner
        if node is None or not (node.op is self.key or matches_op(self.key, node.op)):
            return False
        if fgraph is not None and len({client for client, _ in fgraph.get_clients(variable)}) > 1:
            return False
        return self.fits_node(node, bindings, fgraph) and (self.constraint is None or self.constraint(variable))

    def fits_node(self, node: Apply[Any], bindings: dict[str, Variable[Any]], fgraph: FunctionGraph | None) -> bool:
        """Whether the inputs of a node, whose Op fits, fit."""
        if len(node.inputs) != len(self.arguments) or len(node.outputs) != 1:
            return False
        for part, variable in zip(self.arguments, node.inputs, strict=True):
            if not part.fits(variable, bindings, fgraph):
                return False
        return True

    @override
    def names(self) -> frozenset[str]:
        return frozenset().union(*[argument.names() for argument in self.arguments])

    @override
    def built(self, bindings: Bindings) -> Any:
        arguments = [argument.built(bindings) for argument in self.arguments]
        return self.key(*arguments) if isinstance(self.key, Op) and None not in arguments else None

    @override
    def __str__(self) -> str:
        key = self.key.__name__ if isinstance(self.key, type) else self.key
        return f"{key}({', '.join([str(argument) for argument in self.arguments])})"


def _read(pattern: object, constraint: Constraint | None = None) -> _Part:
    """Read a pattern as a user writes it."""
    match pattern:
        case str():
            return _Name(constraint, pattern)
        case bool() | int() | float() | complex():
            return _Number(constraint, pattern)
        case Variable():
            return _Given(constraint, pattern)
        case {"pattern": part, "constraint": condition, **rest} if (
            not rest and constraint is None and callable(condition)
        ):
            return _read(part, condition)
        case (key, *arguments) if isinstance(key, Op | type | OpMatcher):
            return _Applied(constraint, key, tuple([_read(argument) for argument in arguments]))
        case _:
            raise TypeError(
                f"{pattern!r} is no pattern: a pattern is a name, a number, a Variable, a tuple of an Op and its arguments, or "
                "{'pattern': ..., 'constraint': ...}"
            )


def _was_broadcast(old: Type[Any], new: Type[Any]) -> bool:
    """Whether a length that is not known is to become 1: in x*y/y, an x of length 1 takes part in a longer result."""
    if not isinstance(old, HasStaticShape) or not isinstance(new, HasStaticShape):
        return False
    return any(before is None and after == 1 for before, after in zip(old.shape, new.shape, strict=True))


def _names_used(pattern: OutPattern) -> frozenset[str]:
    match pattern:
        case str():
            return frozenset([pattern])
        case tuple():
            return frozenset().union(*[_names_used(argument) for argument in pattern[1:]])
        case _:
            return frozenset()


def _show(pattern: OutPattern) -> str:
    match pattern:
        case (build, *arguments):
            name = str(build) if isinstance(build, Op) else getattr(build, "__name__", str(build))
            return f"{name}({', '.join([_show(argument) for argument in arguments])})"
        case _:
            return str(getattr(pattern, "__name__", pattern))


@final
@attrs.frozen(init=False, repr=False)
class PatternNodeRewriter(NodeRewriter):
    """Replaces what fits a pattern by what another pattern says.

    A replacement whose type does not fit the output's is not made, nor is one that is known to have length 1 along an axis where
    the length of the output is not known: an elementwise pattern is about what has the shape of the result.

    Parameters
    ----------
    in_pattern
        What to look for: a tuple of an Op (or an Op class, or an `OpPattern`) and patterns for its inputs. Names stand for any Variable,
        the same one wherever they are repeated; numbers for Constants that hold them, to the sign of zero; ``{"pattern": ...,
        "constraint": function}`` for what the pattern fits and the function accepts.
    out_pattern
        What to put in place: likewise, but any function may stand for an Op. Or a function of the graph, the node and what
        the names stand for, which returns a Variable, or None to do nothing.
    allow_multiple_clients
        Also fit where an inner part of the pattern is used by others, so that it will have to be computed as well.
    name
        The name of the rewriter; the two patterns by default.
    tracks
        The Ops that `get_nodes` begins from; by default the pattern's first Op.
    get_nodes
        Finds the nodes to try the pattern on from a tracked node; by default that node.

    Raises
    ------
    TypeError
        A pattern is none.
    ValueError
        The right side uses a name that the left side does not have; or only one of `tracks` and `get_nodes` is given.
    """

    left: _Applied
    right: OutPattern
    allow_multiple_clients: bool
    name: str
    keys: tuple[OpKey, ...]
    get_nodes: GetNodes | None

    def __init__(
        self,
        in_pattern: InPattern,
        out_pattern: OutPattern,
        allow_multiple_clients: bool = False,
        name: str | None = None,
        tracks: Sequence[OpKey] | None = None,
        get_nodes: GetNodes | None = None,
    ) -> None:
        left = _read(in_pattern)
        if not isinstance(left, _Applied):
            raise TypeError(f"{in_pattern!r} cannot be looked for: a pattern begins with an Op, as in (add, 'x', 'y')")
        unknown = _names_used(out_pattern) - left.names()
        if unknown:
            raise ValueError(
                f"the right side of {left} -> {_show(out_pattern)} uses {min(unknown)!r}, the left does not"
            )
        if (tracks is None) != (get_nodes is None):
            raise ValueError(
                "tracks and get_nodes are given together: which Ops to begin from, and where to look from there"
            )
        shown = f"{left} -> {_show(out_pattern)}"
        keys = (left.key,) if tracks is None else tuple(tracks)
        self.__attrs_init__(left, out_pattern, allow_multiple_clients, name or shown, keys, get_nodes)

    @property
    @override
    def reads_graph(self) -> bool:
        nested = any(isinstance(argument, _Applied) for argument in self.left.arguments)
        by_function = callable(self.right) and not isinstance(self.right, tuple)
        return self.get_nodes is not None or by_function or (nested and not self.allow_multiple_clients)

    @override
    def tracks(self) -> Sequence[OpKey]:
        return self.keys

    @property
    def names(self) -> frozenset[str]:
        """The names of the left side."""
        return self.left.names()

    def left_side(self, bindings: Bindings) -> Variable[Any] | None:
        """Return what the pattern looks for, built of Variables that stand for its names, whether or not its conditions accept it.

        None where an Op class or another key stands for an Op, which says not which one to apply.

        Raises
        ------
        KeyError
            A name stands for nothing.
        """
        built = self.left.built(bindings)
        assert built is None or isinstance(built, Variable)
        return built

    @override
    def transform(self, fgraph: FunctionGraph, node: Apply[Any]) -> TransformResult:
        if self.get_nodes is None:
            made = self._replacement(fgraph, node)
            return False if made is None else [made]
        for other in self.get_nodes(fgraph, node):
            made = self._replacement(fgraph, other)
            if made is not None:
                return {other.outputs[0]: made}
        return False

    def _replacement(self, fgraph: FunctionGraph, node: Apply[Any]) -> Variable[Any] | None:
        left, bindings = self.left, dict[str, Variable[Any]]()
        if not (node.op is left.key or matches_op(left.key, node.op)):
            return None
        if not left.fits_node(node, bindings, None if self.allow_multiple_clients else fgraph):
            return None
        output: Variable[Any] = node.outputs[0]
        if left.constraint is not None and not left.constraint(output):
            return None
        made = self._build(fgraph, node, bindings)
        if made is None or made is output or output.type.is_super(made.type) is None:
            return None
        return None if _was_broadcast(output.type, made.type) else made

    def _build(self, fgraph: FunctionGraph, node: Apply[Any], bindings: Bindings) -> Variable[Any] | None:
        right = self.right
        if isinstance(right, str | tuple | Variable):
            built: Variable[Any] = _build(right, bindings)
            return built
        if isinstance(right, bool | int | float | complex):
            try:
                number: Variable[Any] = node.outputs[0].type.filter_variable(right)
            except TypeError:
                return None
            return number
        computed: object = right(fgraph, node, bindings)
        if computed is not None and not isinstance(computed, Variable):
            raise RewriteError(f"{self.name}: the right side returned {computed!r}, which is no Variable")
        return computed

    @override
    def __repr__(self) -> str:
        return f"PatternNodeRewriter({self.name})"


def _build(pattern: OutPattern, bindings: Bindings) -> Any:
    match pattern:
        case str():
            return bindings[pattern]
        case (build, *arguments):
            return build(*[_build(argument, bindings) for argument in arguments])
        case _:
            return pattern
