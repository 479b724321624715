"""`function`: from Variables to something callable.

outputs, updates  --givens-->  FunctionGraph  --recall-->  Function                                                     where it was compiled before
                                              --rewrites-->  FunctionGraph  --schedule-->  ScheduledGraph  --link-->  Function        elsewhere
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from lamella.collector import collecting_rarely
from lamella.config import config
from lamella.errors import MissingInputError, UnusedInputError
from lamella.ir import (
    FunctionGraph,
    SharedVariable,
    Variable,
    ancestors,
    as_tensor_variable,
    clone_replace,
)
from lamella.runtime.inputs import In, Out
from lamella.runtime.recall import recalled_function, request_key
from lamella.runtime.request import Request
from lamella.runtime.signature import OutputForm, Signature

if TYPE_CHECKING:  # what is in the cache is called without these
    from lamella.runtime.compiled_function import Function
    from lamella.runtime.mode import Mode

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
    request = Request(
        Signature(specs, tuple(read), tuple([shared for shared, _ in pairs]), form, name),
        original,
        tuple([out.borrow for out in outs]),
        config.mode if mode is None else mode,
        config.profile if profile is None else profile,
        trust_input,
        config.override,
    )
    key = request_key(request)
    known = None if key is None else recalled_function(request, key, start)
    if known is not None:
        return known
    with collecting_rarely():
        from lamella.runtime.derivation import compiled_function  # here, as what is in the cache is called without it
    return compiled_function(request, key, start)


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
