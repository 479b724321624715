"""`Apply`: an application of an Op to input Variables, which owns its output Variables.

Nodes never change and compare by identity. They are interned, weakly: applying an equal Op to the same inputs gives the very same
node, so equality of graphs is a pointer comparison.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, final

import attrs
from typing_extensions import TypeVar, override

from lamella.ir.graph.interning import InternTable
from lamella.ir.graph.memory import Remembered
from lamella.ir.graph.origin import Line, Origin, users_line
from lamella.ir.graph.serialize import flatten, restore_node
from lamella.ir.graph.type import Type
from lamella.ir.graph.value import canonical
from lamella.ir.graph.variable import Variable

if TYPE_CHECKING:
    from lamella.ir.graph.op import Op

R_co = TypeVar("R_co", covariant=True, default=Any)

Template = Type[Any] | Variable[Any]
"""What describes an output of a node: a Type, or a Variable that no node computes (its name is taken too)."""


@final
@attrs.frozen(eq=False, repr=False, init=False, weakref_slot=True)
class Apply(Remembered, Generic[R_co]):
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
        if len(types) == 1:  # as a rule, and this is called more often than anything else
            key: tuple[Hashable, ...] = (id(stands_for_op), *map(id, inputs), id(canonical(types[0])), names[0])
        else:
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
            if a is not b and a.type is not b.type and a.type != b.type:
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
_set_op, _set_inputs, _set_outputs, _set_built_at = [
    vars(Apply)[name].__set__ for name in ("op", "inputs", "outputs", "built_at")
]


def interned_nodes() -> int:
    """Return how many Apply nodes are alive in this process."""
    return len(_applications)
