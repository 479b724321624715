"""Functions of C libraries by their declarations: found by cffi for Python, and called from C units.

"double hypot(double, double)", None                 a function of C's own
"double f(double)", "/opt/libf.so"                   of a shared library
"double f(double)", "double f(double x) {...}"       of a C text, which is compiled
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import attrs
from typing_extensions import override

from lamella.codegen.c.cache import default_cache
from lamella.codegen.c.driver import find_compiler, optimising_flags
from lamella.codegen.c.dtypes import C_DTYPES
from lamella.codegen.c.interfaces.complex_arguments import COMPLEX_NUMBERS, caller_by_pointers, function_of_parts
from lamella.codegen.c.unit import UserText
from lamella.errors import LoweringError

if TYPE_CHECKING:
    from cffi import FFI

__all__ = ["CFunction", "CParameter", "LibraryLike", "bind", "library_name"]

LibraryLike = str | os.PathLike[str] | object
"""The path of a shared library or a name that the system finds it by, a text of C that defines functions, or what cffi has loaded."""

# Every process that runs Python has the C library's functions of numbers; the name is for those that were linked without them.
_MATHS: Final = "libSystem.dylib" if sys.platform == "darwin" else "libm.so.6"

# Found as cffi finds it. A linker would find one function for two libraries that each have one of that name.
_POINTER: Final = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static {out} (*{name})({arguments});
__attribute__((constructor)) static void find_{name}(void)
{{
    void *const library = dlopen({place}, RTLD_NOW | RTLD_LOCAL);
    *(void **)&{name} = library != NULL ? dlsym(library, "{symbol}") : NULL;
    if ({name} == NULL) {{
        fprintf(stderr, "%s\\n", dlerror());
        abort();
    }}
}}
"""

_PLAIN: Final = {
    "float": "float32",
    "double": "float64",
    "_Bool": "bool",
    "_cffi_float_complex_t": "complex64",
    "_cffi_double_complex_t": "complex128",
}
_WRITTEN: Final = {"": "void", "bool": "_Bool", "complex64": "float _Complex", "complex128": "double _Complex"}
_INTEGER: Final = re.compile(
    r"(unsigned )?(short|int|long|long long)|(un)?signed char|u?int(_fast|_least)?\d+_t|u?int(ptr|max)_t|s?size_t|ptrdiff_t"
)
_WORDS_OF_TYPES: Final = frozenset(
    [
        "int",
        "char",
        "short",
        "long",
        "double",
        "float",
        "unsigned",
        "signed",
        "bool",
        "_Bool",
        "_Complex",
        "const",
        "restrict",
        "volatile",
    ]
)


@final
@attrs.frozen
class CParameter:
    """A parameter of a C function.

    Attributes
    ----------
    name
        Its name; empty where the declaration gives none.
    dtype
        What it is, or points to.
    is_pointer
        Whether it points to an array.
    is_const
        Whether what it points to is constant.
    """

    name: str
    dtype: str
    is_pointer: bool = False
    is_const: bool = False

    @property
    def c_type(self) -> str:
        """The type, written with types of fixed size."""
        return f"{'const ' if self.is_const else ''}{_c_type(self.dtype)}{' *' if self.is_pointer else ''}"

    @override
    def __str__(self) -> str:
        return f"{self.c_type}{'' if self.is_pointer or not self.name else ' '}{self.name}"


@final
@attrs.frozen
class CFunction:
    """A function of a loaded library.

    Attributes
    ----------
    name
        Its name.
    parameters
        Its parameters.
    result
        The dtype of its result; empty for ``void``.
    call
        Calls it with Python numbers and pointers of cffi's.
    ffi
        What makes such pointers.
    file
        The file that has it; empty where that cannot be told.
    source
        The text that defines it, where it is of one.
    """

    name: str
    parameters: tuple[CParameter, ...]
    result: str
    call: Callable[..., Any] = attrs.field(eq=False)
    ffi: FFI = attrs.field(eq=False)
    file: str
    source: str

    @property
    def declaration(self) -> str:
        """The declaration, as it is written here."""
        return f"{_c_type(self.result)} {self.name}({', '.join([str(p) for p in self.parameters])})"

    @property
    def prototype(self) -> str:
        """The declaration without names of parameters."""
        return f"{_c_type(self.result)} {self.name}({', '.join([p.c_type for p in self.parameters])})"

    def in_unit(self) -> tuple[str, list[str]]:
        """Return the name that a unit calls it by, with complex numbers as units have them, and the headers and texts that takes.

        Raises
        ------
        LoweringError
            The file that has it is not known.
        """
        name, text = self._as_it_is()
        types, result = [p.c_type for p in self.parameters], _c_type(self.result)
        if COMPLEX_NUMBERS.keys().isdisjoint([*types, result]):
            return name, [text]
        of_parts, wrapper = function_of_parts(name, types, result)
        return of_parts, ["complex_maths", text, wrapper]

    def _as_it_is(self) -> tuple[str, UserText]:
        if self.source:
            return self.name, UserText(self.source)
        if not self.file:
            raise LoweringError(f"the file that has {self.declaration} is not known")
        place = _c_string(self.file)
        name = f"{self.name}_{hashlib.blake2b(f'{self.prototype} {place}'.encode(), digest_size=6).hexdigest()}"
        arguments, out = ", ".join([p.c_type for p in self.parameters]), _c_type(self.result)
        return name, UserText(_POINTER.format(name=name, out=out, arguments=arguments, symbol=self.name, place=place))


def _c_type(dtype: str) -> str:
    return _WRITTEN.get(dtype) or C_DTYPES[dtype].storage


def _is_source(library: str | None) -> bool:
    return library is not None and "{" in library and ";" in library


def library_name(library: LibraryLike | None, declaration: str) -> str | None:
    """Return what a library is known by: a path, made absolute, a name, or a text of C; None for C's own functions.

    Parameters
    ----------
    library
        The library, as users give it.
    declaration
        The declaration of the function, which tells the file of a library that cffi has loaded.

    Raises
    ------
    TypeError
        It is none of these.
    """
    if library is None:
        return None
    if not isinstance(library, str | os.PathLike):
        return _file_of_loaded(library, declaration)
    place = os.fspath(library)
    if not _is_source(place) and (os.sep in place or isinstance(library, Path)):
        place = os.path.abspath(os.path.expanduser(place))
    return place


def _file_of_loaded(library: object, declaration: str) -> str:
    from cffi import FFI

    found = re.search(r"(\w+)\s*\(", declaration)
    function = getattr(library, found[1], None) if found else None
    file = _file_of(function) if isinstance(function, FFI.CData) else ""
    if not file:
        raise TypeError(
            f"a library is a path, a name, a text of C, or what ffi.dlopen returned (with the function declared), not {library!r}"
        )
    return file


@cache
def bind(declaration: str, library: str | None) -> CFunction:
    """Return the function of a library that a declaration declares.

    Parameters
    ----------
    declaration
        The declaration of one function; type definitions may come before it.
    library
        What the library is known by; see `library_name`.

    Raises
    ------
    ValueError
        The text does not declare exactly one function.
    TypeError
        A parameter or the result is of a type that arrays have no dtype for, or there are any number of them.
    OSError
        The library cannot be loaded.
    AttributeError
        It has no such function.
    """
    from cffi import (
        FFI,
        CDefError,
        FFIError,
    )  # here, for most programs never need it, and its parser takes time to load

    ffi = FFI()
    try:
        ffi.cdef(declaration.rstrip().rstrip(";") + ";")
    except (CDefError, FFIError) as error:
        raise ValueError(f"{declaration!r} is no declaration that cffi understands: {error}") from error
    loaded = _load(ffi, library)
    names: list[str] = dir(loaded)
    if len(names) != 1:
        raise ValueError(
            f"cffi_op takes the declaration of one function, and {declaration!r} declares {', '.join(names) or 'none'}"
        )
    (name,) = names
    try:
        call: Any = getattr(loaded, name)
    except (AttributeError, KeyError) as error:
        shown = "the text of C" if _is_source(library) else library or "the C library"
        raise AttributeError(f"{shown} has no function {name!r}: {error}") from error
    if not isinstance(call, FFI.CData) or (signature := ffi.typeof(call)).kind != "function":
        raise ValueError(f"{declaration!r} declares {name}, which is no function")
    texts = _parameter_texts(declaration, name)
    if "..." in [text.strip() for text in texts]:  # cffi says so of what it cannot call, too
        raise TypeError(f"{name} takes any number of arguments")
    parameters = [
        _parameter(ffi, type, text, i, name) for i, (type, text) in enumerate(zip(signature.args, texts, strict=True))
    ]
    result = "" if signature.result.kind == "void" else _dtype(ffi, signature.result, f"the result of {name}")
    source = library if library is not None and _is_source(library) else ""
    file = "" if source else _file_of(call)
    types, of_result = [p.c_type for p in parameters], _c_type(result)
    if not COMPLEX_NUMBERS.keys().isdisjoint([*types, of_result]):
        call = caller_by_pointers(ffi, call, types, of_result)
    return CFunction(name, tuple(parameters), result, call, ffi, file, source)


def _load(ffi: FFI, library: str | None) -> object:
    if library is None:
        try:
            return ffi.dlopen(_MATHS)
        except OSError:
            return ffi.dlopen(None)
    if not _is_source(library):
        return ffi.dlopen(library)
    compiler = find_compiler()
    flags = (*optimising_flags(compiler), "-fvisibility=default")
    return default_cache().load(library, flags, lambda path: ffi.dlopen(str(path)), "functions for cffi_op")


def _parameter_texts(declaration: str, name: str) -> list[str]:
    """Return the text of each parameter: cffi tells neither names nor ``const``."""
    plain = re.sub(r"/\*.*?\*/|//[^\n]*", " ", declaration, flags=re.DOTALL)
    found = re.search(rf"\b{name}\s*\(([^()]*)\)\s*;?\s*$", plain)
    if found is None:
        raise TypeError(f"{name} takes something other than numbers and pointers to them: {declaration!r}")
    return [] if found[1].strip() in ("", "void") else found[1].split(",")


def _parameter(ffi: FFI, type: Any, text: str, index: int, function: str) -> CParameter:
    what = f"argument {index} of {function}"
    is_pointer = type.kind == "pointer"
    before_star = text.split("*")[0].split("[")[0]
    is_written_out = "*" in text or "[" in text
    words = re.findall(r"[A-Za-z_]\w*", text.split("[")[0].split("*")[-1])
    is_named = bool(words) and words[-1] not in _WORDS_OF_TYPES and ("*" in text or len(words) > 1)
    if is_named and "*" not in text and words[-1].endswith("_t") and set(words[:-1]) <= _WORDS_OF_TYPES:
        is_named = False  # `const int64_t`
    name = words[-1] if is_named else ""
    if is_pointer and (not is_written_out or type.item.kind == "pointer"):
        raise TypeError(
            f"{what} is of type `{text.strip()}`; a pointer is written out, and points to numbers: `const double *{name or 'x'}`"
        )
    dtype = _dtype(ffi, type.item if is_pointer else type, f"what {what} points to" if is_pointer else what)
    return CParameter(name, dtype, is_pointer, is_pointer and "const" in before_star.split())


def _dtype(ffi: FFI, type: Any, what: str) -> str:
    """Return the dtype of a C type."""
    named: str = type.cname
    if type.kind == "primitive":
        if named in _PLAIN:
            return _PLAIN[named]
        if _INTEGER.fullmatch(named):
            is_signed = int(ffi.cast(type, -1)) < 0
            return f"{'int' if is_signed else 'uint'}{8 * ffi.sizeof(type)}"
    hint = "; say `signed char` or `unsigned char`" if named == "char" else ""
    raise TypeError(
        f"{what} is of type `{named}`; it must be a number that tensors have: float, double, an integer or _Bool{hint}"
    )


def _file_of(call: Any) -> str:
    """Return the path of the file that a function was loaded from."""
    from cffi import FFI

    ffi = FFI()
    ffi.cdef(
        "typedef struct { const char *file; void *base; const char *symbol; void *address; } facts; int dladdr(void *, facts *);"
    )
    facts: Any = ffi.new("facts *")
    try:
        finds: Any = ffi.dlopen(None)
        found = finds.dladdr(ffi.cast("void *", call), facts)
    except (AttributeError, OSError):
        return ""
    if not found or facts.file == ffi.NULL:
        return ""
    file = os.path.realpath(os.fsdecode(ffi.string(facts.file)))
    return file if os.path.isfile(file) else ""


def _c_string(path: str) -> str:
    """Return a path as a string of C: its bytes, whatever their encoding."""
    plain = frozenset(b"/._-+ ") | frozenset(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return '"' + "".join([chr(byte) if byte in plain else f"\\{byte:03o}" for byte in os.fsencode(path)]) + '"'
