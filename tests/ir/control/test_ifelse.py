"""`ifelse`: only the branch that is taken is computed, in every way of running; gradients, shapes, types, errors."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lamella as lm
import lamella.tensor as lt
from lamella.errors import DisconnectedInputError
from lamella.ir import IfElse, TensorVariable, generic
from lamella.runtime import FAST_RUN, Mode, VMLinker
from lamella.typing_layer import symbolic_shape
from tests.ir.control.counted import Counted

c, x, y = lt.bscalar("c"), lt.dvector("x"), lt.dvector("y")
MODES = ("FAST_RUN", "FAST_COMPILE", Mode(VMLinker(), FAST_RUN.query))
in_each_mode = pytest.mark.parametrize("mode", MODES, ids=["FAST_RUN", "FAST_COMPILE", "VM"])


@in_each_mode
def test_only_the_branch_that_is_taken_runs(mode: Any) -> None:
    log: list[str] = []
    condition = Counted("condition", log)(c)
    chosen = lm.ifelse(condition, Counted("then", log)(lt.exp(x)), Counted("else", log)(lt.log(x)))
    f = lm.function([c, x], [chosen, x + 1], mode=mode)
    np.testing.assert_allclose(f(1, [1.0, 2.0])[0], np.exp([1.0, 2.0]))
    assert log == ["condition", "then"]
    log.clear()
    np.testing.assert_allclose(f(0, [1.0, 2.0])[0], np.log([1.0, 2.0]))
    assert log == ["condition", "else"]


@in_each_mode
def test_what_both_branches_need_runs_once(mode: Any) -> None:
    log: list[str] = []
    shared = Counted("shared", log)(x)
    f = lm.function([c, x], lm.ifelse(c, shared + 1, shared * 3), mode=mode)
    np.testing.assert_array_equal(f(0, [1.0]), [3.0])
    assert log == ["shared"]


@in_each_mode
def test_an_error_of_the_other_branch_is_not_raised(mode: Any) -> None:
    f = lm.function([c, x], lm.ifelse(c, x[5], x[0]), mode=mode)
    assert f(0, [1.0, 2.0]) == 1.0
    with pytest.raises(IndexError):
        f(1, [1.0, 2.0])


@in_each_mode
def test_several_values_and_nested_choices(mode: Any) -> None:
    log: list[str] = []
    inner = lm.ifelse(lt.gt(x[0], 0), [Counted("a", log)(x), y], [Counted("b", log)(y), x])
    outer = lm.ifelse(c, inner, [Counted("c", log)(x), Counted("d", log)(y)])
    f = lm.function([c, x, y], outer, mode=mode)
    for condition, first, ran in ((1, 2.0, ["a"]), (1, -2.0, ["b"]), (0, 2.0, ["c", "d"])):
        log.clear()
        results = f(condition, [first], [7.0])
        expected = ([first], [7.0]) if not condition or first > 0 else ([7.0], [first])
        np.testing.assert_array_equal(results, expected)
        assert sorted(log) == ran


@in_each_mode
def test_what_is_overwritten_stays_right(mode: Any) -> None:
    """Both branches write over what the other one reads, and so does what comes after."""
    t = lt.exp(x)
    then = lt.set_subtensor(t[0], 5.0) + t
    other = lt.inc_subtensor(t[1:], 1.0)
    chosen = lm.ifelse(c, then, other)
    f = lm.function([c, x], [lt.set_subtensor(chosen[-1], 0.0), chosen * 2], mode=mode)
    e = np.exp([1.0, 2.0, 3.0])
    for condition in (0, 1):
        taken = np.array([5.0, *e[1:]]) + e if condition else e + np.array([0.0, 1.0, 1.0])
        first, second = f(condition, [1.0, 2.0, 3.0])
        np.testing.assert_allclose(first, [*taken[:-1], 0.0])
        np.testing.assert_allclose(second, taken * 2)


def test_the_result_is_the_callers_own() -> None:
    f = lm.function([c, x, y], lm.ifelse(c, x, y))
    given = np.ones(2)
    f(1, given, given)[0] = 9.0
    assert given[0] == 1.0


def test_updates_choose() -> None:
    state = lm.shared(np.zeros(2), "state")
    f = lm.function([c], state, updates={state: lm.ifelse(c, state + 1, state)})
    assert [f(condition)[0] for condition in (1, 0, 1, 0)] == [0.0, 1.0, 1.0, 2.0]


def test_types_are_the_narrowest_that_include_both() -> None:
    a = lt.tensor("a", dtype="float32", shape=(2, 3, 1))
    b = lt.tensor("b", dtype="float64", shape=(4, 3, None))
    chosen = lm.ifelse(c, a, b)
    assert (chosen.dtype, chosen.type.shape) == ("float64", (None, 3, None))
    assert lm.ifelse(c, a, a).type == a.type


@pytest.mark.parametrize(("literal", "dtype"), [(2, "float32"), (2.5, "float32"), (1j, "complex64"), (True, "float32")])
def test_literals_are_weak(literal: complex, dtype: str) -> None:
    number = lt.fscalar("number")
    chosen = lm.ifelse(c, number, literal)
    assert chosen.dtype == dtype
    assert chosen.eval({c: 0, number: 1.0}) == literal


@pytest.mark.parametrize("condition", [np.array(2.5), np.array(np.nan), np.array(-1, "int8"), np.array(1j)])
def test_a_condition_is_true_where_it_is_not_zero(condition: Any) -> None:
    variable = lt.as_tensor_variable(condition).type("condition")
    chosen = lm.ifelse(variable, x, y)
    assert chosen.eval({variable: condition, x: [1.0], y: [2.0]}) == [1.0]
    assert chosen.eval({variable: condition * 0 if condition == condition else 0.0, x: [1.0], y: [2.0]}) == [2.0]


def test_values_that_are_no_tensors() -> None:
    a, b = generic("a"), generic("b")
    chosen = lm.ifelse(c, a, b)
    f = lm.function([c, a, b], chosen)
    assert f(1, "x", {"y": 1}) == "x"
    assert f(0, "x", {"y": 1}) == {"y": 1}


def test_shapes_are_found_without_computing() -> None:
    log: list[str] = []
    chosen = lm.ifelse(c, Counted("then", log)(x)[1:], y)
    (length,) = symbolic_shape(chosen)
    f = lm.function([c, x, y], length)
    assert [f(condition, [1.0, 2.0, 3.0], [1.0]) for condition in (1, 0)] == [2, 1]
    assert log == []


def slope(z: TensorVariable, condition: int, at: float) -> Any:
    (g,) = lm.function([c, x], [lm.grad(lt.sum(z), x)])(condition, [at])
    return g[0]


def test_the_gradient_is_that_of_the_branch_that_is_taken() -> None:
    z = lm.ifelse(c, lt.sqr(x), lt.exp(x))
    assert slope(z, 1, 3.0) == 6.0
    assert slope(z, 0, 0.0) == 1.0


def test_the_other_branch_contributes_exactly_zero() -> None:
    z = lm.ifelse(c, x, lt.log(x) + lt.sqrt(x))
    assert slope(z, 1, 0.0) == 1.0
    assert slope(z, 1, -1.0) == 1.0


@in_each_mode
def test_a_gradient_computes_nothing_of_the_other_branch(mode: Any) -> None:
    log: list[str] = []
    then = lt.exp(Counted("then", log)(lt.sin(x)) ** 2)
    other = Counted("else", log)(lt.cos(y * 3) * x) ** 3
    cost = lt.sum(lm.ifelse(c, then * y, other)) + lt.sum(x)
    f = lm.function([c, x, y], lm.grad(cost, [x, y]), mode=mode)
    given_x, given_y = np.array([0.3]), np.array([0.2])
    e = np.exp(np.sin(given_x) ** 2)
    np.testing.assert_allclose(f(1, given_x, given_y)[0], 2 * np.sin(given_x) * np.cos(given_x) * e * given_y + 1)
    assert set(log) == {"then"}
    log.clear()
    k = np.cos(given_y * 3)
    np.testing.assert_allclose(f(0, given_x, given_y)[0], 3 * k**3 * given_x**2 + 1)
    assert set(log) == {"else"}


@in_each_mode
def test_the_gradient_of_a_branch_that_would_raise(mode: Any) -> None:
    f = lm.function([c, x], lm.grad(lm.ifelse(c, x[0], x[5]) ** 2, x), mode=mode)
    np.testing.assert_array_equal(f(1, [3.0, 4.0]), [6.0, 0.0])
    with pytest.raises(IndexError):
        f(0, [3.0, 4.0])


def test_a_deep_nest_of_choices_has_a_gradient() -> None:
    z = x
    for _ in range(300):
        z = lm.ifelse(c, z * 1.01, lt.sin(z))
    slope = lm.grad(lt.sum(z), x)
    np.testing.assert_allclose(slope.eval({c: 1, x: [1.0]}), [1.01**300])


def test_gradients_of_integers_and_second_derivatives() -> None:
    n = lt.lvector("n")
    chosen = lt.sum(lm.ifelse(c, n, n + 1))
    np.testing.assert_array_equal(lm.grad(chosen, n).eval({c: 1, n: [1, 2]}), [0.0, 0.0])
    z = lt.sum(lm.ifelse(c, x**3, lt.sin(x)))
    second = lm.grad(lt.sum(lm.grad(z, x)), x)
    np.testing.assert_allclose(second.eval({c: 1, x: [2.0]}), [12.0])
    np.testing.assert_allclose(second.eval({c: 0, x: [2.0]}), [-np.sin(2.0)])


def test_a_value_that_is_not_used_is_disconnected() -> None:
    first, _ = lm.ifelse(c, [x * 2, y], [x * 3, y * y])
    with pytest.raises(DisconnectedInputError):
        lm.grad(lt.sum(first), y)
    np.testing.assert_array_equal(lm.grad(lt.sum(first), x).eval({c: 0, x: [1.0]}), [3.0])


def test_the_condition_has_no_gradient() -> None:
    s = lt.dscalar("s")
    with pytest.raises(DisconnectedInputError):
        lm.grad(lt.sum(lm.ifelse(s, x, 2 * x)), s)


def test_the_tangent_is_that_of_the_branch_that_is_taken() -> None:
    z = lm.ifelse(c, lt.sqr(x), lt.zeros_like(x) + 4)
    pushed = lm.Rop(z, x, lt.ones_like(x))
    np.testing.assert_array_equal(pushed.eval({c: 1, x: [3.0]}), [6.0])
    np.testing.assert_array_equal(pushed.eval({c: 0, x: [3.0]}), [0.0])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((lt.dvector("v"), x, y), TypeError, "the condition of ifelse is a scalar"),
        ((c, [x], y), TypeError, "both branches of ifelse are single values"),
        ((c, [x, y], [y]), ValueError, "have 2 and 1"),
        ((c, [], []), ValueError, "have 0 and 0"),
        ((c, x, lt.dmatrix("m")), TypeError, "has 1 dimensions in one and 2 in the other"),
        ((c, x, generic("g")), TypeError, "which do not fit"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        lm.ifelse(*arguments)


def test_the_op_wants_all_values() -> None:
    with pytest.raises(TypeError, match="takes a condition and 2 values for each branch, not 3 inputs"):
        IfElse(2)(c, x, y)
    with pytest.raises(ValueError, match="n_outs"):
        IfElse(0)


@settings(max_examples=12)
@given(st.data())
def test_random_graphs_mean_the_same_in_every_mode(data: st.DataObject) -> None:
    conditions = [lt.scalar(f"c{i}", dtype="bool") for i in range(3)]
    vectors = [lt.dvector("v0"), lt.dvector("v1")]
    made = [*vectors]
    for _ in range(data.draw(st.integers(3, 14))):
        a, b = [data.draw(st.sampled_from(made)) for _ in range(2)]
        kind = data.draw(st.sampled_from(["choice", "choice", "sum", "set", "negative"]))
        if kind == "choice":
            made.append(lm.ifelse(data.draw(st.sampled_from(conditions)), a, b))
        elif kind == "set":
            made.append(lt.set_subtensor(a[0], b[-1]))
        else:
            made.append(a + b if kind == "sum" else -a)
    outputs = [made[-1], data.draw(st.sampled_from(made))]
    values = [data.draw(st.booleans()) for _ in conditions]
    given_values = dict(zip([*conditions, *vectors], [*values, [1.0, 2.0], [-3.0, 0.5]], strict=True))
    expected = lm.evaluate(outputs, given_values)
    for mode in MODES:
        f = lm.function([*conditions, *vectors], outputs, mode=mode, on_unused_input="ignore")
        for result, wanted in zip(f(*values, [1.0, 2.0], [-3.0, 0.5]), expected, strict=True):
            np.testing.assert_array_equal(result, wanted)


def taken(made: list[TensorVariable], known: dict[Any, bool]) -> list[TensorVariable]:
    """The same without choices: the branches that are taken."""
    new: dict[Any, Any] = {}
    for node in lm.toposort(made):
        inputs = [new.get(v, v) for v in node.inputs]
        if isinstance(node.op, IfElse):
            new[node.outputs[0]] = inputs[1 if known[node.inputs[0]] else 2]
        else:
            new.update(zip(node.outputs, node.clone_with_new_inputs(inputs).outputs, strict=True))
    return [new.get(v, v) for v in made]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_gradients_of_random_graphs_are_those_of_what_is_taken(data: st.DataObject) -> None:
    conditions = [lt.scalar(f"c{i}", dtype="bool") for i in range(3)]
    vectors = [lt.dvector("v0"), lt.dvector("v1")]
    made = [*vectors]
    for _ in range(data.draw(st.integers(3, 14))):
        a, b = [data.draw(st.sampled_from(made)) for _ in range(2)]
        kind = data.draw(st.sampled_from(["choice", "choice", "product", "set", "sine"]))
        if kind == "choice":
            made.append(lm.ifelse(data.draw(st.sampled_from(conditions)), a, b))
        elif kind == "set":
            made.append(lt.set_subtensor(a[0], b[-1]))
        else:
            made.append(a * b if kind == "product" else lt.sin(a))
    values = {v: data.draw(st.booleans()) for v in conditions}
    given_values: dict[Any, Any] = {**values, vectors[0]: [0.5, -0.3], vectors[1]: [1.5, 0.2]}
    outputs = [made[-1], data.draw(st.sampled_from(made))]
    found = lm.grad(lt.sum(outputs[0] * outputs[1]), vectors, disconnected_inputs="ignore")
    chosen = taken(outputs, values)
    expected = lm.grad(lt.sum(chosen[0] * chosen[1]), vectors, disconnected_inputs="ignore")
    for result, wanted in zip(lm.evaluate(found, given_values), lm.evaluate(expected, given_values), strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-12, atol=1e-12)
