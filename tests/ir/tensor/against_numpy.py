"""Checks that tests of reductions and products share: a graph against NumPy, for all dtypes, on all memory layouts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from lamella import applys_between
from lamella.tensor import TensorType, TensorVariable, shape_tuple

Array = npt.NDArray[Any]

ALL_DTYPES = [
    "bool",
    *["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
    *["float16", "float32", "float64", "complex64", "complex128"],
]

TOLERANCES = {"float16": 2e-3, "float32": 1e-6, "complex64": 1e-6, "float64": 1e-13, "complex128": 1e-13}


def quietly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a NumPy function without its warnings."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def some_values(shape: Sequence[int], dtype: str, seed: int = 0) -> Array:
    """Values of a dtype, some equal, some negative where there are such."""
    rng = np.random.default_rng([seed, *shape])
    small = rng.integers(-4, 5, size=tuple(shape))
    if dtype == "bool":
        return np.asarray(small > 0)
    if dtype.startswith("uint"):
        return np.asarray(np.abs(small) + 250).astype(dtype)
    if dtype.startswith("int"):
        return small.astype(dtype)
    if dtype.startswith("complex"):
        return np.asarray(small * 0.5 + 1j * rng.integers(-2, 3, size=tuple(shape))).astype(dtype)
    return np.asarray(small * 0.375).astype(dtype)


def layouts(array: Array) -> dict[str, Array]:
    """The same values in all layouts of memory."""
    memory = np.zeros(array.nbytes + 1, dtype=np.uint8)
    unaligned = memory[1:].view(array.dtype).reshape(array.shape)
    unaligned[...] = array
    wide = np.zeros([2 * n + 1 for n in array.shape], dtype=array.dtype)
    gaps: tuple[Any, ...] = (..., *[slice(1, None, 2)] * array.ndim)
    strided = wide[gaps]
    strided[...] = array
    backwards: tuple[Any, ...] = (..., *[slice(None, None, -1)] * array.ndim)
    found = {
        "contiguous": np.array(array, order="C"),
        "fortran": np.array(array, order="F"),
        "unaligned": unaligned,
        "strided": strided,
        "reversed": np.array(array[backwards], order="C")[backwards],
    }
    for value in found.values():
        np.testing.assert_array_equal(value, array, strict=True)
    return found


def variable_like(array: Array, known: Sequence[bool] | None = None, name: str = "x") -> TensorVariable:
    """A variable of the dtype and number of dimensions of an array, which knows the lengths where `known` is true."""
    told = known or [False] * array.ndim
    return TensorType(array.dtype, [n if k else None for n, k in zip(array.shape, told, strict=True)])(name)


def assert_agrees(
    result: TensorVariable, inputs: Mapping[TensorVariable, Array], expected: Any, rtol: float | None = None
) -> None:
    """Check value, dtype and shape, that the static type holds, and the shapes that are inferred on the way."""
    before = [value.copy() for value in inputs.values()]
    value = result.eval(dict(inputs))
    for old, new in zip(before, inputs.values(), strict=True):
        np.testing.assert_array_equal(old, new)
        assert not np.shares_memory(value, new)
    wanted = np.asarray(expected)
    assert value.dtype == wanted.dtype == result.dtype, (value.dtype, wanted.dtype, result.dtype)
    assert value.shape == wanted.shape
    tolerance = TOLERANCES.get(result.dtype, 0.0) if rtol is None else rtol
    np.testing.assert_allclose(value, wanted, rtol=tolerance, atol=tolerance)
    assert result.type.is_valid_value(value)
    assert_shapes_inferred(result, inputs)


def assert_shapes_inferred(result: TensorVariable, inputs: Mapping[TensorVariable, Array]) -> None:
    """Check `infer_shape` of every node on the way."""
    values = dict(inputs)
    for node in applys_between(list(inputs), [result]):
        given = [shape_tuple(v) if isinstance(v, TensorVariable) else () for v in node.inputs]
        for out, inferred in zip(node.outputs, node.op.infer_shape(None, node, given), strict=True):
            assert tuple([int(length.eval(values)) for length in inferred]) == out.eval(values).shape


def shapes(max_dims: int = 3, min_side: int = 0, max_side: int = 4) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes with few and short axes, some of length 0 or 1."""
    return st.lists(st.integers(min_side, max_side), max_size=max_dims).map(tuple)
