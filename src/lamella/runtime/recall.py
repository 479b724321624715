"""Functions that were compiled before: found again by what they were asked to be, without rewriting.

That is possible in the mode FAST_RUN, for graphs of this package's own Ops, while nobody has registered a rewrite or a lowering of
his own: what a function was made of is then told by its graph, the flags, and the state of the machine.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import attrs

from lamella.codegen import machine_state, own_ops, recall
from lamella.config import Config, config
from lamella.errors import RecallError
from lamella.ir import annotate_error, perform_node
from lamella.runtime.compile_profile import CompileProfile
from lamella.runtime.compiled_function import Function, made_function
from lamella.runtime.graph_key import graph_key
from lamella.runtime.request import Request

if TYPE_CHECKING:
    from lamella.runtime.compiled_function import CompiledGraph
    from lamella.runtime.mode import Mode

__all__ = ["recalled_function", "request_key"]

_HAVE_NO_PART: Final = frozenset(["cache_dir", "compilers", "mode", "on_unused_input", "threads"])
_LOOK_INTO_COMPILING: Final = ("c_debug", "check_rewrites", "profile_rewrites")


def request_key(request: Request) -> str | None:
    """Return what a function can be recalled by; None where it cannot.

    Parameters
    ----------
    request
        What `function` was asked for.
    """
    if (
        not config.recall
        or request.profiled
        or any([getattr(config, flag) for flag in _LOOK_INTO_COMPILING])
        or not _is_fast_run(request.mode)
        or not _nothing_registered()
    ):
        return None
    machine = machine_state()
    if machine is None:
        return None
    signature = request.signature
    shared = {variable: i for i, variable in enumerate(signature.shared)}
    flags = [getattr(config, field.name) for field in attrs.fields(Config) if field.name not in _HAVE_NO_PART]
    key = graph_key(
        request.original,
        [spec.mutable for spec in signature.inputs],
        [shared.get(variable) for variable in signature.updated],
        request.borrowed,
        flags,
        machine,
    )
    return None if key is None else hashlib.blake2b(key, digest_size=20).hexdigest()


def _is_fast_run(mode: Mode | str) -> bool:
    if isinstance(mode, str):
        return mode == "FAST_RUN"
    from lamella.runtime.mode import FAST_RUN  # here, as it is loaded only where there is a mode

    return mode is FAST_RUN


def _nothing_registered() -> bool:
    # In what is not loaded nobody has registered anything.
    database = sys.modules.get("lamella.rewriting.database.optdb")
    return own_ops.as_built and (database is None or database.optdb.version == database.BUILT_IN_VERSION)


def recalled_function(request: Request, key: str, start: float) -> Function | None:
    """Return the function that was asked for, if it was compiled before; its graph is made when it is asked for.

    Parameters
    ----------
    request
        What was asked for.
    key
        What it is recalled by.
    start
        The time when it was asked for, by ``time.perf_counter``.
    """

    @cache
    def graph() -> CompiledGraph:
        from lamella.runtime.derivation import derived  # here, as calls do without it

        return derived(request, record.unit)

    def perform(step: int, inputs: Sequence[Any]) -> Sequence[Any]:
        return perform_node(graph().scheduled.order[step], inputs)

    def annotate(step: int, error: BaseException) -> None:
        try:
            order = graph().scheduled.order
        except RecallError as unknown:
            error.add_note(f"in a node of a compiled graph: {unknown}")
            return
        if 0 <= step < len(order):
            annotate_error(error, order[step])

    linking = time.perf_counter()
    found = recall(key, perform, annotate)
    if found is None:
        return None
    entry, record = found
    end = time.perf_counter()
    cost = CompileProfile(
        end - start, 0.0, 0.0, end - linking, len(request.original.order), record.n_nodes, recalled=True
    )
    return made_function(request.signature, graph, entry, cost, request.trust_input)
