"""Equality of computations: the same Ops on the same inputs, whatever the names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lamella.ir.graph.variable import Constant, Variable

__all__ = ["equal_computations"]

Pair = tuple[Variable[Any], Variable[Any]]


def equal_computations(
    xs: Sequence[object],
    ys: Sequence[object],
    in_xs: Sequence[Variable[Any]] = (),
    in_ys: Sequence[Variable[Any]] = (),
    strict_dtype: bool = True,
) -> bool:
    """Whether two lists of Variables are computed in the same way from the same roots.

    Nodes that do the same to the same inputs are one node, so this looks at less than it seems: at the roots that are taken to be
    equal, at names, and at declared output types, none of which changes what is computed.

    Parameters
    ----------
    xs, ys
        The Variables, or plain values, which equal a Constant that holds the same.
    in_xs, in_ys
        Variables that are taken to be equal, pairwise.
    strict_dtype
        Whether Constants have to be of one type; otherwise their values are compared.

    Raises
    ------
    ValueError
        The lists are of different lengths.
    """
    if len(xs) != len(ys) or len(in_xs) != len(in_ys):
        raise ValueError(
            f"graphs are compared pairwise, so there must be as many on both sides: "
            f"{len(xs)} and {len(ys)} outputs, {len(in_xs)} and {len(in_ys)} inputs"
        )
    equal = set(zip(in_xs, in_ys, strict=True))
    if not all(_same_kind(x, y) for x, y in equal):
        return False
    pending: list[Pair] = []
    for x, y in zip(xs, ys, strict=True):
        if isinstance(x, Variable) and isinstance(y, Variable):
            if (x, y) not in equal and not _same_kind(x, y):
                return False
            pending.append((x, y))
        elif not _same_value(x, y):
            return False
    while pending:
        pair = pending.pop()
        if pair in equal:
            continue
        equal.add(pair)  # and if it is not, the whole is not
        x, y = pair
        if x is y:
            continue
        if x.owner is not None and y.owner is not None:
            a, b = x.owner, y.owner
            if x.index != y.index or a.op != b.op or (a.nin, a.nout) != (b.nin, b.nout):
                return False
            pending.extend(zip(a.inputs, b.inputs, strict=True))
        elif not (isinstance(x, Constant) and isinstance(y, Constant) and _same_constant(x, y, strict_dtype)):
            return False
    return True


def _same_kind(x: Variable[Any], y: Variable[Any]) -> bool:
    return bool(y.type.in_same_class(x.type))


def _same_constant(x: Constant[Any], y: Constant[Any], strict_dtype: bool) -> bool:
    if not strict_dtype:
        return _same_value(x, y)
    if x.type != y.type:
        return False
    key = x.type.constant_key(x.data)
    return key == y.type.constant_key(y.data) if key is not None else x.data is y.data


def _same_value(x: object, y: object) -> bool:
    if (isinstance(x, Variable) and not isinstance(x, Constant)) or (
        isinstance(y, Variable) and not isinstance(y, Constant)
    ):
        return False
    a, b = (np.asarray(v.data if isinstance(v, Constant) else v) for v in (x, y))
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc" and b.dtype.kind in "fc")
