"""`verify_rewrite` finds what a rewrite changes: each kind of fault, planted; and says nothing of right ones."""

from collections.abc import Callable
from typing import Any

import pytest

from lamella.ir import (
    Apply,
    Dot,
    Elemwise,
    FunctionGraph,
    Neg,
    TensorType,
    TensorVariable,
    as_tensor_variable,
    lt,
    zero_grad,
)
from lamella.rewriting import (
    FromFunctionNodeRewriter,
    OpPattern,
    PatternNodeRewriter,
    Rewriter,
    graph_rewriter,
    node_rewriter,
)
from lamella.testing import Draw, RewriteContractError, register_graphs, registered_rewrites, verify_rewrite
from lamella.testing.rewrite_graphs import graphs_for

Law = Callable[[TensorVariable], TensorVariable]


def replacing(of: Elemwise[Any], law: Law) -> FromFunctionNodeRewriter:
    """A rewriter of f(x), for x that nothing computes."""

    def rewrite(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
        (x,) = node.inputs
        return None if x.owner is not None else [law(as_tensor_variable(x))]

    return FromFunctionNodeRewriter(rewrite, [of])


def fault(
    rewriter: Rewriter,
    *makers: Callable[[Draw], TensorVariable],
    tags: tuple[str, ...] = (),
) -> str:
    """Return what is said of a wrong rewriter."""
    with pytest.raises(RewriteContractError) as caught:
        verify_rewrite(rewriter, *makers, tags=tags)
    return str(caught.value)


def square(draw: Draw) -> TensorVariable:
    return lt.square(draw.floats())


def negative(draw: Draw) -> TensorVariable:
    return lt.neg(draw.floats())


def test_a_right_one_is_reported() -> None:
    report = verify_rewrite(replacing(lt.square, lambda x: x * x), square)
    assert report.graphs == report.fired == 20
    assert report.fires == 20
    assert report.runs >= 60
    assert report.gradients >= 5
    assert str(report) == (
        f"rewrite: fired 20 times, on 20 of 20 graphs; {report.runs} results and {report.gradients} gradients are the same"
    )


def test_another_value() -> None:
    text = fault(replacing(lt.square, lambda x: x * 2), square)
    assert "rewrite: it changes a result: output 0: element [" in text
    assert "before:\ngraph(%x0: float64[?]) {\n  %0: float64[?] = Square(%x0)\n  return %0\n}" in text
    assert "after:\ngraph(%x0: float64[?]) {" in text
    assert "\nx0 = [" in text


def test_the_graph_shown_is_small() -> None:
    text = fault(
        replacing(lt.square, lambda x: lt.switch(x > 1e300, 0.0, x * x)),
        lambda draw: lt.exp(square(draw)) + square(draw),
    )
    assert text.count("Square") == 2  # of what could have been drawn, nothing is there that is not needed
    assert text.count("x1") >= 2


def test_the_sign_of_zero() -> None:
    assert "is np.float64(0.0), np.float64(-0.0) is expected" in fault(replacing(lt.neg, lambda x: 0.0 - x), negative)


def test_nan_and_infinities() -> None:
    assert "np.float64(nan)" in fault(replacing(lt.square, lambda x: lt.switch(lt.isnan(x), 0.0, x * x)), square)
    text = fault(
        replacing(lt.square, lambda x: lt.minimum(x * x, 1e300)), lambda draw: lt.square(draw.tensor("float64"))
    )
    assert "np.float64(inf) is expected" in text


def test_another_dtype() -> None:
    text = fault(replacing(lt.square, lambda x: lt.cast(x * x, "float64")), square)
    assert "by Cast{float64}.0 of type float64" in text
    assert "which that type does not include" in text


def test_a_static_shape_that_is_not_true() -> None:
    def claiming(x: TensorVariable) -> TensorVariable:
        return as_tensor_variable(Apply(lt.neg, [x], [TensorType(x.dtype, (2,) * x.ndim)]).outputs[0])

    assert "OutputTypeError" in fault(
        replacing(lt.neg, claiming), lambda draw: -draw.tensor("float64", (3, 2), static=(None, None))
    )


def test_a_static_shape_that_is_forgotten() -> None:
    def forgetting(x: TensorVariable) -> TensorVariable:
        return as_tensor_variable(Apply(lt.neg, [x], [TensorType(x.dtype, (None,) * x.ndim)]).outputs[0])

    text = fault(
        replacing(lt.tensor_copy, forgetting), lambda draw: lt.tensor_copy(draw.tensor("float64", (2,), static=(2,)))
    )
    assert "which that type does not include" in text


def test_integers_that_wrap() -> None:
    text = fault(
        PatternNodeRewriter((lt.floor_divide, (lt.mul, "x", "y"), "y"), "x", name="mul_then_divide"),
        lambda draw: (x := draw.integers()) * (y := draw.like(x)) // y,
    )
    assert text.startswith("mul_then_divide: it changes a result")


def test_an_error_that_is_dropped_is_allowed_by_a_tag_only() -> None:
    def of_equal_shapes(draw: Draw) -> TensorVariable:
        return lt.second(draw.tensor("float64", (2,), static=(None,)), draw.tensor("float64", (2,), static=(None,)))

    rule = PatternNodeRewriter((lt.second, "x", "y"), "y", name="second_operand")
    with pytest.raises(RewriteContractError, match="it raises no BroadcastError"):
        verify_rewrite(rule, of_equal_shapes)
    assert verify_rewrite(rule, of_equal_shapes, tags=["shape_unsafe"]).fired == 20


def test_an_error_of_another_class() -> None:
    def of_equal_shapes(draw: Draw) -> TensorVariable:
        return lt.second(draw.tensor("float64", (2,), static=(None,)), draw.tensor("float64", (2,), static=(None,)))

    @node_rewriter([lt.second])
    def second_asserted(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable]:
        x, y = [as_tensor_variable(v) for v in node.inputs]
        return [lt.specify_shape(y, lt.shape_tuple(x))]

    assert "it raises ShapeMismatchError" in fault(second_asserted, of_equal_shapes)


def test_rounding_is_allowed_by_a_tag_only() -> None:
    rule = PatternNodeRewriter(
        (lt.add, (lt.add, "x", "y"), "z"), (lt.add, "x", (lt.add, "y", "z")), name="to_the_right"
    )

    def sums(draw: Draw) -> TensorVariable:
        x = draw.floats()
        return (x + draw.like(x)) + draw.like(x)

    with pytest.raises(RewriteContractError):
        verify_rewrite(rule, sums)
    assert verify_rewrite(rule, sums, tags=["reassociates"]).fired == 20
    wrong = PatternNodeRewriter((lt.add, (lt.add, "x", "y"), "z"), (lt.add, "x", (lt.mul, "y", "z")), name="wrong")
    with pytest.raises(RewriteContractError):
        verify_rewrite(wrong, sums, tags=["reassociates"])


def test_what_assumes_no_nan_is_given_none() -> None:
    rule = PatternNodeRewriter(
        (lt.true_divide, "x", "x"), lambda fgraph, node, names: lt.ones_like(as_tensor_variable(names["x"])), name="one"
    )

    def quotient(draw: Draw) -> TensorVariable:
        x = draw.floats()
        return x / x

    with pytest.raises(RewriteContractError):
        verify_rewrite(rule, quotient)
    assert verify_rewrite(rule, quotient, tags=["nan_unsafe"]).fired == 20


STABLE_AND_WRONG: list[tuple[Any, Any]] = [
    (lambda x: lt.log(1 + x), lambda x: lt.log1p(x) * 1.0001),
    (lambda x: lt.log(1 + x), lambda x: lt.switch(lt.abs(x) < 1e-4, 0.0, lt.log1p(x))),
    (lambda x: lt.log(1 + x), lambda x: lt.switch(x > 90, lt.log(x) + 1, lt.log1p(x))),
    (lambda x: lt.log(1 + x), lambda x: lt.log1p(lt.abs(x))),
]


@pytest.mark.parametrize(("before", "after"), STABLE_AND_WRONG)
def test_stable_forms_may_not_be_further_from_the_truth(before: Law, after: Law) -> None:
    @node_rewriter([lt.log])
    def stable(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
        inner = node.inputs[0].owner
        if inner is None or inner.op != lt.add:
            return None
        return [after(as_tensor_variable(inner.inputs[1]))]

    text = fault(stable, lambda draw: before(draw.tensor("float32")), tags=("stabilize",))
    assert "further from" in text or "gradient" in text


def test_a_gradient_that_is_lost() -> None:
    text = fault(replacing(lt.tensor_copy, zero_grad), lambda draw: lt.tensor_copy(draw.floats()))
    assert "it changes a result: the gradient with respect to x0: element [0] is" in text


def test_a_rewriter_that_fails() -> None:
    def failing(x: TensorVariable) -> TensorVariable:
        raise KeyError("planted")

    assert "it fails by KeyError: 'planted'" in fault(replacing(lt.neg, failing), negative)


def test_two_that_undo_one_another() -> None:
    @node_rewriter([lt.add])
    def exchanged(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable]:
        x, y = [as_tensor_variable(v) for v in node.inputs]
        return [lt.add(y, x)]

    text = fault(exchanged, lambda draw: (x := draw.floats()) + draw.like(x))
    assert text.startswith("exchanged: it fails by RewriteLoopError")


def test_one_that_never_fires() -> None:
    text = fault(replacing(lt.neg, lambda x: x), square)
    assert text.startswith("rewrite: it did not fire on any graph; one was\nbefore:\ngraph(%x0")


def test_each_generator_has_to_have_it_fire() -> None:
    text = fault(replacing(lt.neg, lambda x: lt.neg(x)), negative, square)
    assert "RewriteLoopError" in text or "did not fire" in text
    rule = replacing(lt.square, lambda x: x * x)
    assert "did not fire on any graph of generator 2 of 2" in fault(rule, square, negative)


def test_graph_rewriters_are_tried_too() -> None:
    @graph_rewriter
    def negated(fgraph: FunctionGraph) -> FunctionGraph:
        return fgraph.with_outputs([lt.neg(lt.neg(as_tensor_variable(out))) for out in fgraph.outputs])

    assert verify_rewrite(negated, square).fired == 20

    @graph_rewriter
    def swapped(fgraph: FunctionGraph) -> FunctionGraph:
        return fgraph.with_outputs(fgraph.outputs[::-1])

    with pytest.raises(RewriteContractError):
        verify_rewrite(swapped, lambda draw: [x := draw.tensor("float64", (2,), static=(2,)), lt.square(x)])


def test_unknown_names_are_refused() -> None:
    with pytest.raises(
        LookupError, match=r"no rewrite named 'no_such_rewrite' is registered in optdb; see optdb.describe"
    ):
        verify_rewrite("no_such_rewrite")
    with pytest.raises(ValueError, match="no generator of graphs is given for 'x'"):
        register_graphs("x")
    assert graphs_for("no_such_rewrite") is None


def test_a_rewrite_in_several_groups_is_one() -> None:
    (found,) = registered_rewrites(name="mul_by_one")
    assert {"canonicalize", "stabilize", "specialize"} <= found.groups
    assert "fast_run" in found.tags
    assert registered_rewrites(name="no_such_rewrite") == ()


def test_a_pattern_says_itself_what_it_looks_for() -> None:
    assert verify_rewrite(PatternNodeRewriter((lt.neg, (lt.neg, "x")), "x", name="twice")).fired == 20
    ordered = PatternNodeRewriter((Dot(), (lt.neg, "x"), (lt.neg, "y")), (lt.dot, "x", "y"), name="signs_of_matrices")
    assert verify_rewrite(ordered, tags=["reassociates"]).fired == 20
    with_number = PatternNodeRewriter((lt.mul, "x", 2.0), (lt.add, "x", "x"), name="doubled")
    assert verify_rewrite(with_number).fired == 20
    with pytest.raises(RewriteContractError, match="doubled_wrongly: it changes a result"):
        verify_rewrite(PatternNodeRewriter((lt.mul, "x", 2.0), (lt.square, "x"), name="doubled_wrongly"))
    by_class = PatternNodeRewriter((OpPattern(Elemwise, scalar_op=Neg), "x"), "x", name="by_class")
    with pytest.raises(LookupError, match="no generator of graphs on which 'by_class' fires"):
        verify_rewrite(by_class)
