"""The C code of a graph, compared with what `perform` computes: of each node by itself, and of the graph as a whole.

Everything becomes one C function, so that it is compiled once: the graph as it is, and beside it each node with inputs of its own. They are
given the values that the nodes were given when the function ran in Python.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, final

import attrs
import numpy as np

from lamella.codegen import lower_to_c
from lamella.errors import BadCOutput, BadDestroyMap, BadStrides
from lamella.ir import Apply, FunctionGraph, Variable, describe_node
from lamella.runtime.debugging.comparison import copies, difference, same_bits, shown
from lamella.runtime.debugging.layouts import LAYOUTS, in_layout
from lamella.runtime.debugging.node_checks import CheckedNode, fail, has_meaning
from lamella.typing_layer import ScheduledGraph, schedule

__all__ = ["CompiledNodes", "NodeRun"]

Executable = Callable[[Sequence[Any]], list[Any]]


@final
@attrs.frozen(eq=False)
class NodeRun:
    """What a node was given and what it computed, as copies."""

    inputs: Sequence[Any]
    outputs: Sequence[Any]


@final
@attrs.frozen(eq=False)
class _Alone:
    """A node with inputs of its own: the node as it stands in the graph, the copy, and which inputs the copy is given."""

    step: int
    node: Apply[Any]
    copy: Apply[Any]
    places: tuple[int, ...]

    @classmethod
    def of(cls, step: int, node: Apply[Any]) -> _Alone:
        fresh: dict[Variable[Any], Variable[Any]] = {}
        for variable in node.inputs:
            if not variable.is_constant and variable not in fresh:
                fresh[variable] = variable.type.make_variable()
        copy = node.clone_with_new_inputs([fresh.get(v, v) for v in node.inputs])
        return cls(step, node, copy, tuple([node.inputs.index(v) for v in fresh]))

    @property
    def inputs(self) -> list[Variable[Any]]:
        return [self.copy.inputs[place] for place in self.places]


@final
@attrs.frozen(eq=False)
class CompiledNodes:
    """The C code of a graph's nodes; made by `of`."""

    scheduled: ScheduledGraph
    strides: Literal["ignore", "warn", "raise"]
    _together: tuple[tuple[_Alone, ...], Executable] | None
    _apart: Mapping[int, tuple[_Alone, Executable]]

    @classmethod
    def of(cls, scheduled: ScheduledGraph, strides: Literal["ignore", "warn", "raise"] = "ignore") -> CompiledNodes:
        """Compile the nodes of a graph.

        Raises
        ------
        CompilerNotFoundError
            There is no compiler.
        """
        order, fgraph = scheduled.order, scheduled.fgraph
        alone = tuple([_Alone.of(i, node) for i, node in enumerate(order) if not node.op.is_lazy and has_meaning(node)])
        if any([node.op.is_lazy for node in order]):  # not every node runs in every call
            apart = {
                one.step: (one, lower_to_c(schedule(FunctionGraph(one.inputs, one.copy.outputs))).executable())
                for one in alone
            }
            return cls(scheduled, strides, None, apart)
        inputs = [*fgraph.inputs, *[v for one in alone for v in one.inputs]]
        outputs = [*fgraph.outputs, *[v for one in alone for v in one.copy.outputs]]
        everything = lower_to_c(schedule(FunctionGraph(inputs, outputs))).executable()
        return cls(scheduled, strides, (alone, everything), {})

    def check(
        self,
        values: Sequence[Any],
        results: Sequence[Any],
        runs: Mapping[int, NodeRun],
        perturbed: Callable[[int, np.random.Generator], Any],
    ) -> None:
        """Run the C code, and compare.

        Parameters
        ----------
        values, results
            What the graph was given and what `perform` made of it.
        runs
            What each node was given, and what it computed.
        perturbed
            Computes one of the results from inputs that have been moved a little.

        Raises
        ------
        BadCOutput
            The C code computes something else.
        BadDestroyMap
            It changes an input, and does not say so.
        """
        self._check_once(values, results, runs, perturbed, None)
        self._check_once(values, results, runs, perturbed, "mixed")

    def _check_once(
        self,
        values: Sequence[Any],
        results: Sequence[Any],
        runs: Mapping[int, NodeRun],
        perturbed: Callable[[int, np.random.Generator], Any],
        layout: str | None,
    ) -> None:
        if self._together is None:
            for step, run in runs.items():
                if step in self._apart:
                    one, function = self._apart[step]
                    given = _given(one, run, layout)
                    self._check_node(one, run, given, _call(function, given, [one.node], layout), layout)
            return
        alone, everything = self._together
        each = [_given(one, runs[one.step], layout) for one in alone]
        fgraph = self.scheduled.fgraph
        own = _laid_out(copies([v.type for v in fgraph.inputs], values), layout)
        nodes = [*self.scheduled.order, *[one.copy for one in alone]]
        found = _call(everything, [*own, *[x for given in each for x in given]], nodes, layout)
        place = len(fgraph.outputs)
        for one, given in zip(alone, each, strict=True):
            made = found[place : place + one.node.nout]
            place += one.node.nout
            self._check_node(one, runs[one.step], given, made, layout)
        for i, (variable, value, wanted) in enumerate(zip(fgraph.outputs, found, results, strict=False)):
            problem = difference(variable.type, value, wanted, partial(perturbed, i))
            if problem is not None:
                raise BadCOutput(
                    f"the whole graph in C{_with(layout)} computes another output {i} ({variable}) than perform, though each of its nodes "
                    f"by itself does not: {problem}"
                )

    def _check_node(
        self, one: _Alone, run: NodeRun, given: Sequence[Any], found: Sequence[Any], layout: str | None
    ) -> None:
        node = one.node
        checked = CheckedNode(node, False, (), False)
        for o, (variable, value, wanted) in enumerate(zip(node.outputs, found, run.outputs, strict=True)):
            problem = difference(variable.type, value, wanted, partial(checked.perturbed_output, run.inputs, o))
            if problem is not None:
                fail(
                    BadCOutput,
                    node,
                    run.inputs,
                    f"the C code of {node.op}{_with(layout)} computes another output {o} than perform: {problem}",
                )
            if layout is None and self.strides != "ignore" and isinstance(value, np.ndarray):
                self._compare_strides(node, run.inputs, o, value, wanted)
        declared = {place for places in node.op.destroy_map.values() for place in places}
        for place, value in zip(one.places, given, strict=True):
            if place not in declared and not same_bits(node.inputs[place].type, value, run.inputs[place]):
                fail(
                    BadDestroyMap,
                    node,
                    run.inputs,
                    f"the C code of {node.op} changes its input {place} from {shown(run.inputs[place])} to {shown(value)}, and its "
                    "destroy_map does not say so",
                )

    def _compare_strides(self, node: Apply[Any], inputs: Sequence[Any], o: int, value: Any, wanted: Any) -> None:
        longer = [axis for axis, n in enumerate(value.shape) if n > 1] if value.size else []
        if all([value.strides[axis] == wanted.strides[axis] for axis in longer]):
            return
        message = f"output {o} of {node.op} has the strides {value.strides} where C computes it, and {wanted.strides} where perform does"
        if self.strides == "raise":
            fail(BadStrides, node, inputs, message)
        warn_of_strides(message)


def warn_of_strides(message: str) -> None:
    """Warn that C and Python lay out a result in different ways."""
    warnings.warn(message, RuntimeWarning, stacklevel=2)


def _given(one: _Alone, run: NodeRun, layout: str | None) -> list[Any]:
    types = [one.node.inputs[place].type for place in one.places]
    return _laid_out(copies(types, [run.inputs[place] for place in one.places]), layout)


def _laid_out(values: Sequence[Any], layout: str | None) -> list[Any]:
    if layout is None:
        return list(values)
    return [in_layout(value, LAYOUTS[i % len(LAYOUTS)]) for i, value in enumerate(values)]


def _with(layout: str | None) -> str:
    return "" if layout is None else ", given arrays with other strides,"


def _call(function: Executable, given: Sequence[Any], nodes: Sequence[Apply[Any]], layout: str | None) -> list[Any]:
    try:
        with np.errstate(all="ignore"):
            return function(given)
    except Exception as error:
        where = "\n".join(describe_node(nodes[0])) if len(nodes) == 1 else "\n".join(getattr(error, "__notes__", ()))
        raise BadCOutput(
            f"the C code{_with(layout)} raises {error!r}, and perform does not\n{where}".rstrip()
        ) from error
