"""The analysis on tensors: in-place elementwise Ops and updates of parts, run by the interpreter in the order found."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from lamella.errors import InconsistencyError
from lamella.ir import Apply, Elemwise, FunctionGraph, IncSubtensor, TensorType, TensorVariable, Variable, interpret, lt
from lamella.typing_layer import (
    DestroyHandler,
    InplaceProposal,
    Supervisor,
    accept_inplace,
    apply_inplace,
    problems,
    schedule,
)

Array = npt.NDArray[Any]


def vector(name: str) -> TensorVariable:
    return TensorType("float64", (None,))(name)


def run(fgraph: FunctionGraph, *values: Array) -> list[Array]:
    """Run as a linker would: views are views, and what is overwritten is overwritten."""
    scheduled = schedule(fgraph)
    results = interpret(fgraph.inputs, fgraph.outputs, values, scheduled.order)
    return [
        value.copy() if copied else value for value, copied in zip(results, scheduled.storage.must_copy, strict=True)
    ]


def elementwise_proposals(fgraph: FunctionGraph) -> list[InplaceProposal]:
    """Every way for an elementwise node to write its result over one input."""
    found: list[InplaceProposal] = []
    for node in fgraph.order:
        if isinstance(node.op, Elemwise):
            found += [
                InplaceProposal(node, Elemwise[Any](node.op.scalar_op, ((0, place),)))
                for place, variable in enumerate(node.inputs)
                if variable.type == node.outputs[0].type
            ]
    return found


def inplace(node: Apply[Any]) -> bool:
    return bool(node.op.destroy_map)


x, y = vector("x"), vector("y")


def test_a_chain_of_elementwise_ops_works_in_one_buffer() -> None:
    v = lt.tanh(lt.exp(lt.sin(x)) + y)
    fgraph = FunctionGraph([x, y], [v], [DestroyHandler(), Supervisor([x, y])])
    new, _ = apply_inplace(fgraph, accept_inplace(fgraph, elementwise_proposals(fgraph)).accepted)
    assert [inplace(node) for node in new.order] == [False, True, True, True]
    assert problems(new) == ()
    given = np.array([0.5, 1.0]), np.array([2.0, -1.0])
    np.testing.assert_array_equal(run(new, *given)[0], np.tanh(np.exp(np.sin(given[0])) + given[1]))
    np.testing.assert_array_equal(given, [[0.5, 1.0], [2.0, -1.0]])


def test_a_view_that_is_read_later_keeps_its_memory() -> None:
    e = lt.exp(x)
    fgraph = FunctionGraph([x], [lt.sum(lt.sqr(e)), lt.sum(e[::-1] * e)], [DestroyHandler(), Supervisor([x])])
    proposals = elementwise_proposals(fgraph)
    new, _ = apply_inplace(fgraph, accept_inplace(fgraph, proposals).accepted)
    found = run(new, np.array([0.0, 1.0, 2.0]))
    expected = np.exp([0.0, 1.0, 2.0])
    np.testing.assert_allclose(found, [np.sum(expected**2), np.sum(expected[::-1] * expected)])
    assert sum(map(inplace, new.order)) == 1


def test_softmax_regression_by_hand_keeps_its_values() -> None:
    w, data = TensorType("float64", (3, 4))("w"), TensorType("float64", (None, 3))("data")
    scores = lt.dot(data, w)
    shifted = scores - lt.max(scores, axis=1, keepdims=True)
    weights = lt.exp(shifted)
    outputs = [weights / lt.sum(weights, axis=1, keepdims=True), lt.sum(lt.log(lt.sum(weights, axis=1)))]
    fgraph = FunctionGraph([w, data], outputs, [DestroyHandler(), Supervisor([w, data])])
    new, _ = apply_inplace(fgraph, accept_inplace(fgraph, elementwise_proposals(fgraph)).accepted)
    assert sum(map(inplace, new.order)) >= 4
    rng = np.random.default_rng(3)
    given = rng.normal(size=(3, 4)), rng.normal(size=(5, 3))
    for found, expected in zip(run(new, *given), run(fgraph, *given), strict=True):
        np.testing.assert_array_equal(found, expected)


# `y = x[1:].inc(x[:-1]); z = x[:-1].inc(x[1:])`: each reads what the other overwrites.
def overlapping() -> tuple[TensorVariable, TensorVariable]:
    return x[1:].inc(x[:-1]), x[:-1].inc(x[1:])


def test_overlapping_updates_of_one_input_are_right() -> None:
    fgraph = FunctionGraph([x], overlapping())
    first, second = run(fgraph, np.array([1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_array_equal(first, [1.0, 3.0, 5.0, 7.0])
    np.testing.assert_array_equal(second, [3.0, 5.0, 7.0, 4.0])


def test_overlapping_updates_in_place_are_refused() -> None:
    fgraph = FunctionGraph([x], overlapping())
    proposals = [
        InplaceProposal(node, IncSubtensor(node.op.idx_list, True, node.op.set_instead_of_inc))
        for node in fgraph.order
        if isinstance(node.op, IncSubtensor)
    ]
    assert len(proposals) == 2
    decision = accept_inplace(fgraph, proposals)
    assert decision.accepted == ()
    with pytest.raises(InconsistencyError, match="may share its memory"):
        schedule(apply_inplace(fgraph, proposals[:1])[0])


def test_an_update_of_a_part_works_in_place_where_nobody_reads_the_old_value() -> None:
    z = lt.exp(x)[1:].set(0.0)
    fgraph = FunctionGraph([x], [z], [DestroyHandler(), Supervisor([x])])
    node = z.owner
    assert node is not None
    assert isinstance(node.op, IncSubtensor)
    proposal = InplaceProposal(node, IncSubtensor(node.op.idx_list, True, node.op.set_instead_of_inc))
    new, _ = apply_inplace(fgraph, accept_inplace(fgraph, [proposal]).accepted)
    assert [inplace(node) for node in new.order] == [False, True]
    np.testing.assert_array_equal(run(new, np.array([0.0, 1.0]))[0], [1.0, 0.0])


def test_views_that_are_returned_are_copies() -> None:
    m = TensorType("float64", (2, 2))("m")
    outputs: list[Variable[Any]] = [m.T, m[0], m.T, lt.exp(m), lt.exp(m)[0]]
    given = np.zeros((2, 2))
    results = run(FunctionGraph([m], outputs), given)
    for i, result in enumerate(results):
        for other in (given, *results[:i]):
            assert not np.shares_memory(result, other)
