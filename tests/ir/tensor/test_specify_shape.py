"""`SpecifyShape` and `Unbroadcast`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.errors import BroadcastError, ShapeMismatchError, StaticShapeError
from lamella.ir import (
    FunctionGraph,
    SpecifyShape,
    TensorType,
    TensorVariable,
    Unbroadcast,
    constant,
    grad,
    interpret,
    lt,
    substitute,
)
from tests.ir.tensor.agreement import Array, agrees, arrays, check_derivatives, numbered, run, shapes

X = TensorType("float64", (None, 3))("x")
N = TensorType("int64", ())("n")


@given(arrays(shapes()), st.data())
def test_the_type_learns_what_is_specified(case: tuple[TensorVariable, Array], data: st.DataObject) -> None:
    x, value = case
    told = [data.draw(st.booleans()) for _ in value.shape]
    lengths = [length if tell else None for length, tell in zip(value.shape, told, strict=True)]
    out = lt.specify_shape(x, lengths)
    agrees(out, {x: value}, value)
    assert out.type.shape == tuple([b if a is None else a for a, b in zip(x.type.shape, lengths, strict=True)])
    if out.type == x.type:
        assert out is x


def test_it_is_a_view() -> None:
    value = numbered((2, 3))
    (result,) = run([lt.specify_shape(X, (2, None))], {X: value})
    assert np.shares_memory(result, value)


def test_a_wrong_length_raises_at_run_time() -> None:
    with pytest.raises(ShapeMismatchError, match="x has length 2 along axis 0, where 5 is specified"):
        lt.specify_shape(X, (5, None)).eval({X: numbered((2, 3))})
    symbolic = lt.specify_shape(X, (N, 3))
    agrees(symbolic, {X: numbered((2, 3)), N: np.array(2)}, numbered((2, 3)))
    with pytest.raises(ShapeMismatchError, match="where 4 is specified"):
        symbolic.eval({X: numbered((2, 3)), N: 4})


def test_an_impossible_shape_raises_when_built() -> None:
    with pytest.raises(StaticShapeError, match="cannot have length 4 along axis 1"):
        lt.specify_shape(X, (None, 4))
    with pytest.raises(StaticShapeError, match="2 dimensions, where a shape of 1"):
        lt.specify_shape(X, (3,))
    with pytest.raises(StaticShapeError, match="length -1"):
        lt.specify_shape(X, (-1, 3))
    with pytest.raises(TypeError, match="a length is an integer"):
        lt.specify_shape(X, (2.0, 3))
    with pytest.raises(TypeError, match="takes an array and 1 lengths"):
        SpecifyShape((0,))(X)
    with pytest.raises(ValueError, match="not distinct axes"):
        SpecifyShape((2,))(X, 1)


def test_a_vector_may_be_the_shape() -> None:
    y = TensorType("float64", (2, None))("y")
    out = lt.specify_shape(X, lt.shape(y))
    assert out.type.shape == (2, 3)
    agrees(out, {X: numbered((2, 3)), y: numbered((2, 3))}, numbered((2, 3)))
    lengths = TensorType("int64", (2,))("lengths")
    agrees(lt.specify_shape(X, lengths), {X: numbered((2, 3)), lengths: np.array([2, 3])}, numbered((2, 3)))


def test_derivatives() -> None:
    check_derivatives(lambda x: lt.specify_shape(x, (2, None)), X, numbered((2, 3)))
    gn = grad(lt.sum(lt.specify_shape(X, (N, 3))), N, disconnected_inputs="ignore")
    assert gn.eval() == 0


def test_a_declared_length_of_one_broadcasts() -> None:
    y = TensorType("float64", (None, 3))("y")
    with pytest.raises(BroadcastError):
        (X + y).eval({X: numbered((1, 3)), y: numbered((2, 3))})
    agrees(
        lt.specify_shape(X, (1, 3)) + y, {X: numbered((1, 3)), y: numbered((2, 3))}, numbered((1, 3)) + numbered((2, 3))
    )


def test_unbroadcast_forgets_lengths_of_one() -> None:
    x = TensorType("float64", (1, None, 1))("x")
    out = lt.unbroadcast(x, [0, 1])
    assert out.type.shape == (None, None, 1)
    value = numbered((1, 2, 1))
    agrees(out, {x: value}, value)
    assert np.shares_memory(run([out], {x: value})[0], value)
    assert lt.unbroadcast(x, [1]) is x
    check_derivatives(lambda v: lt.unbroadcast(v, [0]), x, value)
    with pytest.raises(ValueError, match="not axes of length 1"):
        Unbroadcast((1,))(x)


def test_a_node_keeps_its_meaning_when_an_input_turns_out_to_have_length_one() -> None:
    # B27: what was not broadcast when it was built is not broadcast later.
    a, b = TensorType("float64", (None,))("a"), TensorType("float64", (None,))("b")
    narrow = TensorType("float64", (1,))("narrow")
    after = substitute([a + b], {a: narrow})
    assert after[0].type == TensorType("float64", (None,))
    with pytest.raises(BroadcastError):
        interpret([narrow, b], after, [numbered((1,)), numbered((3,))])
    (value,) = interpret([narrow, b], after, [numbered((1,)), numbered((1,))])
    np.testing.assert_array_equal(value, [2.0])


def test_no_constant_remembers_what_was_forgotten() -> None:
    forgotten = lt.unbroadcast(constant([5.0]), [0])
    node = forgotten.owner
    assert node is not None
    assert not node.op.do_constant_folding(FunctionGraph([], [forgotten]), node)
