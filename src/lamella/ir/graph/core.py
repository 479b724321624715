"""The nodes of a graph: `Type`, `Variable`, `Constant`, `Apply` and `Op`, which define one another.

A `Variable` stands for a value of its `Type`. An `Apply` node is an application of an `Op` to input Variables; it owns its
output Variables. Nodes never change and compare by identity. `Apply` nodes and Constants are interned, weakly:
applying an equal Op to the same inputs gives the very same node, so equality of graphs is a pointer comparison.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, ParamSpec, Self, final, overload

import attrs
from typing_extensions import TypeVar, override

from lamella.errors import GradientNotImplementedError, ShapeNotInferred
from lamella.ir.graph.interning import InternTable
from lamella.ir.graph.interpreter import NO_VALUE, evaluate
from lamella.ir.graph.origin import Line, Origin, users_line
from lamella.ir.graph.serialize import flatten, restore_node, restore_variable
from lamella.ir.graph.value import Value, canonical, strict_key

if TYPE_CHECKING:
    from lamella.ir.graph.fgraph import FunctionGraph

V = TypeVar("V")
K = TypeVar("K", bound="Variable[Any]")
T_co = TypeVar("T_co", bound="Type[Any]", covariant=True, default="Type[Any]")
P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True, default=Any)

_set = object.__setattr__


class Type(Value, ABC, Generic[V]):
    """A set of values, and what one may do with them; generic in the Python type of the values.

    Subclasses are values: ``attrs.frozen`` classes, or classes with ``__props__``. The only method a subclass must
    write is `filter`.
    """

    __slots__ = ()

    @abstractmethod
    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> V:
        """Return `value` as a value of this Type.

        Parameters
        ----------
        value
            Any Python object.
        strict
            Accept only what is a value of this Type already, and return that very object.
        allow_downcast
            Allow conversions that may lose precision; None allows them for Python floats only.

        Raises
        ------
        TypeError
            The object cannot be, or under `strict` is not, a value of this Type.
        """

    def filter_inplace(self, value: Any, storage: V, strict: bool = False, allow_downcast: bool | None = None) -> V:
        """Like `filter`, but may reuse `storage`, a value of this Type that is no longer needed."""
        return self.filter(value, strict=strict, allow_downcast=allow_downcast)

    def filter_variable(self, other: Any, allow_convert: bool = True) -> Variable[Any]:
        """Return `other` as a Variable whose type this Type includes.

        Parameters
        ----------
        other
            A Variable, or a value that `filter` accepts (which becomes a Constant).
        allow_convert
            Allow a conversion by `convert_variable` where the types differ.

        Raises
        ------
        TypeError
            There is no such Variable.
        """
        variable = other if isinstance(other, Variable) else self.make_constant(self.filter(other))
        if self.is_super(variable.type) is not None:
            return variable
        converted = self.convert_variable(variable) if allow_convert else None
        if converted is None or self.is_super(converted.type) is None:
            raise TypeError(f"{variable!r} has the type {variable.type}, which is no {self}")
        return converted

    def convert_variable(self, variable: Variable[Any]) -> Variable[Any] | None:
        """Return a Variable of this Type that holds the values of `variable`, or None where there is no such thing."""
        return None

    def is_valid_value(self, value: Any, strict: bool = True) -> bool:
        """Whether `filter` accepts `value`."""
        try:
            self.filter(value, strict=strict)
        except (TypeError, ValueError):
            return False
        return True

    def values_eq(self, a: Any, b: Any) -> bool:
        """Whether two values of this Type are exactly equal."""
        return bool(a == b)

    def values_eq_approx(self, a: Any, b: Any) -> bool:
        """Whether two values of this Type are equal up to rounding."""
        return self.values_eq(a, b)

    def make_variable(self, name: str | None = None) -> Variable[Self]:
        """Make a Variable of this Type that no node computes."""
        return Variable(self, None, None, name)

    def make_output(self, owner: Apply[Any], index: int, name: str | None = None) -> Variable[Self]:
        """Make the Variable for output `index` of `owner`. Only `Apply` calls this; a Type with Variables of its own class overrides it."""
        return Variable(self, owner, index, name)

    def make_constant(self, value: Any, name: str | None = None) -> Constant[Self]:
        """Make a Constant; equal values of one Type give the same Constant."""
        return Constant(self, value, name)

    def __call__(self, name: str | None = None) -> Variable[Self]:
        """Make a Variable of this Type that no node computes."""
        return self.make_variable(name)

    def clone(self, **changes: Any) -> Self:
        """Return this Type with some of its properties changed."""
        cls = type(self)
        current = self.properties()
        if attrs.has(cls):  # fields that equality passes over are kept too
            current = {field.alias: getattr(self, field.name) for field in attrs.fields(cls) if field.init}
        return cls(**(current | changes))

    def in_same_class(self, other: Type[Any]) -> bool | None:
        """Whether two Types differ in facts about their values at most, not in kind."""
        return self == other

    def is_super(self, other: Type[Any]) -> Type[Any] | None:
        """Return `self` where every value of `other` is a value of this Type, else None."""
        return self if self == other else None

    def may_share_memory(self, a: Any, b: Any) -> bool:
        """Whether a change of one value could change the other."""
        return a is b

    def freeze(self, value: V) -> V:
        """Return a private copy of `value` for a Constant, read-only where values can be."""
        return value

    def copy_value(self, value: V) -> V:
        """Return an equal value that shares nothing with `value` that may change."""
        return copy.deepcopy(value)

    def constant_key(self, value: V) -> Hashable | None:
        """Return a key that two values share only if no computation can tell them apart; None where there is none."""
        simple = isinstance(value, bool | int | float | complex | str | bytes | None)
        return (type(value), strict_key(value)) if simple else None

    def get_shape_info(self, value: V) -> object:
        """Return what `get_size` needs to know about a value."""
        return None

    def get_size(self, shape_info: object) -> int:
        """Return the number of bytes of a value, from what `get_shape_info` said."""
        return 0


@attrs.frozen(eq=False, repr=False, weakref_slot=True)
class Variable(Generic[T_co]):
    """A symbolic value.

    Attributes
    ----------
    type
        The Type of the values it stands for.
    owner
        The node that computes it; None for inputs and constants.
    index
        Its place among the outputs of `owner`.
    name
        A name for people; it means nothing.
    """

    type: T_co
    owner: Apply[Any] | None = None
    index: int | None = None
    name: str | None = None

    def named(self, name: str | None) -> Self:
        """Return this Variable under another name: a node of its own, computing the same value."""
        if self.owner is None:
            return self._renamed(name)
        node, index = self.owner, self.index
        names = tuple([name if i == index else out.name for i, out in enumerate(node.outputs)])
        renamed = Apply.with_names(node.op, node.inputs, tuple([out.type for out in node.outputs]), names)
        return renamed.outputs[index or 0]  # type: ignore[return-value]  # the Type makes the same class of Variable again

    def _renamed(self, name: str | None) -> Self:
        return self.type.make_variable(name)  # type: ignore[return-value]  # the Type makes the same class of Variable again

    # The key of a Mapping is invariant, so a dictionary of one class of Variable needs a signature of its own.
    @overload
    def eval(self, inputs_to_values: Mapping[Variable[Any] | str, object] | None = None) -> Any: ...

    @overload
    def eval(self, inputs_to_values: Mapping[K, object] | Mapping[str, object]) -> Any: ...

    def eval(self, inputs_to_values: Mapping[Any, object] | None = None) -> Any:
        """Compute the value with the reference interpreter.

        Parameters
        ----------
        inputs_to_values
            Values of the graph's inputs, by Variable or by name.

        Raises
        ------
        MissingInputError
            An input has no value.
        """
        return evaluate([self], inputs_to_values or {})[0]

    def stored_value(self) -> Any:
        """Return the value this Variable carries with it (a Constant, a shared variable), or `NO_VALUE`."""
        return NO_VALUE

    @property
    def carries_value(self) -> bool:
        """Whether `stored_value` gives a value: true of constants and shared variables."""
        return False

    @property
    def is_constant(self) -> bool:
        """Whether the value is known while the graph is built."""
        return False

    @override
    def __str__(self) -> str:
        if self.name is not None:
            return self.name
        if self.owner is None:
            return f"<{self.type}>"
        return f"{self.owner.op}.{self.index}"

    @override
    def __repr__(self) -> str:
        return str(self)

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        if self.owner is None:
            return (type(self), (self.type, None, None, self.name))
        return (restore_variable, (Apply, flatten([self])))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class Constant(Variable[T_co]):
    """A Variable with a known value; equal values of one Type (and one name) are the same Constant.

    Attributes
    ----------
    data
        The value: a private copy, read-only where values of the Type can be.
    """

    __slots__ = ("data",)

    data: Any

    def __new__(cls, type: Type[Any], data: Any, name: str | None = None) -> Self:
        """Return the Constant of this value, made now if there is none."""
        value = type.filter(data)
        key = type.constant_key(value)
        if key is None:
            return cls._make(type, value, name)
        place = (cls, id(canonical(type)), key, name)
        known = _constants.find(place)
        if known is None:
            known = _constants.keep(place, cls._make(type, value, name))
        return known  # type: ignore[return-value]  # the place holds the class

    @classmethod
    def _make(cls, type: Type[Any], value: Any, name: str | None) -> Self:
        self = object.__new__(cls)
        Variable.__init__(self, type, None, None, name)
        _set(self, "data", type.freeze(value))
        return self

    def __init__(self, type: T_co, data: Any, name: str | None = None) -> None:
        """Do nothing: ``__new__`` returns the interned Constant."""

    @override
    def _renamed(self, name: str | None) -> Self:
        return type(self)(self.type, self.data, name)

    @override
    def stored_value(self) -> Any:
        return self.data

    @property
    @override
    def carries_value(self) -> bool:
        return True

    @property
    @override
    def is_constant(self) -> bool:
        return True

    @override
    def __str__(self) -> str:
        return self.name if self.name is not None else f"{self.type}{{{self.data}}}"

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.type, self.data, self.name))


Template = Type[Any] | Variable[Any]
"""What describes an output of a node: a Type, or a Variable that no node computes (its name is taken too)."""


@final
@attrs.frozen(eq=False, repr=False, init=False, weakref_slot=True)
class Apply(Generic[R_co]):
    """An application of an Op to inputs; interned, so that it exists once.

    Parameters
    ----------
    op
        The Op.
    inputs
        Its inputs.
    outputs
        A *template* for each output: a Type, or a Variable without an owner, whose type and name are taken. The node makes
        output Variables of its own.

    Attributes
    ----------
    op, inputs, outputs
        The Op, the input Variables, the output Variables.
    built_at
        The line that built this node first, as plain data: see `origin`.

    Raises
    ------
    TypeError
        An input is no Variable, or a template is neither a Type nor a Variable.
    ValueError
        A template is an input of the node or the output of another one.
    """

    op: Op[Any, R_co]
    inputs: tuple[Variable[Any], ...]
    outputs: tuple[Variable[Any], ...]
    built_at: Line | None

    def __new__(cls, op: Op[Any, R_co], inputs: Sequence[Variable[Any]], outputs: Sequence[Template]) -> Self:
        """Return the node of these parts, made now if there is none."""
        ins = tuple(inputs)
        for variable in ins:
            if not isinstance(variable, Variable):
                raise TypeError(_no_variable(op, variable))
        types: list[Type[Any]] = []
        names: list[str | None] = []
        for template in outputs:
            if isinstance(template, Type):
                types.append(template)
                names.append(None)
            elif isinstance(template, Variable):
                _check_template(op, ins, template)
                types.append(template.type)
                names.append(template.name)
            else:
                raise TypeError(f"{op}: an output is described by a Type or a Variable, not by {template!r}")
        return cls.with_names(op, ins, tuple(types), tuple(names))

    @classmethod
    def with_names(
        cls,
        op: Op[Any, R_co],
        inputs: tuple[Variable[Any], ...],
        types: tuple[Type[Any], ...],
        names: tuple[str | None, ...],
        origin: Line | None = None,
    ) -> Self:
        """Return the node of these parts, without checking them; `origin` is that of the calling code by default."""
        stands_for_op = canonical(op)
        stand_for_types = [canonical(t) for t in types]
        key = (id(stands_for_op), *map(id, inputs), *map(id, stand_for_types), *names)
        ref = _applications.refs.get(key)
        if ref is not None:
            known = ref()
            if known is not None:
                return known
        self = object.__new__(cls)
        _set_op(self, op)
        _set_inputs(self, inputs)
        outputs: list[Variable[Any]] = []
        for i, t in enumerate(types):
            made = t.make_output(self, i, names[i])
            if made.type is not t:  # the key holds the address of what stands for the type: the node keeps it alive
                raise TypeError(f"make_output of {t} made a Variable of the type {made.type}")
            outputs.append(made)
        _set_outputs(self, tuple(outputs))
        _set_built_at(self, origin or users_line())
        return _applications.keep(key, self)

    @property
    def origin(self) -> Origin | None:
        """The line that built this node first, outside of this library; None where it is not known."""
        return Origin(*self.built_at) if self.built_at else None

    @property
    def out(self) -> Variable[Any]:
        """The only output.

        Raises
        ------
        ValueError
            The node has several outputs.
        """
        if len(self.outputs) != 1:
            raise ValueError(f"{self} has {len(self.outputs)} outputs")
        return self.outputs[0]

    @property
    def nin(self) -> int:
        """Number of inputs."""
        return len(self.inputs)

    @property
    def nout(self) -> int:
        """Number of outputs."""
        return len(self.outputs)

    def default_output(self) -> Variable[Any]:
        """Return the output that the Op calls its default one, else the only one.

        Raises
        ------
        ValueError
            There are several and none is the default.
        """
        default = self.op.default_output
        return self.out if default is None else self.outputs[default]

    def clone_with_new_inputs(self, inputs: Sequence[Variable[Any]], strict: bool = True) -> Apply[R_co]:
        """Return the application of the same Op to other inputs, with the same meaning.

        Inputs of the same types give a node of the same output types. Inputs of narrower types may narrow the output types;
        an output type is never wider than it was.

        Parameters
        ----------
        inputs
            The new inputs.
        strict
            Refuse inputs whose types the old ones do not include; otherwise convert them where the Type can.

        Raises
        ------
        TypeError
            An input does not fit.
        """
        new = tuple(inputs)
        if len(new) != len(self.inputs):
            raise TypeError(f"{self.op} takes {len(self.inputs)} inputs here, not {len(new)}")
        types = tuple([out.type for out in self.outputs])
        names = tuple([out.name for out in self.outputs])
        for a, b in zip(new, self.inputs, strict=True):
            if a.type is not b.type and a.type != b.type:
                break
        else:
            return Apply.with_names(self.op, new, types, names, self.built_at)
        fitting = tuple(
            [old.type.filter_variable(a, allow_convert=not strict) for a, old in zip(new, self.inputs, strict=True)]
        )
        rebuilt = self.op.rebuild(self, fitting)
        narrowed = tuple(
            [
                old if old.is_super(out.type) is None else out.type
                for old, out in zip(types, rebuilt.outputs, strict=True)
            ]
        )
        return Apply.with_names(rebuilt.op, rebuilt.inputs, narrowed, names, self.built_at)

    @override
    def __str__(self) -> str:
        return f"{self.op}({', '.join([str(variable) for variable in self.inputs])})"

    @override
    def __repr__(self) -> str:
        return f"{self.op}({', '.join([variable.name or str(variable.type) for variable in self.inputs])})"

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        types, names = tuple([out.type for out in self.outputs]), tuple([out.name for out in self.outputs])
        return (restore_node, (Apply, flatten(self.inputs), self.op, types, names, self.built_at))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


def _no_variable(op: Op[Any, Any], found: object) -> str:
    return (
        f"the inputs of an Apply node are Variables, but {op} was given {found!r} of type {type(found).__name__}; "
        f"make_node converts them first (as_tensor_variable)"
    )


def _check_template(op: Op[Any, Any], inputs: tuple[Variable[Any], ...], template: Variable[Any]) -> None:
    if template.owner is not None:
        raise ValueError(f"{op}: the output template {template!r} is the output of another node; pass its type")
    if any(template is variable for variable in inputs):
        raise ValueError(f"{op}: the output template {template!r} is an input of the node; pass its type")


# The keys of nodes hold addresses, never Variables: with those in the key, a dropped chain would be freed one node per garbage
# collection. The node in the table keeps alive whatever its key has the address of.
_applications: InternTable[Apply[Any]] = InternTable()
_constants: InternTable[Constant[Any]] = InternTable()
_set_op, _set_inputs, _set_outputs, _set_built_at = [
    vars(Apply)[name].__set__ for name in ("op", "inputs", "outputs", "built_at")
]


def interned_nodes() -> int:
    """Return how many Apply nodes are alive in this process."""
    return len(_applications)


OutputStorage = Sequence[list[Any]]
"""One-element lists: `Op.perform` puts output ``i`` into ``output_storage[i][0]``."""


class Op(Value, ABC, Generic[P, R_co]):
    """An operation: makes nodes, and says what they mean.

    ``Op[[A, B], R]`` takes arguments of types ``A`` and ``B`` when called and gives an ``R`` (a Variable class, or a tuple
    of them for several outputs). A subclass writes `make_node` (or gives `itypes` and `otypes`) and `perform`; everything
    else is optional. Equal Ops do the same thing: see `Value` for how equality is declared.

    Attributes
    ----------
    default_output
        The output that a call returns where there are several; None for all of them.
    itypes, otypes
        Input and output Types, for Ops that need no `make_node` of their own.
    view_map
        For each output that may share memory with inputs: the indices of those inputs.
    destroy_map
        For each output whose computation overwrites inputs: the indices of those inputs.
    """

    __slots__ = ()

    default_output: ClassVar[int | None] = None
    itypes: Sequence[Type[Any]] | None = None
    otypes: Sequence[Type[Any]] | None = None
    view_map: Mapping[int, Sequence[int]] = MappingProxyType({})
    destroy_map: Mapping[int, Sequence[int]] = MappingProxyType({})

    def make_node(self, *args: P.args, **kwargs: P.kwargs) -> Apply[R_co]:
        """Make the node that applies this Op to the arguments.

        Raises
        ------
        TypeError
            The arguments do not fit.
        """
        if self.itypes is None or self.otypes is None:
            raise TypeError(f"{type(self).__name__} defines neither make_node nor itypes and otypes")
        if len(args) != len(self.itypes) or kwargs:
            raise TypeError(f"{self} takes {len(self.itypes)} inputs, not {len(args) + len(kwargs)}")
        inputs = [itype.filter_variable(arg) for itype, arg in zip(self.itypes, args, strict=True)]
        return Apply(self, inputs, list(self.otypes))

    @abstractmethod
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        """Compute the outputs: the definition of what the Op means.

        Parameters
        ----------
        node
            The application.
        inputs
            Values of its inputs. They are changed only as `destroy_map` declares.
        output_storage
            A one-element list per output, to put the result into. It may hold a value of the right Type from an earlier
            call, whose memory may be reused, and whose contents mean nothing.
        """

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Apply the Op and return the output, or the tuple of outputs, of the node."""
        node = self.make_node(*args, **kwargs)
        outputs = node.outputs
        if self.default_output is not None:
            return outputs[self.default_output]  # type: ignore[return-value]  # R_co describes make_node's outputs
        return outputs[0] if len(outputs) == 1 else outputs  # type: ignore[return-value]  # as above

    def rebuild(self, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Apply[Any]:
        """Apply this Op to inputs of narrower types than those of `node`, keeping the meaning of `node`."""
        make: Any = self.make_node
        made: Apply[Any] = make(*inputs)
        return made

    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> Sequence[tuple[Any, ...]]:
        """Return the shapes of the outputs, computed from the inputs' shapes and, where needed, values.

        Parameters
        ----------
        fgraph
            The graph the node is seen in, where there is one.
        node
            The application.
        shapes
            For each input, a tuple of scalar integer Variables (empty for inputs without a shape).

        Raises
        ------
        ShapeNotInferred
            The shapes can only be found by computing the outputs. An Op that does not override this method says so.
        """
        raise ShapeNotInferred(f"{self} has no infer_shape")

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> Sequence[Variable[Any]]:
        """Return the cotangent of each input, given those of the outputs (the older form of `L_op`)."""
        raise GradientNotImplementedError(f"{self} has no gradient: it defines neither L_op nor grad")

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        """Return the cotangent of each input, given those of the outputs: the vector-Jacobian product.

        Parameters
        ----------
        inputs, outputs
            The node's Variables.
        output_grads
            For each output its cotangent; of `DisconnectedType` where the cost does not depend on that output.

        Raises
        ------
        GradientNotImplementedError
            The Op has no gradient.
        """
        return self.grad(inputs, output_grads)

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> Sequence[Variable[Any] | None]:
        """Return the tangent of each output, given those of the inputs (None for 0): the Jacobian-vector product."""
        raise GradientNotImplementedError(f"{self} has no R_op")

    def connection_pattern(self, node: Apply[Any]) -> Sequence[Sequence[bool]]:
        """Return, for each input, for each output, whether the output depends on the input differentiably."""
        return [[True] * len(node.outputs) for _ in node.inputs]

    def flops(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
        """Return the number of floating-point operations of an application, given the shapes of inputs and outputs."""
        return 0

    def do_constant_folding(self, fgraph: FunctionGraph, node: Apply[Any]) -> bool:
        """Whether an application to constants may be computed while the graph is rewritten."""
        return True

    def debug_perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        """Compute the outputs for a checking mode; the same as `perform` unless overridden."""
        self.perform(node, inputs, output_storage)

    def required_inputs(self, node: Apply[Any], known: Mapping[int, Any]) -> Collection[int]:
        """Return the inputs that are needed: all of them, unless this is overridden.

        An Op that overrides this is *lazy*: what none but its unneeded inputs needs is not computed. It is asked twice: with nothing known
        it gives the inputs that decide which others are needed; with the values of these it gives all others that are. To `perform`, an input
        that was not asked for is None.

        Parameters
        ----------
        node
            The application.
        known
            Values of inputs, by their place.
        """
        return [i for i in range(node.nin) if i not in known]

    @property
    def is_lazy(self) -> bool:
        """Whether the Op may do without some of its inputs: whether the class overrides `required_inputs`."""
        return type(self).required_inputs is not Op.required_inputs

    def make_thunk(
        self,
        node: Apply[Any],
        storage_map: Mapping[Variable[Any], list[Any]],
        compute_map: Mapping[Variable[Any], list[bool]],
        no_recycling: Sequence[Variable[Any]] = (),
        impl: str | None = None,
    ) -> Callable[[], None]:
        """Return what computes a node, reading and writing the cells of its Variables; by default it calls `perform`.

        An Op overrides this where computing is more than a function of values: where it prepares something once it knows the node.

        Parameters
        ----------
        node
            The application.
        storage_map
            For each input and output a one-element list for its value.
        compute_map
            For each output a one-element list, to be set to True.
        no_recycling
            Outputs whose earlier value must not be reused.
        impl
            ``"py"`` or ``"c"`` where one way of computing is asked for; None for any.
        """
        inputs = [storage_map[variable] for variable in node.inputs]
        outputs = [storage_map[variable] for variable in node.outputs]

        def thunk() -> None:
            self.perform(node, [cell[0] for cell in inputs], outputs)
            for variable in node.outputs:
                compute_map[variable][0] = True

        return thunk

    @property
    def makes_own_thunk(self) -> bool:
        """Whether the class overrides `make_thunk`."""
        return type(self).make_thunk is not Op.make_thunk
