"""`grad`: the gradient of a scalar cost."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, overload

from lamella.errors import DisconnectedInputError, NullTypeGradError
from lamella.ir.autodiff.backward import accumulate_cotangents, disconnected
from lamella.ir.graph.null_types import NullType
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import COMPLEX_DTYPES, is_differentiable_dtype
from lamella.ir.tensor import functions as lt
from lamella.ir.tensor.variable import TensorVariable

__all__ = ["grad", "subgraph_grad"]

OnDisconnected = Literal["raise", "warn", "ignore"]
ReturnDisconnected = Literal["zero", "none", "disconnected"]


def _float_dtype(variable: TensorVariable) -> str:
    return variable.dtype if is_differentiable_dtype(variable.dtype) else "float64"


def _seed(cost: TensorVariable) -> TensorVariable:
    """Return the cotangent of the cost: 1, of a float dtype."""
    if cost.ndim != 0:
        raise TypeError(f"the cost is a scalar; {cost!r} has {cost.ndim} dimensions: sum it, or use jacobian or Lop")
    if cost.dtype in COMPLEX_DTYPES:
        raise TypeError(f"the cost is real; {cost!r} is of {cost.dtype}")
    return lt.ones_like(cost, _float_dtype(cost))


@overload
def grad(
    cost: TensorVariable | None,
    wrt: TensorVariable,
    consider_constant: Sequence[Variable[Any]] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
    known_grads: Mapping[Variable[Any], Variable[Any]] | None = None,
    return_disconnected: Literal["zero"] = "zero",
    null_gradients: Literal["raise"] = "raise",
) -> TensorVariable: ...


@overload
def grad(
    cost: TensorVariable | None,
    wrt: Sequence[TensorVariable],
    consider_constant: Sequence[Variable[Any]] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
    known_grads: Mapping[Variable[Any], Variable[Any]] | None = None,
    return_disconnected: Literal["zero"] = "zero",
    null_gradients: Literal["raise"] = "raise",
) -> list[TensorVariable]: ...


@overload
def grad(
    cost: TensorVariable | None,
    wrt: Variable[Any] | Sequence[Variable[Any]],
    consider_constant: Sequence[Variable[Any]] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
    known_grads: Mapping[Variable[Any], Variable[Any]] | None = None,
    return_disconnected: ReturnDisconnected = "zero",
    null_gradients: Literal["raise", "return"] = "raise",
) -> Any: ...


def grad(
    cost: TensorVariable | None,
    wrt: Variable[Any] | Sequence[Variable[Any]],
    consider_constant: Sequence[Variable[Any]] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
    known_grads: Mapping[Variable[Any], Variable[Any]] | None = None,
    return_disconnected: ReturnDisconnected = "zero",
    null_gradients: Literal["raise", "return"] = "raise",
) -> Any:
    """Return the gradient of a scalar cost with respect to one or several Variables.

    Parameters
    ----------
    cost
        A real scalar; may be None where `known_grads` are given. The gradient of an integer or boolean cost is 0.
    wrt
        The Variable, or a sequence of them.
    consider_constant
        Variables through which no gradient flows.
    disconnected_inputs
        What to do about a Variable that the cost does not depend on differentiably: raise, warn, or nothing.
    known_grads
        Gradients of the cost with respect to Variables; they take the place of what would be computed for them.
    return_disconnected
        What stands for the gradient with respect to such a Variable: zeros, None, or a Variable of `DisconnectedType`.
    null_gradients
        Raise where a gradient is not defined or not implemented, or return its Variable of `NullType`.

    Returns
    -------
    TensorVariable or list of TensorVariable
        For each Variable its gradient: of the same shape, and of the same dtype (float64 for integers, whose gradient is 0).

    Raises
    ------
    TypeError
        The cost is no scalar or is complex, or what stands in `wrt` is no Variable.
    DisconnectedInputError
        The cost does not depend on a Variable (see `disconnected_inputs`).
    NullTypeGradError
        A gradient is not defined or not implemented (see `null_gradients`).
    GradientNotImplementedError
        An Op on the path from the cost has no gradient.
    """
    wanted = [wrt] if isinstance(wrt, Variable) else list(wrt)
    for variable in wanted:
        _require_variable(variable)
    seeds = dict(known_grads or {})
    if cost is not None:
        seeds.setdefault(cost, _seed(cost))
    elif not seeds:
        raise TypeError("grad needs a cost or known_grads")
    for variable, known in seeds.items():
        _check_known_gradient(variable, known)
    constants = frozenset(consider_constant or ())
    cotangents = accumulate_cotangents(seeds, [v for v in wanted if v not in constants], constants)
    results = []
    for variable in wanted:
        found = cotangents.get(variable)
        if found is None:
            results.append(_disconnected_result(variable, cost, disconnected_inputs, return_disconnected))
        elif isinstance(found.type, NullType) and null_gradients == "raise":
            raise NullTypeGradError(f"there is no gradient with respect to {variable!r}: {found.type.why}")
        else:
            results.append(found)
    return results[0] if isinstance(wrt, Variable) else results


def _require_variable(variable: object) -> None:
    if not isinstance(variable, Variable):
        raise TypeError(
            f"a gradient is with respect to Variables, not to {variable!r} of type {type(variable).__name__}"
        )


def _check_known_gradient(variable: Variable[Any], known: Variable[Any]) -> None:
    if isinstance(variable, TensorVariable) and isinstance(known, TensorVariable) and known.ndim != variable.ndim:
        raise ValueError(
            f"the known gradient of {variable!r} has {known.ndim} dimensions, the variable has {variable.ndim}"
        )


def _disconnected_result(
    variable: Variable[Any],
    cost: Variable[Any] | None,
    disconnected_inputs: OnDisconnected,
    return_disconnected: ReturnDisconnected,
) -> Variable[Any] | None:
    message = f"{'the cost' if cost is None else repr(cost)} does not depend differentiably on {variable!r}"
    if disconnected_inputs == "raise":
        raise DisconnectedInputError(
            f"{message}: either it takes no part, or only through shapes, indices or comparisons; "
            'pass disconnected_inputs="ignore" to take its gradient as 0'
        )
    if disconnected_inputs == "warn":
        warnings.warn(message, stacklevel=3)
    if return_disconnected == "none":
        return None
    if return_disconnected == "disconnected" or not isinstance(variable, TensorVariable):
        return disconnected()
    return lt.zeros_like(variable, _float_dtype(variable))


def subgraph_grad(
    wrt: Sequence[TensorVariable],
    end: Sequence[TensorVariable],
    start: Mapping[Variable[Any], Variable[Any]] | None = None,
    cost: TensorVariable | None = None,
) -> tuple[list[TensorVariable], list[TensorVariable]]:
    """Differentiate one part of a graph: from `cost` or `start` back to `end`, and no further.

    Parameters
    ----------
    wrt
        Variables of this part whose gradients are wanted.
    end
        Variables where the part ends; they count as constants behind which nothing is looked at.
    start
        Gradients of the whole cost with respect to Variables where the part begins.
    cost
        A further cost, that belongs to this part.

    Returns
    -------
    wrt_grads, end_grads : list of TensorVariable
        Gradients with respect to `wrt`, and to `end` (the `start` of the part before).

    Raises
    ------
    ValueError
        Neither `cost` nor `start` is given.
    """
    if cost is None and start is None:
        raise ValueError("subgraph_grad needs a cost or start")
    seeds: dict[Variable[Any], Variable[Any]] = dict(start or {})
    if cost is not None:
        one = _seed(cost)
        given = seeds.get(cost)
        seeds[cost] = lt.add(given, one) if isinstance(given, TensorVariable) else one
    cotangents = accumulate_cotangents(seeds, [*wrt, *end], _inner(end))
    return _or_zeros(cotangents, wrt), _or_zeros(cotangents, end)


def _inner(end: Iterable[Variable[Any]]) -> list[Variable[Any]]:
    return [variable for variable in end if variable.owner is not None]


def _or_zeros(
    cotangents: Mapping[Variable[Any], Variable[Any]], wanted: Sequence[TensorVariable]
) -> list[TensorVariable]:
    found = []
    for variable in wanted:
        cotangent = cotangents.get(variable)
        if cotangent is not None and isinstance(cotangent.type, NullType):
            raise NullTypeGradError(f"there is no gradient with respect to {variable!r}: {cotangent.type.why}")
        tensor = cotangent if isinstance(cotangent, TensorVariable) else lt.zeros_like(variable, _float_dtype(variable))
        found.append(tensor)
    return found
