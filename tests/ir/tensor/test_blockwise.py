"""`Blockwise`: an Op applied to each element of a batch; shapes, broadcasting, errors, gradients."""

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.errors import BroadcastError, ShapeMismatchError, ShapeNotInferred, StaticShapeError
from lamella.ir import (
    Apply,
    ARange,
    Argmax,
    CumOp,
    Dot,
    Elemwise,
    Op,
    OutputStorage,
    SortOp,
    TensorType,
    TensorVariable,
    ls,
    parse_signature,
)
from lamella.testing import verify_grad, verify_op
from lamella.typing_layer import symbolic_shape

MATVEC = lm.Blockwise(Dot(), "(m,n),(n)->(m)")


class Normalized(Op[[TensorVariable], TensorVariable]):
    """A vector divided by its length; it says which axes it works on."""

    __props__ = ()
    gufunc_signature = "(n)->(n)"

    def make_node(self, x: TensorVariable) -> Apply[TensorVariable]:
        return Apply(self, [x], [x.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        (x,) = inputs
        assert x.ndim == 1
        output_storage[0][0] = x / np.sqrt(np.sum(x * x))

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]) -> list[TensorVariable]:
        (x,), (z,), (g,) = inputs, outputs, output_grads
        return [(g - z * lt.sum(g * z)) / lt.sqrt(lt.sum(x * x))]


def test_an_op_says_its_signature() -> None:
    op = lm.Blockwise(Normalized())
    assert op == lm.Blockwise(Normalized(), "( n )->(n)")
    assert str(op) == "Blockwise{Normalized, (n)->(n)}"
    m = lt.dmatrix("m")
    np.testing.assert_allclose(op(m).eval({m: [[3.0, 4.0], [0.0, 2.0]]}), [[0.6, 0.8], [0.0, 1.0]])
    with pytest.raises(TypeError, match="give its signature"):
        lm.Blockwise(Dot())


def test_its_gradient_is_that_of_the_op_applied_to_the_batch() -> None:
    point = np.array([[0.3, 0.4, -1.0], [1.0, 2.0, 0.5]])
    verify_grad(lambda m: lm.Blockwise(Normalized())(m), [point], mode="FAST_COMPILE")
    cube = np.stack([point, point + 1, point - 2])
    verify_grad(lambda a, b: MATVEC(a, b), [cube, cube[:, 0, :]], mode="FAST_COMPILE")
    verify_grad(lambda a, b: MATVEC(a, b), [cube, cube[:1, 0, :]], mode="FAST_COMPILE")
    verify_grad(lambda a, b: MATVEC(a, b), [cube, cube[0, 0, :]], mode="FAST_COMPILE")
    verify_grad(lambda m: lm.Blockwise(SortOp(0), "(n)->(n)")(m), [point], mode="FAST_COMPILE")


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_it_runs_in_every_mode(mode: str) -> None:
    a, b = lt.dtensor4("a"), lt.tensor("b", dtype="float64", shape=(1, None))
    f = lm.function([a, b], MATVEC(a, b) + 1, mode=mode)
    first, second = np.arange(2.0 * 3 * 2 * 4).reshape(2, 3, 2, 4), np.arange(4.0)[None]
    np.testing.assert_allclose(f(first, second), first @ second[0] + 1)


def test_the_whole_contract_of_an_op() -> None:
    verify_op(lm.Blockwise(CumOp(0), "(n)->(n)"), np.arange(6.0).reshape(2, 3))


def test_static_and_inferred_shapes() -> None:
    a, b = lt.tensor("a", dtype="float64", shape=(None, 5, 2, None)), lt.tensor("b", dtype="float64", shape=(1, 3))
    out = MATVEC(a, b)
    assert out.type.shape == (None, 5, 2)
    lengths = symbolic_shape(out)
    assert lengths[0].eval({a: np.zeros((7, 5, 2, 3))}) == 7
    ranges = lm.Blockwise(ARange("int64"), "(),(),()->(n)")
    node = ranges.make_node(lt.lvector("n"), 0, 1)
    with pytest.raises(ShapeNotInferred, match="depends on the values of each element"):
        ranges.infer_shape(None, node, [(lt.constant(2),), (lt.constant(1),), (lt.constant(1),)])


def test_unknown_lengths_never_broadcast() -> None:
    a, b = lt.dtensor3("a"), lt.dmatrix("b")
    out = MATVEC(a, b)
    with pytest.raises(BroadcastError, match="input 0 has length 4 along batch axis 0, input 1 has length 1"):
        out.eval({a: np.zeros((4, 2, 3)), b: np.zeros((1, 3))})
    known = lt.tensor("known", dtype="float64", shape=(1, None))
    assert MATVEC(a, known).eval({a: np.zeros((4, 2, 3)), known: np.zeros((1, 3))}).shape == (4, 2)


def test_a_length_that_turns_out_to_be_one_does_not_begin_to_broadcast() -> None:
    a, b = lt.dtensor3("a"), lt.dmatrix("b")
    one = lt.tensor("one", dtype="float64", shape=(1, None))
    rebuilt = lm.clone_replace(MATVEC(a, b), {b: one})
    with pytest.raises(BroadcastError):
        rebuilt.eval({a: np.zeros((4, 2, 3)), one: np.zeros((1, 3))})


def test_an_empty_batch_has_the_right_shape() -> None:
    a, b = lt.dtensor3("a"), lt.dmatrix("b")
    assert MATVEC(a, b).eval({a: np.zeros((0, 2, 3)), b: np.zeros((0, 3))}).shape == (0, 2)


def test_results_of_several_shapes_are_refused() -> None:
    n = lt.lvector("n")
    ranges = lm.Blockwise(ARange("int64"), "(),(),()->(n)")(0, n, 1)
    np.testing.assert_array_equal(ranges.eval({n: [2, 2]}), [[0, 1], [0, 1]])
    with pytest.raises(ShapeMismatchError, match=r"the shape \(2,\) for one element of the batch and \(3,\)"):
        ranges.eval({n: [2, 3]})


def test_inputs_are_cast_once_for_all() -> None:
    a, b = lt.ftensor3("a"), lt.dmatrix("b")
    node = MATVEC.make_node(a, b)
    assert [v.type.dtype for v in node.inputs] == ["float64", "float64"]
    assert node.outputs[0].type.dtype == "float64"


def test_several_batch_axes_and_several_outputs() -> None:
    class BothEnds(Op[[TensorVariable], tuple[TensorVariable, TensorVariable]]):
        __props__ = ()

        def make_node(self, x: TensorVariable) -> Apply[tuple[TensorVariable, TensorVariable]]:
            return Apply(self, [x], [TensorType(x.dtype, ()), TensorType(x.dtype, ())])

        def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
            output_storage[0][0], output_storage[1][0] = inputs[0][0].copy(), inputs[0][-1].copy()

    x = lt.dtensor3("x")
    first, last = lm.Blockwise(BothEnds(), "(n)->(),()")(x)
    value = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(first.eval({x: value}), value[..., 0])
    np.testing.assert_array_equal(last.eval({x: value}), value[..., -1])


def test_equality_and_pickling() -> None:
    assert lm.Blockwise(Dot(), "(a,b), (b) -> (a)") != MATVEC
    assert pickle.loads(pickle.dumps(MATVEC)) == MATVEC


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("(m,n),(n)->(m)", ((("m", "n"), ("n",)), (("m",),))),
        (" ( ) , (k1, k2)->(),(3) ", (((), ("k1", "k2")), ((), ("3",)))),
        ("->()", ((), ((),))),
    ],
)
def test_signatures(text: str, parsed: Any) -> None:
    assert parse_signature(text) == parsed


@pytest.mark.parametrize("text", ["", "(m)", "(m->(n)", "(m),->(n)", "m->n", "(m)->"])
def test_what_is_no_signature(text: str) -> None:
    with pytest.raises(ValueError, match="is no signature"):
        parse_signature(text)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: MATVEC(lt.dmatrix()), TypeError, "takes 2 inputs, not 1"),
        (lambda: MATVEC(lt.dvector(), lt.dvector()), TypeError, "input 0 of .* has 2 axes at least"),
        (lambda: lm.Blockwise(Dot(), "(m,n),(n)->()")(lt.dmatrix(), lt.dvector()), TypeError, "does not fit"),
        (lambda: lm.Blockwise(Argmax(0), "(3)->()")(np.zeros((2, 4))), StaticShapeError, "has length 4, not 3"),
        (
            lambda: MATVEC(np.zeros((2, 3, 4)), np.zeros((5, 4))),
            StaticShapeError,
            r"lengths \[2, 5\] along axis 0",
        ),
        (
            lambda: lm.Blockwise(Elemwise(ls.add), "(n),()->(n)")(lt.dvector(), lt.dscalar()),
            TypeError,
            "into another form",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_lengths_of_one_name_are_equal() -> None:
    both = lm.Blockwise(Elemwise(ls.add), "(n),(n)->(n)")
    x, y = lt.dvector("x"), lt.dvector("y")
    with pytest.raises(ShapeMismatchError, match="the axis n of input 1 has length 1, not 2"):
        both(x, y).eval({x: [1.0, 2.0], y: [1.0]})
