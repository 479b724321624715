"""Composite: equality of graphs, rounding as the graph does, gradients, dissolving, printing, pickling."""

import copy
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.errors import MissingInputError
from lamella.ir import (
    Composite,
    Elemwise,
    NullType,
    ScalarType,
    ScalarVariable,
    TensorType,
    TensorVariable,
    grad,
    ls,
    toposort,
)

F32, F64, I8 = ScalarType("float32"), ScalarType("float64"), ScalarType("int8")
A, B = F64("a"), F64("b")


def test_graphs_that_differ_in_names_are_one_composite() -> None:
    c, d = F64("c"), F64()
    one = Composite([A, B], [ls.exp(A * B) + 1.0, A])
    other = Composite([c, d], [ls.exp(c * d).named("e") + F64.make_constant(1.0, "one"), c])
    assert one == other
    assert hash(one) == hash(other)
    assert all(x is y for x, y in zip(one.outputs, other.outputs, strict=True))
    assert one != Composite([B, A], [ls.exp(A * B) + 1.0, A])
    assert one != Composite([A, B], [ls.exp(A * B) + 2.0, A])
    assert Composite([A], [A + 0.0]) != Composite([A], [A + -0.0])


def test_facts() -> None:
    made = Composite([A, B], [ls.exp(A) * B, ls.lt(A, B)])
    assert (made.nin, made.nout) == (2, 2)
    assert made.loop(["float64", float]) == (("float64", "float64"), ("float64", "bool"))
    assert made.flops_per_element == ls.exp.flops_per_element + ls.mul.flops_per_element + ls.lt.flops_per_element
    with pytest.raises(TypeError, match=r"input 0 of Composite.* is float64, not float32"):
        made.loop(["float32", "float64"])


def test_a_composite_inside_of_another_is_dissolved() -> None:
    inner = Composite([A, B], [A * B, A - B])
    product, difference = [v for v in inner.make_node(A, A + 1.0).outputs if isinstance(v, ScalarVariable)]
    whole = Composite([A], [product + difference])
    assert whole == Composite([A], [A * (A + 1.0) + (A - (A + 1.0))])
    assert not [node for node in toposort(whole.outputs) if isinstance(node.op, Composite)]


def test_printing() -> None:
    assert str(Composite([A, B], [ls.exp(A * B) + 2.0])) == "Composite{Add(Exp(Mul(i0, i1)), 2.0)}"
    shared = ls.exp(A)
    assert str(Composite([A], [shared * shared, shared])) == "Composite{t0 = Exp(i0); Mul(t0, t0), t0}"
    long = A
    for _ in range(1000):
        long = ls.sin(long)
    assert str(Composite([A], [long])) == "Composite{1000 Ops of 1 inputs}"


def test_pickling_and_copying() -> None:
    made = Composite([A, F32("c")], [ls.exp(A), A])
    assert pickle.loads(pickle.dumps(made)) == made
    assert copy.deepcopy(made) is made


def test_what_is_no_scalar_graph_is_refused() -> None:
    with pytest.raises(MissingInputError, match="b of type float64 is needed by"):
        Composite([A], [A + B])
    with pytest.raises(TypeError, match="is none"):
        Composite([A], [lt.scalar("x")])  # type: ignore[list-item]  # what is tested
    with pytest.raises(ValueError, match="inputs that differ"):
        Composite([A, A], [A])
    with pytest.raises(ValueError, match="and outputs"):
        Composite([A], [])


def test_it_rounds_where_the_graph_rounds() -> None:
    x, y = F32("x"), I8("y")
    made = Composite([x, y], [ls.cast(x * x, "float64") + 1.0, y + y, ls.true_divide(y, y)])
    values = np.array([0.1, 3.3, 1e20], "float32"), np.array([100, -128, 0], "int8")
    square, double, quotient = made.compute(values)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(square, (values[0] * values[0]).astype("float64") + 1.0, strict=True)
        np.testing.assert_array_equal(double, values[1] + values[1], strict=True)
        np.testing.assert_array_equal(quotient, np.true_divide(values[1], values[1]), strict=True)


def test_on_single_numbers() -> None:
    made = Composite([A, B], [A * B, A + B])
    product, total = made.make_node(A, B).outputs
    assert (product.eval({A: 2.0, B: 3.0}), total.eval({A: 2.0, B: 3.0})) == (6.0, 5.0)


@st.composite
def scalar_graphs(draw: st.DrawFn) -> tuple[list[ScalarVariable], list[ScalarVariable]]:
    """Inputs and outputs of a random scalar graph of mixed dtypes."""
    dtypes = draw(st.lists(st.sampled_from(["float32", "float64", "int8"]), min_size=1, max_size=3))
    inputs = [ScalarType(dtype)(f"x{i}") for i, dtype in enumerate(dtypes)]
    made: list[ScalarVariable] = list(inputs)
    unary: list[Any] = [ls.sin, ls.tanh, ls.square, ls.abs, ls.sigmoid]
    binary: list[Any] = [ls.add, ls.mul, ls.sub, ls.maximum, ls.hypot]
    for _ in range(draw(st.integers(1, 8))):
        pick = st.sampled_from(made)
        if draw(st.booleans()):
            made.append(draw(st.sampled_from(unary))(draw(pick)))
        else:
            made.append(draw(st.sampled_from(binary))(draw(pick), draw(pick)))
    return inputs, draw(st.lists(st.sampled_from(made), min_size=1, max_size=3))


def on_tensors(inputs: Sequence[ScalarVariable], outputs: Sequence[ScalarVariable]) -> Any:
    """The same graph of elementwise Ops on vectors."""
    vectors = [TensorType(v.dtype, (None,))(v.name) for v in inputs]
    made: dict[Any, TensorVariable] = dict(zip(inputs, vectors, strict=True))
    for node in toposort(outputs, inputs):
        op = Elemwise(node.op)  # type: ignore[arg-type]  # nodes of scalar graphs have scalar Ops
        made[node.out] = op(
            *[made.get(v, lt.constant(v.stored_value()) if v.is_constant else None) for v in node.inputs]
        )
    return vectors, [made[v] for v in outputs]


@given(scalar_graphs())
def test_values_and_gradients_are_those_of_the_graph(graph: tuple[list[ScalarVariable], list[ScalarVariable]]) -> None:
    inputs, outputs = graph
    vectors, expected = on_tensors(inputs, outputs)
    op = Elemwise(Composite(inputs, outputs))
    called: Any = op(*vectors)
    found = list(called) if isinstance(called, tuple) else [called]
    numbers = np.array([-1.5, 0.25, 2.0, 100.0])
    values = {v: numbers.astype(v.dtype) for v in vectors}

    def value(variable: TensorVariable) -> Any:
        return variable.eval(dict(values))

    for one, other in zip(found, expected, strict=True):
        assert one.type == other.type
        np.testing.assert_array_equal(value(one), value(other), strict=True)

    def cost(parts: Sequence[TensorVariable]) -> TensorVariable:
        return lt.add(*[lt.sum(lt.cast(p, "float64") * (i + 1)) for i, p in enumerate(parts)], 0.0)

    pairs = zip(
        grad(cost(found), vectors, disconnected_inputs="ignore"),
        grad(cost(expected), vectors, disconnected_inputs="ignore"),
        strict=True,
    )
    for one, other in pairs:
        assert one.dtype == other.dtype
        # The order in which cotangents are added may differ.
        tolerance = 1e-4 if "float32" in [v.dtype for v in vectors] else 1e-12
        np.testing.assert_allclose(value(one), value(other), rtol=tolerance, atol=tolerance)


def test_outputs_that_do_not_depend_on_an_input_are_disconnected_from_it() -> None:
    op = Composite([A, B], [A * 2.0, ls.second(A, B)])
    assert op.connection_pattern(op.make_node(A, B)) == [[True, False], [False, True]]
    x, y = lt.vectors("x y")
    elementwise = Elemwise(op)
    made: Any = elementwise(x, y)
    np.testing.assert_array_equal(grad(lt.sum(made[0]), x).eval({x: [1.0], y: [0.0]}), [2.0])
    null = grad(lt.sum(made[1]), x, disconnected_inputs="ignore", return_disconnected="disconnected")
    assert not isinstance(null, TensorVariable)


def test_undefined_gradients_pass_through() -> None:
    made = Composite([A, B], [ls.polygamma(A * 2.0, B) + A])
    by_a, by_b = made.L_op([A, B], made.make_node(A, B).outputs, [F64("g")])
    assert isinstance(by_a.type, NullType)
    assert isinstance(by_b, ScalarVariable)
