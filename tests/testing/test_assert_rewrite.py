"""`assert_rewrite` and `RewriteTester`: what becomes of a graph that a test writes down."""

from typing import Any

import numpy as np
import pytest

from lamella.ir import Apply, FunctionGraph, TensorVariable, as_tensor_variable, generic, lt
from lamella.rewriting import PatternNodeRewriter, node_rewriter
from lamella.testing import RewriteContractError, RewriteTester, assert_rewrite

x, y, v = lt.vector("x"), lt.vector("y"), lt.scalar("v")

HALVED = PatternNodeRewriter((lt.true_divide, (lt.mul, "x", 2.0), 2.0), "x", name="halved")
SQUARED = PatternNodeRewriter((lt.mul, "x", "x"), (lt.square, "x"), name="squared")


def fault(*args: Any, **options: Any) -> str:
    with pytest.raises(RewriteContractError) as caught:
        assert_rewrite(*args, **options)
    return str(caught.value)


def test_a_graph_becomes_another() -> None:
    new = assert_rewrite(lt.neg(lt.neg(x)) + y, x + y, fires="involution_of_itself")
    assert new.outputs == (x + y,)
    assert new.inputs == (x, y)


def test_several_outputs_and_graphs_with_their_inputs() -> None:
    assert_rewrite([x * 1.0, lt.neg(-y)], [x, y], fires=["mul_by_one", "involution_of_itself"])
    assert_rewrite(FunctionGraph([y, x], [x * 1.0]), FunctionGraph([y, x], [x]))


def test_it_need_not_be_said_what_becomes_of_it() -> None:
    assert assert_rewrite(x * 1.0).outputs == (x,)
    text = fault(lt.exp(x))
    assert text.startswith("assert_rewrite: nothing changed\nbefore:\ngraph(%x: float64[?]) {")


def test_groups_are_chosen_by_words() -> None:
    assert_rewrite(lt.log(1 + x), lt.log1p(x), include=["stabilize"], fires="log_of_one_plus")
    assert_rewrite(lt.log(1 + x), lt.log(1 + x), include=["stabilize"], exclude=["log_of_one_plus"])


def test_a_rewriter_of_ones_own_is_applied_alone() -> None:
    assert_rewrite((x * 1.0) * (x * 1.0), lt.square(x * 1.0), custom_rewrite=SQUARED)
    assert_rewrite((x * 1.0) * (x * 1.0), lt.square(x), custom_rewrite=SQUARED, include=["canonicalize"])
    assert_rewrite((x * 1.0) * (x * 1.0), x * x, custom_rewrite="mul_by_one")
    with pytest.raises(LookupError, match="no rewrite named 'no_such_rewrite'"):
        assert_rewrite(x * 1.0, custom_rewrite="no_such_rewrite")


def test_another_graph_than_expected_is_shown() -> None:
    text = fault(x * 1.0, lt.exp(x))
    assert text.startswith(
        "assert_rewrite: the graph did not become what is expected\nbefore:\ngraph(%x: float64[?]) {"
    )
    assert "after:\ngraph(%x: float64[?]) {\n  return %x\n}" in text
    assert "expected:\ngraph(%x: float64[?]) {\n  %0: float64[?] = Exp(%x)\n  return %0\n}" in text


def test_what_did_not_fire_is_named() -> None:
    text = fault(x * 1.0, x, fires=["mul_by_one", "add_of_zero"])
    assert text.startswith("assert_rewrite: add_of_zero did not fire; mul_by_one did")


def test_another_value_is_found() -> None:
    text = fault(x * 2.0 / 2.0, x, custom_rewrite=HALVED)
    assert text.startswith("halved: it changes a result: output 0: element [")
    assert "before:\ngraph(" in text
    assert "\nx = [" in text
    assert_rewrite(x * 2.0 / 2.0, x, custom_rewrite=HALVED, values=[[1.0, -3.0]])


def test_tags_say_what_may_change() -> None:
    divided = PatternNodeRewriter(
        (lt.sub, "x", "x"), lambda fgraph, node, names: lt.zeros_like(as_tensor_variable(names["x"])), name="zero"
    )
    assert "it changes a result" in fault(x - x, custom_rewrite=divided)
    assert_rewrite(x - x, lt.zeros_like(x), custom_rewrite=divided, tags=["nan_unsafe"])
    assert_rewrite(x - x, custom_rewrite="sub_from_itself")  # which has that tag itself


def test_a_dtype_is_kept() -> None:
    @node_rewriter([lt.exp])
    def wider(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable]:
        return [lt.cast(as_tensor_variable(node.inputs[0]), "float64")]

    with pytest.raises(TypeError, match="which that type does not include"):
        assert_rewrite(lt.exp(lt.fvector("f")), custom_rewrite=wider)


def test_values_have_to_fit() -> None:
    n = lt.lscalar("n")
    text = fault((x * 1.0)[n + 10])
    assert "cannot be run with random values; give some that fit, by values=[...]" in text
    assert_rewrite((x * 1.0)[n + 10], values=[np.arange(12.0), 1])
    with pytest.raises(ValueError, match="1 values are given, but the graph has 2 inputs"):
        assert_rewrite((x * 1.0)[n], values=[[1.0]])
    with pytest.raises(TypeError, match=r"the input g is of type .*; values of tensors only"):
        assert_rewrite(FunctionGraph([x, generic("g")], [x * 1.0]))


class TestWithAClass(RewriteTester):
    """As a project writes its tests."""

    include = ("stabilize",)
    graphs = {"exp_of_log": [lambda draw: lt.exp(lt.log(draw.floats()))], "mul_by_one": []}

    def test_logarithm(self) -> None:
        self.assert_graph(lt.log(1 + x), lt.log1p(x), fires="log_of_one_plus")
        self.assert_unchanged(lt.exp(x))

    def test_faults_are_found(self) -> None:
        with pytest.raises(RewriteContractError):
            self.assert_graph(lt.log(1 + x), lt.exp(x))
        with pytest.raises(RewriteContractError):
            self.assert_unchanged(lt.log(1 + x))
        with pytest.raises(RewriteContractError, match="did not fire"):
            self.verify("exp_of_log", lambda draw: lt.exp(draw.floats()))


class TestWithARewriterOfOnesOwn(RewriteTester):
    """A rewriter that is registered nowhere."""

    custom_rewrite = HALVED
    tags = ("nan_unsafe",)

    def test_it_is_applied(self) -> None:
        self.assert_graph(x * 2.0 / 2.0, x)
        assert self.verify(HALVED, lambda draw: draw.tensor("float64") * 2.0 / 2.0).fired == 20
