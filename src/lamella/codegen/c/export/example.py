"""The example program of an exported library, and the script that compiles it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lamella.codegen.c.export.interface import ExportInterface, dtype_code
from lamella.codegen.c.export.written_arrays import element_type, written_array
from lamella.ir import TensorType

__all__ = ["build_text", "example_text", "example_values"]

_LENGTH: Final = 3


def example_values(type: TensorType) -> npt.NDArray[Any]:
    """Return an array of a type: small numbers, and along axes of unknown lengths three of them."""
    shape = [_LENGTH if length is None else length for length in type.shape]
    count = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)
    match type.numpy_dtype.kind:
        case "b":
            return (count % 2).astype(type.dtype)
        case "i" | "u":
            return (count % _LENGTH).astype(type.dtype)
        case "c":
            return ((count % 7 + 1) / 8 + 1j * (count % 3) / 4).astype(type.dtype)
        case _:
            return ((count % 7 + 1) / 8).astype(type.dtype)


def example_text(interface: ExportInterface, values: Sequence[npt.NDArray[Any]]) -> str:
    """Return the text of a program that makes inputs, calls, and prints shapes and sums.

    Parameters
    ----------
    interface
        What is called.
    values
        The values of the inputs.
    """
    name = interface.name
    # Names of the program's own end in an underscore and a word: they are no parameters' names.
    inputs = [f"in{i}" for i in range(len(interface.inputs))]
    outputs = [f"out{i}" for i in range(len(interface.outputs))]
    arrays = [written_array(np.asarray(value), given) for value, given in zip(values, inputs, strict=True)]
    lines = [f"    {name}_state *const state = {name}_new();"] if interface.is_stateful else []
    if interface.is_stateful:
        lines.append(f"    if (state == NULL) return failed({name}_error());")
    for place, given, value in zip(inputs, interface.inputs, values, strict=True):
        lines.append(f"    /* {given.name} */")
        lines.append(
            f"    const lamella_array {place} = {{(void *){place}_data, {dtype_code(given.type)}, {value.ndim}, "
            f"{place}_shape, NULL, NULL}};"
        )
    if outputs:
        lines.append(f"    lamella_array {', '.join(outputs)};")
    arguments = [*(["state"] if interface.is_stateful else []), *[f"&{v}" for v in (*inputs, *outputs)]]
    lines.append(f"    if ({name}_call({', '.join(arguments)}) != LAMELLA_OK) return failed({name}_error());")
    for place, (output, type) in zip(outputs, interface.outputs, strict=True):
        lines.append(f'    print_shape("{output}", &{place});')
        lines.append(f"    print_sum_{type.dtype}(&{place});")
    lines += [f"    {name}_free(&{place});" for place in outputs]
    if interface.is_stateful:
        lines.append(f"    {name}_delete(state);")
    helpers = [_PRINT_SHAPE] if outputs else []
    helpers += [_sum_text(dtype) for dtype in sorted({type.dtype for _, type in interface.outputs})]
    body = "\n".join(lines)
    parts = [
        f'#include "{name}.h"\n\n#include <math.h>\n#include <stddef.h>\n#include <stdio.h>',
        *arrays,
        _FAILED,
        *helpers,
        f"int main(void)\n{{\n{body}\n    return 0;\n}}",
    ]
    return "\n\n".join([part.strip() for part in parts]) + "\n"


_FAILED: Final = """static int failed(const char *const message)
{
    fprintf(stderr, "%s\\n", message);
    return 1;
}"""

_PRINT_SHAPE: Final = """static void print_shape(const char *const name, const lamella_array *const array)
{
    printf("%s: shape (", name);
    for (int i = 0; i < array->ndim; ++i) printf("%s%lld", i == 0 ? "" : ", ", (long long)array->shape[i]);
    printf(")");
}

static intptr_t size_of(const lamella_array *const array)
{
    intptr_t size = 1;
    for (int i = 0; i < array->ndim; ++i) size *= array->shape[i];
    return size;
}"""

_HALF: Final = """/* The number whose bits are those of a half. */
static double half(const uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double magnitude = exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                             : exponent == 0 ? ldexp(fraction, -24)
                                             : ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -magnitude : magnitude;
}

"""


def _sum_text(dtype: str) -> str:
    """Return the function that prints the sum of an array of a dtype."""
    c_type = element_type(dtype)
    is_complex = dtype.startswith("complex")
    loop = "for (intptr_t i = 0; i < size_of(array); ++i)"
    if is_complex:
        body = f"""    double re = 0, im = 0;
    {loop} {{
        re += elements[2 * i];
        im += elements[2 * i + 1];
    }}
    printf(", sum %.17g%+.17gi\\n", re, im);"""
    else:
        element = "half(elements[i])" if dtype == "float16" else "(double)elements[i]"
        body = f"""    double sum = 0;
    {loop} sum += {element};
    printf(", sum %.17g\\n", sum);"""
    return f"""{_HALF if dtype == "float16" else ""}static void print_sum_{dtype}(const lamella_array *const array)
{{
    const {c_type} *const elements = array->data;
{body}
}}"""


def build_text(name: str, flags: Sequence[str], libraries: Sequence[str]) -> str:
    """Return the script that compiles an exported library.

    Parameters
    ----------
    name
        The name of the library.
    flags, libraries
        The flags of the compiler, and what is linked.
    """
    compiling, linking = shlex.join(flags), shlex.join(libraries)
    return f"""# sh {name}_build.sh            compiles the example program, {name}_example
# sh {name}_build.sh library    compiles a shared library, lib{name}.so
#
# The flags are those of compiled functions on the machine where this was written. For other processors, leave out -march=native
# and its like. Products of matrices are plain loops, unless a BLAS is linked: CFLAGS=-DLAMELLA_BLAS LDLIBS=-lopenblas.
set -e
cd "$(dirname "$0")"
if [ "${{1-}}" = library ]; then set -- -shared {name}.c -o lib{name}.so; else set -- {name}_example.c {name}.c -o {name}_example; fi
${{CC:-cc}} {compiling} ${{CFLAGS-}} "$@" {linking} ${{LDLIBS-}}
"""
