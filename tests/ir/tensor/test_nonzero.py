import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.errors import DisconnectedInputError, ShapeNotInferred
from lamella.ir import CheckMask, Nonzero, TensorType, constant, grad, lt

from .agreement import agrees, forgetful, laid_out, only_node, run, shapes


@given(st.data(), shapes(min_dims=1), st.sampled_from(["bool", "int8", "float32", "complex128"]))
def test_the_indices_are_numpys(data: st.DataObject, shape: tuple[int, ...], dtype: str) -> None:
    size = int(np.prod(shape))
    value = np.array(data.draw(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=size, max_size=size)))
    value = data.draw(laid_out(value.reshape(shape).astype(dtype)))
    x = data.draw(forgetful(shape, dtype))
    for out, expected in zip(lt.nonzero(x), np.nonzero(value), strict=True):
        agrees(out, {x: value}, expected)
        assert out.type.shape == ((0,) if 0 in x.type.shape else (None,))
    agrees(lt.flatnonzero(x), {x: value}, np.flatnonzero(value))
    agrees(lt.argwhere(x), {x: value}, np.argwhere(value))


def test_nan_and_negative_zero() -> None:
    x = TensorType("float64", (None,))("x")
    agrees(x.nonzero()[0], {x: np.array([0.0, -0.0, np.nan, np.inf])}, np.array([2, 3]))


def test_scalars() -> None:
    x = TensorType("float64", ())("x")
    with pytest.raises(ValueError, match="one dimension or more"):
        lt.nonzero(x)
    for value in (0.0, 2.0):
        agrees(lt.flatnonzero(x), {x: np.array(value)}, np.flatnonzero(value))
        agrees(lt.argwhere(x), {x: np.array(value)}, np.argwhere(value))


def test_of_a_constant_the_length_is_known() -> None:
    (found,) = lt.nonzero(constant(np.array([True, False, True])))
    assert found.type.shape == (2,)
    agrees(found, {}, np.array([0, 2]))


def test_the_length_can_only_be_found_by_computing() -> None:
    x = TensorType("float64", (None,))("x")
    node = only_node(x.nonzero()[0])
    with pytest.raises(ShapeNotInferred):
        node.op.infer_shape(None, node, [lt.shape_tuple(x)])


def test_it_is_not_differentiable() -> None:
    x = TensorType("float64", (None,))("x")
    with pytest.raises(DisconnectedInputError):
        grad(lt.sum(x.nonzero()[0] * 1.0), x)
    (g,) = run([grad(lt.sum(x[x.nonzero()] ** 2), x)], {x: np.array([0.0, 3.0])})
    np.testing.assert_array_equal(g, [0, 6])


def test_a_mask_is_checked_as_a_view() -> None:
    m, n = TensorType("bool", (None,))("m"), TensorType("int64", ())("n")
    agrees(CheckMask()(m, n), {m: np.ones(3, "bool"), n: np.array(3)}, np.ones(3, "bool"))
    with pytest.raises(IndexError, match="size of axis is 3 but size of corresponding boolean axis is 2"):
        run([CheckMask()(m, n)], {m: np.ones(2, "bool"), n: np.array(3)})
    with pytest.raises(TypeError, match="a mask of 2 dimensions"):
        CheckMask()(m, n, n)
    with pytest.raises(TypeError, match="a mask of 1 dimensions"):
        CheckMask()(n, n)
    assert CheckMask()(m, 3).type.shape == (3,)


def test_nonzero_always_gives_a_tuple() -> None:
    x = TensorType("float64", (None,))("x")
    found = Nonzero()(x)
    assert isinstance(found, tuple)
    assert len(found) == 1
