"""What `Op.perform` promises: declared types, views and destruction, purity, and the same result in every layout of memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lamella.errors import OutputTypeError
from lamella.testing.op_subject import Subject
from lamella.testing.value_difference import value_difference

__all__ = ["check_perform"]

Array = npt.NDArray[Any]


def check_perform(subject: Subject, max_ulps: float) -> list[Any]:
    """Check what `perform` does with the subject's values, and return what it computes.

    Raises
    ------
    OpContractError
        It breaks a promise: types, view_map, destroy_map, purity, storage or layouts.
    """
    reference = _run(subject, _copied(subject.values), "contiguous")
    kept = _copied(reference)
    _check_again(subject, reference, kept)
    _check_storage(subject, kept)
    for layout, given in subject.layouts():
        if layout == "read-only" and subject.destroyed:
            continue
        for i, (found, wanted) in enumerate(zip(_run(subject, given, layout), kept, strict=True)):
            problem = value_difference(found, wanted, max_ulps) if isinstance(wanted, np.ndarray) else None
            if problem is not None:
                raise subject.broken(
                    "layouts", f"output {i} for {layout} arrays is not that for contiguous ones: {problem}"
                )
    return kept


def _copied(values: Sequence[Any]) -> list[Any]:
    return [np.array(x) if isinstance(x, np.ndarray) else x for x in values]


def _run(subject: Subject, values: Sequence[Any], layout: str) -> list[Any]:
    """Run `perform`, and check the outputs' types, what it did to its inputs, and where the outputs lie."""
    inputs = subject.inputs_of_node(values)
    before = _copied(inputs)
    storage: list[list[Any]] = [[None] for _ in subject.node.outputs]
    with np.errstate(all="ignore"):
        subject.op.perform(subject.node, inputs, storage)
    outputs = [cell[0] for cell in storage]
    for i, (variable, value) in enumerate(zip(subject.node.outputs, outputs, strict=True)):
        try:
            variable.type.filter(value, strict=True)
        except (TypeError, ValueError, OutputTypeError) as error:
            raise subject.broken(
                "types", f"output {i} is declared as {variable.type}, but perform stored {error}"
            ) from None
    for i, (old, new) in enumerate(zip(before, inputs, strict=True)):
        if isinstance(old, np.ndarray) and old.tobytes() != new.tobytes() and i not in subject.destroyed:
            raise subject.broken(
                "destroy_map",
                f"perform overwrites input {i} ({layout}), which destroy_map does not declare; write to a copy",
            )
    _check_memory(subject, inputs, outputs, layout)
    return outputs


def _check_memory(subject: Subject, inputs: Sequence[Any], outputs: Sequence[Any], layout: str) -> None:
    shared = {o: {*subject.op.view_map.get(o, ()), *subject.op.destroy_map.get(o, ())} for o in range(len(outputs))}
    for o, output in enumerate(outputs):
        for i, given in enumerate(inputs):
            if i not in shared[o] and _overlap(output, given):
                raise subject.broken(
                    "view_map",
                    f"output {o} shares memory with input {i} ({layout}), which view_map does not declare; "
                    f"store a copy, or declare view_map = {{{o}: [{i}]}}",
                )
        for p in range(o):
            if not shared[o] & shared[p] and _overlap(output, outputs[p]):
                raise subject.broken(
                    "view_map", f"outputs {p} and {o} share memory ({layout}); store a copy in one of them"
                )


def _overlap(a: Any, b: Any) -> bool:
    return (
        isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.size > 0 and b.size > 0 and np.shares_memory(a, b)
    )


def _check_again(subject: Subject, first: Sequence[Any], kept: Sequence[Any]) -> None:
    again = _run(subject, _copied(subject.values), "contiguous")
    for i, (now, then, wanted) in enumerate(zip(again, first, kept, strict=True)):
        if not isinstance(wanted, np.ndarray):
            continue
        problem = value_difference(now, wanted)
        if problem is not None:
            raise subject.broken("purity", f"called again with the same inputs, output {i} is another one: {problem}")
        if then.tobytes() != wanted.tobytes() or _overlap(now, then):
            raise subject.broken(
                "purity", f"a later call changes output {i} of an earlier one: make a new array in every call"
            )


def _check_storage(subject: Subject, kept: Sequence[Any]) -> None:
    """Run `perform` with arrays of the right types in the output storage, whose contents mean nothing."""
    if not all(isinstance(x, np.ndarray) for x in kept):
        return
    for shift in (0, 1):
        storage = [[_rubbish(x, shift)] for x in kept]
        with np.errstate(all="ignore"):
            subject.op.perform(subject.node, subject.inputs_of_node(_copied(subject.values)), storage)
        for i, ((found,), wanted) in enumerate(zip(storage, kept, strict=True)):
            problem = value_difference(found, wanted)
            if problem is not None:
                raise subject.broken(
                    "storage",
                    f"output {i} depends on what its storage held before: {problem}; storage may hold an array of any shape that the "
                    "type allows, with any contents: overwrite all of it, or put another array there",
                )


def _rubbish(like: Array, longer: int) -> Array:
    shape = [n + longer for n in like.shape]
    return np.full(shape, 7, like.dtype)
