"""What an exported library looks like from C: its functions, their parameters, and the header that declares them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, final

import attrs
import numpy.typing as npt

from lamella.ir import DTYPES, TensorType

__all__ = ["ExportInterface", "ExportedInput", "SharedState", "c_identifier", "distinct_identifiers", "header_text"]


@final
@attrs.frozen(eq=False)
class ExportedInput:
    """An input of an exported function.

    Attributes
    ----------
    name
        The name of the parameter.
    type
        Its type.
    default
        The value that it has where C gives NULL; None where it has none.
    """

    name: str
    type: TensorType
    default: npt.NDArray[Any] | None = None


@final
@attrs.frozen(eq=False)
class SharedState:
    """A shared variable of an exported function.

    Attributes
    ----------
    name
        What the functions that read and set it are called after.
    type
        Its type.
    value
        Its first value.
    """

    name: str
    type: TensorType
    value: npt.NDArray[Any]


@final
@attrs.frozen(eq=False)
class ExportInterface:
    """What an exported function takes and gives.

    Attributes
    ----------
    name
        What the names of its C symbols begin with.
    inputs
        The inputs of a call, which are the first of the graph's.
    shared
        The shared variables.
    read
        For each further input of the graph, the number of the shared variable that it is.
    outputs
        Names and types of what a call gives, which are the first of the graph's outputs.
    updated
        For each further output of the graph, the number of the shared variable that it sets.
    """

    name: str
    inputs: tuple[ExportedInput, ...]
    shared: tuple[SharedState, ...]
    read: tuple[int, ...]
    outputs: tuple[tuple[str, TensorType], ...]
    updated: tuple[int, ...]

    @property
    def is_stateful(self) -> bool:
        """Whether there are shared variables, so that calls take a state."""
        return bool(self.shared)


_WORDS: Final = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const constexpr continue decltype
default delete do double else enum explicit export extern false float for friend goto if inline int long mutable namespace new
noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires restrict return short
signed sizeof static static_assert struct switch template this thread_local throw true try typedef typeid typename typeof union
unsigned using virtual void volatile wchar_t while xor xor_eq
I NULL NAN INFINITY EOF errno stdin stdout stderr linux unix i386 state lamella_array lamella_dtype
"""
_TAKEN: Final = frozenset(_WORDS.split())
"""What is no name for a parameter: keywords of C and C++, and macros of common headers."""


def c_identifier(text: str) -> str:
    """Return a text as a name that C and C++ allow for a parameter."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", text)
    if not plain or not plain[0].isalpha():
        plain = f"v{plain}"
    is_macro = plain in _TAKEN or re.fullmatch(r"(U?INT\w*|SIZE|LAMELLA|LM|FLT|DBL)_\w*", plain) is not None
    return f"{plain}_" if is_macro else plain


def distinct_identifiers(names: Iterable[str | None], what: str, taken: Iterable[str] = ()) -> list[str]:
    """Return different names for C: what is unnamed, or named like another one, has a number.

    Parameters
    ----------
    names
        The names; None for what has none.
    what
        What something without a name is called, before its number.
    taken
        Names that are given already.
    """
    used = set(taken)
    found: list[str] = []
    for i, name in enumerate(names):
        wanted = f"{what}{i}" if not name else c_identifier(name)
        chosen, count = wanted, 1
        while chosen in used:
            count += 1
            chosen = f"{wanted}_{count}"
        used.add(chosen)
        found.append(chosen)
    return found


_HEADER: Final = """#ifndef @GUARD@_H
#define @GUARD@_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef LAMELLA_ARRAY
#define LAMELLA_ARRAY

/* What elements are: bool is uint8_t, 0 or 1; float16 is uint16_t, the bits; a complex number is two floats or doubles. */
typedef enum {
    @DTYPES@
} lamella_dtype;

/* An array, as these libraries take and give it. One that the caller makes has `owner` NULL, and `strides` NULL where its
   elements lie in C's order:

       double numbers[2][3] = {{1, 2, 3}, {4, 5, 6}};
       intptr_t shape[] = {2, 3};
       lamella_array x = {.data = numbers, .dtype = LAMELLA_FLOAT64, .ndim = 2, .shape = shape};
*/
typedef struct {
    void *data;              /* the first element */
    lamella_dtype dtype;
    int ndim;
    const intptr_t *shape;   /* `ndim` lengths; may be NULL where there are none */
    const intptr_t *strides; /* `ndim` distances between neighbours, in bytes */
    void *owner;             /* the library's */
} lamella_array;

/* What functions return: 0, or what went wrong. */
enum {
    LAMELLA_OK = 0,
    LAMELLA_BAD_INPUT = -1, /* an array is missing, or has another dtype, number of dimensions or length than it must have */
    LAMELLA_NO_MEMORY = -2,
    LAMELLA_FAILED = -3 /* something cannot be computed: lengths do not match, an index is out of bounds, an assertion fails */
};

#endif

#if defined(__GNUC__)
#define @GUARD@_PUBLIC __attribute__((visibility("default")))
#else
#define @GUARD@_PUBLIC
#endif

@STATE@/* Compute.

@PARAMETERS@

   Inputs are only read, and only while the call lasts. Outputs are structures of the caller's, whatever is in them; where one is NULL,
   that output is not given. Each holds then an array in C's order, to be freed by @NAME@_free, and an empty one where the call
   fails. Returns LAMELLA_OK, LAMELLA_BAD_INPUT, LAMELLA_NO_MEMORY or LAMELLA_FAILED. @THREADS@ Long work is shared by
   as many threads as OMP_NUM_THREADS says, or as there are processors. */
@GUARD@_PUBLIC int @NAME@_call(@CALL@);

/* Free what belongs to an output. One that was freed, or filled with zeros, may be freed again. */
@GUARD@_PUBLIC void @NAME@_free(lamella_array *array);

/* What went wrong in the last call that failed in this thread. */
@GUARD@_PUBLIC const char *@NAME@_error(void);

#ifdef __cplusplus
}
#endif

#endif
"""

_STATE: Final = """/* The shared variables of the function: @LISTED@. */
typedef struct @NAME@_state @NAME@_state;

/* Make a state with the values that they had when this was written; NULL for want of memory. */
@GUARD@_PUBLIC @NAME@_state *@NAME@_new(void);

/* Free a state; NULL is none. */
@GUARD@_PUBLIC void @NAME@_delete(@NAME@_state *state);

/* Copy the value of a shared variable out, to be freed by @NAME@_free; or set it to a copy of a value. */
@ACCESS@

"""


def call_parameters(interface: ExportInterface) -> str:
    """Return the parameters of the function that computes."""
    parameters = [f"{interface.name}_state *state"] if interface.is_stateful else []
    parameters += [f"const lamella_array *{given.name}" for given in interface.inputs]
    parameters += [f"lamella_array *{name}" for name, _ in interface.outputs]
    return ", ".join(parameters) or "void"


def header_text(interface: ExportInterface) -> str:
    """Return the header of an exported function."""
    name = interface.name
    parameters = [
        f"   {given.name}: {given.type}{'' if given.default is None else '; NULL for the default value'}"
        for given in interface.inputs
    ]
    parameters += [f"   {output} (output): {type}" for output, type in interface.outputs]
    if interface.is_stateful:
        parameters.insert(
            0, "   state: the shared variables, which it reads and may set; left as it is where the call fails"
        )
    threads = f"Threads may call it at once{', each with a state of its own' if interface.is_stateful else ''}."
    return _filled(
        _HEADER,
        STATE=_state_text(interface),
        DTYPES=", ".join([f"LAMELLA_{dtype.upper()}" for dtype in DTYPES]),
        PARAMETERS="\n".join(parameters),
        THREADS=threads,
        CALL=call_parameters(interface),
        NAME=name,
        GUARD=name.upper(),
    )


def _state_text(interface: ExportInterface) -> str:
    if not interface.is_stateful:
        return ""
    access = "\n".join(
        [
            f"@GUARD@_PUBLIC int @NAME@_get_{s.name}(const @NAME@_state *state, lamella_array *value);\n"
            f"@GUARD@_PUBLIC int @NAME@_set_{s.name}(@NAME@_state *state, const lamella_array *value);"
            for s in interface.shared
        ]
    )
    listed = ", ".join([f"{s.name} ({s.type})" for s in interface.shared])
    return _STATE.replace("@LISTED@", listed).replace("@ACCESS@", access)


def _filled(text: str, **values: str) -> str:
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text


def dtype_code(type: TensorType) -> str:
    """Return the enumerator of a type's dtype in the header."""
    return f"LAMELLA_{type.dtype.upper()}"
