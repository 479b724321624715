"""Wrong values from rewrites."""

import pickle
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.ir import Apply, FunctionGraph, TensorType, TensorVariable, equal_computations
from tests.faults.three_ways import check, check_error

F64 = np.float64


def test_the_default_bounds_of_a_slice_depend_on_the_sign_of_the_step() -> None:
    x, n = lt.lvector("x"), lt.lscalar("n")
    a = np.array([4, 9])
    check({x: a}, (x[0:-3:-1], a[0:-3:-1]), (x[:0:-1], a[:0:-1]), (x[0:2:-1], a[0:2:-1]), (x[-3::-1], a[-3::-1]))
    b = np.arange(5)
    length = x.shape[0]
    check(
        {x: b, n: -1},
        (x[length - 1 :: -1], b[4::-1]),
        (x[:length:-1], b[:5:-1]),
        (x[0:length:-1], b[0:5:-1]),
        (x[0:length:n], b[0:5:-1]),
        (x[0 : -length - 1 : n], b[0:-6:-1]),
        (x[-1 : -length - 1 : -1], b[-1:-6:-1]),
        (x[length:0:n], b[5:0:-1]),
        (x[0:None:1], b[0:]),
        (x[-length:length:1], b[-5:5]),
    )


def test_the_root_of_a_square_and_the_square_of_a_root() -> None:
    x = lt.dvector("x")
    a = np.array([-3.0, 0.0, 2.0, -0.0])
    with np.errstate(invalid="ignore", divide="ignore"):
        check(
            {x: a},
            (lt.sqrt(lt.sqr(x)), np.sqrt(np.square(a))),
            (lt.sqr(lt.sqrt(x)), np.square(np.sqrt(a))),
            (lt.sqrt(x**2), np.sqrt(a**2)),
            (lt.sqrt(x) * lt.sqrt(x), np.sqrt(a) * np.sqrt(a)),
            (lt.exp(lt.log(x)), np.exp(np.log(a))),
            (lt.exp(2 * lt.log(x)), np.exp(2 * np.log(a))),
            (lt.abs(lt.abs(x)), np.abs(a)),
            (lt.reciprocal(lt.reciprocal(x)), np.reciprocal(np.reciprocal(a))),
        )


def test_constant_folding_keeps_the_length() -> None:
    s, row = lt.dscalar("s"), lt.tensor("row", dtype="float64", shape=(1, 3))
    twos = np.full(3, -2.0)
    check(
        {s: 1.0, row: [[1.0, 2.0, 3.0]]},
        (lt.constant(twos) + s, twos + 1.0),
        (lt.constant(np.zeros(3)) + s, np.ones(3)),
        (lt.constant(np.ones(3)) * s, np.ones(3)),
        (lt.constant(np.zeros((2, 1))) + row, np.array([[1.0, 2, 3], [1, 2, 3]])),
        (lt.constant(np.ones((2, 1))) * row, np.array([[1.0, 2, 3], [1, 2, 3]])),
        (row + lt.zeros((2, 1)), np.array([[1.0, 2, 3], [1, 2, 3]])),
        (lt.switch(lt.constant(np.array([True, False, True])), s, s), np.ones(3)),
    )


def test_a_zero_branch_moved_through_a_product_or_a_quotient() -> None:
    c, x, y, b = lt.bscalar("c"), lt.dscalar("x"), lt.dscalar("y"), lt.scalar("b", dtype="bool")
    x32, z = lt.fscalar("x32"), lt.fscalar("z")
    check({c: 0, x: 6.0, y: 2.0}, (lt.switch(c, 0.0, x) / y, F64(3)), (lt.switch(c, x, 0.0) / y, F64(0)))
    check({c: 1, x: 6.0, y: 2.0}, (lt.switch(c, 0.0, x) / y, F64(0)), (lt.switch(c, x, 0.0) / y, F64(3)))
    nan = F64(np.nan)
    # The branch not taken has no part in the value, and a zero that is taken meets what it is multiplied with.
    check(
        {c: 1, x: np.nan, y: np.inf},
        (lt.switch(c, 0.0, x) * y, nan),
        (y * lt.switch(c, 0.0, x), nan),
        (lt.switch(c, 0.0, x) / y, F64(0)),
        (y / lt.switch(c, 0.0, x), F64(np.inf)),
    )
    check({c: 1, x: 1.0, y: -2.0}, (lt.switch(c, 0.0, x) * y, F64(-0.0)), (lt.switch(c, 0.0, x) / y, F64(-0.0)))
    wide = lt.switch(c, np.float64(0), x32)
    check({c: 1, x32: 6.0, b: True, z: 3.0}, (wide * b, F64(0)), (wide * z, F64(0)), (wide / z, F64(0)))
    check({c: 0, x32: 6.0, b: True, z: 3.0}, (wide * b, F64(6)), (wide * z, F64(18)), (wide / z, F64(2)))


def test_a_constant_mask_is_not_the_positions_0_and_1() -> None:
    a, b, c = lt.dscalars("a", "b", "c")
    mask = np.array([True, False, True])
    stacked, values = lt.stack([a, b, c]), np.array([1.0, 2.0, 3.0])
    check(
        {a: 1.0, b: 2.0, c: 3.0},
        (stacked[lt.constant(mask)], values[mask]),
        (stacked[mask], values[mask]),
        (stacked[[True, False, True]], values[mask]),
        (stacked[np.array([False, False, False])], values[:0]),
        (stacked[np.array([1, 0, 1])], values[[1, 0, 1]]),
        (stacked[mask].set(0.0), np.array([0.0, 2.0, 0.0])),
        (stacked[mask].inc(1.0), np.array([2.0, 2.0, 4.0])),
        (stacked[True], values[True]),
        (stacked[False], values[False]),
    )
    m = lt.lmatrix("m")
    grid = np.arange(6).reshape(2, 3)
    check({m: grid}, (m[:, mask], grid[:, mask]), (m[np.array([True, False])], grid[[True, False]]))
    with pytest.raises(IndexError):
        stacked[np.array([True, False])]


def test_what_is_read_back_after_writing_at_an_index_with_duplicates() -> None:
    x, i, v = lt.lvector("x"), lt.lvector("i"), lt.lvector("v")
    a, index, added = np.array([0, 1, 2]), np.array([0, 0, 1]), np.array([1, 2, 4])
    check(
        {x: a, i: index, v: added},
        (x[i].inc(v)[i], np.array([3, 3, 5])),
        (x[i].set(v)[i], np.array([2, 2, 4])),
        (x[i].inc(v), np.array([3, 5, 2])),
        (x[i].inc(1)[i], np.array([2, 2, 2])),
        (x[i].set(7)[i], np.array([7, 7, 7])),
        (x[[0, 0, 1]].inc(v)[[0, 0, 1]], np.array([3, 3, 5])),
        (x[[2, -1]].set(v[:2])[[2, -1]], np.array([2, 2])),
        (x[i].inc(v)[i + 1], np.array([5, 5, 2])),
    )
    m = lt.lmatrix("m")
    grid = np.arange(6).reshape(3, 2)
    written = grid.copy()
    np.add.at(written, index, 10)
    check({m: grid, i: index}, (m[i].inc(10)[i], written[index]), (m[i, 0].set(5)[i, 1], grid[index, 1]))


def test_two_different_reductions_are_not_merged() -> None:
    x = lt.dmatrix("x")
    a = np.array([[2.0, 3.0], [4.0, 5.0]])
    check(
        {x: a},
        (lt.sum(lt.prod(x, axis=1)), F64(26)),
        (lt.prod(lt.sum(x, axis=1)), F64(45)),
        (lt.sum(lt.sum(x, axis=1)), F64(14)),
        (lt.prod(lt.prod(x, axis=0)), F64(120)),
        (lt.max(lt.min(x, axis=1)), F64(4)),
        (lt.min(lt.max(x, axis=1)), F64(3)),
        (lt.max(lt.max(x, axis=0)), F64(5)),
        (lt.sum(lt.max(x, axis=0)), F64(9)),
        (lt.max(lt.sum(x, axis=0)), F64(8)),
        (lt.any(lt.all(x > 3, axis=0)), np.bool_(False)),
        (lt.all(lt.any(x > 3, axis=0)), np.bool_(True)),
        (lt.sum(lt.sum(x, axis=1, keepdims=True), axis=0), np.array([14.0])),
    )
    y = lt.bmatrix("y")
    b = np.array([[100, 100], [100, -1]], np.int8)
    narrow = lt.sum(lt.sum(y, axis=0, dtype="int8"), axis=0)
    check({y: b}, (narrow, b.sum(0, dtype="int8").sum(0)), (lt.sum(y, dtype="int8"), b.sum(dtype="int8")))
    z = lt.fmatrix("z")
    c = np.array([[2.0**24, 1], [1, 1]], np.float32)
    widened = lt.sum(lt.sum(z, axis=0, dtype="float64", acc_dtype="float64"), axis=0)
    check({z: c}, (widened, c.sum(dtype="float64")))


def test_a_choice_between_equal_branches_keeps_the_shape_and_the_dtype() -> None:
    x, m = lt.lvector("x"), lt.dmatrix("m")
    a, b = np.array([1, 2, 3]), np.zeros((2, 3))
    check(
        {x: a},
        (lt.switch(x > 0, 1, 1), np.where(a > 0, 1, 1)),
        (lt.switch(x > 0, np.float32(0), np.float64(0)), np.zeros(3)),
        (lt.switch(x > 0, np.int8(5), np.int16(5)), np.full(3, 5, np.int16)),
        (lt.switch(x > 0, np.float32(2), np.float32(2)), np.full(3, 2, np.float32)),
        (lt.switch(x > 0, x, x), a),
        (lt.switch(x[0] > 0, x, x), a),
        (lt.switch(lt.reshape(x, (3, 1)) > 0, 1.5, 1.5), np.full((3, 1), 1.5)),
    )
    check({m: b, x: a}, (lt.switch(lt.expand_dims(x, 0) > 0, m[0:1], m[0:1]), b[:1]), (lt.switch(m > 0, 0.0, -0.0), -b))


def test_an_inner_axis_of_length_1_whose_static_length_is_unknown() -> None:
    a, b = lt.tensor("a", dtype="float64", shape=(3, 1)), lt.tensor("b", dtype="float64", shape=(None, 1))
    column = np.array([[1.0], [2.0], [3.0]])
    check({a: column, b: [[5.0]]}, (a @ b, column @ [[5.0]]), (lt.dot(a, b), column @ [[5.0]]))
    check_error({a: column, b: np.ones((4, 1))}, a @ b, ValueError)
    m, v = lt.dmatrix("m"), lt.tensor("v", dtype="float64", shape=(1,))
    check({m: column, v: [2.0]}, (m @ v, np.array([2.0, 4.0, 6.0])))
    check_error({m: np.ones((3, 2)), v: [2.0]}, m @ v, ValueError)
    with pytest.raises(ValueError, match="4"):
        a @ lt.tensor("c", dtype="float64", shape=(4, 1))


def test_indexing_after_squeezing_several_axes() -> None:
    x = lt.tensor("x", dtype="int64", shape=(1, 1, 2, 1, 3))
    a = np.arange(6).reshape(1, 1, 2, 1, 3)
    squeezed, plain = x.squeeze((0, 1, -2)), a.squeeze((0, 1, -2))
    check(
        {x: a},
        (squeezed[:, 0], plain[:, 0]),
        (squeezed[1], plain[1]),
        (squeezed[1, 2], plain[1, 2]),
        (x.squeeze(0)[0, 1, 0], a.squeeze(0)[0, 1, 0]),
        (x.squeeze((1, 3))[0, :, -1], a.squeeze((1, 3))[0, :, -1]),
        (lt.expand_dims(squeezed, 1)[0, 0], plain[0]),
        (lt.transpose(squeezed)[0], plain.T[0]),
        (x.dimshuffle(4, 2)[1], a.squeeze((0, 1, 3)).T[1]),
        (x.dimshuffle(2, "x", 4)[1, 0, ::-1], plain[1, ::-1]),
    )


def test_a_pattern_does_not_ignore_a_constant() -> None:
    x = lt.dvector("x")
    a = np.array([1.0, 2.0])
    check(
        {x: a},
        (1 / (lt.exp(x) + 2), 1 / (np.exp(a) + 2)),
        (1 / (lt.exp(x) - 1), 1 / (np.exp(a) - 1)),
        (1 / (1 + lt.exp(x)), 1 / (1 + np.exp(a))),
        (2 / (1 + lt.exp(-x)), 2 / (1 + np.exp(-a))),
        (1 / (1 + lt.exp(-2 * x)), 1 / (1 + np.exp(-2 * a))),
        (lt.log(2 + lt.exp(x)), np.log(2 + np.exp(a))),
        (lt.log(1 + lt.exp(x)), np.log1p(np.exp(a))),
        (lt.log(1 - lt.exp(-x)), np.log1p(-np.exp(-a))),
        (lt.log(3 - lt.exp(-x)), np.log(3 - np.exp(-a))),
        (lt.log(lt.exp(x) + lt.exp(2 * x)), np.log(np.exp(a) + np.exp(2 * a))),
        (lt.exp(x) - 2, np.exp(a) - 2),
        (lt.exp(x) - 1, np.expm1(a)),
        (1 - lt.tanh(x) ** 2, 1 - np.tanh(a) ** 2),
        (2 - lt.tanh(x) ** 2, 2 - np.tanh(a) ** 2),
        rtol=1e-12,
    )


def test_an_index_of_a_slice_with_a_negative_step() -> None:
    x, i, j, k = lt.lvector("x"), lt.lscalar("i"), lt.lscalar("j"), lt.lscalar("k")
    a = np.arange(10)
    check(
        {x: a, i: 7, j: 2, k: -2},
        (x[7:2:-2][1], a[7:2:-2][1]),
        (x[::-1][1], a[::-1][1]),
        (x[7:2:-1][1:3], a[7:2:-1][1:3]),
        (x[i:j:k][1], a[7:2:-2][1]),
        (x[i:j:-1][1:3], a[7:2:-1][1:3]),
        (x[i:j:k][::k], a[7:2:-2][::-2]),
        (x[7:2:-2][j - 1], a[7:2:-2][1]),
        (x[::-1][::-1], a),
        (x[::-1][i], a[::-1][7]),
        (x[::2][::-1][j], a[::2][::-1][2]),
        (x[::-2][1:][-1], a[::-2][1:][-1]),
        (x[i:j:k][-1], a[7:2:-2][-1]),
        (x[i:][j:k], a[7:][2:-2]),
        (x[3:20][-1], a[3:20][-1]),
        (x[-20:3][::-1], a[-20:3][::-1]),
    )
    for outer in (x[7:2:-2], x[i:j:k], x[7:2:-2][:]):  # three elements
        for inner in (3, -4):
            check_error({x: a, i: 7, j: 2, k: -2}, outer[inner], IndexError)
    check_error({x: a, i: 10}, x[:5][i], IndexError)
    check_error({x: a, i: 5}, x[:5][i], IndexError)
    check_error({x: a, i: -6}, x[:5][i], IndexError)
    check_error({x: a[:4]}, x[:5][4], IndexError)


def test_positions_of_nan_are_overwritten() -> None:
    a = lt.dmatrix("a")
    values = np.array([[1.0, 2.0], [0.0, 0.0], [3.0, 4.0]])
    quotient = a[:, 0] / a[:, 1]
    wanted = np.array([0.5, -1.0, 0.75])
    check(
        {a: values},
        (quotient[lt.eq(a[:, 1], 0).nonzero()].set(-1), wanted),
        (quotient[lt.eq(a[:, 1], 0)].set(-1), wanted),
        (quotient[lt.isnan(quotient)].set(-1), wanted),
        (lt.switch(lt.eq(a[:, 1], 0), -1.0, quotient), wanted),
        (quotient[lt.eq(a[:, 1], 0)].inc(1), np.array([0.5, np.nan, 0.75])),
    )


def test_tensordot_with_negative_axes() -> None:
    x, h = lt.dvector("x"), lt.tensor("h", dtype="float64", shape=(3, 2, 2))
    a, b = np.array([1.0, 2.0]), np.arange(12.0).reshape(3, 2, 2)
    product = lt.tensordot(x, h, axes=[[-1], [-1]])
    assert product.type.shape == (3, 2)
    check(
        {x: a, h: b},
        (product, np.array([[2.0, 8], [14, 20], [26, 32]])),
        (lt.tensordot(x, h, axes=[[0], [-2]]), np.tensordot(a, b, axes=([0], [-2]))),
        (lt.tensordot(h, h, axes=[[-1, -3], [-1, -3]]), np.tensordot(b, b, axes=([-1, -3], [-1, -3]))),
        (lt.tensordot(h, h, axes=[[-1, 0], [-2, 0]]), np.tensordot(b, b, axes=([-1, 0], [-2, 0]))),
        (lt.tensordot(x, x, axes=0), np.tensordot(a, a, axes=0)),
        (lt.tensordot(h, x, axes=1), np.tensordot(b, a, axes=1)),
    )


def test_nan_constants_are_one_and_rewriting_them_ends() -> None:
    one, other = lt.constant(np.nan), lt.constant(float("nan"))
    assert one is other
    assert hash(one) == hash(other)
    assert pickle.loads(pickle.dumps(one)) is one
    assert lt.constant([1.0, np.nan]) is lt.constant(np.array([1.0, np.nan]))
    assert lt.constant(0.0) is not lt.constant(-0.0)
    x, y = lt.dvectors("x", "y")
    assert equal_computations([x + one], [y + other], [x], [y])
    a = np.array([1.0, np.inf])
    nan = np.full(2, np.nan)
    check(
        {x: a},
        (x + np.nan + np.nan, nan),
        (x * np.nan * 0.0, nan),
        (x + np.nan - np.nan, nan),
        (lt.eq(x + np.nan, np.nan), np.array([False, False])),
        (lt.maximum(x, np.nan), nan),
        (lt.switch(x > np.nan, 1.0, 2.0), np.full(2, 2.0)),
        (x * np.inf - np.inf, np.array([np.nan, np.nan])),
    )


def test_integer_division_does_not_cancel_and_floats_are_not_reassociated() -> None:
    x, y = lt.lscalar("x"), lt.lscalar("y")
    check(
        {x: 7, y: 2},
        ((x // y) * y, np.int64(6)),
        ((x * y) // y, np.int64(7)),
        (x // y * 2, np.int64(6)),
        (x - x % y, np.int64(6)),
        ((x / y) * y, F64(7)),
        (x // 2 // 2, np.int64(1)),
        (-(x // y), np.int64(-3)),
        ((-x) // y, np.int64(-4)),
    )
    u, v = lt.dscalar("u"), lt.dscalar("v")
    check(
        {u: 1.0, v: 1e20},
        ((u + v) - v, F64(0)),
        (u + (v - v), F64(1)),
        ((u - v) + v, F64(0)),
        (u + v + (-v), F64(0)),
        ((u + 1e20) - 1e20, F64(0)),
        (1e20 + u - 1e20, F64(0)),
    )
    check(
        {u: 1e200, v: 1e200},
        ((u * v) / v, F64(np.inf)),
        (u * (v / v), F64(1e200)),
        ((u * 1e200) / 1e200, F64(np.inf)),
        ((u / 1e-200) * 1e-200, F64(np.inf)),
        (u * v * 0.0, F64(np.nan)),
    )
    i8 = lt.bscalar("i8")
    check(
        {i8: 100}, ((i8 * np.int8(2)) // np.int8(2), np.int8(-28)), ((i8 + np.int8(100)) - np.int8(100), np.int8(100))
    )


def declared(variable: TensorVariable, *shape: int | None) -> TensorVariable:
    """Return the result of a node that promises less than its Op would."""
    node = variable.owner
    assert node is not None
    made = Apply(node.op, node.inputs, [TensorType(variable.dtype, shape)]).outputs[0]
    assert isinstance(made, TensorVariable)
    assert made.type.shape == shape
    return made


def test_an_output_that_is_declared_less_precisely_than_it_would_be() -> None:
    x, y = lt.tensor("x", dtype="float64", shape=(1,)), lt.dvector("y")
    cube = declared(x**3.0, None)
    check({x: [2.0]}, (lt.exp(cube), np.exp([8.0])), (cube * cube + 1, np.array([65.0])), (lt.sum(cube), F64(8)))
    # What was of unknown length when the node was built is not broadcast, whatever is known of it later.
    check({x: [2.0], y: [1.0]}, (cube + y, np.array([9.0])))
    check_error({x: [2.0], y: [1.0, 2.0]}, cube + y, ValueError)
    folded = declared(lt.exp(lt.constant([0.0])), None)
    check({y: [1.0]}, (folded + y, np.array([2.0])), (folded * 2.0, np.array([2.0])))
    check_error({y: [1.0, 2.0]}, folded + y, ValueError)
    rebuilt = lm.clone_replace(lt.exp(y) + y, {y: lt.specify_shape(y, (1,))})
    check({y: [1.0]}, (rebuilt, np.exp([1.0]) + 1))


def test_a_reshape_that_looks_useless_with_two_unknown_axes() -> None:
    x = lt.dtensor3("x")
    a = np.arange(12.0).reshape(2, 2, 3)
    check(
        {x: a},
        (lt.reshape(x, [x.shape[0], 3, 2]), a.reshape(2, 3, 2)),
        (lt.reshape(x, [x.shape[0], x.shape[2], x.shape[1]]), a.reshape(2, 3, 2)),
        (lt.reshape(x, [x.shape[0], x.shape[1], x.shape[2]]), a),
        (lt.reshape(x, [x.shape[1], x.shape[0], x.shape[2]]), a),
        (lt.reshape(x, x.shape), a),
        (lt.reshape(x, [x.shape[0], -1, x.shape[2]]), a),
        (lt.reshape(x, [-1, x.shape[2], x.shape[1]]), a.reshape(-1, 3, 2)),
        (lt.reshape(lt.transpose(x), x.shape[::-1]), a.T),
    )
    y, one = lt.dmatrix("y"), lt.tensor("one", dtype="float64", shape=(1, 1))
    b = np.ones((1, 1))
    check(
        {y: b, one: b},
        (lt.reshape(y, (1, 1, 1)), b.reshape(1, 1, 1)),
        (lt.reshape(y, (1,)), b.reshape(1)),
        (lt.reshape(y, ()), b.reshape(())),
        (lt.reshape(one, (1, 1, 1)), b.reshape(1, 1, 1)),
        (lt.reshape(lt.reshape(y, (1, 1, 1)), (-1,)), b.reshape(1)),
    )
    check_error({y: np.ones((1, 2))}, lt.reshape(y, (1, 1, 1)), ValueError)


class Forgetful(lm.Op[[TensorVariable], TensorVariable]):
    """Adds a number, which its ``__props__`` do not name."""

    __props__: ClassVar[tuple[str, ...]] = ()

    def __init__(self, k: int) -> None:
        self.k = k

    def make_node(self, x: TensorVariable) -> Apply[TensorVariable]:
        return Apply(self, [x], [x.type])

    def perform(self, node: Apply[TensorVariable], inputs: Sequence[Any], output_storage: lm.OutputStorage) -> None:
        output_storage[0][0] = inputs[0] + self.k


class Careful(Forgetful):
    """The same, but its ``__props__`` say so."""

    __props__ = ("k",)


def test_an_op_that_forgets_to_name_a_parameter() -> None:
    x = lt.dvector("x")
    check({x: [0.0]}, (Forgetful(1)(x), np.ones(1)), (Forgetful(2)(x), np.full(1, 2.0)))
    check({x: [0.0]}, (Forgetful(1)(x) + Forgetful(2)(x), np.full(1, 3.0)))
    assert Forgetful(1)(x) is not Forgetful(2)(x)
    assert Careful(1)(x) is Careful(1)(x)
    merged = lm.FAST_RUN.rewrite(FunctionGraph([x], [Careful(1)(x), Careful(2)(x), Careful(1)(x)]))
    assert merged.outputs[0] is merged.outputs[2]
    assert merged.outputs[0] is not merged.outputs[1]
