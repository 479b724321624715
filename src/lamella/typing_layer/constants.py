"""Constants: values that are known while a graph is rewritten, though no node of it may be a Constant.

    constant_value(stack([x.shape[1], 2 * 3]))     [5, 6], for x of type (None, 5)
    uniform_value(zeros_like(x) + 1.0)             1.0, whatever the shape of x

Both speak of the value that the Variable has whenever it can be computed; that computing it may raise an error (lengths that do not
fit) they do not say.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lamella.ir import (
    Alloc,
    Apply,
    CAReduce,
    Elemwise,
    Second,
    Shape,
    Shape_i,
    SpecifyShape,
    TensorConstant,
    TensorType,
    TensorVariable,
    Unbroadcast,
    Variable,
    known_integer,
    known_integers,
    moves_elements,
    perform_node,
)
from lamella.typing_layer.facts import Fact, Rule
from lamella.typing_layer.shape import static_shape

__all__ = ["constant_value", "uniform_value"]

Array = npt.NDArray[Any]
AnyVariable = Variable[Any]

_MOST_ELEMENTS: Final = 64
_MOST_ELEMENTS_COMPARED: Final = 1 << 16


def constant_value(variable: TensorVariable) -> Array | None:
    """Return the value of a tensor where it is known before the graph runs, else None.

    Constants are followed through cheap Ops (elementwise, moving elements, reductions, shapes) as long as there are few elements.

    Parameters
    ----------
    variable
        The tensor.

    Returns
    -------
    numpy.ndarray or None
        A read-only array of the Variable's dtype.
    """
    return _values.of(variable)


def uniform_value(variable: TensorVariable) -> Array | None:
    """Return the value that all elements of a tensor have, where that is known before the graph runs, else None.

    The shape need not be known. Values count as equal if their bits are.

    Parameters
    ----------
    variable
        The tensor.

    Returns
    -------
    numpy.ndarray or None
        A read-only 0-d array of the Variable's dtype.
    """
    return _uniform_values.of(variable)


def _read_only(value: Array) -> Array:
    private = np.array(value)
    private.setflags(write=False)
    return private


def _performed(node: Apply[Any], values: list[Array]) -> Array | None:
    try:
        with np.errstate(all="ignore"):
            return _read_only(perform_node(node, values)[0])
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return None  # it will raise again when the graph runs, with all that can be said


def _value(variable: AnyVariable) -> Rule[AnyVariable, Array | None]:
    if isinstance(variable, TensorConstant):
        return _read_only(variable.data) if variable.data.flags.writeable else variable.data
    node = variable.owner
    if node is None or not isinstance(variable, TensorVariable) or len(node.outputs) != 1:
        return None
    if isinstance(node.op, Shape | Shape_i):
        lengths = static_shape(node.inputs[0])
        if isinstance(node.op, Shape_i):
            lengths = lengths[node.op.axis : node.op.axis + 1]
        return None if None in lengths else _read_only(np.array(lengths, dtype="int64").reshape(variable.ndim * (-1,)))
    shape = variable.type.shape
    known = [length for length in shape if length is not None]
    size = int(np.prod(known, dtype=np.float64)) if len(known) == len(shape) else _MOST_ELEMENTS + 1
    if size > _MOST_ELEMENTS:
        return None
    uniform = uniform_value(variable)
    if uniform is not None:
        return _read_only(np.full(known, uniform))
    # Elements are looked at one by one here: some may be known though not all of what they were taken from are.
    integers = known_integers(variable) if variable.ndim else (known_integer(variable),)
    if variable.ndim < 2 and integers is not None and None not in integers:
        return _read_only(np.array(integers, dtype=variable.dtype).reshape(known))
    if not isinstance(node.op, Alloc | CAReduce | Elemwise | SpecifyShape | Unbroadcast) and not moves_elements(
        node.op
    ):
        return None
    values: list[Array] = []
    for source in node.inputs:
        value = yield source
        if value is None or value.size > _MOST_ELEMENTS:
            return None
        values.append(value)
    return _performed(node, values)


def _uniform(variable: AnyVariable) -> Rule[AnyVariable, Array | None]:
    if isinstance(variable, TensorConstant):
        return _uniform_element(variable.data)
    node = variable.owner
    if node is None or not isinstance(variable.type, TensorType) or len(node.outputs) != 1:
        return None
    op = node.op
    if isinstance(op, Elemwise):
        if isinstance(op.scalar_op, Second):
            return (yield node.inputs[1])
        values: list[Array] = []
        for source in node.inputs:
            value = yield source
            if value is None:
                return None
            values.append(value)
        try:
            return _read_only(op.scalar_op.compute(values)[0].astype(variable.type.dtype))
        except (ArithmeticError, TypeError, ValueError):
            return None  # it will raise again when the graph runs, with all that can be said
    if isinstance(op, Alloc | SpecifyShape | Unbroadcast):
        return (yield node.inputs[0])
    if moves_elements(op):
        common: Array | None = None
        for place in op.moved_inputs(node):
            value = yield node.inputs[place]
            if value is None or (common is not None and value.tobytes() != common.tobytes()):
                return None
            common = value
        return common if common is None or common.dtype == variable.type.dtype else None
    return None


def _uniform_element(data: Array) -> Array | None:
    if data.size == 0 or data.size > _MOST_ELEMENTS_COMPARED:
        return None
    first = data.reshape(-1)[:1]
    return _read_only(first.reshape(())) if data.tobytes() == first.tobytes() * data.size else None


_values: Fact[AnyVariable, Array | None] = Fact(_value, circular=None)
_uniform_values: Fact[AnyVariable, Array | None] = Fact(_uniform, circular=None)
