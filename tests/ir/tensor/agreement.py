"""What every test of a tensor Op asks: NumPy's value, the promised type and shape, honest views, and the right derivatives."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from lamella.errors import ShapeNotInferred
from lamella.ir import (
    DTYPES,
    Apply,
    Lop,
    Rop,
    TensorType,
    TensorVariable,
    Variable,
    interpret,
    lt,
    perform_node,
    toposort,
)

Array = npt.NDArray[Any]
Values = Mapping[TensorVariable, Array]


def numbered(shape: Sequence[int], dtype: npt.DTypeLike = "float64") -> Array:
    """An array whose elements all differ (as far as the dtype has numbers), none of them 0."""
    return (np.arange(int(np.prod(shape)), dtype="int64") + 1).reshape(tuple(shape)).astype(dtype)


@st.composite
def laid_out(draw: st.DrawFn, array: Array) -> Array:
    """The same elements in another memory layout: reversed, with gaps, in Fortran's order, unaligned."""
    kind = draw(st.sampled_from(["contiguous", "reversed", "gaps", "fortran", "unaligned"]))
    if kind == "reversed":
        index = tuple([slice(None, None, -1)] * array.ndim)
        return np.ascontiguousarray(array[index])[index] if array.ndim else array
    if kind == "gaps":
        wide = np.zeros(tuple([2 * length + 1 for length in array.shape]), array.dtype)
        every_second: tuple[Any, ...] = (..., *[slice(1, None, 2)] * array.ndim)
        view: Array = wide[every_second]
        view[...] = array
        return view
    if kind == "fortran":
        return np.array(array, order="F")
    if kind == "unaligned":
        memory = np.zeros(array.nbytes + 1, "uint8")
        view = memory[1:].view(array.dtype).reshape(array.shape)
        view[...] = array
        return view
    return array


@st.composite
def forgetful(draw: st.DrawFn, shape: Sequence[int], dtype: npt.DTypeLike = "float64") -> TensorVariable:
    """A variable for arrays of a shape, some lengths of which its type does not know."""
    return TensorType(dtype, [draw(st.sampled_from([length, None])) for length in shape])("x")


@st.composite
def arrays(
    draw: st.DrawFn,
    shapes: st.SearchStrategy[Sequence[int]],
    dtypes: Sequence[str] = DTYPES,
) -> tuple[TensorVariable, Array]:
    """A variable and a value for it."""
    shape = draw(shapes)
    value = numbered(shape, draw(st.sampled_from(dtypes)))
    return draw(forgetful(shape, value.dtype)), draw(laid_out(value))


def shapes(min_dims: int = 0, max_dims: int = 4, max_side: int = 4) -> st.SearchStrategy[tuple[int, ...]]:
    return st.lists(st.integers(0, max_side), min_size=min_dims, max_size=max_dims).map(tuple)


def run(outputs: Sequence[Variable[Any]], values: Values) -> list[Any]:
    """Compute outputs of the very arrays given, and see that they are what they were."""
    before = [value.copy() for value in values.values()]
    results = interpret(list(values), outputs, list(values.values()))
    for old, new in zip(before, values.values(), strict=True):
        np.testing.assert_array_equal(old, new)
    return results


def inferred_lengths(out: Variable[Any]) -> tuple[TensorVariable, ...]:
    """The shape of `out` by the `infer_shape` of the Ops that compute it."""
    found: dict[Variable[Any], tuple[Any, ...]] = {}

    def lengths(variable: Variable[Any]) -> tuple[Any, ...]:
        if variable not in found:
            found[variable] = lt.shape_tuple(variable) if isinstance(variable, TensorVariable) else ()
        return found[variable]

    for node in toposort([out]):
        try:
            inferred = node.op.infer_shape(None, node, [lengths(v) for v in node.inputs])
        except ShapeNotInferred:
            continue
        assert len(inferred) == len(node.outputs)
        found.update(zip(node.outputs, inferred, strict=True))
    for length in lengths(out):
        assert isinstance(length, TensorVariable)
        assert length.type == TensorType("int64", ())
    return lengths(out)


def check_views(out: Variable[Any], values: Values) -> None:
    """See that results share memory with the inputs that are declared, and with no others."""
    computed: dict[Variable[Any], Any] = dict(values.items())

    def value_of(variable: Variable[Any]) -> Any:
        return computed[variable] if variable in computed else variable.stored_value()

    for node in toposort([out], list(values)):
        inputs = [value_of(v) for v in node.inputs]
        results = perform_node(node, inputs)
        for i, result in enumerate(results):
            declared = node.op.view_map.get(i, ())
            for j, given in enumerate(inputs):
                if j not in declared and isinstance(result, np.ndarray) and isinstance(given, np.ndarray):
                    assert not np.shares_memory(result, given), (node, i, j)
        computed.update(zip(node.outputs, results, strict=True))


def agrees(out: TensorVariable, values: Values, expected: npt.ArrayLike) -> None:
    """See that `out` is what NumPy computes, of the type and the shape it promises."""
    wanted = np.asarray(expected)
    (value,) = run([out], values)
    assert value.dtype == wanted.dtype == out.dtype
    assert value.shape == wanted.shape
    np.testing.assert_array_equal(value, wanted)
    out.type.filter(value, strict=True)
    lengths = inferred_lengths(out)
    assert tuple([int(n) for n in run(lengths, values)]) == wanted.shape
    check_views(out, values)


def check_derivatives(build: Callable[[TensorVariable], TensorVariable], x: TensorVariable, value: Array) -> None:
    """See that the products with the Jacobian of a linear function are exact, from both sides.

    The values are small integers, so that sums do not round.
    """
    out = build(x)
    (result,) = run([out], {x: value})
    cotangent = out.type("cotangent")
    rng = np.random.default_rng(0)
    weights = rng.integers(-3, 4, result.shape).astype(out.dtype)
    pulled = Lop(out, x, cotangent, disconnected_inputs="ignore")
    (back,) = run([pulled], {x: value, cotangent: weights})
    assert back.shape == value.shape
    assert back.dtype == x.dtype
    tangent = x.type("tangent")
    direction = rng.integers(-3, 4, value.shape).astype(x.dtype)
    assert np.sum(back * direction) == np.sum(weights * run([out], {x: direction})[0])
    (pushed,) = run([Rop(out, x, tangent)], {x: value, tangent: direction})
    np.testing.assert_array_equal(pushed, run([out], {x: direction})[0])


def only_node(out: TensorVariable) -> Apply[Any]:
    assert out.owner is not None
    return out.owner
