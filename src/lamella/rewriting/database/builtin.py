"""The rewrites of this package, group by group: the only way by which they reach `optdb`.

A rewrite that may be applied by default has the tag ``fast_run``, and ``fast_compile`` where it is cheap and makes graphs smaller. One
that assumes that there are no NaN or infinities has ``nan_unsafe`` and not ``fast_run``; one that may drop the error of a wrong shape has
``shape_unsafe``; one that changes the order of floating-point sums has ``reassociates``.
"""

from __future__ import annotations

from typing import Final, final

import attrs

from lamella.rewriting.engine import GraphRewriter, NodeRewriter
from lamella.rewriting.rules.casts import cast_of_cast, cast_to_own_dtype
from lamella.rewriting.rules.constant_folding import constant_folding
from lamella.rewriting.rules.dimshuffle import dimshuffle_of_dimshuffle, dimshuffle_of_nothing
from lamella.rewriting.rules.fill import (
    alloc_of_fill,
    alloc_of_whole,
    dimshuffle_of_fill,
    elemwise_of_fill,
    fill_with_whole,
    fill_written,
    moved_fill,
    second_to_alloc,
    sum_of_zeros,
)
from lamella.rewriting.rules.fusion import ElementwiseFusion
from lamella.rewriting.rules.identities import identity_of_x
from lamella.rewriting.rules.inplace import InplaceElementwise
from lamella.rewriting.rules.inplace_subtensor import InplaceIncSubtensor
from lamella.rewriting.rules.involutions import idempotent_of_itself, involution_of_itself, rounding_of_rounded
from lamella.rewriting.rules.joining import join_of_one, subtensor_of_join, subtensor_of_make_vector
from lamella.rewriting.rules.nested_subtensor import subtensor_of_subtensor
from lamella.rewriting.rules.reductions import (
    reduction_of_dimshuffle,
    reduction_of_reduction,
    reduction_of_unit_axes,
)
from lamella.rewriting.rules.reshape import reshape_of_reshape, reshape_of_unit_axes
from lamella.rewriting.rules.shape import shape_i_of_computed, shape_of_lengths
from lamella.rewriting.rules.specify_shape import specify_shape_of_known, specify_shape_of_specify_shape
from lamella.rewriting.rules.subtensor import inc_subtensor_of_whole, index_of_known, subtensor_of_written
from lamella.rewriting.rules.switch import switch_of_known, switch_of_same
from lamella.rewriting.rules.unbroadcast import (
    elemwise_of_unbroadcast,
    op_of_unbroadcast,
    unbroadcast_of_unbroadcast,
)

__all__ = [
    "BLAS",
    "CANONICALIZE",
    "FUSION",
    "INPLACE",
    "SPECIALIZE",
    "STABILIZE",
    "UNCANONICALIZE",
    "USELESS",
    "Builtin",
    "PlacedBuiltin",
]


@final
@attrs.frozen(init=False)
class Builtin:
    """A node rewriter and its tags."""

    rewriter: NodeRewriter
    tags: tuple[str, ...]

    def __init__(self, rewriter: NodeRewriter, *tags: str) -> None:
        self.__attrs_init__(rewriter, tags)


@final
@attrs.frozen(init=False)
class PlacedBuiltin:
    """A graph rewriter, its position in `optdb` and its tags."""

    rewriter: GraphRewriter
    position: float
    tags: tuple[str, ...]

    def __init__(self, rewriter: GraphRewriter, position: float, *tags: str) -> None:
        self.__attrs_init__(rewriter, position, tags)


_ALWAYS: Final = ("fast_run", "fast_compile")
_RUN: Final = ("fast_run",)

_NO_OPERATION: tuple[Builtin, ...] = (
    Builtin(identity_of_x, *_ALWAYS),
    Builtin(cast_to_own_dtype, *_ALWAYS),
    Builtin(cast_of_cast, *_ALWAYS),
    Builtin(involution_of_itself, *_ALWAYS),
    Builtin(idempotent_of_itself, *_ALWAYS),
    Builtin(rounding_of_rounded, *_ALWAYS),
    Builtin(dimshuffle_of_nothing, *_ALWAYS),
    Builtin(join_of_one, *_ALWAYS),
)

USELESS: tuple[Builtin, ...] = _NO_OPERATION
"""Operations that do nothing."""

_STRUCTURE: tuple[Builtin, ...] = (
    Builtin(constant_folding, *_ALWAYS),
    *_NO_OPERATION,
    Builtin(dimshuffle_of_dimshuffle, *_ALWAYS),
    Builtin(specify_shape_of_known, *_ALWAYS),
    Builtin(specify_shape_of_specify_shape, *_ALWAYS),
    Builtin(unbroadcast_of_unbroadcast, *_ALWAYS),
    Builtin(op_of_unbroadcast, *_ALWAYS),
    Builtin(elemwise_of_unbroadcast, *_ALWAYS),
    Builtin(reshape_of_unit_axes, *_ALWAYS),
    Builtin(reshape_of_reshape, *_RUN, "shape_unsafe"),
    Builtin(reduction_of_unit_axes, *_RUN),
    Builtin(shape_i_of_computed, *_RUN, "shape_unsafe"),
    Builtin(shape_of_lengths, *_RUN, "shape_unsafe"),
    Builtin(index_of_known, *_RUN),
    Builtin(subtensor_of_make_vector, *_RUN),
    Builtin(subtensor_of_subtensor, *_RUN),
    Builtin(subtensor_of_join, *_RUN, "shape_unsafe"),
    Builtin(subtensor_of_written, *_RUN, "shape_unsafe"),
    Builtin(inc_subtensor_of_whole, *_RUN),
    Builtin(alloc_of_whole, *_RUN),
    Builtin(alloc_of_fill, *_RUN, "shape_unsafe"),
    Builtin(fill_with_whole, *_RUN, "shape_unsafe"),
    Builtin(dimshuffle_of_fill, *_RUN),
    Builtin(moved_fill, *_RUN, "shape_unsafe"),
    Builtin(fill_written, *_RUN, "shape_unsafe"),
    Builtin(elemwise_of_fill, *_RUN, "shape_unsafe"),
    Builtin(sum_of_zeros, *_RUN, "shape_unsafe"),
    Builtin(switch_of_known, *_RUN, "shape_unsafe"),
    Builtin(switch_of_same, *_RUN, "shape_unsafe"),
)
"""What is structure and no arithmetic: constants, axes, lengths, indices, repeated values. Tidied whenever other rewrites are applied."""

CANONICALIZE: tuple[Builtin, ...] = _STRUCTURE
"""To a standard form."""

STABILIZE: tuple[Builtin, ...] = _STRUCTURE
"""To forms that lose no accuracy and do not overflow."""

SPECIALIZE: tuple[Builtin, ...] = (
    *_STRUCTURE,
    Builtin(second_to_alloc, *_RUN, "shape_unsafe"),
    Builtin(reduction_of_reduction, *_RUN, "reassociates"),
    Builtin(reduction_of_dimshuffle, *_RUN, "reassociates"),
)
"""To special operations that do the same, faster."""

UNCANONICALIZE: tuple[Builtin, ...] = ()
"""To faster forms that are not the standard ones."""

BLAS: tuple[PlacedBuiltin, ...] = ()
"""To calls of BLAS routines; positions from 1.7 to below 2."""

FUSION: tuple[PlacedBuiltin, ...] = (PlacedBuiltin(ElementwiseFusion(), 48.5, "fast_run", "fusion"),)
"""Elementwise operations into one; positions from 48 to below 49."""

INPLACE: tuple[PlacedBuiltin, ...] = (
    PlacedBuiltin(InplaceIncSubtensor(), 60, "fast_run", "inplace"),
    PlacedBuiltin(InplaceElementwise(), 75, "fast_run", "inplace"),
)
"""To operations that overwrite inputs; positions from 50."""
