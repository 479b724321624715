"""`CheckAndRaise` and `Assert`: identities that raise where a condition does not hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, final

import attrs
from typing_extensions import override

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor import functions as lt
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["Assert", "CheckAndRaise", "assert_op", "check_and_raise"]

VariableT = TypeVar("VariableT", bound=Variable[Any])


def _check_exception_class(instance: object, field: object, value: Any) -> None:
    if not isinstance(value, type) or not issubclass(value, Exception):
        raise TypeError(f"exc_type is a class of exceptions, not {value!r}")


@attrs.frozen(eq=False, repr=False)
class CheckAndRaise(Op[..., Any]):
    """Return the first input; raise an exception unless all others are true.

    The result is a view. Conditions are arrays of any number of dimensions, true where no element is 0; the node has them as boolean scalars.
    Gradients and tangents pass through.

    Parameters
    ----------
    exc_type
        The class of the exception.
    msg
        Its message.
    """

    exc_type: type[Exception] = attrs.field(validator=_check_exception_class)
    msg: str = ""

    view_map = {0: [0]}

    @override
    def make_node(self, *args: Any, **kwargs: Any) -> Apply[Any]:
        if not args or kwargs:
            raise TypeError(f"{self} takes a value and conditions")
        value = args[0] if isinstance(args[0], Variable) else as_tensor_variable(args[0])
        return Apply(self, [value, *[_as_condition(condition) for condition in args[1:]]], [value.type])

    @override
    def __call__(self, value: VariableT, /, *conditions: TensorLike) -> VariableT:
        """Return `value`, which cannot be computed unless all conditions are true."""
        result: VariableT = super().__call__(value, *conditions)
        return result

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        value, *conditions = inputs
        if not all(conditions):
            raise self.exc_type(self.msg)
        output_storage[0][0] = value

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> Sequence[tuple[Any, ...]]:
        return [shapes[0]]

    @override
    def do_constant_folding(self, fgraph: FunctionGraph, node: Apply[Any]) -> bool:
        # What fails is to fail when the function runs, not when it is compiled.
        return all([bool(v.stored_value()) for v in node.inputs[1:] if v.is_constant])

    @override
    def connection_pattern(self, node: Apply[Any]) -> Sequence[Sequence[bool]]:
        return [[True], *[[False]] * (node.nin - 1)]

    @override
    def L_op(
        self, inputs: Sequence[Variable[Any]], outputs: Sequence[Variable[Any]], output_grads: Sequence[Variable[Any]]
    ) -> Sequence[Variable[Any]]:
        return [output_grads[0], *[DisconnectedType()() for _ in inputs[1:]]]

    @override
    def R_op(
        self, inputs: Sequence[Variable[Any]], eval_points: Sequence[Variable[Any] | None]
    ) -> Sequence[Variable[Any] | None]:
        return [eval_points[0]]

    @override
    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.exc_type.__name__}({self.msg})}}"


def _as_condition(condition: TensorLike) -> TensorVariable:
    variable = as_tensor_variable(condition)
    if variable.ndim:
        return lt.all(variable)
    return variable if variable.dtype == "bool" else lt.neq(variable, 0)


@final
@attrs.frozen(eq=False, repr=False, init=False)
class Assert(CheckAndRaise):
    """Return the first input; raise an `AssertionError` unless all others are true.

    Parameters
    ----------
    msg
        The message of the error.
    """

    def __init__(self, msg: str = "an assertion of the graph does not hold") -> None:
        self.__attrs_init__(AssertionError, msg)

    @override
    def __str__(self) -> str:
        return f"Assert{{{self.msg}}}"


assert_op = Assert()


def check_and_raise(value: VariableT, exc_type: type[Exception], msg: str, *conditions: TensorLike) -> VariableT:
    """Return `value`, which raises an exception when it is computed unless all conditions are true.

    Parameters
    ----------
    value
        Any Variable.
    exc_type, msg
        The class of the exception and its message.
    *conditions
        Arrays, true where no element is 0.
    """
    return CheckAndRaise(exc_type, msg)(value, *conditions)
