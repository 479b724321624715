"""`compare_backends` accepts backends that compute the same, and says what a wrong one does."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from lamella import shared
from lamella.errors import BroadcastError, ConfigError, MissingInputError
from lamella.ir import FunctionGraph, lt, make_slice
from lamella.runtime import FAST_RUN, Mode, PerformLinker
from lamella.testing import BackendMismatch, ComparedBackends, compare_backends, rounding_errors
from tests.testing import own_ops as ops
from tests.testing.wrong_linkers import (
    Spoil,
    SpoilingLinker,
    as_computed,
    changes_input,
    fails,
    first_is,
    one_ulp_up,
    returns_input,
)

VALUES = np.array([0.5, -1.0, 2.0])
VALUES.setflags(write=False)


def test_all_backends_agree_on_a_graph() -> None:
    x, y = lt.vector("x"), lt.matrix("y")
    outputs = [lt.exp(x) / lt.sum(lt.exp(x)), lt.dot(y, x), lt.argmax(x), y[::-1, 1]]
    compare_backends(outputs, {x: VALUES, "y": np.ones((2, 3))})


def test_ways_to_give_the_graph_and_the_values() -> None:
    x, y = lt.vector("x"), lt.vector("y")
    for graph in (x - y, [x - y], (x - y,), FunctionGraph([x, y], [x - y])):
        compare_backends(graph, {x: VALUES, y: VALUES}, ["PerformLinker"])
        compare_backends(graph, {"x": VALUES, y: [1, 2, 3]}, ["PerformLinker"])
        compare_backends(graph, [VALUES, VALUES], ["PerformLinker"])
    with pytest.raises(MissingInputError, match="the input y"):
        compare_backends(x - y, {x: VALUES})
    with pytest.raises(ValueError, match="'z'"):
        compare_backends(x - y, {x: VALUES, "y": VALUES, "z": 1})
    with pytest.raises(ValueError, match=r"2 inputs .* 1 values"):
        compare_backends(x - y, [VALUES])
    with pytest.raises(ConfigError, match="no mode is named 'Fortran'"):
        compare_backends(x - y, [VALUES, VALUES], ["Fortran"])


def test_shared_variables_keep_their_value() -> None:
    state = shared(np.array([1.0, 2.0, 3.0]), name="state")
    x = lt.vector("x")
    compare_backends(x * state, {x: VALUES}, ["PerformLinker", "FAST_COMPILE"])
    compare_backends(lt.sum(state), (), ["PerformLinker"])


def test_what_is_no_tensor_is_compared_too() -> None:
    x = lt.lscalar("x")
    compare_backends(make_slice(x, 3), {x: 1}, ["PerformLinker"])


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (one_ulp_up, None),
        (
            first_is(lambda x: x + 1),
            r"output 0 \(Exp\.0\): element \[0\] is np.float64\(2.6487.*units in the last place",
        ),
        (first_is(lambda x: x.astype("float32")), "output 0 .*: the dtype is float32, float64 is expected"),
        (first_is(lambda x: x[:2]), r"output 0 .*: the shape is \(2,\), \(3,\) is expected"),
        (first_is(lambda x: np.where(x > 1, x, np.nan)), r"element \[1\] is np.float64\(nan\)"),
        (first_is(list), "the value is a list, an array is expected"),
        (changes_input, "changes the array given as input 0"),
        (returns_input, "element"),
        (fails, r"raises IndexError\('out of bounds'\), the interpreter does not"),
    ],
)
def test_what_a_wrong_backend_does_is_said(spoil: Spoil, problem: str | None) -> None:
    x = lt.vector("x")
    backends = [SpoilingLinker(as_computed), SpoilingLinker(spoil)]
    values = VALUES.copy()
    if problem is None:
        compare_backends(lt.exp(x), {x: values}, backends)
        return
    with pytest.raises(BackendMismatch, match=f"^SpoilingLinker.*{problem}"):
        compare_backends(lt.exp(x), {x: values}, backends)


def test_memory_of_an_input_may_not_be_returned() -> None:
    x = lt.vector("x")
    with pytest.raises(BackendMismatch, match=r"output 0 .* shares memory with an input"):
        compare_backends(x + 0, {x: VALUES}, [SpoilingLinker(returns_input)])


def test_the_sign_of_zero_counts() -> None:
    x = lt.vector("x")
    with pytest.raises(BackendMismatch, match=r"element \[1\] is np.float64\(0.0\), np.float64\(-0.0\) is expected"):
        compare_backends(x * 0, {x: VALUES}, [SpoilingLinker(first_is(np.abs))])


def test_units_in_the_last_place() -> None:
    x = lt.vector("x")
    backends = [SpoilingLinker(one_ulp_up)]
    compare_backends(lt.exp(x), {x: VALUES}, backends, max_ulps=1, conditioned=False)
    with pytest.raises(BackendMismatch, match=r"1 units in the last place apart, 0\.5 are allowed"):
        compare_backends(lt.exp(x), {x: VALUES}, backends, max_ulps=0.5, conditioned=False)


def test_errors_must_be_alike() -> None:
    x, y = lt.vector("x"), lt.vector("y")
    values = {x: VALUES, y: VALUES[:1]}
    with pytest.raises(BroadcastError):
        (x + y).eval(values)
    compare_backends(x + y, values, ["PerformLinker", "FAST_COMPILE"])
    with pytest.raises(BackendMismatch, match=r"raises nothing, but the interpreter raises IndexError"):
        compare_backends(x[5], {x: VALUES}, [SpoilingGrown()])


class SpoilingGrown(SpoilingLinker):
    """Gives a number whatever happens."""

    def __init__(self) -> None:
        super().__init__(as_computed)

    def link(self, scheduled: Any) -> Any:
        return lambda values: [np.array(1.0)]


def test_further_mismatches_are_notes() -> None:
    x = lt.vector("x")
    with pytest.raises(BackendMismatch) as caught:
        compare_backends(
            [lt.exp(x), lt.sin(x)], {x: VALUES}, [SpoilingLinker(lambda _, results: [r + 1 for r in results])]
        )
    assert (caught.value.backend, caught.value.output, caught.value.variable) == ("SpoilingLinker", 0, "Exp.0")
    assert [note.split(":")[0] for note in caught.value.__notes__] == ["SpoilingLinker, output 1 (Sin.0)"]


def test_ops_that_overwrite_their_input_get_arrays_of_their_own() -> None:
    x = lt.vector("x")
    values = VALUES.copy()
    compare_backends(ops.InPlace()(x), {x: values}, ["PerformLinker", "CLinker"])
    np.testing.assert_array_equal(values, VALUES)


def test_a_graph_is_compiled_once_for_many_values() -> None:
    x = lt.vector("x")
    compared = ComparedBackends.compile(lt.exp(x), ["PerformLinker", SpoilingLinker(first_is(lambda v: v + 1))])
    for n in (1, 2, 3):
        (found,) = compared.mismatches([VALUES[:n]])
        assert found.backend == "SpoilingLinker"


def _instead(value: Any, _: Any) -> Any:
    return value


class TestRounding:
    """What rounding explains is allowed, and nothing else."""

    def test_cancellation_is_allowed_for(self) -> None:
        x = lt.vector("x")
        y = (x + 1e8) - lt.exp(lt.log(x + 1e8))
        nearly = SpoilingLinker(first_is(lambda v: v + 1e-8))
        compare_backends(y, {x: VALUES}, [nearly])
        with pytest.raises(BackendMismatch):
            compare_backends(y, {x: VALUES}, [nearly], conditioned=False)
        with pytest.raises(BackendMismatch):
            compare_backends(y, {x: VALUES}, [SpoilingLinker(first_is(lambda v: v + 1e-3))])

    def test_numbers_with_few_digits_are_exact(self) -> None:
        x = lt.vector("x")
        (errors,) = rounding_errors(FunctionGraph([x], [x * 0.5 + 3]), [VALUES])
        np.testing.assert_array_equal(errors, np.zeros(3))

    def test_long_numbers_move_as_far_as_the_graph_amplifies(self) -> None:
        x = lt.vector("x")
        first, second = rounding_errors(FunctionGraph([x], [lt.exp(x), 1e6 * lt.exp(x)]), [VALUES], max_ulps=1)
        assert first is not None
        assert second is not None
        assert np.all((first > 1e-17) & (first < 1e-15))
        assert np.all((second > 1e-11) & (second < 1e-8))

    def test_numbers_that_are_no_arrays_move_too(self) -> None:
        x = lt.dscalar("x")
        number = lt.scalar_from_tensor(lt.exp(x))
        huge = lt.tensor_from_scalar(number * number - number * number * (1 + 1e-15))
        (errors,) = rounding_errors(FunctionGraph([x], [huge]), [np.array(1.0)])
        assert errors is not None
        assert errors > 1e-15

    def test_sums_may_be_taken_in_any_order(self) -> None:
        x = lt.vector("x")
        rng = np.random.default_rng(0)
        values = rng.normal(size=1000)
        (errors,) = rounding_errors(FunctionGraph([x], [lt.sum(x)]), [values])
        other = float(np.sum(values[::-1])) - float(np.sum(values))
        assert errors is not None
        assert abs(other) < errors < 1e-11

    def test_parts_of_products_and_sums_may_overflow_or_vanish(self) -> None:
        x, y = lt.matrix("x", dtype="float16"), lt.matrix("y")
        products = np.array([[2.0**-14] * 60 + [np.inf], [0.5] * 61], "float16")
        sums = np.array([[1e308] * 8 + [-1e308] * 8, [0.5] * 16])
        errors = rounding_errors(FunctionGraph([x, y], [lt.prod(x, axis=1), lt.sum(y, axis=1)]), [products, sums])
        assert [np.isinf(e).tolist() for e in errors if e is not None] == [[True, False], [True, False]]

    def test_a_jump_makes_everything_possible(self) -> None:
        x = lt.vector("x")
        (errors,) = rounding_errors(FunctionGraph([x], [lt.floor(lt.exp(lt.log(x)))]), [np.array([3.0, 3.5])])
        assert errors is not None
        np.testing.assert_array_equal(errors, [1.0, 0.0])

    def test_nothing_is_known_of_infinite_parts_of_complex_products(self) -> None:
        x = lt.zmatrix("x")
        values = np.array([[complex(np.inf, 1.0), 1.0], [2.0, 1j]])
        product, is_nan, elementwise = rounding_errors(FunctionGraph([x], [x @ x, lt.isnan(x @ x), x * x]), [values])
        assert product is not None
        assert is_nan is not None
        assert elementwise is not None
        assert np.isinf(product).tolist() == [[True, True], [True, False]]
        assert is_nan.tolist() == [[1.0, 1.0], [1.0, 0.0]]
        assert not np.isinf(elementwise).any()

    def test_moves_do_not_cancel_out_for_some_of_many_elements(self) -> None:
        x = lt.vector("x")
        values = np.linspace(1.0, 2.0, 5001)[1:] ** 0.5
        (errors,) = rounding_errors(FunctionGraph([x], [lt.abs(lt.exp(x))]), [values], max_ulps=1)
        assert errors is not None
        assert np.all(errors > 1.5 * np.spacing(np.exp(values)))

    def test_the_sign_of_a_computed_nan_is_unknown(self) -> None:
        x, y = lt.vector("x"), lt.vector("y")
        nan = lt.log(x)
        outputs = [lt.copysign(y, nan), lt.signbit(nan), lt.copysign(0.0, nan), lt.copysign(y, x)]
        values = [np.array([-1.0, 2.0, np.nan]), np.array([0.0, 3.0, 3.0])]
        errors = rounding_errors(FunctionGraph([x, y], outputs), values)
        changed = [e.astype(bool).tolist() for e in errors if e is not None]
        assert changed == [[True, False, True], [True, False, True], [True, False, True], [False, False, False]]
        compare_backends(
            outputs[0], {x: values[0], y: values[1]}, [SpoilingLinker(first_is(lambda v: v * [-1, 1, -1]))]
        )
        with pytest.raises(BackendMismatch, match=r"element \[1\] is np.float64\(-3.0\)"):
            compare_backends(outputs[0], {x: values[0], y: values[1]}, [SpoilingLinker(first_is(np.negative))])

    def test_what_is_next_to_one_is_not_exact(self) -> None:
        x = lt.vector("x")
        outputs = [lt.log(lt.sigmoid(x)), lt.log(lt.tanh(x)), lt.log(lt.exp(1 / x)), lt.log(x / x)]
        values = np.array([40.0, np.inf])
        moved = rounding_errors(FunctionGraph([x], outputs), [values])
        possible = [[bool(e) for e in errors] for errors in moved if errors is not None]
        assert possible[:2] == [[True, True], [True, True]]
        assert possible[3][0] is False
        compare_backends(outputs[0], {x: values}, ["PerformLinker", Mode(PerformLinker(), FAST_RUN.query)])

    @pytest.mark.parametrize("dtype", ["float32", "complex128"])
    def test_a_zero_of_a_product_of_matrices_may_have_either_sign(self, dtype: str) -> None:
        x = lt.matrix("x", dtype=dtype)
        values = np.zeros((2, 2), dtype)
        product, infinite, total = rounding_errors(FunctionGraph([x], [x @ x, 1 / lt.real(x @ x), lt.sum(x)]), [values])
        assert product is not None
        assert infinite is not None
        assert total is not None
        assert np.all((product > 0) & (product < 1e-300))
        assert np.all(np.isinf(infinite))
        assert total == 0

    def test_a_zero_keeps_its_sign(self) -> None:
        x = lt.vector("x")
        (errors,) = rounding_errors(FunctionGraph([x], [1 / (x * 2)]), [np.array([-0.0, 0.0])])
        np.testing.assert_array_equal(errors, np.zeros(2))

    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    def test_what_is_computed_of_numbers_too_large_or_too_small_may_go_another_way(self, dtype: str) -> None:
        x = lt.vector("x", dtype=dtype)
        large = float(np.log(np.finfo(dtype).max)) * 1.2
        values = np.array([large, -1.5 * large, 1.0, np.inf, 0.0], dtype)
        outputs = [lt.log1p(lt.exp(x)), lt.log(lt.exp(x)), lt.exp(x), lt.sqrt(lt.exp(x) * lt.exp(x))]
        softplus, logarithm, exponential, root = rounding_errors(FunctionGraph([x], outputs), [values])
        for errors, unknown in [
            (softplus, [True, False, False, False, False]),
            (logarithm, [True, True, False, False, False]),
            (exponential, [False] * 5),
            (root, [True, False, False, False, False]),
        ]:
            assert errors is not None
            np.testing.assert_array_equal(errors > 0.1, unknown)

    def test_a_sum_that_was_rounded_to_few_digits_is_not_what_it_seems(self) -> None:
        x = lt.vector("x", dtype="float16")
        values = np.array([1e-4, 0.5, -0.0, -9.0], "float16")
        outputs = [lt.log(1 + x), lt.log1p(lt.expm1(x)), 4 - (1 + x)]
        logarithm, rounded, difference = rounding_errors(FunctionGraph([x], outputs), [values])
        assert logarithm is not None
        assert rounded is not None
        assert difference is not None
        np.testing.assert_array_equal(logarithm > 0.002, [True, False, True, False])
        assert np.isinf(rounded[3])
        np.testing.assert_array_equal(difference > 0, [True, False, True, False])

    def test_next_to_its_zeros_a_logarithm_of_the_gamma_function_is_what_is_left_of_larger_numbers(self) -> None:
        x = lt.vector("x")
        y = lt.gammaln(x)
        values = np.array([0.9, 0.99, 1.01, 1.5, 1.9375, 1.99, 2.01])
        right = [
            *(0.06637623973474296, 0.005854806764709781, -0.005690307946069651, -0.12078223763524522),
            *(-0.02514761940298887, -0.004195529088791668, 0.004260022907098346),
        ]
        compare_backends(y, {x: values}, [SpoilingLinker(first_is(partial(_instead, np.array(right))))])
        with pytest.raises(BackendMismatch):
            compare_backends(y, {x: values}, [SpoilingLinker(first_is(lambda v: v + 3e-15))])

    def test_the_sine_of_a_huge_number_may_be_that_of_another_one(self) -> None:
        x = lt.vector("x")
        y = lt.sin(lt.exp(x))
        values = np.linspace(400.0, 500.0, 2000)
        angles = np.exp(values)
        for seed in range(4):
            moved = angles + np.spacing(angles) * np.random.default_rng(seed).integers(-4, 5, angles.shape)
            others = SpoilingLinker(first_is(partial(_instead, np.sin(moved))))
            compare_backends(y, {x: values}, [others])
        with pytest.raises(BackendMismatch):
            compare_backends(y, {x: values}, [SpoilingLinker(first_is(lambda v: v + 50))])
