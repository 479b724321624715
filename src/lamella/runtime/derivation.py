"""From what `function` was asked for to what runs: rewriting, scheduling, linking.

FunctionGraph  --rewrites-->  FunctionGraph  --schedule-->  ScheduledGraph  --link-->  Function
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import attrs

from lamella.codegen import unit_of
from lamella.config import config
from lamella.errors import RecallError
from lamella.ir import DeepCopyOp, FunctionGraph, Variable, deep_copy_op, view_op
from lamella.rewriting import GraphRewriter, RewriteLog, RewriterProfile, RewriteStep, profile_rewriting
from lamella.runtime.c_linker import CLinker
from lamella.runtime.compile_profile import CompileProfile
from lamella.runtime.compiled_function import CompiledGraph, Function, made_function
from lamella.runtime.linking import Executable
from lamella.runtime.mode import Mode
from lamella.runtime.mode_registry import get_mode
from lamella.runtime.profile import ProfiledExecutable
from lamella.runtime.request import Request
from lamella.runtime.signature import Signature
from lamella.typing_layer import ScheduledGraph, Supervisor, schedule

__all__ = ["compiled_function", "derived", "linked", "rewrite_log"]


def compiled_function(request: Request, key: str | None, start: float) -> Function:
    """Return the function that was asked for.

    Parameters
    ----------
    request
        What was asked for.
    key
        What it can be recalled by; None where it cannot.
    start
        The time when it was asked for, by ``time.perf_counter``.
    """
    chosen, original, signature = get_mode(request.mode), request.original, request.signature
    rewriting = time.perf_counter()
    rewritten, rewriter, rewriting_profile = _rewritten(chosen, supervised(original, signature))
    scheduling = time.perf_counter()
    scheduled = _with_copies(rewritten, request.borrowed)
    graph = CompiledGraph(original, scheduled, chosen, request.profiled, rewriter)
    linking = time.perf_counter()
    run = _linked(graph, signature.name, key)
    end = time.perf_counter()
    cost = CompileProfile(
        end - start,
        scheduling - rewriting,
        linking - scheduling,
        end - linking,
        len(original.order),
        len(scheduled.order),
        rewriting=rewriting_profile,
    )
    if rewriting_profile is not None:
        print(cost, file=sys.stderr)
    return made_function(signature, lambda: graph, run, cost, request.trust_input)


def derived(request: Request, unit: str) -> CompiledGraph:
    """Return the graph of a function that was recalled, under the flags that were in force when it was asked for.

    Parameters
    ----------
    request
        What was asked for.
    unit
        The key of the shared object that computes the graph.

    Raises
    ------
    RecallError
        What is registered now makes another graph.
    """
    with request.configured():
        mode = get_mode(request.mode)
        rewritten, rewriter, _ = _rewritten(mode, supervised(request.original, request.signature))
        scheduled = _with_copies(rewritten, request.borrowed)
        if unit_of(scheduled) != unit:
            raise RecallError(
                "this function was taken from the cache, and the rewrites and lowerings that are registered now make another one "
                "of its graph: register them before functions are made, or set the flag recall to false"
            )
        return CompiledGraph(request.original, scheduled, mode, request.profiled, rewriter)


def linked(
    signature: Signature, original: FunctionGraph, fgraph: FunctionGraph, mode: Mode, profiled: bool
) -> tuple[CompiledGraph, Executable]:
    """Return a graph that was rewritten before, and what runs it."""
    graph = CompiledGraph(original, schedule(fgraph), mode, profiled)
    return graph, _linked(graph, signature.name)


def _linked(graph: CompiledGraph, name: str | None, key: str | None = None) -> Executable:
    mode, scheduled = graph.mode, graph.scheduled
    if graph.profiled:
        timed = attrs.evolve(mode, linker=mode.linker.for_profile())
        return ProfiledExecutable(timed.link(scheduled, graph.original), scheduled, name)
    if key is not None:
        mode = attrs.evolve(mode, linker=CLinker(key))
    return mode.link(scheduled, graph.original)


def rewrite_log(signature: Signature, graph: CompiledGraph) -> RewriteLog:
    """Return how the graph of a function came from the one that was written, by rewriting that once more."""
    rewriter = graph.mode.rewriter() if graph.rewriter is None else graph.rewriter
    start = supervised(graph.original, signature)
    rewritten = rewriter.rewrite_with_log(start)
    copied = [
        RewriteStep("copy_returned", (before,), (after,))
        for before, after in zip(rewritten.fgraph.outputs, graph.scheduled.fgraph.outputs, strict=True)
        if before is not after and after.owner is not None and isinstance(after.owner.op, DeepCopyOp)
    ]
    return RewriteLog(start, (*rewritten.log.steps, *copied))


def supervised(original: FunctionGraph, signature: Signature) -> FunctionGraph:
    """Return the graph of a function with what must not be overwritten protected: inputs that are not mutable, shared variables."""
    protected = [spec.variable for spec in signature.inputs if not spec.mutable]
    return original.with_feature(Supervisor([*protected, *original.inputs[len(signature.inputs) :]]))


def _rewritten(mode: Mode, fgraph: FunctionGraph) -> tuple[FunctionGraph, GraphRewriter, RewriterProfile | None]:
    """Return the rewritten graph, what rewrote it, and its profile where one is asked for."""
    rewriter = mode.rewriter()
    profiled = profile_rewriting(rewriter, fgraph) if config.profile_rewrites else None
    if (
        type(mode).rewrite is not Mode.rewrite
    ):  # it does more than rewrite, such as check: that is no part of the profile
        rewritten = mode.rewrite(fgraph)
    else:
        rewritten = rewriter.rewrite(fgraph) if profiled is None else profiled.fgraph
    return rewritten, rewriter, None if profiled is None else profiled.profile


def _with_copies(fgraph: FunctionGraph, borrowed: Sequence[bool]) -> ScheduledGraph:
    """Copy what would be returned in the memory of an input, a constant, a shared variable or another output; and schedule."""
    while True:
        scheduled = schedule(fgraph)
        must_copy = scheduled.storage.must_copy
        copied = [copy and not (i < len(borrowed) and borrowed[i]) for i, copy in enumerate(must_copy)]
        if not any(copied):
            return scheduled
        # One Variable that is returned twice is copied twice: its copy is one node, so the second copy is one of the first.
        outputs = [_new_copy(o, fgraph) if c else o for o, c in zip(fgraph.outputs, copied, strict=True)]
        fgraph = fgraph.with_outputs(outputs)


def _new_copy(variable: Variable[Any], fgraph: FunctionGraph) -> Variable[Any]:
    copy = deep_copy_op(variable)
    while copy.owner in fgraph.apply_nodes:  # another node may overwrite that one
        variable = view_op(variable)
        copy = deep_copy_op(variable)
    return copy
