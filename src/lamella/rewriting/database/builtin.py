"""The rewrites of this package, group by group: the only way by which they reach `optdb`.

A rewrite that may be applied by default has the tag ``fast_run``, and ``fast_compile`` where it is cheap and makes graphs smaller. One
that assumes that there are no NaN or infinities has ``nan_unsafe`` and not ``fast_run``; one that may drop the error of a wrong shape, or make
another of it, has ``shape_unsafe``; one that changes the order of floating-point sums, or rounds otherwise, has ``reassociates``. Those of
the group ``stabilize`` change values on purpose, to more exact ones; without that group, and ``reassociates``, results are what they are
without rewriting.
"""

from __future__ import annotations

from typing import Final, final

import attrs

from lamella.rewriting.engine import GraphRewriter, NodeRewriter
from lamella.rewriting.rules.advanced_subtensor import (
    set_at_progression,
    take_all,
    take_of_one,
    take_progression,
)
from lamella.rewriting.rules.arithmetic import (
    add_of_neg,
    add_of_zero,
    divide_by_number,
    divide_of_neg,
    mul_by_minus_one,
    mul_by_one,
    mul_of_neg,
    neg_of_divide,
    neg_of_mul,
    neg_of_sub,
    sub_of_neg,
    sub_of_zero,
)
from lamella.rewriting.rules.blockwise import blockwise_at_once, blockwise_of_one
from lamella.rewriting.rules.canonical_products import (
    factors_collected,
)
from lamella.rewriting.rules.canonical_sums import (
    terms_collected,
)
from lamella.rewriting.rules.casts import cast_of_cast, cast_to_own_dtype
from lamella.rewriting.rules.checks import check_of_known, check_of_same
from lamella.rewriting.rules.comparisons import (
    comparison_of_negs,
    comparison_with_bound,
    comparison_with_itself,
    comparison_with_special_float,
    finiteness_of_integers,
    finiteness_of_negated,
    less_than_zero,
    not_of_comparison,
    truth_compared_with_number,
)
from lamella.rewriting.rules.constant_folding import constant_folding
from lamella.rewriting.rules.cotangents import (
    annihilating_mul_of_finite,
    annihilating_mul_of_nonzero,
)
from lamella.rewriting.rules.dimshuffle import (
    dimshuffle_of_dimshuffle,
    dimshuffle_of_elemwise,
    dimshuffle_of_nothing,
    dimshuffle_of_reshape,
)
from lamella.rewriting.rules.dot import dot_of_transposed, outer_dot, transposed_dot
from lamella.rewriting.rules.error_functions import (
    erf_minus_one,
    erfc_times_exp,
    log_of_erfc,
    one_minus_erf,
    one_plus_erf,
    slope_of_erfc_by_erfc,
)
from lamella.rewriting.rules.exponentials import (
    exp_minus_one,
    exp_of_log,
    exp_of_log1p,
    expm1_of_log,
    expm1_of_log1p,
    log1p_of_expm1,
    log_of_exp,
    log_of_one_plus,
    log_of_power,
    log_of_prod,
    log_of_scaled_exp,
    one_minus_exp,
    x_times_log_of_x,
)
from lamella.rewriting.rules.exponents import (
    product_of_exps,
    quotient_of_exps,
    reciprocal_of_exp,
    sqrt_of_exp,
)
from lamella.rewriting.rules.extremes import (
    clip_of_clip,
    clip_without_bounds,
    extreme_of_bounds,
    extreme_of_itself,
    extreme_with_no_bound,
    extremes_to_clip,
)
from lamella.rewriting.rules.fill import (
    alloc_of_fill,
    alloc_of_own_shape,
    alloc_of_unit_axes,
    alloc_of_whole,
    dimshuffle_of_fill,
    elemwise_of_fill,
    fill_with_whole,
    fill_written,
    moved_fill,
    second_to_alloc,
)
from lamella.rewriting.rules.fusion import ElementwiseFusion
from lamella.rewriting.rules.gemm import gemm
from lamella.rewriting.rules.hyperbolic import (
    log1p_of_minus_square_of_tanh,
    log_of_cosh,
    sinh_by_cosh,
    sinh_times_reciprocal_of_cosh,
    slope_of_tanh_by_slope_of_tanh,
)
from lamella.rewriting.rules.identities import identity_of_x
from lamella.rewriting.rules.ifelse import ifelse_of_ifelse, ifelse_of_known, ifelse_of_not, ifelse_of_same
from lamella.rewriting.rules.indexing_fusion import IndexingFusion
from lamella.rewriting.rules.inline import InlineGraphs
from lamella.rewriting.rules.inplace import InplaceElementwise
from lamella.rewriting.rules.inplace_blas import InplaceBlas
from lamella.rewriting.rules.inplace_subtensor import InplaceIncSubtensor
from lamella.rewriting.rules.integer_terms import (
    integer_difference_completed,
    integer_multiples_collected,
    integer_terms_cancelled,
)
from lamella.rewriting.rules.integers import (
    bits_with_number,
    divide_integer_by_one,
    divide_integer_by_power_of_two,
    divide_zero,
    integer_and_itself,
    integer_products_collected,
    integer_sums_collected,
    mul_integer_by_zero,
    shift_by_zero,
    sub_integer_from_itself,
)
from lamella.rewriting.rules.inverses import (
    divide_by_reciprocal,
    inverse_of_function,
    reciprocal_of_divide,
    reciprocal_of_reciprocal,
)
from lamella.rewriting.rules.involutions import idempotent_of_itself, involution_of_itself, rounding_of_rounded
from lamella.rewriting.rules.joining import (
    join_of_empty,
    join_of_join,
    join_of_one,
    join_of_parts,
    join_of_scalars,
    join_of_split,
    make_vector_of_elements,
    subtensor_of_join,
    subtensor_of_make_vector,
)
from lamella.rewriting.rules.lifted_switch import (
    annihilating_mul_of_switch,
    ufunc_of_switches,
)
from lamella.rewriting.rules.log_sum_exp import (
    exp_by_exps,
    exp_by_sum_of_exp,
    exp_of_log_softmax,
    exp_times_reciprocal_of_exps,
    exp_times_reciprocal_of_sum,
    log1p_of_two_exps,
    log_of_softmax,
    log_of_sum_of_exp,
    log_of_two_exps,
    x_minus_log_sum_exp,
)
from lamella.rewriting.rules.logic import (
    logic_with_itself,
    logic_with_known,
)
from lamella.rewriting.rules.logistic import (
    exp_by_one_plus_exp,
    exp_of_stable_log,
    exp_times_sigmoid,
    expm1_of_softplus,
    log1mexp_of_differences,
    log1p_of_exp,
    log1p_of_minus_sigmoid,
    log_of_difference_of_exps,
    log_of_expm1,
    log_of_odds_of_sigmoid,
    log_of_sigmoid,
    one_minus_sigmoid,
    reciprocal_of_one_plus_exp,
    sigmoid_of_log_odds,
    slope_of_sigmoid_by_sigmoid,
)
from lamella.rewriting.rules.nested_subtensor import subtensor_of_subtensor
from lamella.rewriting.rules.nested_switch import (
    switch_of_not,
    switch_of_one_and_zero,
    switch_of_switch,
)
from lamella.rewriting.rules.powers import (
    abs_of_nonnegative,
    even_function_of_negated,
    even_of_negated,
    integer_power,
    mul_by_itself,
    mul_of_reciprocal,
    one_divided,
    power_by_half,
    power_by_halves,
    power_by_other_halves,
    power_by_small_integer,
    power_by_unit,
    product_of_abs,
    reciprocal_of_neg,
    sqrt_of_square,
    square_of_sqrt,
)
from lamella.rewriting.rules.read_back import subtensor_of_other_part, take_of_written
from lamella.rewriting.rules.reassociation import (
    float_multiples_collected,
    float_products_collected,
    float_sums_collected,
    nested_fold,
)
from lamella.rewriting.rules.reduced_joins import (
    extreme_of_fill,
    reduction_across_join,
    reduction_of_join,
    reduction_of_reshape,
    reduction_of_scalars,
)
from lamella.rewriting.rules.reduction_fusion import ReductionFusion
from lamella.rewriting.rules.reductions import (
    reduction_of_dimshuffle,
    reduction_of_reduction,
    reduction_of_unit_axes,
)
from lamella.rewriting.rules.reshape import (
    reshape_of_dimshuffle,
    reshape_of_elemwise,
    reshape_of_reshape,
    reshape_of_unit_axes,
)
from lamella.rewriting.rules.scaled_sums import sum_of_neg, sum_of_repeated_factor, sum_of_scaled
from lamella.rewriting.rules.shape import shape_i_of_computed, shape_of_lengths
from lamella.rewriting.rules.slope_of_prod import (
    slope_of_prod_by_prod,
)
from lamella.rewriting.rules.softmax import (
    log_of_part_of_softmax,
    slope_of_log_of_softmax,
)
from lamella.rewriting.rules.specify_shape import (
    specify_shape_of_dimshuffle,
    specify_shape_of_elemwise,
    specify_shape_of_known,
    specify_shape_of_specify_shape,
)
from lamella.rewriting.rules.splitting import split_into_one, split_of_fill, split_of_join
from lamella.rewriting.rules.subtensor import (
    inc_of_whole,
    index_of_known,
    index_of_unit_axes,
    set_of_whole,
    subtensor_of_written,
)
from lamella.rewriting.rules.subtensor_lift import (
    subtensor_across_join,
    subtensor_of_dimshuffle,
    subtensor_of_dot,
    subtensor_of_elemwise,
    subtensor_of_fill,
    subtensor_of_reduction,
)
from lamella.rewriting.rules.sum_of_fill import sum_of_fill, sum_of_zeros
from lamella.rewriting.rules.switch import switch_of_known, switch_of_same
from lamella.rewriting.rules.unbroadcast import (
    elemwise_of_unbroadcast,
    op_of_unbroadcast,
    unbroadcast_of_unbroadcast,
)
from lamella.rewriting.rules.without_nan import (
    any_comparison_with_itself,
    divide_by_itself,
    mul_by_zero,
    product_of_switch,
    sub_from_itself,
    zero_divided,
)
from lamella.rewriting.rules.written import (
    inc_of_set,
    inc_of_zeros,
    set_of_increased,
    set_of_own_part,
    set_of_written,
    write_of_same_number,
)
from lamella.rewriting.rules.written_sums import sum_with_written_zeros

__all__ = [
    "ALGEBRA",
    "BLAS",
    "CANONICALIZE",
    "FUSION",
    "INPLACE",
    "SPECIALIZE",
    "STABILIZE",
    "STRUCTURE",
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

STRUCTURE: tuple[Builtin, ...] = (
    Builtin(constant_folding, *_ALWAYS),
    *_NO_OPERATION,
    Builtin(dimshuffle_of_dimshuffle, *_ALWAYS),
    Builtin(dimshuffle_of_reshape, *_RUN),
    Builtin(specify_shape_of_known, *_ALWAYS),
    Builtin(specify_shape_of_specify_shape, *_ALWAYS),
    Builtin(specify_shape_of_dimshuffle, *_RUN),
    Builtin(specify_shape_of_elemwise, *_RUN, "shape_unsafe"),
    Builtin(unbroadcast_of_unbroadcast, *_ALWAYS),
    Builtin(op_of_unbroadcast, *_ALWAYS),
    Builtin(elemwise_of_unbroadcast, *_ALWAYS),
    Builtin(reshape_of_unit_axes, *_ALWAYS),
    Builtin(reshape_of_reshape, *_RUN, "shape_unsafe"),
    Builtin(reshape_of_dimshuffle, *_RUN),
    Builtin(reshape_of_elemwise, *_RUN),
    Builtin(join_of_empty, *_RUN, "shape_unsafe"),
    Builtin(join_of_join, *_RUN),
    Builtin(join_of_scalars, *_RUN),
    Builtin(join_of_split, *_RUN, "shape_unsafe"),
    Builtin(join_of_parts, *_RUN),
    Builtin(make_vector_of_elements, *_RUN),
    Builtin(split_into_one, *_RUN),
    Builtin(split_of_join, *_RUN, "shape_unsafe"),
    Builtin(split_of_fill, *_RUN, "shape_unsafe"),
    Builtin(reduction_of_unit_axes, *_RUN),
    Builtin(shape_i_of_computed, *_RUN, "shape_unsafe"),
    Builtin(shape_of_lengths, *_RUN, "shape_unsafe"),
    Builtin(index_of_known, *_RUN),
    Builtin(take_progression, *_RUN),
    Builtin(take_all, *_RUN),
    Builtin(take_of_one, *_RUN),
    Builtin(take_of_written, *_RUN, "shape_unsafe"),
    Builtin(subtensor_of_make_vector, *_RUN),
    Builtin(index_of_unit_axes, *_RUN),
    Builtin(subtensor_of_subtensor, *_RUN),
    Builtin(subtensor_of_join, *_RUN, "shape_unsafe"),
    Builtin(subtensor_of_written, *_RUN, "shape_unsafe"),
    Builtin(subtensor_of_other_part, *_RUN, "shape_unsafe"),
    Builtin(subtensor_of_dimshuffle, *_RUN),
    Builtin(set_at_progression, *_RUN),
    Builtin(set_of_own_part, *_RUN),
    Builtin(set_of_written, *_RUN, "shape_unsafe"),
    Builtin(set_of_increased, *_RUN),
    Builtin(inc_of_set, *_RUN),
    Builtin(write_of_same_number, *_RUN, "shape_unsafe"),
    Builtin(inc_of_zeros, *_RUN),
    Builtin(inc_of_whole, *_RUN),
    Builtin(set_of_whole, *_RUN, "shape_unsafe"),
    Builtin(alloc_of_own_shape, *_RUN),
    Builtin(alloc_of_whole, *_RUN, "shape_unsafe"),
    Builtin(alloc_of_unit_axes, *_RUN),
    Builtin(alloc_of_fill, *_RUN, "shape_unsafe"),
    Builtin(fill_with_whole, *_RUN, "shape_unsafe"),
    Builtin(dimshuffle_of_fill, *_RUN, "shape_unsafe"),
    Builtin(moved_fill, *_RUN, "shape_unsafe"),
    Builtin(fill_written, *_RUN, "shape_unsafe"),
    Builtin(elemwise_of_fill, *_RUN, "shape_unsafe"),
    Builtin(subtensor_of_fill, *_RUN, "shape_unsafe"),
    Builtin(subtensor_across_join, *_RUN, "shape_unsafe"),
    Builtin(subtensor_of_elemwise, *_RUN, "shape_unsafe"),
    Builtin(subtensor_of_reduction, *_RUN, "shape_unsafe", "reassociates"),
    Builtin(subtensor_of_dot, *_RUN, "shape_unsafe", "reassociates"),
    Builtin(extreme_of_fill, *_RUN, "shape_unsafe"),
    Builtin(dimshuffle_of_elemwise, *_RUN),
    Builtin(sum_of_zeros, *_RUN, "shape_unsafe"),
    Builtin(sum_of_fill, *_RUN, "shape_unsafe", "reassociates"),
    Builtin(switch_of_known, *_RUN, "shape_unsafe"),
    Builtin(switch_of_same, *_RUN, "shape_unsafe"),
    Builtin(ifelse_of_known, *_ALWAYS),
    Builtin(ifelse_of_same, *_RUN, "shape_unsafe"),
    Builtin(ifelse_of_ifelse, *_RUN),
    Builtin(ifelse_of_not, *_RUN),
    Builtin(check_of_known, *_ALWAYS),
    Builtin(check_of_same, *_RUN),
    Builtin(blockwise_of_one, *_RUN, "shape_unsafe"),
    Builtin(blockwise_at_once, *_RUN, "shape_unsafe"),
)
"""What is structure and no arithmetic: constants, axes, lengths, indices, repeated values. Tidied whenever other rewrites are applied."""

_NEUTRAL: tuple[Builtin, ...] = (
    Builtin(mul_by_one, *_ALWAYS),
    Builtin(add_of_zero, *_ALWAYS),
    Builtin(sub_of_zero, *_ALWAYS),
    Builtin(divide_by_number, *_ALWAYS),
    Builtin(divide_integer_by_one, *_ALWAYS),
    Builtin(shift_by_zero, *_ALWAYS),
    Builtin(bits_with_number, *_ALWAYS),
    Builtin(logic_with_known, *_ALWAYS),
    Builtin(logic_with_itself, *_ALWAYS),
    Builtin(integer_and_itself, *_ALWAYS),
    Builtin(extreme_of_itself, *_ALWAYS),
    Builtin(extreme_with_no_bound, *_ALWAYS),
)

ALGEBRA: tuple[Builtin, ...] = (
    *_NEUTRAL,
    Builtin(annihilating_mul_of_nonzero, *_RUN),
    Builtin(mul_by_minus_one, *_RUN),
    Builtin(mul_of_neg, *_RUN),
    Builtin(divide_of_neg, *_RUN),
    Builtin(neg_of_mul, *_RUN),
    Builtin(neg_of_divide, *_RUN),
    Builtin(neg_of_sub, *_RUN),
    Builtin(add_of_neg, *_RUN),
    Builtin(sub_of_neg, *_RUN),
    Builtin(mul_integer_by_zero, *_RUN),
    Builtin(sub_integer_from_itself, *_RUN),
    Builtin(integer_terms_cancelled, *_RUN, "shape_unsafe"),
    Builtin(integer_difference_completed, *_RUN, "shape_unsafe"),
    Builtin(integer_sums_collected, *_RUN),
    Builtin(integer_products_collected, *_RUN),
    Builtin(integer_multiples_collected, *_RUN),
    Builtin(divide_zero, *_RUN),
    Builtin(float_sums_collected, *_RUN, "reassociates"),
    Builtin(float_products_collected, *_RUN, "reassociates"),
    Builtin(float_multiples_collected, *_RUN, "reassociates"),
    Builtin(power_by_unit, *_RUN, "reassociates"),
    Builtin(power_by_half, *_RUN, "reassociates"),
    Builtin(mul_by_itself, *_RUN),
    Builtin(one_divided, *_RUN),
    Builtin(reciprocal_of_neg, *_RUN),
    Builtin(even_of_negated, *_RUN),
    Builtin(even_function_of_negated, *_RUN),
    Builtin(product_of_abs, *_RUN),
    Builtin(abs_of_nonnegative, *_RUN),
    Builtin(extreme_of_bounds, *_RUN),
    Builtin(clip_without_bounds, *_RUN),
    Builtin(extremes_to_clip, *_RUN),
    Builtin(clip_of_clip, *_RUN),
    Builtin(comparison_with_itself, *_RUN),
    Builtin(comparison_with_bound, *_RUN),
    Builtin(comparison_with_special_float, *_RUN),
    Builtin(comparison_of_negs, *_RUN),
    Builtin(truth_compared_with_number, *_RUN),
    Builtin(finiteness_of_integers, *_RUN),
    Builtin(finiteness_of_negated, *_RUN),
    Builtin(less_than_zero, *_RUN),
    Builtin(not_of_comparison, *_RUN),
    Builtin(switch_of_not, *_RUN),
    Builtin(switch_of_switch, *_RUN, "shape_unsafe"),
    Builtin(switch_of_one_and_zero, *_RUN),
    Builtin(ufunc_of_switches, *_RUN),
)
"""Arithmetic that is exact, for NaN, infinities and zeros of both signs, or says what it changes."""

_WITHOUT_NAN: tuple[Builtin, ...] = (
    Builtin(sub_from_itself, "nan_unsafe"),
    Builtin(divide_by_itself, "nan_unsafe"),
    Builtin(zero_divided, "nan_unsafe"),
    Builtin(mul_by_zero, "nan_unsafe"),
    Builtin(product_of_switch, "nan_unsafe"),
    Builtin(any_comparison_with_itself, "nan_unsafe"),
    Builtin(annihilating_mul_of_finite, "nan_unsafe"),
    Builtin(terms_collected, "nan_unsafe", "shape_unsafe", "reassociates"),
    Builtin(factors_collected, "nan_unsafe", "shape_unsafe", "reassociates"),
)

CANONICALIZE: tuple[Builtin, ...] = (*STRUCTURE, *ALGEBRA, *_WITHOUT_NAN)
"""To a standard form."""

STABILIZE: tuple[Builtin, ...] = (
    *STRUCTURE,
    *ALGEBRA,
    Builtin(sqrt_of_square, *_RUN),
    Builtin(square_of_sqrt, *_RUN),
    Builtin(exp_of_log, *_RUN),
    Builtin(exp_of_log1p, *_RUN),
    Builtin(expm1_of_log1p, *_RUN),
    Builtin(expm1_of_log, *_RUN),
    Builtin(inverse_of_function, *_RUN),
    Builtin(reciprocal_of_reciprocal, *_RUN),
    Builtin(reciprocal_of_divide, *_RUN),
    Builtin(divide_by_reciprocal, *_RUN),
    Builtin(exp_minus_one, *_RUN),
    Builtin(one_minus_exp, *_RUN),
    Builtin(log_of_exp, *_RUN),
    Builtin(log1p_of_expm1, *_RUN),
    Builtin(log_of_two_exps, *_RUN),
    Builtin(log1p_of_two_exps, *_RUN),
    Builtin(log_of_difference_of_exps, *_RUN),
    Builtin(log_of_expm1, *_RUN),
    Builtin(log_of_sum_of_exp, *_RUN),
    Builtin(log_of_one_plus, *_RUN),
    Builtin(log_of_power, *_RUN),
    Builtin(log_of_scaled_exp, *_RUN),
    Builtin(log_of_prod, *_RUN, "reassociates"),
    Builtin(slope_of_prod_by_prod, *_RUN),
    Builtin(log_of_softmax, *_RUN),
    Builtin(exp_of_log_softmax, *_RUN),
    Builtin(log_of_part_of_softmax, *_RUN),
    Builtin(slope_of_log_of_softmax, *_RUN),
    Builtin(log_of_sigmoid, *_RUN),
    Builtin(log_of_odds_of_sigmoid, *_RUN),
    Builtin(sigmoid_of_log_odds, *_RUN),
    Builtin(log_of_cosh, *_RUN),
    Builtin(log1p_of_exp, *_RUN),
    Builtin(log1p_of_minus_sigmoid, *_RUN),
    Builtin(exp_of_stable_log, *_RUN),
    Builtin(expm1_of_softplus, *_RUN),
    Builtin(log1mexp_of_differences, *_RUN),
    Builtin(reciprocal_of_one_plus_exp, *_RUN),
    Builtin(exp_by_one_plus_exp, *_RUN),
    Builtin(exp_times_sigmoid, *_RUN),
    Builtin(slope_of_sigmoid_by_sigmoid, *_RUN),
    Builtin(one_minus_sigmoid, *_RUN),
    Builtin(exp_by_sum_of_exp, *_RUN),
    Builtin(exp_times_reciprocal_of_sum, *_RUN),
    Builtin(exp_by_exps, *_RUN),
    Builtin(exp_times_reciprocal_of_exps, *_RUN),
    Builtin(x_minus_log_sum_exp, *_RUN),
    Builtin(sinh_by_cosh, *_RUN),
    Builtin(sinh_times_reciprocal_of_cosh, *_RUN),
    Builtin(log1p_of_minus_square_of_tanh, *_RUN),
    Builtin(slope_of_tanh_by_slope_of_tanh, *_RUN),
    Builtin(one_minus_erf, *_RUN),
    Builtin(one_plus_erf, *_RUN),
    Builtin(erf_minus_one, *_RUN),
    Builtin(log_of_erfc, *_RUN),
    Builtin(erfc_times_exp, *_RUN),
    Builtin(slope_of_erfc_by_erfc, *_RUN),
    Builtin(x_times_log_of_x, *_RUN),
    Builtin(product_of_exps, *_RUN, "reassociates"),
    Builtin(quotient_of_exps, *_RUN, "reassociates"),
    Builtin(reciprocal_of_exp, *_RUN),
    Builtin(sqrt_of_exp, *_RUN),
)
"""To forms that lose no accuracy and do not overflow."""

SPECIALIZE: tuple[Builtin, ...] = (
    *STRUCTURE,
    *ALGEBRA,
    Builtin(integer_power, *_RUN),
    Builtin(power_by_halves, *_RUN, "reassociates"),
    Builtin(divide_integer_by_power_of_two, *_RUN),
    Builtin(annihilating_mul_of_switch, *_RUN),
    Builtin(power_by_small_integer, *_RUN, "reassociates"),
    Builtin(power_by_other_halves, *_RUN, "reassociates"),
    Builtin(mul_of_reciprocal, *_RUN, "reassociates"),
    Builtin(nested_fold, *_RUN),
    Builtin(sum_with_written_zeros, *_RUN),
    Builtin(dot_of_transposed, *_RUN, "reassociates"),
    Builtin(transposed_dot, *_RUN, "reassociates"),
    Builtin(outer_dot, *_RUN, "reassociates"),
    Builtin(second_to_alloc, *_RUN, "shape_unsafe"),
    Builtin(reduction_of_reduction, *_RUN, "reassociates"),
    Builtin(reduction_of_dimshuffle, *_RUN, "reassociates"),
    Builtin(reduction_of_reshape, *_RUN, "shape_unsafe", "reassociates"),
    Builtin(reduction_of_scalars, *_RUN, "reassociates"),
    Builtin(reduction_of_join, *_RUN, "shape_unsafe", "reassociates"),
    Builtin(reduction_across_join, *_RUN, "shape_unsafe"),
    Builtin(sum_of_neg, *_RUN),
    Builtin(sum_of_scaled, *_RUN, "reassociates"),
    Builtin(sum_of_repeated_factor, "nan_unsafe", "reassociates"),
)
"""To special operations that do the same, faster."""

UNCANONICALIZE: tuple[Builtin, ...] = ()
"""To faster forms that are not the standard ones."""

INLINE: tuple[PlacedBuiltin, ...] = (PlacedBuiltin(InlineGraphs(), 0.1, "fast_run", "fast_compile", "inline"),)
"""Graphs within graphs become part of them; before all others but the first merge."""

BLAS: tuple[PlacedBuiltin, ...] = (PlacedBuiltin(gemm, 4, "fast_run", "blas", "reassociates"),)
"""To calls of BLAS routines, once products and sums have their final form; positions from 4 to below 48."""

FUSION: tuple[PlacedBuiltin, ...] = (
    PlacedBuiltin(ElementwiseFusion(), 48.5, "fast_run", "fusion"),
    PlacedBuiltin(ReductionFusion(), 48.6, "fast_run", "fusion", "reassociates"),
    PlacedBuiltin(IndexingFusion(), 48.7, "fast_run", "fusion"),
)
"""Elementwise operations, reductions of their results, and what is read and added at an index, into one; positions from 48 to below 49."""

INPLACE: tuple[PlacedBuiltin, ...] = (
    PlacedBuiltin(InplaceIncSubtensor(), 60, "fast_run", "inplace"),
    PlacedBuiltin(InplaceBlas(), 70, "fast_run", "inplace", "blas"),
    PlacedBuiltin(InplaceElementwise(), 75, "fast_run", "inplace"),
)
"""To operations that overwrite inputs; positions from 50."""
