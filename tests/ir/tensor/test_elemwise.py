"""Elemwise: broadcasting fixed at build time, memory taken in place, shapes, narrowing, gradients over broadcast axes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella import Lop, Rop, config, grad
from lamella.errors import BroadcastError, GradientNotImplementedError, StaticShapeError
from lamella.ir import Cast, Composite, Elemwise, ScalarType, TensorType, TensorVariable, interpret, ls, perform_node
from lamella.testing import verify_grad
from tests.ir.tensor.agreement import Array, agrees, laid_out


def vector(shape: tuple[int | None, ...], name: str = "x", dtype: str = "float64") -> TensorVariable:
    return TensorType(dtype, shape)(name)


def test_static_shapes() -> None:
    for shapes, expected in [
        (((None,), (None,)), (None,)),
        (((None,), (3,)), (3,)),
        (((1,), (None,)), (None,)),
        (((1,), (1,)), (1,)),
        (((0,), (1,)), (0,)),
        (((1, None), (4, 1)), (4, None)),
        (((2, 3), (3,)), (2, 3)),
        (((), (None, 1)), (None, 1)),
    ]:
        one, other = [vector(shape) for shape in shapes]
        assert (one + other).type.shape == expected


@pytest.mark.parametrize("lengths", [(2, 3), (0, 3)])
def test_lengths_that_can_never_fit_are_refused_when_built(lengths: tuple[int, int]) -> None:
    with pytest.raises(StaticShapeError, match=rf"lengths \[{lengths[0]}, 3\] along axis 0 do not broadcast"):
        vector(lengths[:1]) + vector(lengths[1:])


def test_an_unknown_length_never_broadcasts() -> None:
    x, y = lt.vectors("x y")
    with pytest.raises(BroadcastError, match=r"input 0 \(x\) has length 1 along axis 0, input 1 \(y\) has length 3"):
        (x + y).eval({x: [1.0], y: [1.0, 2.0, 3.0]})
    with pytest.raises(BroadcastError, match=r"specify_shape\(y, ...\) with length 1 along axis 0"):
        (x + y).eval({x: [1.0, 2.0], y: [1.0]})
    with pytest.raises(BroadcastError, match=r"has length 2 along axis 0, input 1 \(y\) has length 3\n"):
        (x + y).eval({x: [1.0, 2.0], y: [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal((x + y).eval({x: [1.0], y: [2.0]}), [3.0])


def test_a_length_that_turns_out_to_be_one_does_not_begin_to_broadcast() -> None:
    x, y = lt.vectors("x y")
    node = (x + y).owner
    assert node is not None
    one = vector((1,))
    rebuilt = node.clone_with_new_inputs([one, y])
    with pytest.raises(BroadcastError):
        rebuilt.out.eval({one: [1.0], y: [1.0, 2.0]})
    np.testing.assert_array_equal(rebuilt.out.eval({one: [1.0], y: [2.0]}), [3.0])
    assert node.clone_with_new_inputs([vector((3,)), y]).out.type.shape == (3,)


@given(st.data())
def test_values_shapes_and_views(data: st.DataObject) -> None:
    ndim = data.draw(st.integers(0, 3))
    whole = data.draw(st.lists(st.integers(0, 3), min_size=ndim, max_size=ndim).map(tuple))
    variables: dict[TensorVariable, Array] = {}
    for name in ("x", "y", "z"):
        kept = data.draw(st.integers(0, ndim))
        shape = tuple([data.draw(st.sampled_from([1, n])) for n in whole[ndim - kept :]])
        value = np.arange(1, 1 + int(np.prod(shape)), dtype="float64").reshape(shape) + len(variables)
        # A length of 1 is broadcast only if the type knows it.
        known = [n if n == 1 else data.draw(st.sampled_from([n, None])) for n in shape]
        variables[TensorType("float64", known)(name)] = data.draw(laid_out(value))
    x, y, z = variables
    a, b, c = variables.values()
    agrees(x * y + lt.cast(z, "float32"), variables, a * b + c.astype("float32"))


def test_memory_taken_in_place() -> None:
    x, y = lt.matrices("x y")
    into = Elemwise(ls.add, ((0, 1),))
    assert into.destroy_map == {0: [1]}
    assert str(into) == "Add{inplace=[(0, 1)]}"
    assert into != Elemwise(ls.add)
    a, b = np.ones((2, 3)), np.arange(6.0).reshape(2, 3)
    (result,) = interpret([x, y], [into(x, y)], [a, b])
    assert result is b
    np.testing.assert_array_equal(b, np.arange(6.0).reshape(2, 3) + 1)
    np.testing.assert_array_equal(a, np.ones((2, 3)))


def test_memory_that_does_not_fit_is_refused() -> None:
    with pytest.raises(TypeError, match=r"output 0 of Add.* cannot take the memory of x of type float32"):
        Elemwise(ls.add, ((0, 0),))(lt.fvector("x"), lt.dvector("y"))
    with pytest.raises(TypeError, match="cannot take the memory"):
        Elemwise(ls.add, ((0, 0),))(vector((1,)), lt.vector("y"))


def test_errors_come_before_anything_is_written() -> None:
    x, y = lt.vectors("x y")
    node = Elemwise(ls.add, ((0, 0),)).make_node(x, y)
    a = np.ones(2)
    with pytest.raises(BroadcastError):
        perform_node(node, [a, np.ones(3)])
    np.testing.assert_array_equal(a, [1.0, 1.0])


def test_in_place_beside_a_result_that_shows_the_input() -> None:
    i, j = ScalarType("float64")("i"), ScalarType("float64")("j")
    op = Elemwise(Composite([i, j], [i + j, ls.identity(i)]), ((0, 0),))
    x, y = lt.vectors("x y")
    a = np.array([1.0, 2.0])
    total, kept = perform_node(op.make_node(x, y), [a, np.array([10.0, 20.0])])
    assert total is a
    np.testing.assert_array_equal(total, [11.0, 22.0])
    np.testing.assert_array_equal(kept, [1.0, 2.0])


def test_views_of_inputs_are_never_returned() -> None:
    z = lt.zvector("z")
    value = np.array([1 + 2j, 3 - 1j])
    for made in (lt.real(z), lt.imag(z), lt.tensor_copy(z), lt.conj(lt.real(z))):
        (result,) = interpret([z], [made], [value])
        assert not np.shares_memory(result, value)
        assert result.flags.writeable


def test_numbers_stay_constants_in_any_number_of_dimensions() -> None:
    x = lt.tensor3("x")
    node = (2 * x).owner
    assert node is not None
    two = node.inputs[0]
    assert two.is_constant
    assert two.type.shape == (1, 1, 1)
    assert str(two) == "2.0"
    assert 2 * x is 2 * x
    assert 2 * x is 2.0 * x


def test_wrong_calls() -> None:
    x = lt.vector("x")
    with pytest.raises(TypeError, match="Exp takes 1 operands, not 2"):
        lt.exp(x, x)  # type: ignore[call-arg]  # what is tested
    with pytest.raises(TypeError, match="Add takes two or more operands, not 1"):
        lt.add(x)  # type: ignore[call-arg]  # what is tested
    with pytest.raises(TypeError, match="Exp takes no keyword arguments"):
        Elemwise(ls.exp)(x=x)
    with pytest.raises(TypeError, match="is no tensor"):
        lt.exp(ScalarType("float64")("s"))  # type: ignore[arg-type]  # what is tested
    with pytest.raises(OverflowError, match="300"):
        TensorType("uint8", (None,))("b") + 300
    with pytest.raises(OverflowError):
        lt.lvector("i") + 2**70
    with pytest.raises(OverflowError, match="fits no dtype"):
        lt.lvector("i") < 2**70  # noqa: B015 -- what is tested


SHAPES = [((2, 3), (2, 3)), ((2, 3), (1, 3)), ((2, 3), (3,)), ((1, 3), (2, 1)), ((2, 3), ()), ((1,), (2, 1))]


@pytest.mark.parametrize("shapes", SHAPES)
def test_gradients_are_summed_over_broadcast_axes(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    rng = np.random.default_rng(3)
    point = [np.asarray(rng.uniform(0.5, 2.0, size=shape)) for shape in shapes]
    verify_grad(lt.mul, point, mode="FAST_COMPILE")
    verify_grad(lt.add, point, mode="FAST_COMPILE")
    verify_grad(lt.power, point, mode="FAST_COMPILE")


@pytest.mark.parametrize("shapes", SHAPES)
def test_tangents_are_broadcast(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    x, y = [
        TensorType("float64", [1 if n == 1 else None for n in shape])(name)
        for shape, name in zip(shapes, "xy", strict=True)
    ]
    tx, ty = x.type("tx"), y.type("ty")
    rng = np.random.default_rng(4)
    values = {v: np.asarray(rng.normal(size=shape)) for v, shape in zip((x, y, tx, ty), shapes * 2, strict=True)}

    def at(variable: TensorVariable, *needed: TensorVariable) -> Any:
        return variable.eval({v: values[v] for v in needed})

    both = Rop(x * y, [x, y], [tx, ty])
    np.testing.assert_allclose(at(both, x, y, tx, ty), values[tx] * values[y] + values[x] * values[ty])
    alone = Rop(x + y, x, tx)
    shape = np.broadcast_shapes(*shapes)
    np.testing.assert_array_equal(at(alone, x, y, tx), np.broadcast_to(values[tx], shape))
    assert alone.type.ndim == len(shape)


def test_a_derivative_that_is_zero_is_no_tangent() -> None:
    x = lt.vector("x")
    node = lt.floor(x).owner
    assert node is not None
    assert node.op.R_op([x], [lt.vector("t")]) == [None]
    assert node.op.R_op([x], [None]) == [None]


def test_complex_numbers_have_no_r_op_but_a_double_lop() -> None:
    z = lt.zvector("z")
    node = lt.exp(z).owner
    assert node is not None
    with pytest.raises(GradientNotImplementedError, match="Exp has no R_op for complex numbers"):
        node.op.R_op([z], [z])


def test_a_zero_gradient_does_not_look_at_the_output() -> None:
    x, y = lt.vectors("x y")
    g = grad(lt.sum(lt.floor(x) * y), x)
    np.testing.assert_array_equal(g.eval({x: [1.5, np.nan], y: [np.inf, 2.0]}), [0.0, 0.0])


def test_programs_are_kept_for_each_setting() -> None:
    x, g = lt.vector("x"), lt.vector("g")
    kept = Lop(lt.log(x), x, g)
    with config.override(annihilate_zero_cotangents=False):
        plain = Lop(lt.log(x), x, g)
    assert kept is not plain
    assert Lop(lt.log(x), x, g) is kept
    np.testing.assert_array_equal(kept.eval({x: [0.0], g: [0.0]}), [0.0])
    np.testing.assert_array_equal(plain.eval({x: [0.0], g: [0.0]}), [np.nan])


def test_flops_and_names() -> None:
    node = lt.exp(lt.matrix("x")).owner
    assert node is not None
    assert node.op.flops([(3, 4)], [(3, 4)]) == 12 * ls.exp.flops_per_element
    assert str(Elemwise(Cast("int8"))) == "Cast{int8}"
