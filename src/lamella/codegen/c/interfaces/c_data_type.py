"""`CDataType`: a pointer of C's, passed from Op to Op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, final

from typing_extensions import override

from lamella.codegen.c.interfaces.linker_object import CLinkerType
from lamella.ir import Type

__all__ = ["CDataType"]


@final
class CDataType(Type[object], CLinkerType):
    """A pointer that C code of Ops makes and others use; in Python a capsule (``PyCapsule``), or None for NULL.

    Parameters
    ----------
    ctype
        The C type of the pointer, such as ``"FILE *"``.
    freefunc
        The C function that frees what it points to, once nobody has the capsule; None for what is not to be freed.
    headers, header_dirs, libraries, lib_dirs, compile_args, extra_support_code
        What C code needs to know the type; see `CLinkerObject`.
    version
        A part of the key of the compiled code.
    """

    __props__: ClassVar[tuple[str, ...] | None] = ("ctype", "freefunc")

    def __init__(
        self,
        ctype: str,
        freefunc: str | None = None,
        headers: Sequence[str] = (),
        header_dirs: Sequence[str] = (),
        libraries: Sequence[str] = (),
        lib_dirs: Sequence[str] = (),
        compile_args: Sequence[str] = (),
        extra_support_code: str = "",
        version: int | None = None,
    ) -> None:
        self.ctype = ctype
        self.freefunc = freefunc
        self.headers = tuple(headers)
        self.header_dirs = tuple(header_dirs)
        self.libraries = tuple(libraries)
        self.lib_dirs = tuple(lib_dirs)
        self.compile_args = tuple(compile_args)
        self.extra_support_code = extra_support_code
        self.version = version

    @override
    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> object:
        """Return the capsule, or None.

        Raises
        ------
        TypeError
            It is something else.
        """
        if value is not None and type(value).__name__ != "PyCapsule":
            raise TypeError(f"a capsule with a pointer of type {self.ctype} or None is expected, not {value!r}")
        return value

    @override
    def copy_value(self, value: object) -> object:
        """Return the capsule itself: nobody knows how to copy what it points to."""
        return value

    @override
    def c_declare(self, name: str, sub: Mapping[str, str], check_input: bool = True) -> str:
        return f"{self.ctype} {name};"

    @override
    def c_init(self, name: str, sub: Mapping[str, str]) -> str:
        return f"{name} = NULL;"

    @override
    def c_extract(self, name: str, sub: Mapping[str, str], check_input: bool = True, **kwargs: Any) -> str:
        pointer = f"({self.ctype})PyCapsule_GetPointer(py_{name}, NULL)"
        return f"{name} = py_{name} == Py_None ? NULL : {pointer};\nif (PyErr_Occurred()) {sub['fail']}"

    @override
    def c_sync(self, name: str, sub: Mapping[str, str]) -> str:
        capsule = f"PyCapsule_New((void *){name}, NULL, {'NULL' if self.freefunc is None else 'lm_free_capsule'})"
        if self.freefunc is None:
            made = f"py_{name} = {capsule};\nif (py_{name} == NULL) {sub['fail']}"
        else:
            context = f"PyCapsule_SetContext(py_{name}, (void *){self.freefunc})"
            made = f"py_{name} = {capsule};\nif (py_{name} == NULL || {context} < 0) {{ {self.freefunc}({name}); {sub['fail']} }}"
        return f"Py_CLEAR(py_{name});\nif ({name} == NULL) py_{name} = Py_NewRef(Py_None);\nelse {{\n{made}\n}}"

    @override
    def c_support_code(self, **kwargs: Any) -> list[str]:
        free = (
            "static void lm_free_capsule(PyObject *const capsule)\n{\n"
            "void (*const function)(void *) = (void (*)(void *))PyCapsule_GetContext(capsule);\n"
            "if (function != NULL) function(PyCapsule_GetPointer(capsule, NULL));\n}"
        )
        return [*([] if self.freefunc is None else [free]), self.extra_support_code]

    @override
    def c_headers(self, **kwargs: Any) -> tuple[str, ...]:
        return self.headers

    @override
    def c_header_dirs(self, **kwargs: Any) -> tuple[str, ...]:
        return self.header_dirs

    @override
    def c_libraries(self, **kwargs: Any) -> tuple[str, ...]:
        return self.libraries

    @override
    def c_lib_dirs(self, **kwargs: Any) -> tuple[str, ...]:
        return self.lib_dirs

    @override
    def c_compile_args(self, **kwargs: Any) -> tuple[str, ...]:
        return self.compile_args

    @override
    def c_code_cache_version(self) -> tuple[int, ...]:
        return () if self.version is None else (self.version,)

    @override
    def __str__(self) -> str:
        return f"CDataType({self.ctype})"
