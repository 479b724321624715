"""`Lop` and `Rop`: products of a Jacobian with a vector, from the left and from the right, without making the Jacobian."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, overload

from lamella.errors import DisconnectedInputError, GradientNotImplementedError
from lamella.ir.autodiff.backward import accumulate_cotangents, connection_pattern, total_cotangent
from lamella.ir.autodiff.grad import OnDisconnected, ReturnDisconnected, grad
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op
from lamella.ir.graph.replace import substitute
from lamella.ir.graph.traversal import toposort
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import is_differentiable_dtype
from lamella.ir.tensor import functions as lt
from lamella.ir.tensor.variable import TensorVariable

__all__ = ["Lop", "Rop"]


def _as_list(value: TensorVariable | Sequence[TensorVariable]) -> list[TensorVariable]:
    return [value] if isinstance(value, TensorVariable) else list(value)


def _check_same_kind(what: str, variables: Sequence[TensorVariable], points: Sequence[TensorVariable]) -> None:
    if len(variables) != len(points):
        raise ValueError(f"{len(points)} eval_points for {len(variables)} {what}")
    for variable, point in zip(variables, points, strict=True):
        if variable.ndim != point.ndim:
            raise ValueError(f"the eval_point {point!r} has {point.ndim} dimensions, {variable!r} has {variable.ndim}")


@overload
def Lop(
    f: TensorVariable | Sequence[TensorVariable],
    wrt: TensorVariable,
    eval_points: TensorVariable | Sequence[TensorVariable],
    consider_constant: Sequence[Variable[Any]] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
) -> TensorVariable: ...


@overload
def Lop(
    f: TensorVariable | Sequence[TensorVariable],
    wrt: Sequence[TensorVariable],
    eval_points: TensorVariable | Sequence[TensorVariable],
    consider_constant: Sequence[Variable[Any]] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
) -> list[TensorVariable]: ...


def Lop(
    f: TensorVariable | Sequence[TensorVariable],
    wrt: TensorVariable | Sequence[TensorVariable],
    eval_points: TensorVariable | Sequence[TensorVariable],
    consider_constant: Sequence[Variable[Any]] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
) -> TensorVariable | list[TensorVariable]:
    """Return ``eval_points @ J``, where ``J`` is the Jacobian of `f` with respect to `wrt`.

    Parameters
    ----------
    f
        An expression, or several.
    wrt
        The Variable, or a sequence of them.
    eval_points
        A cotangent for each expression, of its shape.
    consider_constant, disconnected_inputs
        As in `grad`.

    Returns
    -------
    TensorVariable or list of TensorVariable
        For each Variable of `wrt` a tensor of its shape.

    Raises
    ------
    ValueError
        Expressions and `eval_points` do not match.
    DisconnectedInputError, NullTypeGradError, GradientNotImplementedError
        As `grad`.
    """
    outputs, points = _as_list(f), _as_list(eval_points)
    _check_same_kind("expressions", outputs, points)
    seeds: dict[Variable[Any], Variable[Any]] = {}
    for output, point in zip(outputs, points, strict=True):
        given = seeds.get(output)
        seeds[output] = lt.add(given, point) if isinstance(given, TensorVariable) else point
    # An expression may depend on another one, so a seed is a contribution to its cotangent, not the whole of it.
    heads = {
        lt.tensor_copy(output) if isinstance(output, TensorVariable) else output: point
        for output, point in seeds.items()
    }
    return grad(None, wrt, consider_constant, disconnected_inputs, heads)


def Rop(
    f: TensorVariable | Sequence[TensorVariable],
    wrt: TensorVariable | Sequence[TensorVariable],
    eval_points: TensorVariable | Sequence[TensorVariable],
    disconnected_outputs: OnDisconnected = "raise",
    return_disconnected: ReturnDisconnected = "zero",
) -> Any:
    """Return ``J @ eval_points``, where ``J`` is the Jacobian of `f` with respect to `wrt`.

    The tangents are pushed forward node by node: by `Op.R_op` where an Op has it, and by differentiating its `L_op`
    (which is linear in the cotangent) where it has not.

    Parameters
    ----------
    f
        An expression, or several.
    wrt
        The Variable, or a sequence of them.
    eval_points
        A tangent for each Variable, of its shape.
    disconnected_outputs
        What to do about an expression that does not depend on `wrt`: raise, warn or nothing.
    return_disconnected
        What stands for its tangent: zeros, None, or a Variable of `DisconnectedType`.

    Returns
    -------
    TensorVariable or list of TensorVariable
        For each expression a tensor of its shape.

    Raises
    ------
    ValueError
        `wrt` and `eval_points` do not match.
    DisconnectedInputError
        An expression does not depend on `wrt`.
    GradientNotImplementedError
        An Op on the way has neither `R_op` nor `L_op`.

    References
    ----------
    The double construction: J. Townsend, "A new trick for calculating Jacobian vector products", 2017.
    """
    outputs, variables, points = _as_list(f), _as_list(wrt), _as_list(eval_points)
    _check_same_kind("variables", variables, points)
    tangents: dict[Variable[Any], Variable[Any]] = dict(zip(variables, points, strict=True))
    for node in toposort(outputs):
        if any([variable in tangents for variable in node.inputs]):
            for out, tangent in zip(node.outputs, _push_forward(node, tangents), strict=True):
                if tangent is not None and out not in tangents:
                    tangents[out] = tangent
    results = [
        _tangent_or_missing(out, tangents.get(out), disconnected_outputs, return_disconnected) for out in outputs
    ]
    return results[0] if isinstance(f, TensorVariable) else results


def _tangent_or_missing(
    output: TensorVariable,
    tangent: Variable[Any] | None,
    disconnected_outputs: OnDisconnected,
    return_disconnected: ReturnDisconnected,
) -> Variable[Any] | None:
    if tangent is not None:
        return tangent
    if disconnected_outputs != "ignore":
        message = f"{output!r} does not depend differentiably on the given variables"
        if disconnected_outputs == "raise":
            raise DisconnectedInputError(f'{message}; pass disconnected_outputs="ignore" to take its tangent as 0')
        warnings.warn(message, stacklevel=3)
    if return_disconnected == "none":
        return None
    return lt.zeros_like(output) if return_disconnected == "zero" else DisconnectedType()()


def _push_forward(node: Apply[Any], tangents: Mapping[Variable[Any], Variable[Any]]) -> Sequence[Variable[Any] | None]:
    points = [tangents.get(variable) for variable in node.inputs]
    if type(node.op).R_op is not Op.R_op:
        try:
            pushed = node.op.R_op(node.inputs, points)
        except GradientNotImplementedError:
            pass
        else:
            return [None if t is not None and isinstance(t.type, DisconnectedType) else t for t in pushed]
    return _by_double_lop(node, points)


def _by_double_lop(node: Apply[Any], points: Sequence[Variable[Any] | None]) -> list[Variable[Any] | None]:
    pattern = connection_pattern(node)
    live = [i for i, point in enumerate(points) if point is not None and is_differentiable(node.inputs[i])]
    tangents: list[Variable[Any] | None] = []
    for o, out in enumerate(node.outputs):
        sources = [i for i in live if pattern[i][o]]
        if not sources or not is_differentiable(out):
            tangents.append(None)
            continue
        dummies = [other.type() for other in node.outputs]
        cotangents = [dummy if p == o else DisconnectedType()() for p, dummy in enumerate(dummies)]
        pulled = node.op.L_op(node.inputs, node.outputs, cotangents)
        seeds: dict[Variable[Any], Variable[Any]] = {}
        for i in sources:
            point = points[i]
            if isinstance(pulled[i].type, DisconnectedType) or point is None:
                continue
            given = seeds.get(pulled[i])
            seeds[pulled[i]] = point if given is None else total_cotangent([given, point])
        if not seeds:
            tangents.append(None)
            continue
        back = accumulate_cotangents(seeds, [dummies[o]])
        found = back.get(dummies[o])
        # The result does not depend on the value of the dummy, only on its shape, which is that of the output.
        tangents.append(
            None if found is None else substitute([found], dict(zip(dummies, node.outputs, strict=True)))[0]
        )
    return tangents


def is_differentiable(variable: Variable[Any]) -> bool:
    """Whether a Variable's values vary continuously."""
    return not isinstance(variable, TensorVariable) or is_differentiable_dtype(variable.dtype)
