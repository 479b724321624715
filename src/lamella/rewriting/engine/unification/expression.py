"""Expression tuples: graphs, Ops and Types as nested tuples of a function and what it is applied to, in which logic variables may stand.

::

    add(x, exp(y))                  e(Add, x, e(Exp, y))                    with etuplize
    Elemwise(add)                   e(Elemwise, Add, ())                    Ops and Types as their class and their properties
    the second output of f(x)       e(nth, 1, e(f, x))

Evaluated, an expression tuple gives the graph again: nodes are interned, so the very same one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, TypeVar, final, overload

import attrs
from typing_extensions import override

from lamella.ir import Apply, Op, Type, Variable
from lamella.rewriting.engine.unification.logic_variable import LogicVariable

__all__ = [
    "ConsPair",
    "ExpressionTuple",
    "Term",
    "cons",
    "etuple",
    "etuplize",
    "evaluated",
    "nth",
    "output_of",
    "taken_apart",
]

T = TypeVar("T")

Term = object
"""What is unified and reified: Variables, Ops, Types, logic variables, tuples of such things, and any other values."""

_DEEPEST: Final = 12  # levels that are printed
_NOTHING: Final = object()


def _as_tuple(items: Iterable[Term]) -> tuple[Term, ...]:
    return tuple(items)


@final
@attrs.frozen(eq=False, repr=False, weakref_slot=True)
class ExpressionTuple(Sequence[Term]):
    """A function, first, and what it is applied to; any of it may be a logic variable, or another expression tuple.

    Parameters
    ----------
    items
        The function (an Op, an Op class, any callable) and its arguments.
    known
        What it evaluates to, where that is known already.
    """

    items: tuple[Term, ...] = attrs.field(converter=_as_tuple)
    known: object = attrs.field(default=_NOTHING, kw_only=True)

    @cached_property
    def evaled_obj(self) -> Any:
        """The function, applied to what the arguments evaluate to.

        An Op gives its default output, else the tuple of its outputs; an Op class or Type class is given its properties.

        Raises
        ------
        ValueError
            There is a logic variable in it, or it is empty.
        TypeError
            What comes first is no function, or does not take these arguments.
        """
        return output_of(evaluated(self))

    @overload
    def __getitem__(self, place: int) -> Term: ...

    @overload
    def __getitem__(self, place: slice) -> ExpressionTuple: ...

    @override
    def __getitem__(self, place: int | slice) -> Term:
        found = self.items[place]
        return ExpressionTuple(found) if isinstance(place, slice) and isinstance(found, tuple) else found

    @override
    def __len__(self) -> int:
        return len(self.items)

    @override
    def __iter__(self) -> Iterator[Term]:
        return iter(self.items)

    def __add__(self, more: Sequence[Term]) -> ExpressionTuple:
        return ExpressionTuple((*self.items, *more))

    def __radd__(self, fewer: Sequence[Term]) -> ExpressionTuple:
        return ExpressionTuple((*fewer, *self.items))

    @override
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExpressionTuple):
            return NotImplemented
        pending: list[tuple[Term, Term]] = [(self, other)]
        met: set[tuple[int, int]] = set()
        while pending:
            a, b = pending.pop()
            if a is b or (id(a), id(b)) in met:
                continue
            if isinstance(a, ExpressionTuple) and isinstance(b, ExpressionTuple):
                if len(a) != len(b):
                    return False
                met.add((id(a), id(b)))
                pending.extend(zip(a.items, b.items, strict=True))
            elif a != b:
                return False
        return True

    @override
    def __hash__(self) -> int:
        # Of what is nested only the length counts: a hash of all of it would go as deep as the expression.
        return hash(tuple([len(item) if isinstance(item, ExpressionTuple) else item for item in self.items]))

    @override
    def __repr__(self) -> str:
        return _shown(self, 0)


def _shown(term: Term, level: int) -> str:
    if not isinstance(term, ExpressionTuple):
        return term.__name__ if isinstance(term, type) or (callable(term) and hasattr(term, "__name__")) else str(term)
    if level == _DEEPEST:
        return "e(...)"
    return f"e({', '.join([_shown(item, level + 1) for item in term.items])})"


def etuple(*items: Term) -> ExpressionTuple:
    """Return an expression tuple of a function and its arguments."""
    return ExpressionTuple(items)


@final
@attrs.frozen
class ConsPair:
    """A first item, and the rest, which is not known yet; see `cons`."""

    car: Term
    cdr: Term


def cons(car: Term, cdr: Term) -> ConsPair | ExpressionTuple | tuple[Term, ...] | list[Term]:
    """Put an item before a sequence: in a pattern, ``cons(op, rest)`` stands for an application to any number of arguments.

    Parameters
    ----------
    car
        The first item.
    cdr
        The rest: an expression tuple, a tuple or a list, which is made longer; or a logic variable.
    """
    match cdr:
        case ExpressionTuple():
            return ExpressionTuple((car, *cdr.items))
        case tuple():
            return (car, *cdr)
        case list():
            return [car, *cdr]
        case _:
            return ConsPair(car, cdr)


def nth(n: int, application: Apply[Any] | Sequence[Variable[Any]]) -> Variable[Any]:
    """Return one output of a node: what stands before the nodes of several outputs in expression tuples."""
    outputs = application.outputs if isinstance(application, Apply) else application
    return outputs[n]


# Taking apart


def taken_apart(term: Variable[Any] | Op[Any, Any] | Type[Any]) -> ExpressionTuple | None:
    """Return a Variable, an Op or a Type as an expression tuple of its immediate parts; None where it has none."""
    if isinstance(term, Variable):
        return _variable_apart(term)
    names = property_names(type(term))
    if names is None:
        return None
    properties = term.properties()
    if tuple(properties) != names:
        return None
    return ExpressionTuple((type(term), *properties.values()), known=term)


def _variable_apart(variable: Variable[Any]) -> ExpressionTuple | None:
    node = variable.owner
    if node is None:
        return None
    if len(node.outputs) == 1:
        return ExpressionTuple((node.op, *node.inputs), known=variable)
    application = ExpressionTuple((node.op, *node.inputs), known=node)
    return ExpressionTuple((nth, variable.index, application), known=variable)


def property_names(cls: type[Any]) -> tuple[str, ...] | None:
    """Return the properties by which objects of an Op class or Type class are made, in order; None where that is not known."""
    if cls.__props__ is not None:
        return tuple(cls.__props__)
    if not attrs.has(cls):
        return () if cls.__init__ is object.__init__ else None
    makes = next(base for base in cls.__mro__ if not {"__init__", "__attrs_attrs__"}.isdisjoint(vars(base)))
    fields = attrs.fields(cls)
    if "__attrs_attrs__" not in vars(makes) or any(field.eq and not field.init for field in fields):
        return None
    return tuple([field.name for field in fields if field.eq])


def etuplize(term: Term, shallow: bool = False) -> ExpressionTuple:
    """Return a graph as expression tuples, down to its inputs; or an Op or a Type as its class and its properties.

    Parameters
    ----------
    term
        A Variable that a node computes, an Op, or a Type. A sequence is taken as the parts of an expression.
    shallow
        Leave the parts as they are.

    Raises
    ------
    TypeError
        It has no parts.
    """
    if isinstance(term, ExpressionTuple):
        return term
    if isinstance(term, list | tuple):
        return ExpressionTuple(term)
    parts = taken_apart(term) if isinstance(term, Variable | Op | Type) else None
    if parts is None:
        raise TypeError(f"{term!r} of type {type(term).__name__} has no parts: it is no application of a function")
    return parts if shallow or not isinstance(term, Variable) else _all_apart(parts)


def _all_apart(top: ExpressionTuple) -> ExpressionTuple:
    made: dict[int, ExpressionTuple] = {}
    apart: dict[Variable[Any], ExpressionTuple | None] = {}

    def parts(item: Term) -> ExpressionTuple | None:
        if isinstance(item, ExpressionTuple):
            return item
        if not isinstance(item, Variable):
            return None
        if item not in apart:
            apart[item] = _variable_apart(item)
        return apart[item]

    stack = [top]
    while stack:
        current = stack[-1]
        inner = [parts(item) for item in current.items]
        missing = [part for part in inner if part is not None and id(part) not in made]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        items = [item if part is None else made[id(part)] for item, part in zip(current.items, inner, strict=True)]
        made[id(current)] = ExpressionTuple(items, known=current.known)
    return made[id(top)]


# Putting together


def output_of(result: object) -> object:
    """Return what an evaluated expression stands for: of a node its default output, else the tuple of its outputs."""
    if not isinstance(result, Apply):
        return result
    if len(result.outputs) == 1 or result.op.default_output is not None:
        return result.default_output()
    return result.outputs


def evaluated(top: ExpressionTuple) -> object:
    """Return the value of an expression; of an application of an Op, the node."""
    values: dict[int, object] = {}
    stack = [top]
    while stack:
        current = stack[-1]
        if id(current) in values:
            stack.pop()
            continue
        if current.known is not _NOTHING:
            values[id(current)] = current.known
            continue
        missing = [item for item in current.items if isinstance(item, ExpressionTuple) and id(item) not in values]
        if missing:
            stack.extend(reversed(missing))
            continue
        items = [values[id(item)] if isinstance(item, ExpressionTuple) else item for item in current.items]
        values[id(current)] = _applied(current, items)
        stack.pop()
    return values[id(top)]


def _applied(expression: ExpressionTuple, items: Sequence[object]) -> object:
    if not items:
        raise ValueError("an empty expression tuple has no value")
    for item in items:
        if isinstance(item, LogicVariable | ConsPair):
            raise ValueError(f"{expression} has no value while {item} is in it: reify it first")
    function, *arguments = items
    if function is nth:
        return _nth_of(expression, arguments)
    arguments = [output_of(argument) for argument in arguments]
    if isinstance(function, Op):
        make: Callable[..., object] = function.make_node
        return make(*arguments)
    if isinstance(function, type) and issubclass(function, Op | Type):
        return _made_of(function, arguments)
    if not callable(function):
        raise TypeError(f"{expression} has no value: {function!r} is no function")
    return function(*arguments)


def _nth_of(expression: ExpressionTuple, arguments: Sequence[object]) -> object:
    match arguments:
        case (int() as place, Apply() as node) if 0 <= place < len(node.outputs):
            return nth(place, node)
        case _:
            raise TypeError(
                f"{expression} has no value: nth takes the number of an output and the application of an Op"
            )


def _made_of(cls: type[T], values: Sequence[object]) -> T:
    names = property_names(cls)
    if names is None or len(names) != len(values):
        return cls(*values)
    aliases = {field.name: field.alias for field in attrs.fields(cls)} if attrs.has(cls) else {}
    return cls(**{aliases.get(name) or name: value for name, value in zip(names, values, strict=True)})
