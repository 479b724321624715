"""`write_c_library`: a scheduled graph as the files of a C library.

name.h             what C programs include
name.c             the graph's translation unit, as compiled functions have it; a host in plain C; constants; the functions of the header
name_example.c     a program that calls it
name_build.sh      compiles the program, or a shared library
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lamella.codegen.c.driver import find_compiler, maths_libraries, optimising_flags
from lamella.codegen.c.export.example import build_text, example_text
from lamella.codegen.c.export.interface import ExportInterface, header_text
from lamella.codegen.c.export.written_arrays import c_string, written_array, written_integers
from lamella.codegen.c.loading import CORE
from lamella.codegen.c.program import CProgram, write_program
from lamella.codegen.c.unit import support_text
from lamella.errors import CompilerNotFoundError, ExportError
from lamella.ir import Apply, CheckAndRaise
from lamella.typing_layer import ScheduledGraph

__all__ = ["write_c_library"]

_PORTABLE_FLAGS: Final = (
    *("-std=gnu11", "-O3", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing", "-ffp-contract=off"),
    *("-fno-math-errno", "-fno-trapping-math", "-pthread"),
)

PLAIN_SERVICES: Final = {
    "allocate": "lm_allocate",
    "allocate_escaping": "lm_allocate",
    "release": "lm_plain_release",
    "nest": "lm_nest",
    "reduce": "lm_reduce",
    "rows": "lm_rows",
    "index": "lm_index",
    "pass_at": "lm_pass_at",
    "each": "lm_each",
    "parallel": "lm_parallel",
    "copy": "lm_copy",
    "unlock": "lm_plain_unlock",
    "lock": "lm_plain_lock",
    "reference": "lm_plain_reference",
    "add_product": "lm_host_add_product",
    "products": "lm_host_products",
    "sort": "lm_plain_sort",
}
"""What the plain host does for a unit."""

_PRODUCTS: Final = ("small_products.c", "narrow_products.c", "block_products.c", "blas.c", "plain_blas.c")

_SOURCES: Final = {
    "add_product": _PRODUCTS,
    "products": _PRODUCTS,
    "sort": ("plain_sorting.c",),
}
"""The services that only some units ask for, and the files that have them."""


def write_c_library(
    scheduled: ScheduledGraph, interface: ExportInterface, example: Sequence[npt.NDArray[Any]]
) -> Mapping[str, str]:
    """Return the texts of the files of a C library by their names.

    Parameters
    ----------
    scheduled
        The graph.
    interface
        Names, types and values of what goes in and out.
    example
        Values of the inputs for the example program.

    Raises
    ------
    ExportError
        Some nodes need Python.
    """
    program = write_program(scheduled)
    _refuse_python(scheduled.order, program)
    name = interface.name
    try:
        compiler = find_compiler()
        flags, libraries = (*optimising_flags(compiler), "-pthread"), maths_libraries(compiler)
    except CompilerNotFoundError:
        flags, libraries = _PORTABLE_FLAGS, ("-lm",)
    if program.build is not None:
        flags, libraries = (*flags, *program.build.flags), (*libraries, *program.build.libraries)
    if "dlopen(" in program.text:
        libraries = (*libraries, "-ldl")
    return {
        f"{name}.h": header_text(interface),
        f"{name}.c": _source(scheduled.order, program, interface),
        f"{name}_example.c": example_text(interface, example),
        f"{name}_build.sh": build_text(name, flags, libraries),
    }


def _refuse_python(order: Sequence[Apply[Any]], program: CProgram) -> None:
    if not program.needs_python:
        return
    listed = "\n".join([f"  {_title(order[i])}: {why}" for i, why in program.needs_python.items()])
    raise ExportError(
        f"a C library needs no Python at run time, and this function has nodes that do ({len(program.needs_python)}):\n{listed}"
    )


def _failure(node: Apply[Any]) -> str:
    """Return what is to be said where a node cannot be computed."""
    if isinstance(node.op, CheckAndRaise):
        return f"{node.op.exc_type.__name__}: {node.op.msg or 'a condition does not hold'}"
    return f"{_title(node)} cannot be computed"


def _title(node: Apply[Any]) -> str:
    return f"{node.op}({', '.join([str(v.type) for v in node.inputs])})"


def _source(order: Sequence[Apply[Any]], program: CProgram, interface: ExportInterface) -> str:
    unit = program.text.replace(
        '__attribute__((visibility("default"))) const lm_program lamella_program',
        "static const lm_program lamella_program",
    )
    asked = [service for service in _SOURCES if f"serve->{service}(" in unit]
    files = dict.fromkeys([file for service in asked for file in _SOURCES[service]])
    given = [service for service in PLAIN_SERVICES if set(_SOURCES.get(service, ())) <= set(files)]
    parts = [
        f'#include "{interface.name}.h"',
        unit,
        *[support_text(file) for file in CORE],
        support_text("plain_host.c"),
    ]
    parts += [support_text(file) for file in (*files, *(["plain_state.c"] if interface.is_stateful else []))]
    parts += [_services_text(given), *_tables(order, program, interface), _functions(interface)]
    return "\n\n".join([part.strip() for part in parts]) + "\n"


def _services_text(given: Sequence[str]) -> str:
    lines = "\n".join([f"    .{name} = {PLAIN_SERVICES[name]}," for name in given])
    return f"static const lm_services lm_plain_services = {{\n{lines}\n}};"


def _tables(order: Sequence[Apply[Any]], program: CProgram, interface: ExportInterface) -> list[str]:
    """Return the arrays that are written into the file, and what tells the host of the function."""
    arrays: list[str] = []

    def table(name: str, values: Sequence[npt.NDArray[Any] | None]) -> str:
        rows: list[str] = []
        for i, value in enumerate(values):
            if value is None:
                rows.append("{NULL, NULL}")
                continue
            arrays.append(written_array(np.asarray(value), f"{name}{i}"))
            rows.append(f"{{{name}{i}_data, {name}{i}_shape}}")
        return f"static const lm_written {name}s[] = {{{', '.join(rows) or '{NULL, NULL}'}}};"

    names = [*[given.name for given in interface.inputs], *[s.name for s in interface.shared]]
    shared_types: list[str] = []
    for i, shared in enumerate(interface.shared):
        shape = ", ".join([str(-1 if n is None else n) for n in shared.type.shape])
        lengths = f"(const lm_int[]){{{shape}}}" if shape else "NULL"
        ndim, itemsize = shared.type.ndim, shared.type.numpy_dtype.itemsize
        arrays.append(
            f"static const lm_type lm_shared_type{i} = {{LM_{shared.type.dtype.upper()}, {ndim}, {itemsize}, {lengths}, 0}};"
        )
        shared_types.append(f"&lm_shared_type{i}")
    tables = [
        table("lm_written_constant", list(program.constants)),
        table("lm_written_default", [given.default for given in interface.inputs]),
        table("lm_written_shared", [shared.value for shared in interface.shared]),
        f"static const char *const lm_names[] = {{{_strings(names)}}};",
        f"static const char *const lm_failures[] = {{{_strings([_failure(node) for node in order])}}};",
        f"static const lm_type *const lm_shared_types[] = {{{', '.join(shared_types) or 'NULL'}}};",
        f"static const int lm_read[] = {{{written_integers(interface.read)}}};",
        f"static const int lm_updated[] = {{{written_integers(interface.updated)}}};",
    ]
    counts = f"{len(interface.inputs)}, {len(interface.outputs)}, {len(interface.shared)}"
    tables.append(
        "static const lm_export lm_exported = {\n"
        "    &lamella_program, lm_names, lm_failures, lm_written_constants, lm_written_defaults, lm_written_shareds,\n"
        f"    lm_shared_types, lm_read, lm_updated, {counts},\n"
        "};"
    )
    return ["\n".join(arrays), "\n".join(tables)]


def _strings(texts: Sequence[str]) -> str:
    return "\n    " + ",\n    ".join([c_string(text) for text in texts]) + ",\n" if texts else "NULL"


def _functions(interface: ExportInterface) -> str:
    name = interface.name
    has_state = interface.is_stateful
    parameters = [f"{name}_state *lm_values"] if has_state else []
    parameters += [f"const lamella_array *in{i}" for i in range(len(interface.inputs))]
    parameters += [f"lamella_array *out{i}" for i in range(len(interface.outputs))]
    given = ", ".join([f"in{i}" for i in range(len(interface.inputs))]) or "NULL"
    made = ", ".join([f"out{i}" for i in range(len(interface.outputs))]) or "NULL"
    values = "lm_values->values" if has_state else "NULL"
    call = f"""int {name}_call({", ".join(parameters) or "void"})
{{
    return lm_call_exported(
        &lm_plain_services, &lm_exported, {values}, (const lamella_array *const[]){{{given}}},
        (lamella_array *const[]){{{made}}});
}}"""
    parts = [
        call,
        f"void {name}_free(lamella_array *const array) {{ lm_free_array(array); }}",
        f"const char *{name}_error(void) {{ return lm_message; }}",
    ]
    if has_state:
        parts.insert(0, _state_functions(interface))
    return "\n\n".join(parts)


_STATE_FUNCTIONS: Final = """struct @NAME@_state { lm_state_value *values; };

@NAME@_state *@NAME@_new(void)
{
    @NAME@_state *const state = malloc(sizeof(*state));
    if (state != NULL) state->values = lm_new_state(&lm_exported);
    if (state != NULL && state->values != NULL) return state;
    free(state);
    lm_want_of_memory();
    return NULL;
}

void @NAME@_delete(@NAME@_state *const state)
{
    if (state == NULL) return;
    lm_delete_state(&lm_exported, state->values);
    free(state);
}"""

_ACCESS: Final = """int @NAME@_get_@SHARED@(const @NAME@_state *const state, lamella_array *const value)
{
    return lm_get_shared(&lm_plain_services, &lm_exported, state->values, @NUMBER@, value);
}

int @NAME@_set_@SHARED@(@NAME@_state *const state, const lamella_array *const value)
{
    return lm_set_shared(&lm_plain_services, &lm_exported, state->values, @NUMBER@, value);
}"""


def _state_functions(interface: ExportInterface) -> str:
    parts = [_STATE_FUNCTIONS]
    for i, shared in enumerate(interface.shared):
        parts.append(_ACCESS.replace("@SHARED@", shared.name).replace("@NUMBER@", str(i)))
    return "\n\n".join(parts).replace("@NAME@", interface.name)
