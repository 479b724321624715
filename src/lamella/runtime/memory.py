"""`memory_use`: how many bytes a call of a compiled function allocates, and how many it would without what the analysis found.

The graph is run once, in Python, on copies of the values, to learn how large arrays are; then the schedule is gone through: each array that
has memory of its own needs a buffer; one that nobody needs any more serves again.
"""

from __future__ import annotations

from typing import Any, final

import attrs
from typing_extensions import override

from lamella.ir import Variable, perform_node
from lamella.runtime.compiled_function import Function
from lamella.typing_layer import ScheduledGraph

__all__ = ["MemoryUse", "memory_use"]


@final
@attrs.frozen
class MemoryUse:
    """Bytes of one call.

    Attributes
    ----------
    computed
        Of all arrays that nodes return, views and overwritten inputs included: what would be allocated if no array shared memory.
    requested
        Of the arrays that have memory of their own.
    allocated
        Of the buffers that hold these, where a buffer serves again once nobody needs what is in it.
    returned
        Of the part of these that callers receive.
    """

    computed: int
    requested: int
    allocated: int
    returned: int

    @override
    def __str__(self) -> str:
        return (
            f"{self.allocated} bytes allocated ({self.returned} of them returned) for {self.requested} bytes of arrays with memory of "
            f"their own, {self.computed} bytes in all"
        )


def memory_use(function: Function, *values: Any) -> MemoryUse:
    """Return the bytes that a call of a function allocates.

    Parameters
    ----------
    function
        The function. It is not called: shared variables stay what they are.
    *values
        Values of its inputs, in order. They are not overwritten.

    Raises
    ------
    TypeError
        A value does not fit the Type of its input, or there are not as many as inputs.

    Examples
    --------
    >>> import lamella.tensor as lt
    >>> from lamella.runtime import function
    >>> x = lt.vector("x")
    >>> memory_use(function([x], lt.exp(x) * 2 + 1), [0.0] * 100).allocated
    800
    """
    if len(values) != len(function.inputs):
        raise TypeError(f"{len(function.inputs)} values are expected, one for each input, not {len(values)}")
    given = [spec.variable.type.filter(value) for spec, value in zip(function.inputs, values, strict=True)]
    given += [variable.cell.value for variable in function.shared_variables]
    variables = function.fgraph.inputs
    copies = [v.type.copy_value(value) for v, value in zip(variables, given, strict=True)]
    return _counted(function.scheduled, _sizes(function.scheduled, copies))


def _sizes(scheduled: ScheduledGraph, values: list[Any]) -> dict[Variable[Any], int]:
    """Run a graph; return the bytes of each computed value."""
    known: dict[Variable[Any], Any] = dict(zip(scheduled.fgraph.inputs, values, strict=True))
    sizes: dict[Variable[Any], int] = {}
    for node, dead in zip(scheduled.order, scheduled.storage.last_read_after, strict=True):
        inputs = [known[v] if v in known else v.stored_value() for v in node.inputs]
        for variable, value in zip(node.outputs, perform_node(node, inputs), strict=True):
            known[variable] = value
            sizes[variable] = int(getattr(value, "nbytes", 0))
        for variable in dead:
            del known[variable]
    return sizes


def _counted(scheduled: ScheduledGraph, sizes: dict[Variable[Any], int]) -> MemoryUse:
    aliases, storage = scheduled.aliases, scheduled.storage
    buffers: dict[Variable[Any], int] = {}
    free: list[int] = []
    requested = allocated = returned = 0
    for node, dead in zip(scheduled.order, storage.dies_after, strict=True):
        for variable in node.outputs:
            if not aliases.is_fresh(variable):
                continue
            size = sizes[variable]
            requested += size
            fitting = [] if variable in storage.escaping else [buffer for buffer in free if buffer >= size]
            if fitting:
                buffers[variable] = min(fitting)
                free.remove(buffers[variable])
                continue
            allocated += size
            buffers[variable] = size
            if variable in storage.escaping:
                returned += size
        free.extend([buffers.pop(variable) for variable in dead if variable in buffers])
    return MemoryUse(sum(sizes.values()), requested, allocated, returned)
