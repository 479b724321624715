"""Complex numbers that C functions take and give by value: cffi passes none, and units have structures of their own for them.

double _Complex f(double _Complex, double)
->  void lm_by_pointers(void *function, void *result, void **arguments);                     what cffi calls
    static inline lm_complex128 lm_f_of_parts(const lm_complex128 a0, const double a1);      what units call
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from lamella.codegen.c.cache import default_cache
from lamella.codegen.c.driver import find_compiler, optimising_flags
from lamella.codegen.c.dtypes import C_DTYPES
from lamella.codegen.c.unit import UserText

if TYPE_CHECKING:
    from cffi import FFI

__all__ = ["COMPLEX_NUMBERS", "caller_by_pointers", "function_of_parts"]

COMPLEX_NUMBERS: Final = {"float _Complex": "complex64", "double _Complex": "complex128"}
"""The dtypes of the C types."""


def caller_by_pointers(ffi: FFI, function: Any, parameters: Sequence[str], result: str) -> Callable[..., Any]:
    """Return what calls a C function with Python numbers and pointers of cffi's.

    It calls a function of pointers, for which there must be a compiler at the first call.

    Parameters
    ----------
    ffi
        What found the function.
    function
        The function.
    parameters, result
        Its C types.
    """

    def call(*arguments: Any) -> Any:
        cells = [_cell(ffi, c_type, value) for c_type, value in zip(parameters, arguments, strict=True)]
        out = None if result == "void" else _cell(ffi, result, 0)
        pointers: Any = ffi.new("void *[]", [ffi.cast("void *", cell) for cell in cells])
        by_pointers, _ = _by_pointers(tuple(parameters), result)
        by_pointers(ffi.cast("void *", function), ffi.NULL if out is None else ffi.cast("void *", out), pointers)
        if out is None:
            return None
        return complex(out[0], out[1]) if result in COMPLEX_NUMBERS else out[0]

    return call


def _cell(ffi: FFI, c_type: str, value: Any) -> Any:
    """Return a piece of memory with a value."""
    if c_type in COMPLEX_NUMBERS:
        return ffi.new(f"{c_type.split()[0]}[2]", [value.real, value.imag])
    return ffi.new("void *[1]" if c_type.endswith("*") else f"{c_type}[1]", [value])


@cache
def _by_pointers(parameters: tuple[str, ...], result: str) -> tuple[Callable[..., None], FFI]:
    """Return the function of pointers that calls any function of some C types, and what keeps its library loaded."""
    from cffi import FFI

    arguments = ", ".join([f"*({c_type} *)arguments[{i}]" for i, c_type in enumerate(parameters)])
    call = f"(*({result} (*)({', '.join(parameters)}))function)({arguments})"
    out = "" if result == "void" else f"*({result} *)result = "
    declaration = "void lm_by_pointers(void *function, void *result, void **arguments)"
    ffi = FFI()
    ffi.cdef(f"{declaration};")
    flags = (*optimising_flags(find_compiler()), "-fvisibility=default")
    source = f"#include <stdint.h>\n{declaration}\n{{\n    (void)result;\n    {out}{call};\n}}\n"
    loaded: Any = default_cache().load(
        source, flags, lambda path: ffi.dlopen(str(path)), "a call by pointers for cffi_op"
    )
    function: Callable[..., None] = loaded.lm_by_pointers
    return function, ffi


def function_of_parts(name: str, parameters: Sequence[str], result: str) -> tuple[str, UserText]:
    """Return the name and the text of a function that takes and gives complex numbers as units have them; others are passed on.

    Parameters
    ----------
    name
        What a unit calls the function by.
    parameters, result
        Its C types.
    """
    lines: list[str] = []
    given: list[str] = []
    for i, c_type in enumerate(parameters):
        if c_type in COMPLEX_NUMBERS:
            lines.append(f"LM_TO_C({c_type.split()[0]}, z{i}, a{i});")
        given.append(f"z{i}" if c_type in COMPLEX_NUMBERS else f"a{i}")
    call = f"{name}({', '.join(given)})"
    if result in COMPLEX_NUMBERS:
        lines += [f"const {result} value = {call};", f"return LM_FROM_C({_in_units(result)}, value);"]
    else:
        lines.append(f"return {call};" if result != "void" else f"{call};")
    declared = ", ".join(
        [f"{_in_units(c_type)} {'' if c_type.endswith('*') else 'const '}a{i}" for i, c_type in enumerate(parameters)]
    )
    body = "\n".join([f"    {line}" for line in lines])
    of_parts = f"lm_{name}_of_parts"
    return of_parts, UserText(f"static inline {_in_units(result)} {of_parts}({declared})\n{{\n{body}\n}}")


def _in_units(c_type: str) -> str:
    dtype = COMPLEX_NUMBERS.get(c_type)
    return c_type if dtype is None else C_DTYPES[dtype].storage
