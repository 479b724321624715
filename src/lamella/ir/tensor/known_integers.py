"""What is known, while a graph is built, of integers that are lengths: static shapes are made from it.

Small integer arrays are looked at element by element: constants, lengths of arrays, arithmetic on known ones, and Ops that only move
elements (indexing, joining). Of ``stack([x.shape[0], 2 * 3])`` the elements are the length of ``x`` and 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol, TypeGuard, final, runtime_checkable

import attrs
import numpy as np
import numpy.typing as npt

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.op import Op
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import BOOL_DTYPES, INTEGER_DTYPES
from lamella.ir.tensor.elemwise import Elemwise
from lamella.ir.tensor.shape import Shape, Shape_i, shape_i
from lamella.ir.tensor.variable import TensorConstant, TensorVariable

__all__ = ["Element", "MovesElements", "elements", "known_integer", "known_integers"]

_MOST_NODES: Final = 64
_MOST_ELEMENTS: Final = 64

Element = int | TensorVariable | None
"""An element of an integer array: its value; else the int64 scalar Variable that it equals; else None."""


@runtime_checkable
class MovesElements(Protocol):
    """An Op whose results are made of elements of some inputs, unchanged: what is known of the elements is known of the results."""

    def moved_inputs(self, node: Apply[Any]) -> Sequence[int]:
        """Return the indices of the inputs whose elements are moved; all others say where to."""


def moves_elements(op: Op[Any, Any]) -> TypeGuard[MovesElements]:
    """Whether an Op only moves elements: what `isinstance` says of the protocol, faster."""
    return callable(getattr(type(op), "moved_inputs", None))


def elements(variable: TensorVariable) -> npt.NDArray[Any] | None:
    """Return what is known of the elements of an integer array.

    Parameters
    ----------
    variable
        Any tensor Variable.

    Returns
    -------
    numpy.ndarray or None
        An array of dtype object and the right shape, which holds an `Element` each; None where nothing is known.
    """
    if variable.dtype not in INTEGER_DTYPES + BOOL_DTYPES:
        return None
    search = _Search()
    found = search.run(variable)
    if found is None:
        return None
    result = np.empty(found.shape, dtype=object)
    for place, number in np.ndenumerate(found):
        result[place] = search.elements[number]
    return result


def known_integer(variable: TensorVariable) -> int | None:
    """Return the value of an integer scalar where it is known while the graph is built, else None."""
    if isinstance(variable, TensorConstant) and variable.ndim == 0 and variable.dtype in INTEGER_DTYPES:
        return int(variable.data)  # almost always, as is what follows
    if variable.ndim != 0 or variable.owner is None or isinstance(variable.owner.op, Shape_i):
        return None
    found = elements(variable)
    return found.item() if found is not None and isinstance(found.item(), int) else None


def known_integers(vector: TensorVariable) -> tuple[int | None, ...] | None:
    """Return the elements of an integer vector, each a value or None; None where not even the length is known."""
    found = elements(vector) if vector.ndim == 1 else None
    if found is not None:
        return tuple([element if isinstance(element, int) else None for element in found])
    length = vector.type.shape[0] if vector.ndim == 1 else None
    return None if length is None else (None,) * length


@final
@attrs.define(eq=False)
class _Search:
    """One look at a small graph. Arrays of elements are arrays of int64 numbers into `elements`, so that Ops can move them."""

    elements: list[Element] = attrs.field(factory=list)
    found: dict[Variable[Any], npt.NDArray[np.int64] | None] = attrs.field(factory=dict)

    def run(self, variable: TensorVariable) -> npt.NDArray[np.int64] | None:
        stack: list[TensorVariable] = [variable]
        opened: set[Variable[Any]] = set()
        while stack:
            top = stack[-1]
            if top in self.found:
                stack.pop()
            elif top in opened:
                self.found[top] = self._computed(top)
                stack.pop()
            elif len(opened) < _MOST_NODES:
                opened.add(top)
                stack.extend([v for v in self._needed(top) if v not in self.found and v not in opened])
            else:
                self.found[top] = self._unknown(top)
                stack.pop()
        return self.found[variable]

    def _needed(self, variable: TensorVariable) -> list[TensorVariable]:
        node = variable.owner
        if node is None or len(node.outputs) != 1 or not (isinstance(node.op, Elemwise) or moves_elements(node.op)):
            return []
        return [v for v in node.inputs if isinstance(v, TensorVariable) and v.dtype in INTEGER_DTYPES + BOOL_DTYPES]

    def _numbers(self, values: Sequence[Element], shape: Sequence[int]) -> npt.NDArray[np.int64]:
        first = len(self.elements)
        self.elements.extend(values)
        return np.arange(first, len(self.elements), dtype=np.int64).reshape(shape)

    def _unknown(self, variable: TensorVariable) -> npt.NDArray[np.int64] | None:
        if variable.ndim == 0:
            return self._numbers([variable if variable.dtype == "int64" else None], ())
        lengths = [length for length in variable.type.shape if length is not None]
        if len(lengths) < variable.ndim or np.prod(lengths) > _MOST_ELEMENTS:
            return None
        return self._numbers([None] * int(np.prod(lengths)), lengths)

    def _is_known(self, scalar: Variable[Any]) -> bool:
        numbers = self.found.get(scalar)
        return numbers is not None and isinstance(self.elements[int(numbers)], int)

    def _values(self, numbers: npt.NDArray[np.int64], dtype: str) -> npt.NDArray[Any] | None:
        values = [self.elements[number] for number in numbers.flat]
        if not all(isinstance(value, int) for value in values):
            return None
        return np.array(values, dtype=dtype).reshape(numbers.shape)

    def _computed(self, variable: TensorVariable) -> npt.NDArray[np.int64] | None:
        if isinstance(variable, TensorConstant):
            if variable.data.size > _MOST_ELEMENTS:
                return None
            return self._numbers([int(value) for value in variable.data.flat], variable.data.shape)
        node = variable.owner
        result: npt.NDArray[np.int64] | None = None
        if node is not None and isinstance(node.op, Shape):
            x = node.inputs[0]
            lengths = x.type.shape
            known = [shape_i(x, i) if a is None and isinstance(x, TensorVariable) else a for i, a in enumerate(lengths)]
            result = self._numbers(known, (len(known),))
        elif node is not None and len(node.outputs) == 1 and variable.dtype in INTEGER_DTYPES + BOOL_DTYPES:
            if isinstance(node.op, Elemwise):
                result = self._elementwise(node, variable)
            elif moves_elements(node.op):
                result = self._moved(node, node.op.moved_inputs(node), variable)
        if result is None or result.size > _MOST_ELEMENTS:
            return self._unknown(variable)
        return result

    def _elementwise(self, node: Apply[Any], variable: TensorVariable) -> npt.NDArray[np.int64] | None:
        if variable.ndim == 0 and not all([self._is_known(input) for input in node.inputs]):
            return self._unknown(variable)  # as is found below, but this is most of what there is to look at
        values: list[npt.NDArray[Any]] = []
        known: list[npt.NDArray[np.bool_]] = []
        for input in node.inputs:
            numbers = self.found.get(input)
            if numbers is None:
                return None
            found = [self.elements[number] for number in numbers.flat]
            known.append(np.array([isinstance(e, int) for e in found], dtype=bool).reshape(numbers.shape))
            filled = [e if isinstance(e, int) else 1 for e in found]
            values.append(np.array(filled, dtype=input.type.dtype).reshape(numbers.shape))
        result = _performed(node, values)
        if result is None:
            return None
        whole = np.broadcast_to(np.all(np.broadcast_arrays(*known), axis=0), result.shape)
        scalar = variable if variable.ndim == 0 and variable.dtype == "int64" else None
        return self._numbers(
            [int(value) if sure else scalar for value, sure in zip(result.flat, whole.flat, strict=True)], result.shape
        )

    def _moved(self, node: Apply[Any], moved: Sequence[int], variable: TensorVariable) -> npt.NDArray[np.int64] | None:
        if np.dtype(variable.dtype).itemsize == 1:
            return None  # the numbers of elements would not fit
        arrays: list[npt.NDArray[Any]] = []
        for i, input in enumerate(node.inputs):
            numbers = self.found.get(input)
            array = numbers if numbers is None or i in moved else self._values(numbers, input.type.dtype)
            if array is None:
                return None
            arrays.append(array)
        result = _performed(node, arrays)
        return None if result is None else np.array(result, dtype=np.int64)


def _performed(node: Apply[Any], values: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any] | None:
    cell: list[Any] = [None]
    try:
        node.op.perform(node, values, [cell])
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return None  # it will raise again when it runs, with all that can be said
    return np.asarray(cell[0])
