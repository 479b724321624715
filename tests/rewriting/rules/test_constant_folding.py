"""Constant folding: values, types, what may not be folded, and how large a constant may become."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.errors import BroadcastError
from lamella.ir import Apply, FunctionGraph, Op, OutputStorage, TensorConstant, TensorVariable, interpret
from lamella.rewriting import rewrite_graph
from lamella.rewriting.rules.constant_folding import MOST_BYTES, constant_folding
from tests.rewriting.rules.before_and_after import after, applied


@attrs.frozen
class Ones(Op[[TensorVariable], TensorVariable]):
    """As many ones as the input says: its shape is not known beforehand."""

    def make_node(self, x: TensorVariable) -> Apply[TensorVariable]:
        return Apply(self, [x], [lt.vector().type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = np.ones(int(inputs[0]))


@attrs.frozen
class Refusing(Op[[TensorVariable], TensorVariable]):
    """Does not want to be folded."""

    calls: list[int] = attrs.field(factory=list, eq=False)

    def make_node(self, x: TensorVariable) -> Apply[TensorVariable]:
        return Apply(self, [x], [x.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        self.calls.append(1)
        output_storage[0][0] = inputs[0] + 1

    def do_constant_folding(self, fgraph: FunctionGraph, node: Apply[Any]) -> bool:
        return False


@attrs.frozen
class Raising(Op[[TensorVariable], TensorVariable]):
    """Raises what nobody expects."""

    def make_node(self, x: TensorVariable) -> Apply[TensorVariable]:
        return Apply(self, [x], [x.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        raise KeyError("as always")


def test_what_depends_on_constants_only_is_a_constant() -> None:
    x = lt.vector("x")
    number = lt.square(lt.constant(2.5, dtype="float32")) * 3
    assert after([x], x * number, [[1.0, np.nan]], constant_folding) == (
        "%c0: float32[1] = constant [18.75]\n%0: float64[?] = Mul(%x, %c0)\nreturn %0"
    )


def test_an_output_may_become_a_constant() -> None:
    (folded,) = rewrite_graph([lt.sum(lt.constant([1.0, 2.0]))])
    assert isinstance(folded, TensorConstant)
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        f = lm.function([], [lt.sum(lt.constant([1.0, 2.0])), lt.zeros((2, 0))], mode=mode)
        total, empty = f()
        assert total == 3.0
        assert empty.shape == (2, 0)
        total[...] = 0.0  # the caller's own
        assert f()[0] == 3.0


def test_all_outputs_are_folded() -> None:
    parts = lt.split(lt.constant([1.0, 2.0, 3.0]), [1, 2])
    text = after([], list(parts), [], constant_folding)
    assert text == "%c0: float64[1] = constant [1.0]\n%c1: float64[2] = constant [2.0, 3.0]\nreturn %c0, %c1"


def test_an_error_stays_in_the_graph() -> None:
    """It may be in a branch that is never taken."""
    new = applied(FunctionGraph([], [Ones()(lt.constant(-1)), Raising()(lt.constant(1.0))]), constant_folding)
    assert [str(node.op) for node in new.order] == ["Ones", "Raising"]
    with pytest.raises(KeyError, match="as always"):
        interpret([], new.outputs[1:], [])


def test_a_length_of_1_that_was_not_known_still_does_not_broadcast() -> None:
    x = lt.vector("x")
    one = lt.unbroadcast(lt.constant([2.0]), [0])
    text = after([x], lt.exp(one) + x, [[1.0]], constant_folding)
    assert "Add" in text
    old = FunctionGraph([x], [lt.exp(one) + x])
    for graph in (old, applied(old, constant_folding)):
        with pytest.raises(BroadcastError):
            interpret(graph.inputs, graph.outputs, [np.zeros(3)])


def test_an_op_may_refuse() -> None:
    op = Refusing()
    new = applied(FunctionGraph([], [op(lt.constant(1.0))]), constant_folding)
    assert len(new.order) == 1
    assert not op.calls


def test_in_place_nodes_are_not_folded() -> None:
    written = lt.set_subtensor(lt.constant([1.0, 2.0])[0], 5.0)
    node = written.owner
    assert node is not None
    op: Any = node.op
    inplace: Apply[Any] = Apply(attrs.evolve(op, inplace=True), node.inputs, [written.type])
    assert len(applied(FunctionGraph([], inplace.outputs), constant_folding).order) == 1


def test_memory_does_not_blow_up() -> None:
    """Neither where the size is known, nor where it is not; small results and results smaller than their inputs are folded."""
    n = lt.constant(10**6)
    large = [lt.arange(10**9), lt.eye(10**5), lt.zeros((10**6, 10**6)), Ones()(n)]
    new = applied(FunctionGraph([], large), constant_folding)
    assert [variable.is_constant for variable in new.outputs] == [False] * 4
    elements = MOST_BYTES // 8
    fits, beyond = lt.exp(lt.constant(np.zeros(elements))), lt.exp(lt.constant(np.zeros(elements + 1)))
    smaller = lt.sum(lt.constant(np.zeros((2, elements))), axis=0)
    new = applied(FunctionGraph([], [fits, beyond, smaller]), constant_folding)
    assert [variable.is_constant for variable in new.outputs] == [True, False, True]


def test_nonzero_of_a_constant_is_folded_though_its_length_is_not_known_beforehand() -> None:
    (found,) = lt.nonzero(lt.tensor_copy(lt.constant([True, False, True])))
    assert after([], found, [], constant_folding) == "%c0: int64[2] = constant [0, 2]\nreturn %c0"
