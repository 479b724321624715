"""Identities that change what flows backwards through them: clipped, scaled, zero, cut off or undefined gradients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, final

import attrs
from typing_extensions import override

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType, grad_undefined
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor import functions as lt
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = [
    "ConsiderConstant",
    "DisconnectedGrad",
    "GradClip",
    "GradScale",
    "GradientControl",
    "UndefinedGrad",
    "ZeroGrad",
    "consider_constant",
    "disconnected_grad",
    "grad_clip",
    "grad_scale",
    "undefined_grad",
    "zero_grad",
]


class GradientControl(Op[[TensorLike], TensorVariable]):
    """The value is the input's (a view); what its gradient is, a subclass says."""

    __slots__ = ()

    view_map = {0: [0]}

    @override
    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        variable = as_tensor_variable(x)
        return Apply(self, [variable], [variable.type])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = inputs[0]

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> Sequence[tuple[Any, ...]]:
        return shapes


@final
@attrs.frozen(eq=False, repr=False)
class GradClip(GradientControl):
    """Limits the gradient, element by element, to the range from `lower` to `upper`."""

    lower: float
    upper: float

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        return [lt.clip(output_grads[0], self.lower, self.upper)]


@final
@attrs.frozen(eq=False, repr=False)
class GradScale(GradientControl):
    """Multiplies the gradient by `multiplier`."""

    multiplier: float

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        return [output_grads[0] * self.multiplier]


@final
class ZeroGrad(GradientControl):
    """Makes the gradient 0; to `grad`, the cost still depends on the input."""

    __slots__ = ()

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        return [lt.zeros_like(output_grads[0])]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        return [None if eval_points[0] is None else lt.zeros_like(eval_points[0])]


class _Disconnecting(GradientControl):
    """The cost does not depend on the input."""

    __slots__ = ()

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        return [DisconnectedType()()]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        return [None]

    @override
    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        return [[False]]


@final
class DisconnectedGrad(_Disconnecting):
    """Cuts the gradient off: to `grad`, the cost does not depend on the input."""

    __slots__ = ()


@final
class ConsiderConstant(GradientControl):
    """Lets the input pass for a constant: its gradient is 0, and `grad` does not complain."""

    __slots__ = ()

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        return [lt.zeros_like(output_grads[0])]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        return [None if eval_points[0] is None else lt.zeros_like(eval_points[0])]


@final
class UndefinedGrad(GradientControl):
    """Declares the gradient undefined: `grad` raises where it would be needed."""

    __slots__ = ()

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        return [grad_undefined(self, 0, inputs[0], "it was declared so by undefined_grad")]


def grad_clip(x: TensorLike, lower_bound: float, upper_bound: float) -> TensorVariable:
    """Return `x`; the gradient that flows back through it is limited, element by element, to a range.

    Parameters
    ----------
    x
        Any tensor.
    lower_bound, upper_bound
        The range.
    """
    return GradClip(lower_bound, upper_bound)(x)


def grad_scale(x: TensorLike, multiplier: float) -> TensorVariable:
    """Return `x`; the gradient that flows back through it is multiplied by `multiplier`."""
    return GradScale(multiplier)(x)


def zero_grad(x: TensorLike) -> TensorVariable:
    """Return `x`; the gradient that flows back through it is 0."""
    return ZeroGrad()(x)


def disconnected_grad(x: TensorLike) -> TensorVariable:
    """Return `x`; no gradient flows back through it, as if the cost did not depend on it."""
    return DisconnectedGrad()(x)


def undefined_grad(x: TensorLike) -> TensorVariable:
    """Return `x`; a gradient that would flow back through it raises `NullTypeGradError`."""
    return UndefinedGrad()(x)


def consider_constant(x: TensorLike | Iterable[TensorLike]) -> Any:
    """Return `x` (or each of several), passing for a constant: the gradient with respect to it is 0."""
    op = ConsiderConstant()
    if isinstance(x, list | tuple):
        return type(x)([op(part) for part in x])
    single: Any = x
    return op(single)
