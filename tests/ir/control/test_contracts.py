"""The whole contract of each of these Ops."""

from typing import Any

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import Assert, CheckAndRaise, Checkpoint, IfElse, Op, OpFromGraph, Print, Recompute, TensorVariable
from lamella.testing import verify_op

MATRIX, OTHER = np.arange(6.0).reshape(2, 3) - 2.5, np.ones((4, 3))


def silent(op: Print, value: object) -> None:
    pass


def from_graph(inline: bool) -> OpFromGraph:
    a, b = lt.dmatrix(), lt.dmatrix()
    return OpFromGraph([a, b], [a * b, (a + b).T, a], inline=inline)


def checkpointed() -> Checkpoint:
    a: TensorVariable = lt.dmatrix()
    return Checkpoint([a], [lt.sin(a) * a])


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        (IfElse(1), (np.array(True), MATRIX, OTHER)),
        (IfElse(2), (np.array(False), MATRIX, OTHER, OTHER, MATRIX)),
        (Assert("no"), (MATRIX, np.array(True))),
        (CheckAndRaise(ValueError, "no"), (MATRIX, np.array(True), np.array(True))),
        (Print("x", global_fn=silent), (MATRIX,)),
        (from_graph(True), (MATRIX, MATRIX + 1)),
        (from_graph(False), (MATRIX, MATRIX + 1)),
        (checkpointed(), (MATRIX,)),
        (Recompute(1), (MATRIX, OTHER)),
    ],
    ids=lambda value: str(value) if isinstance(value, Op) else "",
)
def test_the_contract(op: Any, arguments: Any) -> None:
    # The lengths of a choice are choices themselves, of lengths.
    verify_op(op, *arguments, infers_shape=False if isinstance(op, IfElse) else None)
