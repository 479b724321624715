"""Gradients of all scalar Ops: finite differences, kinks, zero cotangents at infinite slopes, dtypes, complex numbers, tangents."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import lamella.tensor as lt
from lamella import config
from lamella.errors import GradientNotImplementedError
from lamella.ir import Elemwise, Lop, NullType, Rop, TensorType, TensorVariable, grad
from lamella.testing import verify_grad
from tests.ir.scalar.references import COMPLEX, REFERENCES, Array, Reference, name_of

smooth = pytest.mark.parametrize("reference", [r for r in REFERENCES if r.points], ids=name_of)
each_op = pytest.mark.parametrize("reference", REFERENCES, ids=name_of)


def apply(reference: Reference, *operands: Any) -> TensorVariable:
    op = Elemwise(reference.op)
    return op(*operands)


def points(reference: Reference) -> list[Array]:
    return [np.array(list(column)) for column in reference.points]


@smooth
def test_first_derivatives(reference: Reference) -> None:
    verify_grad(lambda *xs: apply(reference, *xs), points(reference), mode="FAST_COMPILE")


@smooth
def test_second_derivatives(reference: Reference) -> None:
    def slopes(*xs: TensorVariable) -> TensorVariable:
        weighted = lt.sum(apply(reference, *xs) * np.array([1.0, -2.0, 0.5, 3.0, 1.5][: len(reference.points[0])]))
        found = grad(weighted, list(xs), disconnected_inputs="ignore")
        return lt.stack([lt.sin(g) + x * 0.1 for g, x in zip(found, xs, strict=True)])

    verify_grad(slopes, points(reference), mode="FAST_COMPILE")


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 30.0, 1e3, -1e3, 1e300, -1e300, 5e-324, np.inf, -np.inf, np.nan])


def float_inputs(reference: Reference, dtype: str = "float64") -> list[TensorVariable]:
    return [TensorType(dtype, (None,))(f"x{i}") for i in range(reference.nin)]


def takes(reference: Reference, dtype: str) -> bool:
    try:
        apply(reference, *float_inputs(reference, dtype))
    except TypeError:
        return False
    return True


def gradients(reference: Reference, cost: TensorVariable, inputs: Sequence[TensorVariable]) -> list[TensorVariable]:
    """Gradients where they are defined."""
    found = grad(cost, list(inputs), disconnected_inputs="ignore", null_gradients="return")
    return [g for g in found if not isinstance(g.type, NullType)]


@each_op
def test_a_branch_that_was_not_taken_contributes_nothing(reference: Reference) -> None:
    if not takes(reference, "float64"):
        return
    inputs = float_inputs(reference)
    untaken = lt.switch(np.zeros(1, bool), apply(reference, *inputs), 0.0)
    if untaken.dtype not in ("float64", "float32"):
        untaken = lt.real(untaken)
    columns = np.meshgrid(*[SPECIAL] * min(reference.nin, 2))
    values = [column.ravel() for column in columns] + [columns[0].ravel()] * (reference.nin - len(columns))
    for g in gradients(reference, lt.sum(untaken, dtype="float64"), inputs):
        np.testing.assert_array_equal(g.eval(dict(zip(inputs, values, strict=True))), 0.0)


def test_the_rule_of_zero_cotangents_can_be_switched_off() -> None:
    x = lt.vector("x")
    guarded = lt.sum(lt.switch(lt.gt(x, 0), lt.sqrt(x), 0.0))
    with config.override(annihilate_zero_cotangents=False):
        plain = grad(guarded, x)
    np.testing.assert_array_equal(plain.eval({x: [0.0, 1.0]}), [np.nan, 0.5])
    np.testing.assert_array_equal(grad(guarded, x).eval({x: [0.0, 1.0]}), [0.0, 0.5])


def test_guarded_expressions() -> None:
    t = lt.scalar("t")
    sinc = lt.switch(lt.lt(t, 1e-12), 1.0, lt.sin(t) / t)
    assert grad(sinc, t).eval({t: 0.0}) == 0.0
    x = lt.vector("x")
    for guarded, expected in [
        (lt.log(x), [0.0, 1.0]),
        (lt.sqrt(x), [0.0, 0.5]),
        (x * lt.log(x), [0.0, 1.0]),
        (1 / x, [0.0, -1.0]),
        (x**-0.5, [0.0, -0.5]),
    ]:
        cost = lt.sum(lt.switch(lt.gt(x, 0), guarded, 0.0))
        np.testing.assert_array_equal(grad(cost, x).eval({x: [0.0, 1.0]}), expected)


def test_a_tangent_at_zero_cotangent_is_right() -> None:
    # The double-Lop construction differentiates by a cotangent, at any value of it: also at 0.
    x, g = lt.vector("x"), lt.vector("g")
    pulled = Lop(lt.sqrt(x), x, g)
    slope = grad(lt.sum(pulled), g)
    np.testing.assert_allclose(slope.eval({x: [4.0], g: [0.0]}), [0.25])


KINKS: list[tuple[str, Any, Sequence[float], Sequence[float]]] = [
    ("abs", lt.abs, [0.0], [0.0]),
    ("sign", lt.sign, [0.0], [0.0]),
    ("maximum", lt.maximum, [1.5, 1.5], [0.5, 0.5]),
    ("minimum", lt.minimum, [1.5, 1.5], [0.5, 0.5]),
    ("maximum with a NaN", lt.maximum, [np.nan, 1.0], [0.0, 0.0]),
    ("clip of a NaN", lambda x: lt.clip(x, -1.0, 2.0), [np.nan], [1.0]),
    ("clip at the lower bound", lambda x: lt.clip(x, -1.0, 2.0), [-1.0], [1.0]),
    ("clip at the upper bound", lambda x: lt.clip(x, -1.0, 2.0), [2.0], [1.0]),
    ("clip below", lambda x: lt.clip(x, -1.0, 2.0), [-1.5], [0.0]),
    ("clip with bounds crossed", lambda x, low, high: lt.clip(x, low, high), [0.0, 1.0, -1.0], [0.0, 0.0, 1.0]),
    ("clip by the lower bound", lambda x, low, high: lt.clip(x, low, high), [0.0, 1.0, 2.0], [0.0, 1.0, 0.0]),
    ("clip by the upper bound", lambda x, low, high: lt.clip(x, low, high), [3.0, 1.0, 2.0], [0.0, 0.0, 1.0]),
    ("hypot", lt.hypot, [0.0, 0.0], [0.0, 0.0]),
    ("sqrt", lt.sqrt, [0.0], [np.inf]),
    ("log", lt.log, [0.0], [np.inf]),
    ("log1p", lt.log1p, [-1.0], [np.inf]),
    ("reciprocal", lt.reciprocal, [0.0], [-np.inf]),
    ("arcsin", lt.arcsin, [1.0], [np.inf]),
    ("arccos", lt.arccos, [-1.0], [-np.inf]),
    ("arccosh", lt.arccosh, [1.0], [np.inf]),
    ("arctanh", lt.arctanh, [1.0], [np.inf]),
    ("arctan2", lt.arctan2, [0.0, 0.0], [np.nan, np.nan]),
    ("log1mexp", lt.log1mexp, [0.0], [-np.inf]),
    ("logaddexp at infinity", lt.logaddexp, [np.inf, np.inf], [0.5, 0.5]),
    ("logaddexp at minus infinity", lt.logaddexp, [-np.inf, -np.inf], [0.5, 0.5]),
    ("logaddexp with minus infinity", lt.logaddexp, [-np.inf, 1.0], [0.0, 1.0]),
    ("x ** 0", lambda x: x**0, [0.0], [0.0]),
    ("x ** 1", lambda x: x**1, [0.0], [1.0]),
    ("x ** 2", lambda x: x**2, [0.0], [0.0]),
    ("x ** 0.5", lambda x: x**0.5, [0.0], [np.inf]),
    ("power of zero", lt.power, [0.0, 2.0], [0.0, 0.0]),
    ("zero to zero", lt.power, [0.0, 0.0], [0.0, 0.0]),
    ("power of a negative number", lt.power, [-2.0, 3.0], [12.0, np.nan]),
    ("copysign", lt.copysign, [0.0, -1.0], [0.0, 0.0]),
    ("mod", lt.mod, [4.0, 2.0], [1.0, -2.0]),
    ("floor", lt.floor, [2.0], [0.0]),
    ("rint", lt.rint, [0.5], [0.0]),
    ("softplus far right", lt.softplus, [1e4], [1.0]),
    ("softplus far left", lt.softplus, [-1e4], [0.0]),
    ("log_sigmoid far left", lt.log_sigmoid, [-1e4], [1.0]),
    ("sigmoid far left", lt.sigmoid, [-1e4], [0.0]),
    ("log1mexp far left", lt.log1mexp, [-1e4], [0.0]),
    ("arcsinh far right", lt.arcsinh, [1e200], [1e-200]),
    ("erfcx at infinity", lt.erfcx, [np.inf], [-0.0]),
    ("erfcx far left", lt.erfcx, [-30.0], [-np.inf]),
    ("xlogy of zeros", lt.xlogy, [0.0, 0.0], [-np.inf, 0.0]),
    ("xlogy of zero", lt.xlogy, [0.0, 2.0], [np.log(2.0), 0.0]),
]


@pytest.mark.parametrize(("function", "at", "expected"), [k[1:] for k in KINKS], ids=[k[0] for k in KINKS])
def test_kinks(function: Any, at: Sequence[float], expected: Sequence[float]) -> None:
    inputs = [lt.scalar(f"x{i}") for i in range(len(at))]
    found = grad(function(*inputs), inputs)
    values = dict(zip(inputs, at, strict=True))
    np.testing.assert_allclose([g.eval(values) for g in found], expected, rtol=1e-15)


def test_the_slope_of_erfcx_is_exact_where_its_formula_cancels() -> None:
    x = lt.vector("x")
    points = np.array([49.0, 49.99, 50.01, 51.0, 1e3, 1e9, 1e200])
    found = grad(lt.sum(lt.erfcx(x)), x).eval({x: points})
    # -2 / sqrt(pi) times the first repeated integral of erfc, exp(x**2) * ierfc(x): by the continued fraction of erfcx.
    fraction = np.zeros_like(points)
    for k in range(60, 1, -1):
        fraction = (k / 2) / (points + fraction)
    expected = -1 / np.sqrt(np.pi) / points / (points + fraction) / (1 + 0.5 / points / (points + fraction))
    np.testing.assert_allclose(found, expected, rtol=4e-12, atol=1e-320)


@pytest.mark.parametrize(
    ("function", "at", "expected"),
    [
        (lambda x: x**1, 0.0, 0.0),
        (lambda x: x**0, 0.0, 0.0),
        (lambda x: x**2, 0.0, 2.0),
        (lambda x: x**3, 0.0, 0.0),
        (lt.log1mexp, -1e3, 0.0),
        (lt.softplus, 1e3, 0.0),
        (lt.tanh, 1e3, 0.0),
        (lt.log_sigmoid, -1e3, 0.0),
    ],
)
def test_second_derivatives_where_formulas_divide_or_overflow(function: Any, at: float, expected: float) -> None:
    x = lt.scalar("x")
    assert grad(grad(function(x), x), x).eval({x: at}) == expected


def test_the_same_variable_as_value_and_bound_of_clip() -> None:
    x, y = lt.vectors("x y")
    for made in (lt.clip(x, y, x), lt.clip(x, x, y), lt.clip(x, x, x)):
        below = made.owner is not None and made.owner.inputs[1] is y
        values = {x: [1.0, 2.0], y: [0.0, 1.0] if below else [3.0, 4.0]}
        found = grad(lt.sum(made), x)
        np.testing.assert_array_equal(found.eval({v: values[v] for v in values if v in (x, y)}), [1.0, 1.0])


@each_op
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_gradient_has_the_dtype_of_its_variable(reference: Reference, dtype: str) -> None:
    if not takes(reference, dtype):
        return
    inputs = float_inputs(reference, dtype)
    out = apply(reference, *inputs)
    cost = lt.sum(lt.real(out) if out.dtype in COMPLEX else lt.cast(out, "float64"))
    for g in gradients(reference, cost, inputs):
        assert g.dtype == dtype
        assert g.eval({x: np.full(3, 0.5, dtype) for x in inputs}).shape == (3,)


@each_op
def test_gradients_by_integers_are_zeros_of_float64(reference: Reference) -> None:
    if not takes(reference, "int32"):
        return
    inputs = float_inputs(reference, "int32")
    out = apply(reference, *inputs)
    cost = lt.sum(lt.real(out) if out.dtype in COMPLEX else lt.cast(out, "float64"))
    for g in grad(cost, inputs, disconnected_inputs="ignore"):
        value = g.eval({x: np.ones(3, "int32") for x in inputs})
        assert value.dtype == "float64"
        np.testing.assert_array_equal(value, [0.0, 0.0, 0.0])


def test_integers_beside_floats() -> None:
    x, n = lt.fvector("x"), TensorType("uint8", (None,))("n")
    for made, expected in [
        (x**n, [0.0, 1.0, 4.0]),
        (x * n, [0.0, 1.0, 2.0]),
        (lt.switch(n, x, -x), [-1.0, 1.0, 1.0]),
        (lt.maximum(x, n), [1.0, 1.0, 0.5]),
    ]:
        by_x, by_n = grad(lt.sum(made), [x, n])
        values = {x: np.array([2, 2, 2], "float32"), n: np.array([0, 1, 2], "uint8")}
        np.testing.assert_allclose(by_x.eval(values), expected)
        np.testing.assert_array_equal(by_n.eval(values), [0.0, 0.0, 0.0])


COMPLEX_POINTS = [np.array([0.3 + 0.4j, -0.45 + 0.2j, 0.7 - 0.6j]), np.array([1.1 - 0.3j, 0.4 + 0.9j, -0.8 - 0.7j])]


@each_op
def test_complex_gradients(reference: Reference) -> None:
    """The cotangent of z is d cost/d Re(z) + 1j d cost/d Im(z)."""
    if reference.nin > 2 or not takes(reference, "complex128"):
        return
    inputs = float_inputs(reference, "complex128")
    out = apply(reference, *inputs)
    if out.dtype not in ("complex128", "float64"):
        return
    weights = np.array([0.7, -1.3, 0.4])
    cost = lt.sum(lt.real(out) * weights + lt.imag(out) * weights[::-1])
    try:
        found = grad(cost, inputs, disconnected_inputs="ignore")
    except GradientNotImplementedError as error:
        assert "no gradient by complex numbers" in str(error)  # noqa: PT017 -- the Ops without one say so
        return
    point = COMPLEX_POINTS[: reference.nin]

    def value(*xs: Array) -> float:
        return float(cost.eval(dict(zip(inputs, xs, strict=True))))

    for i, g in enumerate(found):
        numeric = np.zeros(3, complex)
        for k in range(3):
            for direction in (1, 1j):
                step = np.zeros(3, complex)
                step[k] = 1e-6 * direction
                ahead, behind = [list(point), list(point)]
                ahead[i], behind[i] = point[i] + step, point[i] - step
                numeric[k] += direction * (value(*ahead) - value(*behind)) / 2e-6
        np.testing.assert_allclose(g.eval(dict(zip(inputs, point, strict=True))), numeric, rtol=1e-6, atol=1e-8)


def test_a_real_operand_of_a_complex_function_has_a_real_gradient() -> None:
    x, z = lt.dvector("x"), lt.zvector("z")
    g = grad(lt.sum(lt.imag(x * z)), x)
    assert g.dtype == "float64"
    np.testing.assert_array_equal(g.eval({x: [1.0], z: [2 + 3j]}), [3.0])
    narrow = grad(lt.sum(lt.imag(lt.exp(lt.cast(x, "complex128") * 1j))), x)
    np.testing.assert_allclose(narrow.eval({x: [0.5]}), [np.cos(0.5)])


@smooth
def test_tangents_and_cotangents_agree(reference: Reference) -> None:
    inputs = float_inputs(reference)
    directions = [TensorType("float64", (None,))(f"t{i}") for i in range(reference.nin)]
    weights = lt.vector("w")
    out = apply(reference, *inputs)
    pushed = Rop(out, inputs, directions, disconnected_outputs="ignore")
    pulled = Lop(out, inputs, weights, disconnected_inputs="ignore")
    rng = np.random.default_rng(1)
    values = dict(zip([*inputs], points(reference), strict=True))
    size = len(reference.points[0])
    values |= {v: rng.normal(size=size) for v in [*directions, weights]}
    left = lt.sum(pushed * weights).eval({v: values[v] for v in [*inputs, *directions, weights]})
    right = sum([float(lt.sum(g * d).eval(values)) for g, d in zip(pulled, directions, strict=True)])
    np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-12)
