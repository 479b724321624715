"""Derivatives of scalar Ops as programs, traced once for each Op and dtypes, which elementwise Ops replay on tensors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce
from typing import Any

import lamella.ir.scalar.functions as ls
from lamella.config import config
from lamella.errors import GradientNotImplementedError
from lamella.ir.graph.null_types import DisconnectedType, NullType
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.cotangents import is_zero, times_slope, zero_cotangent
from lamella.ir.scalar.dtypes import COMPLEX_DTYPES, is_differentiable_dtype
from lamella.ir.scalar.op import ScalarOp
from lamella.ir.scalar.program import ScalarProgram
from lamella.ir.scalar.type import ScalarType
from lamella.ir.scalar.variable import ScalarVariable

__all__ = ["pullback_program", "pushforward_program"]


def _applied(op: ScalarOp[Any], dtypes: Sequence[str]) -> tuple[list[ScalarVariable], list[ScalarVariable]]:
    inputs = [ScalarType(dtype)(f"x{i}") for i, dtype in enumerate(dtypes)]
    outputs = op.make_node(*inputs).outputs
    return inputs, [out for out in outputs if isinstance(out, ScalarVariable)]


def _like(variable: ScalarVariable) -> ScalarType:
    return ScalarType(variable.dtype if is_differentiable_dtype(variable.dtype) else "float64")


@lru_cache(maxsize=4096)
def pullback_program(
    op: ScalarOp[Any], dtypes: tuple[str, ...], connected: tuple[bool, ...], annihilate: bool
) -> ScalarProgram:
    """Return the program of a vector-Jacobian product.

    Parameters
    ----------
    op
        The Op.
    dtypes
        Dtypes of its operands.
    connected
        For each result, whether the cost depends on it.
    annihilate
        Whether cotangents of exactly 0 annihilate infinite and NaN slopes.

    Returns
    -------
    ScalarProgram
        From operands, results, and cotangents of the connected results, to cotangents of the operands: the constant 0 where the results
        do not vary with the operand, or it is discrete; Variables of Types without values as `Op.L_op` returns them.

    Raises
    ------
    GradientNotImplementedError
        The Op has no gradient.
    """
    inputs, outputs = _applied(op, dtypes)
    given = [_like(z)() if used else None for z, used in zip(outputs, connected, strict=True)]
    with config.override(annihilate_zero_cotangents=annihilate):
        pulled = op.L_op(inputs, outputs, [DisconnectedType()() if g is None else g for g in given])
    if len(pulled) != len(inputs):
        raise ValueError(f"L_op of {op} returned {len(pulled)} cotangents for {len(inputs)} operands")
    results = [
        zero_cotangent(x) if not is_differentiable_dtype(x.dtype) and isinstance(g, ScalarVariable) else g
        for x, g in zip(inputs, pulled, strict=True)
    ]
    return ScalarProgram.of([*inputs, *outputs, *[g for g in given if g is not None]], results)


@lru_cache(maxsize=4096)
def pushforward_program(
    op: ScalarOp[Any], dtypes: tuple[str, ...], known: tuple[bool, ...], annihilate: bool
) -> ScalarProgram:
    """Return the program of a Jacobian-vector product, found from the vector-Jacobian products with unit vectors.

    Parameters
    ----------
    op
        The Op.
    dtypes
        Dtypes of its operands.
    known
        For each operand, whether there is a tangent (else it is 0).
    annihilate
        Whether tangents of exactly 0 annihilate infinite and NaN slopes.

    Returns
    -------
    ScalarProgram
        From operands, results, and the known tangents, to tangents of the results: the constant 0 where a result does not vary with
        the operands.

    Raises
    ------
    GradientNotImplementedError
        The Op has no gradient, or is one of complex numbers.
    """
    if any([dtype in COMPLEX_DTYPES for dtype in dtypes]):
        raise GradientNotImplementedError(f"{op} has no R_op for complex numbers")
    inputs, outputs = _applied(op, dtypes)
    tangents = [_like(x)() if k else None for x, k in zip(inputs, known, strict=True)]
    results: list[Variable[Any]] = []
    with config.override(annihilate_zero_cotangents=annihilate):
        for j, z in enumerate(outputs):
            one = _like(z).make_constant(1)
            slopes = op.L_op(inputs, outputs, [one if i == j else DisconnectedType()() for i in range(len(outputs))])
            terms: list[ScalarVariable] = [
                times_slope(t, _slope(op, slope))
                for x, t, slope in zip(inputs, tangents, slopes, strict=True)
                if t is not None and is_differentiable_dtype(x.dtype) and _contributes(slope)
            ]
            tangent: ScalarVariable = reduce(_add, terms) if terms else zero_cotangent(z)
            results.append(tangent)
    return ScalarProgram.of([*inputs, *outputs, *[t for t in tangents if t is not None]], results)


def _contributes(slope: Variable[Any]) -> bool:
    return not is_zero(slope) and not isinstance(slope.type, DisconnectedType)


def _slope(op: ScalarOp[Any], slope: Variable[Any]) -> ScalarVariable:
    if isinstance(slope, ScalarVariable):
        return slope
    why = slope.type.why if isinstance(slope.type, NullType) else f"it is {slope!r}"
    raise GradientNotImplementedError(f"{op} has no derivative by this operand: {why}")


def _add(x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
    return ls.add(x, y)
