"""Reverse accumulation: from the cotangents of some Variables to those of others, one call of `Op.L_op` a node.

The graph is walked once forwards, to find what depends on the wanted Variables, and once backwards. A Variable's cotangent is the sum
of what its clients contribute; it is summed when the node that computes the Variable is reached, so each node is differentiated once.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from typing import Any

from lamella.collector import collecting_rarely
from lamella.errors import GradientNotImplementedError
from lamella.ir.autodiff.branches import ChoosesBranch, Guard, GuardedSums, chooses_branch, guardable
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.null_types import DisconnectedType, NullType
from lamella.ir.graph.origin import BUILT_FOR, users_line
from lamella.ir.graph.traversal import toposort
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import is_differentiable_dtype
from lamella.ir.tensor import functions as lt
from lamella.ir.tensor.variable import TensorVariable

__all__ = ["accumulate_cotangents", "disconnected"]


def disconnected() -> Variable[DisconnectedType]:
    """Return a cotangent that says: the cost does not depend on this."""
    return DisconnectedType()()


def _is_disconnected(variable: Variable[Any]) -> bool:
    return isinstance(variable.type, DisconnectedType)


def _is_null(variable: Variable[Any]) -> bool:
    return isinstance(variable.type, NullType)


def total_cotangent(terms: Sequence[Variable[Any]]) -> Variable[Any]:
    """Return the sum of cotangents of one Variable."""
    for term in terms:
        if _is_null(term):
            return term
    if len(terms) == 1:
        return terms[0]
    tensors = [term for term in terms if isinstance(term, TensorVariable)]
    if len(tensors) == len(terms):
        return lt.add(tensors[0], tensors[1], *tensors[2:])
    total: Variable[Any] = reduce(operator.add, terms)
    return total


def _dependants(
    order: Sequence[Apply[Any]], patterns: Mapping[Apply[Any], Sequence[Sequence[bool]]], wrt: Collection[Variable[Any]]
) -> set[Variable[Any]]:
    reached = set(wrt)
    for node in order:
        sources = [i for i, variable in enumerate(node.inputs) if variable in reached]
        if sources:
            pattern = patterns[node]
            reached.update([out for o, out in enumerate(node.outputs) if any([pattern[i][o] for i in sources])])
    return reached


def connection_pattern(node: Apply[Any]) -> Sequence[Sequence[bool]]:
    """Return the Op's connection pattern, checked for its form.

    Raises
    ------
    ValueError
        It is not a list, for each input, of a bool for each output.
    """
    pattern = node.op.connection_pattern(node)
    if len(pattern) != node.nin or any([len(row) != node.nout for row in pattern]):
        raise ValueError(
            f"the connection_pattern of {node.op} has not {node.nin} rows of {node.nout} entries: {pattern}"
        )
    return pattern


def accumulate_cotangents(
    seeds: Mapping[Variable[Any], Variable[Any]],
    wrt: Collection[Variable[Any]],
    stop_at: Collection[Variable[Any]] = (),
    start: Collection[Variable[Any]] = (),
) -> dict[Variable[Any], Variable[Any]]:
    """Return the cotangents of the Variables on the way from `seeds` back to `wrt`.

    Parameters
    ----------
    seeds
        Cotangents to begin with. A Variable among them receives nothing from its clients.
    wrt
        The Variables whose cotangents are wanted.
    stop_at
        Variables that count as constants.
    start
        Variables (at least those of `seeds`) whose graphs are walked.

    Returns
    -------
    dict
        Cotangents by Variable; one that is missing is disconnected. One of `NullType` says why there is none.

    Raises
    ------
    GradientNotImplementedError
        An Op on the way has no gradient; the message names it and the path that leads to it.
    ValueError, TypeError
        An Op's `L_op` gave something that is no cotangent of its inputs.
    """
    attributed = BUILT_FOR.set(users_line())
    try:
        with collecting_rarely():
            return _accumulate(seeds, wrt, stop_at, [*seeds, *start])
    finally:
        BUILT_FOR.reset(attributed)


def _accumulate(
    seeds: Mapping[Variable[Any], Variable[Any]],
    wrt: Collection[Variable[Any]],
    stop_at: Collection[Variable[Any]],
    ends: Sequence[Variable[Any]],
) -> dict[Variable[Any], Variable[Any]]:
    order = toposort(ends, stop_at)
    patterns = {node: connection_pattern(node) for node in order}
    reached = _dependants(order, patterns, wrt)
    if any([chooses_branch(node.op) for node in order]):
        return _accumulate_guarded(seeds, wrt, ends, order, patterns, reached)
    terms: dict[Variable[Any], list[Variable[Any]]] = {v: [cotangent] for v, cotangent in seeds.items()}
    totals: dict[Variable[Any], Variable[Any]] = {}

    def cotangent_of(variable: Variable[Any]) -> Variable[Any]:
        found = totals.get(variable)
        if found is None:
            contributions = terms.get(variable)
            found = totals[variable] = total_cotangent(contributions) if contributions else disconnected()
        return found

    for node in reversed(order):
        if not any([out in reached for out in node.outputs]):
            continue
        if not any([variable in reached for variable in node.inputs]):
            continue
        cotangents = [cotangent_of(out) for out in node.outputs]
        if all([_is_disconnected(c) for c in cotangents]):
            continue
        pattern = patterns[node]
        null = next((c for c in cotangents if _is_null(c)), None)
        if null is not None:
            results: Sequence[Variable[Any]] = [null] * node.nin
        else:
            results = _call_l_op(node, cotangents, ends)
        for i, (variable, result) in enumerate(zip(node.inputs, results, strict=True)):
            if variable not in reached or variable in seeds or _is_disconnected(result):
                continue
            live = [o for o, c in enumerate(cotangents) if pattern[i][o] and not _is_disconnected(c)]
            if live:
                terms.setdefault(variable, []).append(_fitting(node, i, variable, result))
    for variable in wrt:
        cotangent_of(variable)
    return {variable: total for variable, total in totals.items() if not _is_disconnected(total)}


def _accumulate_guarded(
    seeds: Mapping[Variable[Any], Variable[Any]],
    wrt: Collection[Variable[Any]],
    ends: Sequence[Variable[Any]],
    order: Sequence[Apply[Any]],
    patterns: Mapping[Apply[Any], Sequence[Sequence[bool]]],
    reached: Collection[Variable[Any]],
) -> dict[Variable[Any], Variable[Any]]:
    """Do the same for a graph with choices between branches: what only a branch contributes is computed only where it is taken."""
    sums = GuardedSums(seeds, total_cotangent)
    for node in reversed(order):
        places = [i for i, v in enumerate(node.inputs) if v in reached and v not in seeds]
        if not places or not any([out in reached for out in node.outputs]):
            continue
        guard, found = sums.of_outputs(node)
        cotangents = [disconnected() if c is None else c for c in found]
        if all([_is_disconnected(c) for c in cotangents]):
            continue
        null = next((c for c in cotangents if _is_null(c)), None)
        guards: dict[int, tuple[Guard, Variable[Any]]] = {}
        if null is None and isinstance(node.op, ChoosesBranch):
            for taken in (True, False):
                branch = node.op.branch(taken)
                guards |= {
                    i: (sums.under(guard, node, taken), c)
                    for i, c in zip(branch, cotangents, strict=True)
                    if guardable(node.inputs[i], c)
                }
        results: Sequence[Variable[Any]] = ()
        if null is not None:
            results = [null] * node.nin
        elif any([i not in guards for i in places]):
            results = _call_l_op(node, cotangents, ends)
        for i in places:
            variable = node.inputs[i]
            if i in guards:
                under, cotangent = guards[i]
                sums.add(variable, under, _fitting(node, i, variable, cotangent))
            elif not _is_disconnected(results[i]) and any(
                [patterns[node][i][o] and not _is_disconnected(c) for o, c in enumerate(cotangents)]
            ):
                sums.add(variable, guard, _fitting(node, i, variable, results[i]))
    totals = {variable: sums.unguarded(variable) for variable in wrt}
    return {v: total for v, total in totals.items() if total is not None and not _is_disconnected(total)}


def _call_l_op(
    node: Apply[Any], cotangents: Sequence[Variable[Any]], ends: Sequence[Variable[Any]]
) -> Sequence[Variable[Any]]:
    try:
        results = node.op.L_op(node.inputs, node.outputs, cotangents)
    except GradientNotImplementedError as error:
        error.add_note(f"on the path from the cost: {' <- '.join([str(other.op) for other in _path(ends, node)])}")
        if node.origin is not None:
            error.add_note(f"built at {node.origin}")
        raise
    if len(results) != node.nin:
        raise ValueError(f"L_op of {node.op} returned {len(results)} cotangents for {node.nin} inputs")
    for i, result in enumerate(results):
        _check_is_variable(node, i, result)
    return results


def _check_is_variable(node: Apply[Any], index: int, result: object) -> None:
    if not isinstance(result, Variable):
        raise TypeError(
            f"L_op of {node.op} returned {result!r} for input {index}; a Variable is expected "
            "(of DisconnectedType where the output does not depend on the input)"
        )


def _path(ends: Sequence[Variable[Any]], target: Apply[Any]) -> list[Apply[Any]]:
    """Return the nodes on one way from an end back to `target`."""
    came_from: dict[Apply[Any], Apply[Any] | None] = {}
    pending = [v.owner for v in ends if v.owner is not None]
    came_from.update(dict.fromkeys(pending))
    for node in pending:
        if node is target:
            break
        for variable in node.inputs:
            owner = variable.owner
            if owner is not None and owner not in came_from:
                came_from[owner] = node
                pending.append(owner)
    path: list[Apply[Any]] = []
    step: Apply[Any] | None = target
    while step is not None:
        path.append(step)
        step = came_from.get(step)
    return path[::-1]


def _fitting(node: Apply[Any], index: int, variable: Variable[Any], result: Variable[Any]) -> Variable[Any]:
    """Check a cotangent against the Variable it belongs to: number of dimensions, dtype, static shape."""
    if not isinstance(variable, TensorVariable) or not isinstance(result, TensorVariable):
        return result
    if result.ndim != variable.ndim:
        raise ValueError(
            f"L_op of {node.op} returned a cotangent of {result.ndim} dimensions for input {index}, which has {variable.ndim}"
        )
    if not is_differentiable_dtype(variable.dtype):
        return result
    fitting = result if result.dtype == variable.dtype else lt.cast(result, variable.dtype)
    return (
        fitting if variable.type.is_super(fitting.type) is not None else lt.specify_shape(fitting, variable.type.shape)
    )
