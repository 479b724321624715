"""What `perform` promises, checked while a function runs: types, views, destruction, purity, storage, layouts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn, final

import attrs
import numpy as np

from lamella.errors import (
    BadDestroyMap,
    BadLayout,
    BadPreallocatedOutput,
    BadThunkOutput,
    BadViewMap,
    DebugModeError,
    ImpureOp,
    InvalidValueError,
    NonFiniteValueError,
    WrongDestroyMap,
)
from lamella.ir import AllocEmpty, Apply, annotate_error, describe_node, perform_node
from lamella.runtime.debugging.comparison import close, copies, difference, moved, same_bits, shares_memory, shown
from lamella.runtime.debugging.layouts import LAYOUTS, Preallocated, in_layout, preallocated

__all__ = ["CheckedNode", "fail", "has_meaning"]


def fail(error: type[DebugModeError], node: Apply[Any], inputs: Sequence[Any], message: str) -> NoReturn:
    """Raise an error about a node: what is wrong, and then which node it is, its inputs, and the line that built it."""
    raise error("\n".join([message, *describe_node(node, inputs)]))


def has_meaning(node: Apply[Any]) -> bool:
    """Whether the elements of a node's outputs mean anything: not where memory was only allocated."""
    return not isinstance(node.op, AllocEmpty)


@final
@attrs.frozen(eq=False)
class CheckedNode:
    """A node whose promises are checked whenever it is run.

    Attributes
    ----------
    node
        The node.
    check_py_code
        Run `perform` several times: again, with other output storage, and with inputs in other layouts of memory.
    check_preallocated_output
        What to put into the output storage.
    check_isfinite
        Whether a NaN or an infinite number is an error.
    """

    node: Apply[Any]
    check_py_code: bool
    check_preallocated_output: tuple[Preallocated, ...]
    check_isfinite: bool

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        """Compute the outputs.

        Parameters
        ----------
        inputs
            Values of the inputs; None for those that a lazy Op did not ask for. They are overwritten as the Op declares.

        Raises
        ------
        DebugModeError
            A promise is broken.
        Exception
            What `perform` raises.
        """
        before = self._copied(inputs)
        outputs = self._perform(inputs, None)
        self._check_types(before, outputs)
        self._check_destruction(before, inputs, outputs)
        self._check_views(before, inputs, outputs)
        if self.check_py_code and has_meaning(self.node):
            wanted = copies([v.type for v in self.node.outputs], outputs)
            self._check_again(before, inputs, outputs, wanted)
            self._check_storage(before, wanted)
            self._check_layouts(before, wanted)
        return outputs

    def _copied(self, inputs: Sequence[Any]) -> list[Any]:
        return copies([v.type for v in self.node.inputs], inputs)

    def _perform(self, inputs: Sequence[Any], storage: Sequence[Any] | None) -> list[Any]:
        node = self.node
        if node.op.makes_own_thunk:
            return perform_node(node, inputs)
        cells: list[list[Any]] = [[None] for _ in node.outputs] if storage is None else [[kept] for kept in storage]
        try:
            node.op.debug_perform(node, inputs, cells)
        except Exception as error:
            annotate_error(error, node, inputs)
            raise
        return [cell[0] for cell in cells]

    def _fail(self, error: type[DebugModeError], inputs: Sequence[Any], message: str) -> NoReturn:
        fail(error, self.node, inputs, message)

    def _check_types(self, before: Sequence[Any], outputs: Sequence[Any]) -> None:
        for i, (variable, value) in enumerate(zip(self.node.outputs, outputs, strict=True)):
            try:
                variable.type.filter(value, strict=True)
            except (TypeError, ValueError) as error:
                self._fail(
                    InvalidValueError,
                    before,
                    f"output {i} of {self.node.op} is declared as {variable.type}, but perform stored {error}; "
                    "make_node must promise the type of what perform stores",
                )
            if self.check_isfinite and isinstance(value, np.ndarray) and value.dtype.kind in "fc":
                bad = value[~np.isfinite(value)]
                if bad.size and has_meaning(self.node):
                    self._fail(
                        NonFiniteValueError, before, f"output {i} of {self.node.op} holds {bad[0]!r}: {shown(value)}"
                    )

    def _check_destruction(self, before: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        op, variables = self.node.op, self.node.inputs
        declared = {place for places in op.destroy_map.values() for place in places}
        changed = {
            i
            for i, (variable, old, new) in enumerate(zip(variables, before, inputs, strict=True))
            if new is not None and not same_bits(variable.type, old, new)
        }
        for i in sorted(changed - declared):
            # What lies in the memory of an input that is overwritten changes with it.
            if any([shares_memory(variables[i].type, inputs[i], inputs[place]) for place in declared]):
                continue
            what = f"{op} changes its input {i} from {shown(before[i])} to {shown(inputs[i])}, and its destroy_map "
            if declared:
                self._fail(
                    WrongDestroyMap, before, f"{what}names {sorted(declared)}; it must name the inputs it changes"
                )
            self._fail(
                BadDestroyMap, before, f"{what}does not say so; write to a copy, or declare destroy_map = {{0: [{i}]}}"
            )
        for o, places in op.destroy_map.items():
            value, kind = outputs[o], self.node.outputs[o].type
            for i in places:
                idle = i not in changed and not any([shares_memory(kind, out, inputs[i]) for out in outputs])
                if idle and np.size(inputs[i]) and np.size(value):
                    self._fail(
                        WrongDestroyMap,
                        before,
                        f"the destroy_map of {op} says that output {o} is written over input {i}, but perform neither changed that "
                        "input nor stored a result in its memory; take it out of destroy_map, or work in place",
                    )

    def _check_views(self, before: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        op, variables = self.node.op, self.node.outputs
        allowed = [{*op.view_map.get(o, ()), *op.destroy_map.get(o, ())} for o in range(len(outputs))]
        for o, (variable, value) in enumerate(zip(variables, outputs, strict=True)):
            for i, given in enumerate(inputs):
                if i in allowed[o] or given is None or not shares_memory(variable.type, value, given):
                    continue
                # An input may itself lie in the memory of one that may be viewed.
                if any([shares_memory(variable.type, given, inputs[place]) for place in allowed[o]]):
                    continue
                self._fail(
                    BadViewMap,
                    before,
                    f"output {o} of {op} shares memory with its input {i}, and its view_map does not say so; store a copy, or declare "
                    f"view_map = {{{o}: [{i}]}}",
                )
            for p in range(o):
                # Two inputs, each of which an output may view, may themselves lie in one memory.
                viewed = [inputs[i] for i in allowed[o] | allowed[p] if inputs[i] is not None]
                if allowed[o] and allowed[p] and any([shares_memory(variable.type, value, x) for x in viewed]):
                    continue
                if shares_memory(variable.type, value, outputs[p]):
                    self._fail(
                        BadViewMap, before, f"outputs {p} and {o} of {op} share memory; store a copy in one of them"
                    )

    def _check_again(
        self, before: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], wanted: Sequence[Any]
    ) -> None:
        when = "called again with the same inputs"
        again = self._again(ImpureOp, before, self._copied(before), None, when)
        expected = wanted
        if any([_strides(given) != _strides(copy) for given, copy in zip(inputs, before, strict=True)]):
            # Where arrays lie in memory in another way, sums are added up in another order.
            expected = self._again(ImpureOp, before, self._copied(before), None, when)
        for o, (variable, now, kept) in enumerate(zip(self.node.outputs, again, expected, strict=True)):
            if not close(variable.type, now, kept):
                self._fail(
                    ImpureOp,
                    before,
                    f"{when}, {self.node.op} stored another output {o}: {shown(now)} instead of {shown(kept)}; a result may depend on the "
                    "inputs only",
                )
        for o, (variable, now, first, kept) in enumerate(zip(self.node.outputs, again, outputs, wanted, strict=True)):
            if not same_bits(variable.type, first, kept) or shares_memory(variable.type, now, first):
                self._fail(
                    ImpureOp,
                    before,
                    f"a second call of {self.node.op} reuses the memory of output {o} of the first; store a new array in every call",
                )

    def _check_storage(self, before: Sequence[Any], wanted: Sequence[Any]) -> None:
        variables = self.node.outputs
        if self.node.op.makes_own_thunk:
            return
        for kind in self.check_preallocated_output:
            storage = [preallocated(kind, v.type, value) for v, value in zip(variables, wanted, strict=True)]
            given = [kept if kept is None else np.array(kept) for kept in storage]
            found = self._again(
                BadPreallocatedOutput, before, self._copied(before), storage, f"with output storage that is {kind}"
            )
            self._compare(
                BadPreallocatedOutput,
                before,
                found,
                wanted,
                f"with an array ({kind}) in its output storage",
                "a result may not depend on what the storage holds, nor on its shape and strides: overwrite all of it, or store a new array",
            )
            unused = all([value is not kept for value, kept in zip(found, storage, strict=True)])
            if kind == "c_contiguous" and unused and all(map(_unchanged, storage, given)):
                return  # an Op that makes new arrays is not interested in any

    def _check_layouts(self, before: Sequence[Any], wanted: Sequence[Any]) -> None:
        if not any([isinstance(value, np.ndarray) and value.ndim for value in before]):
            return
        for layout in LAYOUTS:
            given = [in_layout(value, layout) for value in self._copied(before)]
            found = self._again(BadLayout, before, given, None, f"with inputs that are {layout}")
            self._compare(
                BadLayout,
                before,
                found,
                wanted,
                f"with inputs that are {layout}",
                "a result may not depend on the strides of the inputs",
            )

    def _again(
        self,
        error: type[BadThunkOutput],
        before: Sequence[Any],
        inputs: Sequence[Any],
        storage: Sequence[Any] | None,
        when: str,
    ) -> list[Any]:
        try:
            with np.errstate(all="ignore"):
                outputs = self._perform(inputs, storage)
        except Exception as raised:
            message = f"{self.node.op}, {when}, raises {raised!r}, which it does not otherwise"
            raise error("\n".join([message, *describe_node(self.node, before)])) from raised
        self._check_types(before, outputs)
        return outputs

    def _compare(
        self,
        error: type[BadThunkOutput],
        before: Sequence[Any],
        found: Sequence[Any],
        wanted: Sequence[Any],
        when: str,
        advice: str,
    ) -> None:
        for o, (variable, now, kept) in enumerate(zip(self.node.outputs, found, wanted, strict=True)):
            problem = difference(variable.type, now, kept, partial(self.perturbed_output, before, o))
            if problem is not None:
                self._fail(error, before, f"{self.node.op}, {when}, stores another output {o}: {problem}; {advice}")

    def perturbed_output(self, before: Sequence[Any], o: int, rng: np.random.Generator) -> Any:
        """Compute an output from inputs that have been moved a little, and move it."""
        outputs = self._perform([moved(value, rng) for value in self._copied(before)], None)
        return moved(outputs[o], rng)


def _strides(value: Any) -> tuple[int, ...] | None:
    return value.strides if isinstance(value, np.ndarray) else None


def _unchanged(kept: Any, given: Any) -> bool:
    return kept is None or kept.tobytes() == given.tobytes()
