"""`DebugMode`: run a function with everything checked that Ops and rewriters promise."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, final

import attrs
import numpy as np
from typing_extensions import override

from lamella.errors import CompilerNotFoundError, DebugModeError, StochasticOrder
from lamella.ir import FunctionGraph, interpret
from lamella.rewriting import GraphRewriter, RewriteDatabase, RewriteDatabaseQuery, RewriteLog, optdb
from lamella.runtime.debugging.c_checks import CompiledNodes, NodeRun
from lamella.runtime.debugging.comparison import copies, moved
from lamella.runtime.debugging.layouts import PREALLOCATED, Preallocated
from lamella.runtime.debugging.node_checks import CheckedNode
from lamella.runtime.debugging.rewrite_checks import check_values, rewrite_watched, stabilising_names
from lamella.runtime.debugging.shape_checks import InferredShapes
from lamella.runtime.linking import Executable, Linker, PerformLinker
from lamella.runtime.mode import FAST_RUN_QUERY, Mode
from lamella.runtime.node_machine import NodeMachine
from lamella.typing_layer import DestroyHandler, ScheduledGraph, Supervisor

__all__ = ["DebugMode"]


@final
@attrs.frozen
class DebugMode(Mode):
    """A mode that computes what others compute, slowly, and checks everything on the way.

    When a function is compiled: that rewriters keep types, overwrite nothing that is protected, and make the same graph again. Whenever it
    is called: that each Op computes values of the types and shapes it promises, shares memory and overwrites inputs as it declares and no
    more, computes the same again, whatever its output storage holds and however its inputs lie in memory; that C code computes the same;
    and that each replacement has the value of what it replaced. Everything that breaks a promise is an error of a class of its own, derived from
    `DebugModeError`. What the function returns is what `perform` computed.

    Attributes
    ----------
    stability_patience
        How often a graph is rewritten again, to see whether the same graph comes out.
    check_c_code
        Whether C code is compared with `perform`. Without a C compiler it is not.
    check_py_code
        Whether `perform` is run several times, to see whether it computes the same.
    check_isfinite
        Whether a NaN or an infinite number is an error.
    check_preallocated_output
        What is put into the output storage of `perform`: results of an earlier call, arrays in several layouts, and of another size.
    require_matching_strides
        What to do where C and `perform` lay out a result in different ways.
    linker
        Takes no part: nodes are run by their `perform`.
    query, database
        Which rewrites are applied; those of ``FAST_RUN`` by default.
    """

    stability_patience: int = attrs.field(default=1, validator=attrs.validators.ge(0))
    check_c_code: bool = True
    check_py_code: bool = True
    check_isfinite: bool = False
    check_preallocated_output: tuple[Preallocated, ...] = attrs.field(
        default=PREALLOCATED, validator=attrs.validators.deep_iterable(attrs.validators.in_(PREALLOCATED))
    )
    require_matching_strides: Literal["ignore", "warn", "raise"] = attrs.field(
        default="ignore", validator=attrs.validators.in_(("ignore", "warn", "raise"))
    )
    linker: Linker = attrs.field(factory=PerformLinker)
    query: RewriteDatabaseQuery = FAST_RUN_QUERY
    database: RewriteDatabase[Any, GraphRewriter] = attrs.field(default=optdb, repr=False)

    @override
    def rewrite(self, fgraph: FunctionGraph) -> FunctionGraph:
        """Return the graph that this mode compiles a graph to.

        Raises
        ------
        BadRewriteType, BadInplaceRewrite
            A rewriter changes a type, or has something overwritten that must stay.
        StochasticOrder
            Rewriting the graph again makes another graph.
        InconsistencyError
            The graph as it is written overwrites what must stay.
        """
        fgraph.with_feature(DestroyHandler())  # what the graph as it is written overwrites is no rewriter's fault
        rewritten, log = self._rewritten(fgraph)
        for _ in range(self.stability_patience):
            again, other = self._rewritten(fgraph)
            if again.outputs != rewritten.outputs:
                raise StochasticOrder(_first_difference(log, other))
        return rewritten

    def _rewritten(self, fgraph: FunctionGraph) -> tuple[FunctionGraph, RewriteLog]:
        return rewrite_watched(self.database.query(self._configured_query()), fgraph)

    @override
    def link(self, scheduled: ScheduledGraph, original: FunctionGraph) -> Executable:
        watched = [feature for feature in scheduled.fgraph.features if isinstance(feature, Supervisor)]
        _, log = self._rewritten(FunctionGraph(original.inputs, original.outputs, watched))
        order = scheduled.order
        nodes = [
            CheckedNode(node, self.check_py_code, self.check_preallocated_output, self.check_isfinite) for node in order
        ]
        return _CheckedFunction(
            scheduled,
            nodes,
            [InferredShapes.of(node) for node in order],
            self._compiled(scheduled),
            log,
            stabilising_names(self.database),
        )

    def _compiled(self, scheduled: ScheduledGraph) -> CompiledNodes | None:
        if not self.check_c_code:
            return None
        try:
            return CompiledNodes.of(scheduled, self.require_matching_strides)
        except CompilerNotFoundError as error:
            warnings.warn(f"{error} Until then, DebugMode does not check C code.", RuntimeWarning, stacklevel=2)
            return None


def _first_difference(log: RewriteLog, other: RewriteLog) -> str:
    for i, (a, b) in enumerate(zip(log, other, strict=False)):
        if (a.rewriter, a.before, a.after) != (b.rewriter, b.before, b.after):
            return f"rewriting the same graph again makes another graph; the replacement {i} was\n  {a}\nand is\n  {b}"
    return f"rewriting the same graph again makes another graph: {len(log)} replacements the first time, {len(other)} the second"


@final
class _CheckedFunction:
    """A linked graph that checks whenever it is called. It keeps no state between calls."""

    def __init__(
        self,
        scheduled: ScheduledGraph,
        nodes: Sequence[CheckedNode],
        shapes: Sequence[InferredShapes | None],
        compiled: CompiledNodes | None,
        log: RewriteLog,
        stabilising: frozenset[str],
    ) -> None:
        self._scheduled = scheduled
        self._nodes = nodes
        self._shapes = shapes
        self._compiled = compiled
        self._log = log
        self._stabilising = stabilising
        self._machine = NodeMachine.of(scheduled, self._run_unrecorded)

    def _run_unrecorded(self, step: int, inputs: Sequence[Any]) -> Sequence[Any]:
        return self._run_node(step, inputs, {})

    def __call__(self, values: Sequence[Any], /) -> list[Any]:
        """Compute the outputs, and check everything."""
        inputs = self._scheduled.fgraph.inputs
        given = copies([v.type for v in inputs], values)
        runs: dict[int, NodeRun] = {}
        try:
            results = self._machine.run(values, lambda step, inputs: self._run_node(step, inputs, runs))
        except DebugModeError:
            raise
        except Exception:
            # It may be that the graph as it was written raises nothing: then a rewriter is at fault.
            self._check_rewrites(given)
            raise
        self._check_c(given, results, runs)
        self._check_rewrites(given)
        return results

    def _run_node(self, step: int, inputs: Sequence[Any], runs: dict[int, NodeRun]) -> Sequence[Any]:
        node = self._nodes[step].node
        before = copies([v.type for v in node.inputs], inputs)
        outputs = self._nodes[step].run(inputs)
        shapes = self._shapes[step]
        if shapes is not None:
            shapes.check(before, outputs)
        if self._compiled is not None:
            runs[step] = NodeRun(before, copies([v.type for v in node.outputs], outputs))
        return outputs

    def _check_c(self, given: Sequence[Any], results: Sequence[Any], runs: Mapping[int, NodeRun]) -> None:
        if self._compiled is None:
            return
        fgraph, order = self._scheduled.fgraph, self._scheduled.order
        types = [v.type for v in fgraph.inputs]

        def perturbed(i: int, rng: np.random.Generator) -> Any:
            nearby = [moved(value, rng) for value in copies(types, given)]
            return moved(interpret(fgraph.inputs, fgraph.outputs, nearby, order)[i], rng)

        self._compiled.check(given, results, runs, perturbed)

    def _check_rewrites(self, given: Sequence[Any]) -> None:
        check_values(self._log, self._scheduled.fgraph.inputs, given, self._stabilising)
