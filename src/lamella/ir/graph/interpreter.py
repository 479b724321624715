"""The reference interpreter: what a graph means.

It walks the nodes in order and calls `Op.perform`. Every other way of running a graph is compared with this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from lamella.errors import MissingInputError, OutputTypeError
from lamella.ir.graph.diagnostics import annotate_error
from lamella.ir.graph.on_demand import OnDemand
from lamella.ir.graph.traversal import ancestors, graph_inputs, toposort

if TYPE_CHECKING:
    from lamella.ir.graph.apply import Apply
    from lamella.ir.graph.variable import Variable

__all__ = ["NO_VALUE", "evaluate", "interpret", "perform_node"]

K = TypeVar("K", bound="Variable[Any] | str")

NO_VALUE: Final = object()
"""What a Variable that carries no value says of its value."""


def perform_node(node: Apply[Any], inputs: Sequence[Any]) -> list[Any]:
    """Compute the outputs of one node.

    Parameters
    ----------
    node
        The node.
    inputs
        Values of its inputs.

    Raises
    ------
    OutputTypeError
        The Op computed something that is not of the type it promised.
    Exception
        Whatever `Op.perform` raises, with notes that describe the node.
    """
    storage: list[list[Any]] = [[None] for _ in node.outputs]
    try:
        if node.op.makes_own_thunk:
            _run_thunk(node, inputs, storage)
        else:
            node.op.perform(node, inputs, storage)
        return [_checked(node, i, cell[0]) for i, cell in enumerate(storage)]
    except Exception as error:
        annotate_error(error, node, inputs)
        raise


def _run_thunk(node: Apply[Any], inputs: Sequence[Any], storage: Sequence[list[Any]]) -> None:
    cells = {variable: [value] for variable, value in zip(node.inputs, inputs, strict=True)}
    cells.update(zip(node.outputs, storage, strict=True))
    computed = {variable: [variable.owner is not node] for variable in cells}
    node.op.make_thunk(node, cells, computed)()


def _checked(node: Apply[Any], index: int, value: Any) -> Any:
    expected = node.outputs[index].type
    try:
        return expected.filter(value, strict=True)
    except (TypeError, ValueError) as error:
        raise OutputTypeError(
            f"output {index} of {node.op} is declared as {expected}, but perform stored {error}"
        ) from error


def interpret(
    inputs: Sequence[Variable[Any]],
    outputs: Sequence[Variable[Any]],
    values: Sequence[Any],
    order: Sequence[Apply[Any]] | None = None,
) -> list[Any]:
    """Compute `outputs`, given `values` of `inputs`.

    Parameters
    ----------
    inputs, outputs
        The ends of the graph.
    values
        A value for each input, as its Type wants them. An Op that works in place may change them.
    order
        The nodes in the order to run them; topological by default. Where a node is lazy (see `Op.required_inputs`), they run on demand.

    Raises
    ------
    MissingInputError
        A root has no value.
    """
    computed: dict[Variable[Any], Any] = dict(zip(inputs, values, strict=True))
    given = frozenset(inputs)
    nodes = toposort(outputs, inputs) if order is None else order

    def value_of(variable: Variable[Any], needed_by: object) -> Any:
        if variable in computed:
            return computed[variable]
        value = variable.stored_value()
        if value is NO_VALUE:
            raise MissingInputError(f"{variable!r} of type {variable.type} has no value, and {needed_by} needs it")
        return value

    if any([node.op.is_lazy for node in nodes]):
        OnDemand.of(nodes, inputs, outputs).run(computed, value_of, perform_node)
        return [value_of(variable, "the result") for variable in outputs]
    uses: dict[Variable[Any], int] = {}
    for node in nodes:
        for variable in node.inputs:
            uses[variable] = uses.get(variable, 0) + 1
    for variable in (*inputs, *outputs):
        uses[variable] = uses.get(variable, 0) + 1
    for node in nodes:
        results = perform_node(node, [value_of(variable, node.op) for variable in node.inputs])
        # One output of a node may be given, another one needed.
        wanted = [v in uses and v not in given for v in node.outputs]
        computed.update(compress(zip(node.outputs, results, strict=True), wanted))
        for variable in node.inputs:
            uses[variable] -= 1
            if not uses[variable]:
                computed.pop(variable, None)
    return [value_of(variable, "the result") for variable in outputs]


def evaluate(outputs: Sequence[Variable[Any]], inputs_to_values: Mapping[K, object]) -> list[Any]:
    """Compute Variables, given values of the graph's inputs.

    Parameters
    ----------
    outputs
        The Variables to compute.
    inputs_to_values
        Values by Variable, or by the name of a Variable that the outputs depend on. They are converted as `Type.filter` does.

    Returns
    -------
    list
        The values. They are the caller's own: they share memory neither with one another nor with the values of constants and shared
        variables. No value given or stored is changed, even by an Op that works in place.

    Raises
    ------
    MissingInputError
        A root has no value, or a name is that of no Variable of the graph.
    ValueError
        Several Variables have the name.
    TypeError
        A value does not fit the type of its Variable.
    """
    given: dict[Variable[Any], Any] = {}
    for key, value in inputs_to_values.items():
        variable: Variable[Any] = _named_ancestor(outputs, key) if isinstance(key, str) else key
        given[variable] = _fitting(variable, value)
    order = toposort(outputs, given)
    stored = {v: v.stored_value() for v in graph_inputs(outputs, given) if v.carries_value and v not in given}
    if any(node.op.destroy_map for node in order):
        given.update({variable: variable.type.copy_value(value) for variable, value in stored.items()})
    results = interpret(list(given), outputs, list(given.values()), order)
    taken = list(stored.values())
    for i, (out, result) in enumerate(zip(outputs, results, strict=True)):
        if any(
            result is value or out.type.may_share_memory(result, value) for value in taken
        ):  # empty arrays share none
            results[i] = out.type.copy_value(result)
        taken.append(results[i])
    return results


def _fitting(variable: Variable[Any], value: object) -> Any:
    try:
        return variable.type.copy_value(variable.type.filter(value))
    except (TypeError, ValueError) as error:
        error.add_note(f"as a value of {variable!r} of type {variable.type}")
        raise


def _named_ancestor(outputs: Sequence[Variable[Any]], name: str) -> Variable[Any]:
    from_name = [variable for variable in ancestors(outputs) if variable.name == name]
    if not from_name:
        raise MissingInputError(f"no variable of the graph is named {name!r}")
    if len(from_name) > 1:
        raise ValueError(f"{len(from_name)} variables of the graph are named {name!r}; give the Variable itself")
    return from_name[0]
