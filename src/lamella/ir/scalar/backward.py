"""Cotangents through a scalar graph, for Ops that hold one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lamella.ir.scalar.functions as ls
from lamella.ir.graph.null_types import DisconnectedType, NullType
from lamella.ir.graph.traversal import toposort
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.cotangents import fit_cotangent, is_zero, zero_cotangent
from lamella.ir.scalar.variable import ScalarConstant, ScalarVariable

__all__ = ["pull_back_graph"]


def pull_back_graph(
    inputs: Sequence[ScalarVariable], outputs: Sequence[ScalarVariable], output_grads: Sequence[Variable[Any]]
) -> list[Variable[Any]]:
    """Return the cotangents of `inputs`, given those of `outputs`, which scalar Ops compute from them.

    Parameters
    ----------
    inputs, outputs
        The ends of the graph.
    output_grads
        For each output its cotangent, or a Variable of `DisconnectedType`.

    Returns
    -------
    list of Variable
        For each input its cotangent; a Variable of `DisconnectedType` where no output depends on it, of `NullType` where the cotangent
        is not defined.
    """
    found: dict[Variable[Any], Variable[Any]] = {}

    def add(variable: Variable[Any], cotangent: Variable[Any]) -> None:
        known = found.get(variable)
        if known is None or is_zero(known) or isinstance(cotangent.type, NullType):
            found[variable] = cotangent
        elif not is_zero(cotangent) and isinstance(known, ScalarVariable) and isinstance(cotangent, ScalarVariable):
            found[variable] = ls.add(known, cotangent)

    for output, cotangent in zip(outputs, output_grads, strict=True):
        if not isinstance(cotangent.type, DisconnectedType):
            add(output, cotangent)
    for node in reversed(toposort(outputs, inputs)):
        given = [found.get(out) for out in node.outputs]
        undefined = [g for g in given if g is not None and isinstance(g.type, NullType)]
        if all([g is None for g in given]):
            continue
        pulled: Sequence[Variable[Any]]
        if undefined:
            pulled = [undefined[0]] * len(node.inputs)
        elif all([g is None or is_zero(g) for g in given]):
            pulled = [zero_cotangent(v) if isinstance(v, ScalarVariable) else v for v in node.inputs]
        else:
            pulled = node.op.L_op(node.inputs, node.outputs, [DisconnectedType()() if g is None else g for g in given])
        for variable, cotangent in zip(node.inputs, pulled, strict=True):
            if isinstance(variable, ScalarConstant) or isinstance(cotangent.type, DisconnectedType):
                continue
            if isinstance(cotangent, ScalarVariable) and isinstance(variable, ScalarVariable):
                cotangent = fit_cotangent(cotangent, variable)
            add(variable, cotangent)
    return [found[v] if v in found else DisconnectedType()() for v in inputs]
