"""Elementwise Ops in C: broadcasting, layouts, work in place, constants, fusion."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamella.codegen import write_program
from lamella.errors import BroadcastError
from lamella.ir import Composite, Elemwise, FunctionGraph, ScalarType, Sub, TensorType, constant, interpret, lt
from lamella.testing import MEMORY_LAYOUTS, in_layout
from lamella.typing_layer import schedule
from tests.codegen.agreement import compiled
from tests.codegen.c.lowerings.against_perform import assert_same_as_perform, assert_same_error, is_in_c, numbers


def tensor(*shape: int | None, dtype: str = "float64", name: str = "x") -> Any:
    return TensorType(dtype, shape)(name)


@pytest.mark.parametrize("ndim", [0, 1, 2, 3, 4])
def test_all_dimensions(ndim: int) -> None:
    x, y = tensor(*[None] * ndim), tensor(*[None] * ndim, name="y")
    shapes = [(2, 3, 4, 5)[:ndim], (1,) * ndim, (7, 1, 2, 1)[:ndim]] + ([(3, 0, 2, 4)[:ndim]] if ndim > 1 else [])
    cases = [(numbers(s, "float64", 1), numbers(s, "float64", 2)) for s in shapes]
    assert_same_as_perform([x, y], [lt.sub(x, y)], *cases)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "float64"])
def test_zero_less_a_zero_is_no_negative_zero(dtype: str) -> None:
    x = tensor(None, dtype=dtype)
    values = [np.arange(-3, 4).astype(dtype)] + ([np.array([-0.0, np.inf, np.nan])] if dtype == "float64" else [])
    assert_same_as_perform([x], [lt.sub(0.0, x), lt.sub(constant(0.0), lt.abs(x))], *[[v] for v in values])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_what_a_product_of_complex_numbers_is_taken_from_keeps_its_zero(dtype: str) -> None:
    x, y, z = [tensor(None, dtype=dtype, name=name) for name in "xyz"]
    parts = [0.0, -0.0, 1.0, -1.0]
    values = np.array([complex(*pair) for pair in product(parts, parts)], dtype)
    first, second = [np.ascontiguousarray(side) for side in np.broadcast_arrays(values[:, None], values)]
    a, b, c = [ScalarType(dtype)(name) for name in "abc"]
    fused = [Composite([a, b, c], [made]) for made in (-(a * b), c - a * b, -(a * a))]
    case = [first.ravel(), second.ravel(), np.zeros(first.size, dtype)]
    assert_same_as_perform([x, y, z], [Elemwise(op)(x, y, z) for op in fused], case)


@pytest.mark.parametrize("pattern", list(product([1, 5], [1, 6], [1, 5], [1, 6])))
def test_broadcasting_of_known_ones(pattern: tuple[int, ...]) -> None:
    known = [length if length == 1 else None for length in pattern]
    x, y = tensor(*known[:2]), tensor(*known[2:], name="y")
    assert_same_as_perform(
        [x, y], [lt.sub(x, y)], [numbers(pattern[:2], "float64", 1), numbers(pattern[2:], "float64", 2)]
    )


def test_matrix_row_column_and_number() -> None:
    m, r, c, s = tensor(None, None), tensor(1, None), tensor(None, 1), tensor()
    z = lt.add(lt.mul(m, r), lt.sub(c, s))
    case = [numbers(shape, "float64", i) for i, shape in enumerate([(9, 17), (1, 17), (9, 1), ()])]
    assert_same_as_perform([m, r, c, s], [z], case)


@pytest.mark.parametrize(("first", "second"), list(product(MEMORY_LAYOUTS, MEMORY_LAYOUTS)))
def test_operands_of_two_layouts(first: str, second: str) -> None:
    x, y = tensor(None, None, None), tensor(None, None, None, name="y")
    a, b = numbers((3, 4, 5), "float64", 1), numbers((3, 4, 5), "float64", 2)
    (got,) = compiled([x, y], [lt.sub(x, y)])([in_layout(a, first), in_layout(b, second)])
    assert np.array_equal(got, a - b)


def test_the_result_is_laid_out_as_the_operands_are() -> None:
    x, y = tensor(None, None), tensor(None, None, name="y")
    function = compiled([x, y], [lt.add(x, y)])
    a = np.ones((3, 4))
    assert function([a, a])[0].flags.c_contiguous
    assert function([a.T, a.T])[0].flags.f_contiguous


def test_a_column_that_varies_along_the_innermost_axis_in_memory() -> None:
    x, column = TensorType("float32", (None, None))("x"), TensorType("float64", (None, 1))("column")
    outputs = [lt.mod(x, column), lt.sum(lt.mod(column, x), axis=0)]  # which takes long, and is exact
    assert "sizes[] = {8, 4, 8}" in write_program(schedule(FunctionGraph([x, column], outputs))).text
    function = compiled([x, column], outputs)
    values: list[Any] = [numbers((300, 7), "float32", 1) + np.float32(0.5), numbers((300, 1), "float64", 2) + 0.25]
    expected = interpret([x, column], outputs, values)
    for first, second in product(MEMORY_LAYOUTS, repeat=2):
        given = [in_layout(values[0], first), in_layout(values[1], second)]
        results = function(given)
        np.testing.assert_array_equal(results[0], expected[0], f"{first}, {second}")
        np.testing.assert_allclose(results[1], expected[1], rtol=1e-12)


def test_lengths_that_differ_raise_what_perform_raises() -> None:
    x, y = tensor(None, None), tensor(None, None, name="y")
    fixed = tensor(3, None, name="z")
    cases = [[np.ones((3, 4)), np.ones((3, 5))], [np.ones((1, 4)), np.ones((3, 4))], [np.ones((3, 4)), np.ones((3, 1))]]
    errors = assert_same_error([x, y], [lt.add(x, y)], *cases)
    assert all(isinstance(error, BroadcastError) for error in errors)
    assert "specify_shape(y, ...) with length 1 along axis 1" in str(errors[2])
    assert_same_error([fixed, y], [lt.add(fixed, y)], [np.ones((3, 4)), np.ones((4, 4))])


def test_a_known_length_is_taken_for_an_unknown_one() -> None:
    x, y = tensor(None, 4), tensor(3, None, name="y")
    z = lt.add(x, y)
    assert z.type.shape == (3, 4)
    assert_same_as_perform([x, y], [z], [np.ones((3, 4)), np.ones((3, 4))])
    assert_same_error([x, y], [z], [np.ones((2, 4)), np.ones((3, 4))])


def test_small_constants_stand_in_the_code_and_large_ones_do_not() -> None:
    x = tensor(None)
    vector = np.arange(5.0)
    z = lt.add(lt.mul(x, 2.5), constant(vector))
    program = write_program(schedule(FunctionGraph([x], [z])))
    assert "0x1.4000000000000p+1" in program.text
    (kept,) = program.constants
    assert kept is constant(vector).data
    assert_same_as_perform([x], [z], [vector * 3])


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        *[
            (0.1, "float32"),
            (-0.0, "float64"),
            (float("inf"), "float64"),
            (float("nan"), "float32"),
            (1e-320, "float64"),
        ],
        *[(-(2**63), "int64"), (2**64 - 1, "uint64"), (-128, "int8"), (True, "bool"), (0.1, "float16")],
        *[(1.5 - 2j, "complex64"), (complex("nan+infj"), "complex128")],
    ],
)
def test_constants_keep_their_bits(value: complex, dtype: str) -> None:
    x = tensor(None, dtype="bool")
    number = constant(np.array(value).astype(dtype)) if dtype != "uint64" else constant(np.uint64(value))  # type: ignore[arg-type]  # an integer
    z = lt.switch(x, number, number)
    (got,) = compiled([x], [z])([np.array([True, False])])
    expected = np.array([number.data, number.data])
    assert got.dtype == dtype
    if got.dtype.kind in "fc":
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(np.signbit(got.real), np.signbit(expected.real))
    else:
        assert got.tobytes() == expected.tobytes()


def test_in_place_takes_the_memory_of_the_input() -> None:
    x, y = tensor(None, None), tensor(None, None, name="y")
    z = Elemwise[Any](Sub(), ((0, 1),))(x, y)
    function = compiled([x, y], [z])
    for layout in ("contiguous", "fortran", "strided", "reversed"):
        a, b = numbers((4, 5), "float64", 1), in_layout(numbers((4, 5), "float64", 2), layout)
        expected = a - b
        (got,) = function([a, b])
        assert np.array_equal(got, expected)
        assert np.shares_memory(got, b)
        assert np.array_equal(b, expected)


def test_in_place_on_an_input_that_may_not_be_written_makes_a_copy() -> None:
    x, y = tensor(None), tensor(None, name="y")
    function = compiled([x, y], [Elemwise[Any](Sub(), ((0, 0),))(x, y)])
    a, b = np.arange(6.0), np.ones(6)
    a.setflags(write=False)
    assert np.array_equal(function([a, b])[0], np.arange(6.0) - 1)
    assert np.array_equal(a, np.arange(6.0))
    repeated = np.broadcast_to(np.array([2.0]), (6,))
    assert np.array_equal(function([np.lib.stride_tricks.as_strided(np.array([2.0]), (6,), (0,)), b])[0], repeated - 1)


def test_in_place_beside_an_input_in_the_same_memory_makes_a_copy() -> None:
    x, y = tensor(None), tensor(None, name="y")
    function = compiled([x, y], [Elemwise[Any](Sub(), ((0, 0),))(x, y)])
    memory = np.arange(7.0)
    (got,) = function([memory[1:], memory[:-1]])
    assert np.array_equal(got, np.ones(6))
    assert np.array_equal(memory, np.arange(7.0))
    a = np.arange(4.0)
    assert np.array_equal(function([a, a])[0], np.zeros(4))


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_random_graphs_of_exact_ops(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dtypes = ["int8", "uint16", "int64", "float32", "float64"]
    inputs = [tensor(None, None, dtype=dtypes[rng.integers(5)], name=f"x{i}") for i in range(3)]
    known = list(inputs)
    for _ in range(6):
        a, b = known[rng.integers(len(known))], known[rng.integers(len(known))]
        ops: list[Callable[[Any, Any], Any]] = [lt.add, lt.sub, lt.mul, lt.maximum, lt.minimum]
        op = ops[rng.integers(5)]
        known.append(op(a, lt.transpose(lt.transpose(b))))
    assert_same_as_perform(
        inputs,
        [known[-1], known[-3]],
        [numbers((3, 4), x.dtype, i) for i, x in enumerate(inputs)],
        layouts=["contiguous", "fortran"],
        bitwise=False,
    )


def test_everything_is_in_c() -> None:
    x, y = tensor(None, None), tensor(1, None, name="y")
    assert is_in_c([x, y], [lt.exp(lt.mul(x, y))])
