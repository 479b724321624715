"""Values and dtypes of all scalar Ops against NumPy and SciPy: all dtypes, pairs of dtypes, literals, layouts of memory."""

import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from lamella.ir import SCALAR_OPS, Elemwise, TensorType, interpret
from tests.ir.scalar.references import ALL_DTYPES, REFERENCES, Array, Reference, interesting, name_of

each_op = pytest.mark.parametrize("reference", REFERENCES, ids=name_of)


def test_every_scalar_op_has_a_reference() -> None:
    assert {type(reference.op) for reference in REFERENCES} == set(SCALAR_OPS)
    assert all(type(op) in SCALAR_OPS for op in [reference.op for reference in REFERENCES])


def outcome(function: Callable[..., Any], *operands: Any) -> Any:
    """The result of a function, or the class of its error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*operands)
        except TypeError:
            return TypeError
        except OverflowError:
            return OverflowError
        except ValueError:  # an integer to a negative power
            return ValueError


def ours(reference: Reference, *operands: Any) -> Any:
    """The same through `Elemwise`: arrays become inputs, literals stand in the graph."""
    arrays = [x for x in operands if isinstance(x, np.ndarray)]
    variables = [TensorType(x.dtype, [1 if n == 1 else None for n in x.shape])(f"x{i}") for i, x in enumerate(arrays)]
    places = iter(variables)
    op = Elemwise(reference.op)
    out = op(*[next(places) if isinstance(x, np.ndarray) else x for x in operands])
    (result,) = interpret(variables, [out], arrays)
    assert out.type.is_valid_value(result)
    for array in arrays:
        assert not np.may_share_memory(result, array)
    return result


def assert_same(found: Any, expected: Any, rtol: float, case: object) -> None:
    if isinstance(expected, type):
        assert isinstance(found, type), (case, found)
        assert issubclass(found, expected), (case, found, expected)
        return
    assert not isinstance(found, type), (case, found, expected)
    wanted = np.asarray(expected)
    assert found.dtype == wanted.dtype, (case, found.dtype, wanted.dtype)
    assert found.shape == wanted.shape, case
    if rtol:
        np.testing.assert_allclose(found, wanted, rtol=max(rtol, 4 * _eps(wanted)), err_msg=str(case))
        return
    np.testing.assert_array_equal(found, wanted, err_msg=str(case))
    if wanted.dtype.kind == "f":
        known = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(wanted)[known], err_msg=str(case))


def _eps(array: Array) -> float:
    return float(np.finfo(array.dtype).eps) if array.dtype.kind in "fc" else 0.0


@each_op
def test_all_dtypes(reference: Reference) -> None:
    for dtypes in itertools.product(ALL_DTYPES, repeat=min(reference.nin, 2)):
        operands = list(grid(dtypes))
        if reference.nin == 3:
            operands.insert(
                0, np.resize(operands[0], operands[0].shape) if reference.op.nin == -1 else operands[0] == 1
            )
        found = outcome(lambda *xs: ours(reference, *xs), *operands)
        assert_same(found, outcome(reference.function, *operands), reference.rtol, dtypes)


def grid(dtypes: Sequence[str]) -> list[Array]:
    """Every interesting number of one dtype with every one of the other."""
    if len(dtypes) == 1:
        return [interesting(dtypes[0])]
    first, second = interesting(dtypes[0]), interesting(dtypes[1])
    return [np.repeat(first, len(second)), np.tile(second, len(first))]


LITERALS = [True, False, 0, 1, -1, 3, 200, 300, -300, 2**40, 2.5, -0.0, 1e300, 2j, float("nan"), float("inf")]


@each_op
def test_literals_are_weak(reference: Reference) -> None:
    if reference.nin == 1:
        for literal in LITERALS:
            found = outcome(lambda x: ours(reference, x), literal)
            assert_same(found, outcome(lambda x: reference.function(np.asarray(x)), literal), reference.rtol, literal)
        return
    for dtype, literal in itertools.product(ALL_DTYPES, LITERALS):
        array = interesting(dtype)
        for operands in ((array, literal), (literal, array)):
            if reference.nin == 3:
                operands = (*operands[:1], *operands)
            found = outcome(lambda *xs: ours(reference, *xs), *operands)
            assert_same(
                found, outcome(reference.function, *operands), reference.rtol, (dtype, literal, operands[0] is array)
            )


def layouts(array: Array) -> list[Array]:
    """The same numbers in all layouts of memory."""
    memory = np.zeros(array.nbytes + 1, "uint8")
    unaligned = memory[1:].view(array.dtype)
    unaligned[...] = array
    wide = np.zeros(2 * array.size, array.dtype)
    wide[::2] = array
    return [array, array[::-1].copy()[::-1], wide[::2], unaligned]


def a_dtype_of(reference: Reference) -> str:
    """A dtype that the Op takes."""
    for dtype in ("float64", "int16"):
        if not isinstance(outcome(lambda *xs: ours(reference, *xs), *[np.ones(1, dtype)] * reference.nin), type):
            return dtype
    raise AssertionError(f"{reference.op} takes neither float64 nor int16")


@each_op
def test_layouts_of_memory(reference: Reference) -> None:
    dtype = a_dtype_of(reference)
    numbers = np.array([1, 2, 3, 1, 0, 2, 5], dtype)
    expected = outcome(reference.function, *[numbers] * reference.nin)
    for operands in itertools.product(layouts(numbers), repeat=min(reference.nin, 2)):
        operands = (*operands, *[numbers] * (reference.nin - len(operands)))
        # NumPy itself rounds in other ways on other layouts.
        assert_same(outcome(lambda *xs: ours(reference, *xs), *operands), expected, 1e-15, reference.op)


@each_op
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (2, 1, 2)])
def test_shapes(reference: Reference, shape: tuple[int, ...]) -> None:
    numbers = np.full(shape, 2, a_dtype_of(reference))
    expected = np.asarray(outcome(reference.function, *[numbers] * reference.nin))
    assert expected.shape == shape
    assert_same(ours(reference, *[numbers] * reference.nin), expected, reference.rtol, shape)
