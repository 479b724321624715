"""Wrong or missing gradients."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.errors import GradientNotImplementedError
from lamella.ir import Apply, TensorVariable
from tests.faults.three_ways import Case, Values, check

F64 = np.float64


def test_a_product_with_one_zero_and_with_two() -> None:
    x = lt.dmatrix("x")
    a = np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 4.0], [1.0, 2.0, 3.0]])
    first = lm.grad(lt.sum(lt.prod(x, axis=1)), x)
    # The derivative of the product of the others, row by row.
    second = lm.grad(lt.sum(first), x)
    check(
        {x: a},
        (first, np.array([[0.0, 6, 0], [0, 0, 0], [6, 3, 2]])),
        (second, np.array([[3.0, 5, 2], [4, 4, 0], [5, 4, 3]])),
        (lm.grad(lt.prod(x), x), np.zeros((3, 3))),
    )
    v = lt.dvector("v")
    check(
        {v: [2.0, 0.0, 3.0]},
        (lm.grad(lt.prod(v), v), np.array([0.0, 6, 0])),
        (lm.hessian(lt.prod(v), v), np.array([[0.0, 3, 0], [3, 0, 2], [0, 2, 0]])),
        (lm.grad(lt.sum(lt.cumprod(v)), v), np.array([1.0, 8, 0])),
        (lm.grad(lt.prod(v, keepdims=True)[0], v), np.array([0.0, 6, 0])),
    )
    check({v: [0.0]}, (lm.grad(lt.prod(v), v), np.ones(1)), (lm.grad(lm.grad(lt.prod(v), v)[0], v), np.zeros(1)))
    check({v: np.zeros(0)}, (lm.grad(lt.prod(v), v), np.zeros(0)))
    check({x: np.ones((2, 0))}, (lm.grad(lt.sum(lt.prod(x, axis=1)), x), np.ones((2, 0))))


def test_a_branch_that_is_not_taken_adds_nothing() -> None:
    t, x = lt.dscalar("t"), lt.dvector("x")
    check(
        {t: 0.0, x: [0.0, 1.0]},
        (lm.grad(lt.switch(t < 1e-12, 1.0, lt.sin(t) / t), t), F64(0)),
        (lm.grad(lt.sum(lt.switch(x > 0, lt.log(x), 0.0)), x), np.array([0.0, 1.0])),
        (lm.grad(lt.sum(lt.switch(x > 0, lt.sqrt(x), 0.0)), x), np.array([0.0, 0.5])),
        (lm.grad(lt.sum(lt.switch(x > 0, 1 / x, 0.0)), x), np.array([0.0, -1.0])),
        (lm.grad(lt.sum(lt.switch(x > 0, x**-1.5, 0.0)), x), np.array([0.0, -1.5])),
        (lm.grad(lt.sum(lt.switch(x > 0, lt.log(x) * x, 0.0)), x), np.array([0.0, 1.0])),
        (lm.grad(lt.sum(lt.sqrt(lt.switch(x > 0, x, 1.0))), x), np.array([0.0, 0.5])),
        (lm.grad(lt.sum(lt.log(x)[1:]), x), np.array([0.0, 1.0])),
        (lm.grad(lt.sum(lt.sqrt(x)[x > 0]), x), np.array([0.0, 0.5])),
        (lm.grad(lm.grad(lt.sum(lt.switch(x > 0, lt.log(x), 0.0)), x)[1], x), np.array([0.0, -1.0])),
        (lm.grad(lt.max(lt.sqrt(x)), x), np.array([0.0, 0.5])),
    )
    check({x: [-1000.0, 1000.0]}, (lm.grad(lt.sum(lt.switch(x < 0, lt.exp(x), x)), x), np.array([0.0, 1.0])))


def test_powers_at_zero() -> None:
    x, y = lt.dscalar("x"), lt.dscalar("y")

    def derivative(f: TensorVariable, order: int = 1) -> TensorVariable:
        for _ in range(order):
            f = lm.grad(f, x, disconnected_inputs="ignore")
        return f

    check(
        {x: 0.0},
        (derivative(x**0), F64(0)),
        (derivative(x**0.0), F64(0)),
        (derivative(x**1), F64(1)),
        (derivative(x**1, 2), F64(0)),
        (derivative(x**2, 2), F64(2)),
        (derivative(x**2, 3), F64(0)),
        (derivative(x**3.0, 3), F64(6)),
        (derivative(lt.sqr(x), 2), F64(2)),
        (derivative(x * x, 2), F64(2)),
        (derivative(x * x * x, 3), F64(6)),
        (derivative(x**0.5), F64(np.inf)),
        (derivative((x * x) ** 1), F64(0)),
    )
    check(
        {x: 0.0, y: 2.0},
        (lm.grad(x**y, y), F64(0)),
        (lm.grad(x**y, x), F64(0)),
        (lm.grad(lm.grad(x**y, x), x), F64(2)),
    )
    check({x: 0.0, y: 0.0}, (lm.grad(x**y, x), F64(0)))
    check({x: 0.0, y: 1.0}, (lm.grad(x**y, x), F64(1)), (lm.grad(lm.grad(x**y, x), x), F64(0)))
    check({x: -2.0}, (derivative(x**3), F64(12)), (derivative(x**-1), F64(-0.25)), (derivative(x**2, 2), F64(2)))


def test_one_variable_as_value_and_as_bound() -> None:
    x, y = lt.dvector("x"), lt.dvector("y")
    one, zero = np.ones(2), np.zeros(2)
    low, high = {x: [1.0, 2.0], y: [0.0, 1.0]}, {x: [1.0, 2.0], y: [3.0, 4.0]}

    def slope(f: TensorVariable) -> TensorVariable:
        return lm.grad(lt.sum(f), x)

    check(low, (slope(lt.clip(x, y, x)), one), (slope(lt.clip(x, x, x)), one), (slope(lt.clip(x, x, y)), zero))
    check(high, (slope(lt.clip(x, x, y)), one), (slope(lt.clip(x, x, x)), one), (slope(lt.clip(y, y, x)), one))
    check(
        low,
        (slope(lt.maximum(x, x)), one),
        (slope(lt.minimum(x, x)), one),
        (slope(lt.maximum(x, y)), one),
        (slope(lt.minimum(x, y)), zero),
        (slope(lt.switch(x > 1, x, x)), one),
        (slope(x + x), 2 * one),
        (slope(x - x), zero),
        (slope(x / x), zero),
        (slope(lt.arctan2(x, x)), zero),
    )


def test_writing_where_the_leading_axis_has_length_1() -> None:
    x, v = lt.tensor("x", dtype="float64", shape=(1, 4)), lt.tensor("v", dtype="float64", shape=(2,))
    z, s, i = lt.dmatrix("z"), lt.dscalar("s"), lt.lvector("i")
    w = np.arange(1.0, 5)
    values: Values = {x: np.zeros((1, 4)), v: np.ones(2), z: np.zeros((1, 4)), s: 1.0, i: [3, 0]}
    first = np.array([[1.0, 0, 0, 4]])
    outputs: list[Case] = []
    for array, whole in ((x, first), (z, first)):
        cost = lt.sum(array[:, 1:3].set(v) * w)
        outputs += [(lm.grad(cost, array), whole), (lm.grad(cost, v), np.array([2.0, 3]))]
    cost = lt.sum(x[:, 1:3].inc(v) * w)
    outputs += [(lm.grad(cost, x), w.reshape(1, 4)), (lm.grad(cost, v), np.array([2.0, 3]))]
    cost = lt.sum(x[0, 1:3].set(s) * w)
    outputs += [(lm.grad(cost, x), first), (lm.grad(cost, s), F64(5))]
    cost = lt.sum(x[:, i].set(v) * w)
    outputs += [(lm.grad(cost, x), np.array([[0.0, 2, 3, 0]])), (lm.grad(cost, v), np.array([4.0, 1]))]
    cost = lt.sum(x[[0, 0]].inc(x) * w)
    outputs += [(lm.grad(cost, x), 3 * w.reshape(1, 4))]
    cost = lt.sum(z[:, i].inc(lt.expand_dims(v, 0)) * w)
    outputs += [(lm.grad(cost, z), w.reshape(1, 4)), (lm.grad(cost, v), np.array([4.0, 1]))]
    check(values, *outputs)


def test_what_an_index_with_duplicates_keeps_has_the_gradient() -> None:
    x, v = lt.dvector("x"), lt.dvector("v")
    w = np.array([1.0, 10.0, 100.0])
    last = lt.sum(x[[0, 0, 2]].set(v) * w)
    every = lt.sum(x[[0, 0, 2]].inc(v) * w)
    check(
        {x: np.zeros(3), v: [1.0, 2.0, 3.0]},
        (last, F64(302)),
        (lm.grad(last, x), np.array([0.0, 10, 0])),
        (lm.grad(last, v), np.array([0.0, 1, 100])),
        (lm.grad(every, x), w),
        (lm.grad(every, v), np.array([1.0, 1, 100])),
        (lm.grad(lt.sum(x[[0, 0, 2]] * w), x), np.array([11.0, 0, 100])),
    )


def test_a_diagonal_below_the_main_one() -> None:
    x, v, t = lt.dmatrix("x"), lt.dvector("v"), lt.dtensor3("t")
    w = np.array([1.0, 2.0])
    below = np.zeros((3, 3))
    below[1, 0], below[2, 1] = w
    entries = np.arange(24.0).reshape(2, 3, 4)
    cube = lt.sum(lt.diagonal(t, offset=-1, axis1=2, axis2=0) ** 2)
    wide = np.zeros((2, 3, 4))
    for i in range(2):
        wide[i, :, i + 1] = 2 * entries[i, :, i + 1]
    check(
        {x: np.ones((3, 3)), v: w, t: entries},
        (lm.grad(lt.sum(lt.diagonal(x, offset=-1) * w), x), below),
        (lm.grad(lt.sum(lt.diagonal(x, offset=1) * w), x), below.T),
        (lm.grad(lt.sum(lt.diag(v, -1) * np.arange(9.0).reshape(3, 3)), v), np.array([3.0, 7.0])),
        (lm.grad(lt.trace(x @ x), x), 2 * np.ones((3, 3))),
        (lm.grad(cube, t), wide),
    )
    check({x: np.ones((2, 4))}, (lm.grad(lt.sum(lt.diagonal(x, offset=3)), x), np.eye(2, 4, 3)))


UNARY: Sequence[Callable[[TensorVariable], TensorVariable]] = [
    lt.abs, lt.arccos, lt.arccosh, lt.arcsin, lt.arcsinh, lt.arctan, lt.arctanh, lt.ceil, lt.cos, lt.cosh, lt.deg2rad, lt.digamma,
    lt.erf, lt.erfc, lt.exp, lt.exp2, lt.expm1, lt.floor, lt.gammaln, lt.log, lt.log10, lt.log1mexp, lt.log1p, lt.log2,
    lt.log_sigmoid, lt.neg, lt.rad2deg, lt.reciprocal, lt.rint, lt.sigmoid, lt.sign, lt.sin, lt.sinh, lt.softplus, lt.sqrt,
    lt.square, lt.tan, lt.tanh, lt.tensor_copy, lt.trigamma, lt.trunc, lt.round, lt.real, lt.conj,
]  # fmt: skip
REDUCING: Sequence[Callable[[TensorVariable], TensorVariable]] = [
    lt.sum, lt.prod, lt.mean, lt.max, lt.min, lt.logsumexp, lt.std, lt.var,
]  # fmt: skip
SHAPED: Sequence[Callable[[TensorVariable], TensorVariable]] = [
    lt.softmax, lt.log_softmax, lt.cumsum, lt.cumprod, lt.sort, lt.ravel, lt.flip, lt.diff, lambda x: x[::2], lambda x: x[[0, 0]],
    lambda x: x**2, lambda x: x**0.5, lambda x: 2 * x, lambda x: x / 3, lambda x: lt.clip(x, 0, 1), lambda x: x * np.float32(2),
    lambda x: x + np.arange(3), lambda x: lt.concatenate([x, x]), lambda x: lt.outer(x, x), lambda x: lt.dot(x, x),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_gradients_keep_a_narrow_dtype(dtype: str) -> None:
    x, v = lt.scalar("x", dtype=dtype), lt.vector("v", dtype=dtype)
    for f in UNARY:
        assert lm.grad(f(x), x).dtype == dtype
        assert lm.grad(lt.sum(f(v)), v).dtype == dtype
    for f in [*REDUCING, *SHAPED]:
        slope = lm.grad(lt.sum(f(v)), v)
        assert slope.dtype == dtype
        assert lm.grad(lt.sum(slope), v, disconnected_inputs="ignore").dtype == dtype
    assert lm.grad(lt.sum(lt.cast(v, "float64") ** 2), v).dtype == dtype
    a = np.array([0.25, 0.5, 0.75])
    narrow = a.astype(dtype)
    eps = float(np.finfo(narrow.dtype).eps)
    check(
        {v: a},
        (lm.grad(lt.sum(lt.log10(v)), v), (1 / (a * np.log(10))).astype(dtype)),
        (lm.grad(lt.sum(lt.cast(v, "float64") ** 2), v), 2 * narrow),
        (lm.grad(lt.mean(v * v), v), (2 * a / 3).astype(dtype)),
        rtol=8 * eps,
    )


def test_the_gradient_of_an_integer_is_zero() -> None:
    x, f = lt.lmatrix("x"), lt.dmatrix("f")
    a, b = np.array([[1, 2]]), np.array([[0.5, 2.0]])
    zero = np.zeros((1, 2))
    check(
        {x: a},
        (lm.grad(lt.sum(lt.switch(0, x, -x)), x), zero),
        (lm.grad(lt.cast(lt.sum(lt.switch(0, x, -x)), "float64"), x), zero),
        (lm.grad(lt.sum(lt.switch(x > 1, x * 1.0, -x * 1.0)), x), zero),
        (lm.grad(lt.sum(x / 2), x), zero),
        (lm.grad(lt.sum(lt.exp(x)), x), zero),
        (lm.grad(lt.mean(x), x), zero),
    )
    check(
        {x: a, f: b},
        (lm.grad(lt.sum(x * f), x), zero),
        (lm.grad(lt.sum(x * f), f), np.array([[1.0, 2.0]])),
        (lm.grad(lt.sum(lt.switch(x, f, 2 * f)), f), np.ones((1, 2))),
        (lm.grad(lt.sum(f**x), f), np.array([[1.0, 4.0]])),
        (lm.grad(lt.sum(f[:, x[0] - 1]), f), np.ones((1, 2))),
        (lm.grad(lt.sum(x[:, :1].set(f[:, :1] > 0) * f), f), np.array([[1.0, 2.0]])),
    )


def test_second_derivatives_through_structure() -> None:
    a, b = lt.dvectors("a", "b")
    values = {a: [1.0, 2.0], b: [3.0, 4.0]}
    twos = np.full((2, 2), 2.0)
    stacked = lt.stack([a, b])
    cost = lt.sum(stacked.T @ stacked)
    outputs: list[Case] = [(lm.hessian(cost, a), twos), (lm.hessian(cost, b), twos)]
    outputs += [(hessian, twos) for hessian in lm.hessian(cost, [a, b])]
    square = 2 * np.eye(2)
    for structured in (
        lt.concatenate([a, b]),
        lt.concatenate([b, a[::-1]]),
        lt.zeros(5)[1:3].set(a),
        lt.reshape(a, (2, 1)),
        lt.expand_dims(a, 0),
        lt.zeros(3)[[2, 0]].set(a),
        lt.diag(a),
        lt.roll(a, 1),
        lt.sort(a),
        a[a > 0],
    ):
        outputs.append((lm.hessian(lt.sum(structured**2), a), square))
    outputs.append(
        (lm.hessian(lt.sum(lt.split(lt.concatenate([a, b]), [1, 3], axis=0)[1] ** 3), a), np.diag([0.0, 12.0]))
    )
    outputs.append((lm.hessian(lt.sum(a * b), a), np.zeros((2, 2))))
    outputs.append((lm.hessian(lt.sum(lt.outer(a, a)), a), twos))
    outputs.append((lm.hessian(lt.dot(a, a) * a[0], a), np.array([[6.0, 4.0], [4.0, 2.0]])))
    check(values, *outputs)


class Smooth(lm.Op[[TensorVariable], TensorVariable]):
    """Doubles, and says how it is differentiated."""

    __props__: ClassVar[tuple[str, ...]] = ()

    def make_node(self, x: TensorVariable) -> Apply[TensorVariable]:
        return Apply(self, [x], [x.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: lm.OutputStorage) -> None:
        output_storage[0][0] = 2 * inputs[0]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        return [2 * output_grads[0]]


class Rough(lm.Op[[TensorVariable], TensorVariable]):
    """Doubles, and does not."""

    __props__: ClassVar[tuple[str, ...]] = ()

    def make_node(self, x: TensorVariable) -> Apply[TensorVariable]:
        return Apply(self, [x], [x.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: lm.OutputStorage) -> None:
        output_storage[0][0] = 2 * inputs[0]


@lm.as_op([lt.dvector], [lt.dvector])
def doubled(x: Any) -> Any:
    return 2 * x


def test_an_op_without_a_gradient_is_named_with_the_path_to_it() -> None:
    x = lt.dvector("x")
    smooth, rough = Smooth(), Rough()
    with pytest.raises(GradientNotImplementedError, match="Rough has no gradient") as caught:
        lm.grad(lt.sum(smooth(rough(x))), x)
    notes = "\n".join(caught.value.__notes__)
    assert "Sum{axis=(0,)} <- Smooth <- Rough" in notes
    assert "test_gradients.py" in notes
    with pytest.raises(GradientNotImplementedError, match="Rough"):
        lm.grad(lt.sum(rough(smooth(x))), x)
    with pytest.raises(GradientNotImplementedError, match="doubled"):
        lm.grad(lt.sum(lt.exp(doubled(x))), x)
    with pytest.raises(GradientNotImplementedError, match="Rough"):
        lm.jacobian(rough(x), x)
    # One that is not on the way is not asked.
    check({x: [1.0, 2.0]}, (lm.grad(lt.sum(smooth(x) * lm.disconnected_grad(rough(x))), x), np.array([4.0, 8.0])))
    y = lt.dvector("y")
    check({x: [1.0], y: [3.0]}, (lm.grad(lt.sum(rough(x) * smooth(y)), y), np.array([4.0])))
