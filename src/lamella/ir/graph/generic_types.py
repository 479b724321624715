"""Types of Python objects that are no numbers: anything, None, slices."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Sequence
from typing import Any, final

from typing_extensions import override

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.type import Type
from lamella.ir.graph.value import strict_key
from lamella.ir.graph.variable import Constant, Variable

__all__ = [
    "Generic",
    "MakeSlice",
    "NoneConst",
    "NoneTypeT",
    "SliceType",
    "generic",
    "make_slice",
    "none_type_t",
    "slice_type",
]


@final
class Generic(Type[Any]):
    """Any Python object. Nothing is known of it, so nothing is computed from it but by `Op.perform`."""

    __slots__ = ()

    @override
    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        if isinstance(value, Variable):
            raise TypeError(f"a value is expected, not the variable {value!r}")
        return value


generic = Generic()


@final
class NoneTypeT(Type[None]):
    """The type of None alone."""

    __slots__ = ()

    @override
    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> None:
        if value is not None:
            raise TypeError(f"None is expected, not {value!r}")


none_type_t = NoneTypeT()

NoneConst: Constant[NoneTypeT] = none_type_t.make_constant(None, "NoneConst")
"""None, as a Constant."""


def _bound(value: Any) -> int | None:
    return None if value is None else operator.index(value)


@final
class SliceType(Type[slice]):
    """Slices of integers."""

    __slots__ = ()

    @override
    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> slice:
        """Return a slice whose bounds are Python integers or None.

        Raises
        ------
        TypeError
            The value is no slice, or a bound is no integer.
        """
        if not isinstance(value, slice):
            raise TypeError(f"a slice is expected, not {value!r}")
        try:
            bounds = (_bound(value.start), _bound(value.stop), _bound(value.step))
        except TypeError as error:
            raise TypeError(f"the bounds of a slice are integers or None: {value!r}") from error
        return value if strict else slice(*bounds)

    @override
    def constant_key(self, value: slice) -> Hashable:
        return strict_key((value.start, value.stop, value.step))


slice_type = SliceType()


@final
class MakeSlice(Op[..., Variable[SliceType]]):
    """The slice of two bounds and a step, like the built-in ``slice``."""

    __slots__ = ()

    @override
    def make_node(self, *args: Any, **kwargs: Any) -> Apply[Variable[SliceType]]:
        """Make the node.

        Parameters
        ----------
        *args
            ``stop``, or ``start, stop`` or ``start, stop, step``; or one slice, whose parts are taken. Each part is None, an integer,
            or a Variable whose value is one of these.

        Raises
        ------
        TypeError
            There are none or too many.
        """
        if len(args) == 1 and isinstance(args[0], slice):
            parts = [args[0].start, args[0].stop, args[0].step]
        elif len(args) == 1:
            parts = [None, args[0], None]
        else:
            parts = [*args, *[None] * (3 - len(args))]
        if kwargs or not args or len(parts) != 3:
            raise TypeError(f"a slice is made of one to three bounds, not of {len(args) + len(kwargs)}")
        return Apply(self, [_as_bound(part) for part in parts], [slice_type])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = slice(*[_bound(value) for value in inputs])

    @override
    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Variable[Any]]:
        return [DisconnectedType()() for _ in inputs]

    @override
    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        return [[False] for _ in node.inputs]


def _as_bound(part: Any) -> Variable[Any]:
    if isinstance(part, Variable):
        return part
    return NoneConst if part is None else generic.make_constant(operator.index(part))


make_slice = MakeSlice()
