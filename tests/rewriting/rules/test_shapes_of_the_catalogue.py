"""The shape of what any Op computes, found without computing it, in the graphs that are compiled by default."""

import pytest

import lamella as lm
from lamella.ir import FunctionGraph, lt
from tests.catalogue.batches import Application, applications
from tests.catalogue.catalogue import CATALOGUE
from tests.catalogue.entry import Entry

BY_VALUES = {
    "CheckMask": "a mask selects as many elements as it has true ones",
    "Nonzero": "there are as many positions as elements that are not 0",
    "MakeSlice": "the Op that is given the slice is a test's own, without `infer_shape`",
    "FromFunctionOp": "a Python function says nothing of its result",
    "IfElse": "the condition decides which of two lengths it is; neither branch is computed",
}
"""Ops that the shapes of their results need, and why."""


def _ops_needed(entry: Entry, application: Application) -> bool:
    shapes = [lt.shape(out) for out in application.outputs]
    rewritten = lm.FAST_RUN.rewrite(FunctionGraph(application.inputs, shapes))
    return any(entry.is_meant(node.op) for node in rewritten.order)


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_the_shape_is_found_without_the_op(entry: Entry) -> None:
    found = {tuple([v.type.shape for v in application.inputs]): application for application in applications(entry)}
    needed = [_ops_needed(entry, application) for application in found.values()]
    assert any(needed) == (entry.name in BY_VALUES)
