"""Graphs of the catalogue compiled together: many applications in one function, for compiling costs more than running."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import attrs

from lamella.config import config
from lamella.ir import FunctionGraph, TensorVariable
from lamella.rewriting import RewriteDatabaseQuery
from lamella.runtime import CLinker, Mode, function, get_mode
from lamella.testing import MEMORY_LAYOUTS, in_layout
from tests.catalogue.catalogue import CATALOGUE
from tests.catalogue.entry import Case, Entry, signature, variables_like

AS_WRITTEN = Mode(CLinker(), RewriteDatabaseQuery(include=()))
"""C, without any rewrite."""

WITHOUT_WARNINGS = "-Wall -Wextra -Werror"
"""Flags with which C that the compiler warns of is an error."""

_LARGEST = 64


@attrs.frozen(eq=False)
class Application:
    """An entry, applied to arrays of certain dtypes and numbers of dimensions."""

    entry: Entry
    inputs: list[TensorVariable]
    outputs: list[TensorVariable]
    cases: list[Case]

    def trials(self) -> list[tuple[str, Case, Case]]:
        """All cases in all layouts: what is tried, the arrays, and the same as they lie in memory."""
        return [(layout, case, laid_out(case, layout)) for case in self.cases for layout in LAYOUTS]


LAYOUTS = (*MEMORY_LAYOUTS, "mixed")


def laid_out(case: Case, layout: str) -> Case:
    if layout != "mixed":
        return tuple([in_layout(array, layout) for array in case])
    return tuple([in_layout(a, MEMORY_LAYOUTS[(2 * i + 1) % len(MEMORY_LAYOUTS)]) for i, a in enumerate(case)])


@attrs.frozen(eq=False)
class Trial:
    """What a compiled function gave."""

    layout: str
    case: Case
    results: list[Any]


@cache
def applications(entry: Entry) -> list[Application]:
    """An entry's applications: one for all arrays of the same dtypes and numbers of dimensions."""
    by_signature: dict[Any, list[Case]] = {}
    for case in entry.cases:
        by_signature.setdefault(signature(case), []).append(case)
    found: list[Application] = []
    for cases in by_signature.values():
        inputs = variables_like(cases[0])
        found.append(Application(entry, inputs, entry.outputs(inputs), cases))
    return found


@cache
def batches() -> list[list[Application]]:
    """All applications, those of equal dtypes together."""
    by_dtype: dict[str, list[Application]] = {}
    for entry in CATALOGUE:
        try:
            applied = applications(entry)
        except Exception:  # noqa: BLE001  # the test of this entry shows it
            continue
        for application in applied:
            by_dtype.setdefault(application.inputs[0].dtype, []).append(application)
    return [group[i : i + _LARGEST] for group in by_dtype.values() for i in range(0, len(group), _LARGEST)]


def name_of(batch: list[Application]) -> str:
    return f"{batch[0].inputs[0].dtype}-{batch[0].entry.name}-to-{batch[-1].entry.name}"


def rewritten_otherwise(batch: list[Application]) -> list[Application]:
    """The applications that FAST_RUN runs in another form than they are written in."""
    mode = get_mode("FAST_RUN")
    graphs = [FunctionGraph(a.inputs, a.outputs) for a in batch]
    return [a for a, graph in zip(batch, graphs, strict=True) if mode.rewrite(graph).outputs != graph.outputs]


def run_in_c(batch: Sequence[Application], mode: Mode | str) -> dict[Application, list[Trial] | Exception]:
    """What C gives for all arrays in all layouts: in one function, or each application in one of its own where that fails."""
    try:
        return dict(_run(batch, mode))
    except Exception as error:  # noqa: BLE001  # each application is then run alone, and shows its own error
        if len(batch) == 1:
            return {batch[0]: error}
    alone: dict[Application, list[Trial] | Exception] = {}
    for application in batch:
        alone.update(run_in_c([application], mode))
    return alone


def _run(batch: Sequence[Application], mode: Mode | str) -> dict[Application, list[Trial]]:
    with config.override(compiler_flags=WITHOUT_WARNINGS):
        compiled = function([v for a in batch for v in a.inputs], [out for a in batch for out in a.outputs], mode=mode)
    prepared = [a.trials() for a in batch]
    found: dict[Application, list[Trial]] = {a: [] for a in batch}
    for run in range(max(len(tried) for tried in prepared)):
        chosen = [tried[run % len(tried)] for tried in prepared]
        results = iter(compiled(*[array for _, _, given in chosen for array in given]))
        for application, tried, (layout, case, _) in zip(batch, prepared, chosen, strict=True):
            mine = [next(results) for _ in application.outputs]
            if run < len(tried):
                found[application].append(Trial(layout, case, mine))
    return found
