"""Jacobians, Hessians, and products with a Hessian."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from lamella.ir.autodiff.backward import accumulate_cotangents
from lamella.ir.autodiff.grad import OnDisconnected, grad
from lamella.ir.autodiff.map_rows import map_rows
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor import functions as lt
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorVariable

__all__ = ["hessian", "hessian_vector_product", "jacobian"]


@overload
def jacobian(
    expression: TensorVariable,
    wrt: TensorVariable,
    consider_constant: Sequence[Variable[Any]] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
) -> TensorVariable: ...


@overload
def jacobian(
    expression: TensorVariable,
    wrt: Sequence[TensorVariable],
    consider_constant: Sequence[Variable[Any]] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
) -> list[TensorVariable]: ...


def jacobian(
    expression: TensorVariable,
    wrt: TensorVariable | Sequence[TensorVariable],
    consider_constant: Sequence[Variable[Any]] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
) -> TensorVariable | list[TensorVariable]:
    """Return the Jacobian of an expression of any number of dimensions.

    Parameters
    ----------
    expression
        The expression, of shape ``(a, b, ...)``.
    wrt
        The Variable, of shape ``(m, n, ...)``, or a sequence of them.
    consider_constant, disconnected_inputs
        As in `grad`.

    Returns
    -------
    TensorVariable or list of TensorVariable
        For each Variable a tensor of shape ``(a, b, ..., m, n, ...)``: derivatives of each element of the expression with respect to
        each element of the Variable.

    Raises
    ------
    DisconnectedInputError, NullTypeGradError, GradientNotImplementedError
        As `grad`.
    """
    wanted = [wrt] if isinstance(wrt, TensorVariable) else list(wrt)
    if expression.ndim == 0:
        gradients = grad(expression, wanted, consider_constant, disconnected_inputs)
        return gradients[0] if isinstance(wrt, TensorVariable) else gradients
    flat = lt.flatten(expression, 1)
    length = lt.size(expression)
    known = None if None in expression.type.shape else flat.type.shape[0]
    cotangent = TensorType(expression.dtype, (known,))("cotangent")
    pulled = grad(None, wanted, consider_constant, disconnected_inputs, {flat: cotangent})
    basis = lt.eye(length if known is None else known, dtype=expression.dtype)
    rows = map_rows(pulled, [(cotangent, basis)])
    results = []
    for variable, stacked in zip(wanted, rows, strict=True):
        if expression.ndim == 1:
            results.append(stacked)
        else:
            shape = [*lt.shape_tuple(expression), *lt.shape_tuple(variable)]
            results.append(lt.reshape(stacked, shape, expression.ndim + variable.ndim))
    return results[0] if isinstance(wrt, TensorVariable) else results


@overload
def hessian(
    cost: TensorVariable,
    wrt: TensorVariable,
    consider_constant: Sequence[Variable[Any]] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
) -> TensorVariable: ...


@overload
def hessian(
    cost: TensorVariable,
    wrt: Sequence[TensorVariable],
    consider_constant: Sequence[Variable[Any]] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
) -> list[TensorVariable]: ...


def hessian(
    cost: TensorVariable,
    wrt: TensorVariable | Sequence[TensorVariable],
    consider_constant: Sequence[Variable[Any]] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
) -> TensorVariable | list[TensorVariable]:
    """Return second derivatives of a scalar cost: for each Variable of shape ``s`` a tensor of shape ``s + s``.

    Parameters
    ----------
    cost
        A scalar.
    wrt
        The Variable, or a sequence of them (no mixed derivatives between them are returned).
    consider_constant, disconnected_inputs
        As in `grad`. A cost that is linear in a Variable has the second derivative 0.
    """
    wanted = [wrt] if isinstance(wrt, TensorVariable) else list(wrt)
    gradients = grad(cost, wanted, consider_constant, disconnected_inputs)
    results = [
        jacobian(gradient, variable, consider_constant, "ignore")
        for gradient, variable in zip(gradients, wanted, strict=True)
    ]
    return results[0] if isinstance(wrt, TensorVariable) else results


def hessian_vector_product(
    cost: TensorVariable,
    wrt: TensorVariable | Sequence[TensorVariable],
    p: TensorVariable | Sequence[TensorVariable],
) -> Any:
    """Return the product of the Hessian of a scalar cost with a vector, without making the Hessian.

    Parameters
    ----------
    cost
        A scalar.
    wrt
        The Variable, or a sequence of them.
    p
        For each Variable a tensor of its shape.

    Returns
    -------
    TensorVariable or list of TensorVariable
        For each Variable a tensor of its shape: the gradient of ``sum(grad(cost) * p)``. Mixed derivatives take part.

    Raises
    ------
    ValueError
        There are not as many `p` as Variables.
    """
    wanted = [wrt] if isinstance(wrt, TensorVariable) else list(wrt)
    vectors = [p] if isinstance(p, TensorVariable) else list(p)
    if len(wanted) != len(vectors):
        raise ValueError(f"{len(vectors)} vectors for {len(wanted)} variables")
    gradients = grad(cost, wanted)
    seeds: dict[Variable[Any], Variable[Any]] = {}
    for gradient, vector in zip(gradients, vectors, strict=True):
        seeds[lt.tensor_copy(gradient)] = vector
    found = accumulate_cotangents(seeds, wanted)
    products = [found.get(v, lt.zeros_like(v)) for v in wanted]
    return products[0] if isinstance(wrt, TensorVariable) else products
