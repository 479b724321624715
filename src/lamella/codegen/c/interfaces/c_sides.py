"""The C sides of this package's own Types, which know nothing of C: a table from classes of Types to `CLinkerType`.

An array is a ``PyArrayObject *``, a number its NumPy C type, any other object a ``PyObject *``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, final

import attrs
import numpy as np
from typing_extensions import TypeVar, override

from lamella.codegen.c.interfaces.linker_object import CLinkerType
from lamella.errors import LoweringError
from lamella.ir import Generic, NoneTypeT, ScalarType, SliceType, TensorType, Type

__all__ = ["c_side", "c_type", "dtype_specs"]

TypeT = TypeVar("TypeT", bound=Type[Any])


def dtype_specs(type: Type[Any] | str) -> tuple[type[np.generic], str, str]:
    """Return NumPy's class, C type and type number (``"NPY_FLOAT64"``) of the elements of a Type, or of a dtype.

    Raises
    ------
    TypeError
        Values of the Type have no dtype.
    """
    dtype = type if isinstance(type, str) else getattr(type, "dtype", None)
    if not isinstance(dtype, str):
        raise TypeError(f"values of type {type} have no dtype")
    return np.dtype(dtype).type, f"npy_{dtype}", f"NPY_{dtype.upper()}"


@final
@attrs.frozen
class _ArraySide(CLinkerType):
    """``PyArrayObject *``; ``dtype_<name>`` is the C type of its elements."""

    type: TensorType

    @override
    def c_declare(self, name: str, sub: Mapping[str, str], check_input: bool = True) -> str:
        return f"typedef {self.c_element_type()} dtype_{name} __attribute__((unused));\nPyArrayObject *{name};"

    @override
    def c_init(self, name: str, sub: Mapping[str, str]) -> str:
        return f"{name} = NULL;"

    @override
    def c_extract(self, name: str, sub: Mapping[str, str], check_input: bool = True, **kwargs: Any) -> str:
        _, _, typenum = dtype_specs(self.type)
        checks = ""
        if check_input:
            ndim = self.type.ndim
            expected = f"an array of dtype {self.type.dtype} and {ndim} dimensions is expected"
            wrong = f"!PyArray_Check(py_{name})"
            array = f"(PyArrayObject *)py_{name}"
            wrong += f" || PyArray_NDIM({array}) != {ndim} || !PyArray_EquivTypenums(PyArray_TYPE({array}), {typenum})"
            checks = f'if ({wrong}) {{\nPyErr_SetString(PyExc_TypeError, "{expected}");\n{sub["fail"]}\n}}\n'
        return f"{name} = NULL;\n{checks}{name} = (PyArrayObject *)Py_NewRef(py_{name});"

    @override
    def c_sync(self, name: str, sub: Mapping[str, str]) -> str:
        return f"Py_XDECREF(py_{name});\npy_{name} = Py_NewRef({name} == NULL ? Py_None : (PyObject *){name});"

    @override
    def c_cleanup(self, name: str, sub: Mapping[str, str]) -> str:
        return f"Py_XDECREF({name});"

    @override
    def c_element_type(self) -> str:
        return dtype_specs(self.type)[1]


@final
@attrs.frozen
class _NumberSide(CLinkerType):
    """The C type of the number."""

    type: ScalarType

    @override
    def c_declare(self, name: str, sub: Mapping[str, str], check_input: bool = True) -> str:
        return f"typedef {self.c_element_type()} dtype_{name} __attribute__((unused));\n{self.c_element_type()} {name};"

    @override
    def c_init(self, name: str, sub: Mapping[str, str]) -> str:
        return f"memset(&{name}, 0, sizeof({name}));"

    @override
    def c_extract(self, name: str, sub: Mapping[str, str], check_input: bool = True, **kwargs: Any) -> str:
        dtype = self.type.dtype
        scalar = f"UI{dtype[2:]}" if dtype.startswith("uint") else dtype.capitalize()
        check = ""
        if check_input:
            message = f"a NumPy scalar of dtype {self.type.dtype} is expected"
            check = (
                f"if (!PyArray_IsScalar(py_{name}, {scalar})) {{\n"
                f'PyErr_SetString(PyExc_TypeError, "{message}");\n{sub["fail"]}\n}}\n'
            )
        return f"{self.c_init(name, sub)}\n{check}PyArray_ScalarAsCtype(py_{name}, &{name});"

    @override
    def c_sync(self, name: str, sub: Mapping[str, str]) -> str:
        _, _, typenum = dtype_specs(self.type)
        return (
            f"{{\nPyArray_Descr *const descr_{name} = PyArray_DescrFromType({typenum});\n"
            f"Py_XDECREF(py_{name});\npy_{name} = PyArray_Scalar(&{name}, descr_{name}, NULL);\nPy_DECREF(descr_{name});\n}}"
        )

    @override
    def c_element_type(self) -> str:
        return dtype_specs(self.type)[1]

    @override
    def c_is_simple(self) -> bool:
        return True

    @override
    def c_literal(self, data: Any) -> str:
        from_c = np.asarray(data).astype(self.type.dtype)[()]
        if from_c.dtype.kind == "c":
            raise LoweringError("complex numbers have no literals in C")
        return repr(float(from_c)) if from_c.dtype.kind == "f" else str(int(from_c))


@final
@attrs.frozen
class _ObjectSide(CLinkerType):
    """``PyObject *``."""

    type: Type[Any]

    @override
    def c_declare(self, name: str, sub: Mapping[str, str], check_input: bool = True) -> str:
        return f"PyObject *{name};"

    @override
    def c_init(self, name: str, sub: Mapping[str, str]) -> str:
        return f"{name} = NULL;"

    @override
    def c_extract(self, name: str, sub: Mapping[str, str], check_input: bool = True, **kwargs: Any) -> str:
        return f"{name} = Py_NewRef(py_{name});"

    @override
    def c_sync(self, name: str, sub: Mapping[str, str]) -> str:
        return f"Py_XDECREF(py_{name});\npy_{name} = Py_NewRef({name} == NULL ? Py_None : {name});"

    @override
    def c_cleanup(self, name: str, sub: Mapping[str, str]) -> str:
        return f"Py_XDECREF({name});"


@final
class CSideTable:
    """The C sides of classes of Types that do not have one themselves."""

    def __init__(self) -> None:
        self._functions: dict[type, Callable[..., CLinkerType]] = {
            TensorType: _ArraySide,
            ScalarType: _NumberSide,
            Generic: _ObjectSide,
            NoneTypeT: _ObjectSide,
            SliceType: _ObjectSide,
        }
        self._guard = threading.Lock()

    def register(
        self, *classes: type[TypeT]
    ) -> Callable[[Callable[[TypeT], CLinkerType]], Callable[[TypeT], CLinkerType]]:
        """Return a decorator that makes a function give the C side of Types of some classes."""

        def decorate(function: Callable[[TypeT], CLinkerType]) -> Callable[[TypeT], CLinkerType]:
            with self._guard:
                self._functions = {**self._functions, **dict.fromkeys(classes, function)}
            return function

        return decorate

    def get(self, type_: Type[Any]) -> CLinkerType:
        """Return the C side of a Type: itself, where it is a `CLinkerType`.

        Raises
        ------
        LoweringError
            It has none.
        """
        if isinstance(type_, CLinkerType):
            return type_
        functions = self._functions
        for base in type(type_).__mro__:
            found = functions.get(base)
            if found is not None:
                return found(type_)
        raise LoweringError(f"values of type {type_} have no C side")


c_type: Final = CSideTable()
"""The C sides of Types that know no C: ``@c_type.register(MyType)``."""


def c_side(type: Type[Any]) -> CLinkerType:
    """Return the C side of a Type.

    Raises
    ------
    LoweringError
        It has none.
    """
    return c_type.get(type)
