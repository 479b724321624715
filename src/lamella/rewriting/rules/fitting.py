"""Replacements made to be of the type of what they replace."""

from __future__ import annotations

from lamella.ir import TensorType, TensorVariable, Variable, lt

__all__ = ["fitted", "fitted_to"]


def fitted(replacement: TensorVariable, replaced: Variable[TensorType]) -> list[TensorVariable] | None:
    """Return what a rewriter returns to put a tensor in the place of the only output of a node; see `fitted_to`."""
    fit = fitted_to(replacement, replaced.type)
    return None if fit is None else [fit]


def fitted_to(replacement: TensorVariable, kind: TensorType) -> TensorVariable | None:
    """Return a tensor whose type is included in `kind`, with the values of `replacement`.

    Lengths that `kind` knows and the type of `replacement` does not are asserted: what is told to those who use a tensor has to be true.

    Returns
    -------
    TensorVariable or None
        None where dtype, number of dimensions or known lengths differ.
    """
    found = replacement.type
    if kind.is_super(found) is not None:
        return replacement
    if found.dtype != kind.dtype or found.ndim != kind.ndim:
        return None
    if any([a is not None and b is not None and a != b for a, b in zip(found.shape, kind.shape, strict=True)]):
        return None
    return lt.specify_shape(replacement, kind.shape)
