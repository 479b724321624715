"""`function`: from Variables to something callable.

outputs, updates  --givens-->  FunctionGraph  --rewrites-->  FunctionGraph  --schedule-->  ScheduledGraph  --link-->  Function
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from lamella.config import config
from lamella.errors import MissingInputError, UnusedInputError
from lamella.ir import (
    FunctionGraph,
    SharedVariable,
    Variable,
    ancestors,
    as_tensor_variable,
    clone_replace,
    deep_copy_op,
    view_op,
)
from lamella.rewriting import GraphRewriter, RewriterProfile, profile_rewriting
from lamella.runtime.compile_profile import CompileProfile
from lamella.runtime.compiled_function import (
    Compilation,
    CompiledGraph,
    Function,
    OutputForm,
    made_function,
    supervised,
)
from lamella.runtime.inputs import In, Out
from lamella.runtime.mode import Mode
from lamella.runtime.mode_registry import get_mode
from lamella.typing_layer import ScheduledGraph, schedule

__all__ = ["function"]

OutputLike = Variable[Any] | Out
Shared = TypeVar("Shared", bound=SharedVariable[Any])
Given = TypeVar("Given", bound=Variable[Any])
Updates = Mapping[Shared, object] | Iterable[tuple[Shared, object]]
Givens = Mapping[Given, object] | Iterable[tuple[Given, object]]


def function(
    inputs: Sequence[Variable[Any] | In | tuple[Variable[Any], Any]],
    outputs: OutputLike | Sequence[OutputLike] | Mapping[Any, OutputLike] | None = None,
    updates: Updates[Shared] | None = None,
    givens: Givens[Given] | None = None,
    mode: Mode | str | None = None,
    on_unused_input: Literal["raise", "warn", "ignore"] | None = None,
    name: str | None = None,
    allow_input_downcast: bool | None = None,
    profile: bool | None = None,
    trust_input: bool = False,
) -> Function:
    """Compile a function.

    Parameters
    ----------
    inputs
        The inputs: Variables, `In` objects, or pairs of a Variable and its default value.
    outputs
        What it returns: one Variable, a list, a tuple, or a dict of them, or nothing.
    updates
        For shared variables, expressions whose values they take after each call, all at once.
    givens
        For Variables, what is computed in their place.
    mode
        A mode or its name; the configured one by default.
    on_unused_input
        What to do about an input that nothing needs: raise, warn or nothing; as configured by default.
    name
        A name for people.
    allow_input_downcast
        `In.allow_downcast` of the inputs that are given as plain Variables.
    profile
        Whether time and memory of its calls are collected, in `Function.profile`; as configured by default.
    trust_input
        Pass the values of calls on as they are; it can be changed later, see `Function.trust_input`.

    Returns
    -------
    Function
        The function; see its `__call__`.

    Raises
    ------
    MissingInputError
        The outputs need a Variable that is no input.
    UnusedInputError
        An input is not needed (see `on_unused_input`).
    TypeError, ValueError
        An input is given twice or is no Variable; a shared variable is updated twice, or with a value of another type.
    InconsistencyError
        The graph overwrites an input that is not `mutable`, or something that is still needed.
    """
    start = time.perf_counter()
    if isinstance(inputs, Variable):  # one that can be iterated over would pass for the Variables of its elements
        raise TypeError(f"the inputs of a function are a sequence of Variables; write [{inputs!r}]")
    specs = tuple([_as_in(given, allow_input_downcast) for given in inputs])
    form, outs = _as_outs(outputs)
    pairs = _checked_updates(updates)
    wanted = [out.variable for out in outs] + [new for _, new in pairs]
    replaced = clone_replace(wanted, _checked_givens(givens))
    variables = [spec.variable for spec in specs]
    if len(set(variables)) != len(variables):
        twice = next(v for v in variables if variables.count(v) > 1)
        raise ValueError(f"the input {twice!r} is given twice")
    read = _shared_variables(replaced, variables)
    original = _graph([*variables, *read], replaced)
    _check_unused(variables, replaced, config.on_unused_input if on_unused_input is None else on_unused_input)
    chosen = get_mode(mode)
    rewriting = time.perf_counter()
    rewritten, rewriter, rewriting_profile = _rewritten(chosen, supervised(original, specs))
    scheduling = time.perf_counter()
    scheduled = _with_copies(rewritten, [out.borrow for out in outs])
    returning = scheduled.fgraph
    updated = tuple([shared for shared, _ in pairs])
    compiled = CompiledGraph(
        specs,
        tuple(read),
        updated,
        form,
        original,
        returning,
        chosen,
        name,
        config.profile if profile is None else profile,
    )
    linking = time.perf_counter()
    run = compiled.linked(scheduled)
    end = time.perf_counter()
    cost = CompileProfile(
        end - start,
        scheduling - rewriting,
        linking - scheduling,
        end - linking,
        len(original.order),
        len(returning.order),
        rewriting_profile,
    )
    if rewriting_profile is not None:
        print(cost, file=sys.stderr)
    return made_function(compiled, scheduled, run, Compilation(rewriter, cost), trust_input)


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


def _as_in(given: object, allow_downcast: bool | None) -> In:
    match given:
        case In():
            return given
        case SharedVariable():
            raise TypeError(
                f"the shared variable {given!r} is an input of every function that needs it; it is not given to calls"
            )
        case Variable():
            return In(given, allow_downcast=allow_downcast)
        case (Variable() as variable, value):
            return In(variable, value=value, allow_downcast=allow_downcast)
        case _:
            raise TypeError(f"an input is a Variable, an In, or a pair of a Variable and a default, not {given!r}")


def _as_out(given: object) -> Out:
    if isinstance(given, Out):
        return given
    return Out(given if isinstance(given, Variable) else as_tensor_variable(given))  # type: ignore[arg-type]  # checked there


def _as_outs(
    outputs: OutputLike | Sequence[OutputLike] | Mapping[Any, OutputLike] | None,
) -> tuple[OutputForm, list[Out]]:
    if outputs is None:
        return OutputForm(None), []
    if isinstance(outputs, Mapping):
        return OutputForm(dict, tuple(outputs)), [_as_out(out) for out in outputs.values()]
    if isinstance(outputs, list | tuple):
        return OutputForm(tuple if isinstance(outputs, tuple) else list), [_as_out(out) for out in outputs]
    return OutputForm(None), [_as_out(outputs)]


def _checked_updates(updates: Updates[Shared] | None) -> list[tuple[SharedVariable[Any], Variable[Any]]]:
    checked: dict[SharedVariable[Any], Variable[Any]] = {}
    for shared, new in updates.items() if isinstance(updates, Mapping) else updates or ():
        if not isinstance(shared, SharedVariable):
            raise TypeError(f"only shared variables are updated, and {shared!r} is none")
        if shared in checked:
            raise ValueError(f"the shared variable {shared!r} is updated twice")
        try:
            checked[shared] = shared.type.filter_variable(new)
        except TypeError as error:
            error.add_note(f"this is the update of {shared!r} of type {shared.type}; cast it, for example")
            raise
    return list(checked.items())


def _checked_givens(givens: Givens[Given] | None) -> dict[Variable[Any], Variable[Any]]:
    pairs = givens.items() if isinstance(givens, Mapping) else givens or ()
    return {old: old.type.filter_variable(new) for old, new in pairs}


def _shared_variables(outputs: Sequence[Variable[Any]], inputs: Sequence[Variable[Any]]) -> list[SharedVariable[Any]]:
    return [v for v in ancestors(outputs, inputs) if isinstance(v, SharedVariable)]


def _graph(inputs: Sequence[Variable[Any]], outputs: Sequence[Variable[Any]]) -> FunctionGraph:
    try:
        return FunctionGraph(inputs, outputs)
    except MissingInputError as error:
        error.add_note("give it among the inputs of the function, or a value for it among givens")
        raise


def _check_unused(
    inputs: Sequence[Variable[Any]],
    outputs: Sequence[Variable[Any]],
    on_unused_input: Literal["raise", "warn", "ignore"],
) -> None:
    if on_unused_input == "ignore":
        return
    used = set(ancestors(outputs, inputs))
    for i, variable in enumerate(inputs):
        if variable not in used:
            message = (
                f"input {i} ({variable!r}, {variable.type}) takes no part in computing the outputs; "
                "leave it out, or pass on_unused_input='ignore'"
            )
            if on_unused_input == "raise":
                raise UnusedInputError(message)
            warnings.warn(message, stacklevel=3)


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
