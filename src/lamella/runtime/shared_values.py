"""`shared`: Variables whose value lives from call to call."""

from __future__ import annotations

import copy
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from lamella.ir import SharedVariable, StaticShape, StorageCell, TensorSharedVariable, TensorType, Type

__all__ = ["shared"]


@overload
def shared(
    value: npt.NDArray[Any] | np.generic | bool | int | float | complex | list[Any] | tuple[Any, ...],
    name: str | None = None,
    borrow: bool = False,
    shape: StaticShape | None = None,
    type: None = None,
) -> TensorSharedVariable: ...


@overload
def shared(
    value: Any, name: str | None = None, borrow: bool = False, shape: None = None, *, type: Type[Any]
) -> SharedVariable[Any]: ...


def shared(
    value: Any,
    name: str | None = None,
    borrow: bool = False,
    shape: StaticShape | None = None,
    type: Type[Any] | None = None,
) -> SharedVariable[Any]:
    """Make a shared variable.

    Parameters
    ----------
    value
        The first value; later ones must be of the same dtype and number of dimensions.
    name
        A name for people.
    borrow
        Use the very array, instead of a copy.
    shape
        Static lengths; all unknown by default, since a later value may have others.
    type
        The Type, for values that are no arrays of numbers.

    Raises
    ------
    TypeError
        The value is no array of numbers and no Type is given, or it does not fit the Type.

    Examples
    --------
    >>> state = shared(0.0, name="state")
    >>> state.set_value(2.0)
    >>> float(state.get_value())
    2.0
    """
    if type is not None and not isinstance(type, TensorType):
        fitting = type.filter(value)
        return SharedVariable(type, StorageCell(fitting if borrow else copy.deepcopy(fitting)), name)
    array = np.asarray(value)
    if array.dtype == object:
        raise TypeError(f"{value!r} is no array of numbers; give the type= of what is shared")
    tensor_type = type or TensorType(array.dtype, (None,) * array.ndim if shape is None else shape)
    fitting = tensor_type.filter(array)
    return TensorSharedVariable(tensor_type, StorageCell(fitting if borrow else np.array(fitting)), name)
