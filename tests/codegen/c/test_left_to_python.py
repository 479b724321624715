"""Which Ops of the library have no C code, for which dtypes: all of them, so that nothing joins them unnoticed.

An Op that is listed runs in compiled functions, called from C by its `perform`; `Function.export_c` refuses it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from lamella.codegen import write_program
from lamella.ir import Apply, Elemwise, FunctionGraph, ScalarType, TensorType
from lamella.typing_layer import schedule
from tests.catalogue.batches import applications
from tests.catalogue.catalogue import CATALOGUE
from tests.catalogue.entry import ALL, FLOATS

OBJECTS = "no array"
"""Stands for values that are neither arrays nor numbers."""

LEFT_TO_PYTHON: dict[str, tuple[str, ...]] = {
    # Scaled by what may be infinite; rewriting makes none of these.
    **dict.fromkeys(["Gemm", "Gemv"], ("complex128",)),
    # Ops that rewriting replaces by what they stand for, in FAST_RUN.
    "OpFromGraph": ALL,
    "Checkpoint": FLOATS,
    "Blockwise": ALL,
    # A graph that is run for each row, by the interpreter: units have no loops over steps.
    "MapRows": ("float64",),
    # A slice as a value is an object of Python's: nothing takes it but Ops that Python computes (this one here is a test's).
    **dict.fromkeys(["MakeSlice", "TakeSlice"], (OBJECTS,)),
    # Functions in Python: what they do is theirs.
    "Print": ALL,
    "FromFunctionOp": ("float64", "int32"),
}


def dtypes_of(node: Apply[Any]) -> set[str]:
    """The dtypes of a node's inputs, or that it works on something else."""
    types = [v.type for v in (*node.inputs, *node.outputs)]
    if not all([isinstance(type, TensorType | ScalarType) for type in types]):
        return {OBJECTS}
    return {type.dtype for type in types[: node.nin] if isinstance(type, TensorType | ScalarType)}


def test_the_ops_that_are_left_to_python_are_those_that_are_listed() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for entry in CATALOGUE:
        for application in {tuple([v.dtype for v in a.inputs]): a for a in applications(entry)}.values():
            scheduled = schedule(FunctionGraph(application.inputs, application.outputs))
            for step in write_program(scheduled).needs_python:
                node = scheduled.order[step]
                op = node.op.scalar_op if isinstance(node.op, Elemwise) else node.op
                found[type(op).__name__] |= dtypes_of(node)
    assert {name: sorted(dtypes) for name, dtypes in found.items()} == {
        name: sorted(dtypes) for name, dtypes in LEFT_TO_PYTHON.items()
    }
