"""The translation unit of a function: headers, types, kernels, and the steps that use them.

Its text depends on the structure of the graph only, never on names, addresses or the process: equal graphs give equal texts,
and so one entry of the cache.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, Self, final

from lamella.codegen.c.dtypes import C_DTYPES
from lamella.codegen.c.halves import halved
from lamella.ir import ScalarType, TensorType

__all__ = ["KERNEL_NAME", "Unit", "UserText", "support_text"]

KERNEL_NAME: Final = "KERNEL"
"""Stands in the text of a kernel for the name that the unit gives it."""

_HEADER_ORDER: Final = (
    "elementwise",
    "half",
    "casts",
    "maths",
    "vectors",
    "exponential",
    "integer",
    "powers",
    "real",
    "stable_maths",
    "modulo",
    "floor_divide",
    "complex",
    "complex_maths",
    "erfcx",
    "gammaln",
    "digamma",
    "polygamma",
    "trigamma",
    "faddeeva",
    "complex_digamma",
    "indexing",
    "indexed",
    "allocation",
    "contiguous",
    "reshape",
    "rows",
    "blas",
    "joined_axes",
)
_HEADER_NEEDS: Final = {
    "real": ("maths",),
    "complex": ("maths",),
    "complex_maths": ("complex",),
    "vectors": ("maths",),
    "exponential": ("vectors",),
    "stable_maths": ("exponential",),
    "powers": ("vectors",),
    "modulo": ("vectors",),
    "floor_divide": ("vectors",),
    "erfcx": ("maths",),
    "gammaln": ("vectors",),
    "digamma": ("vectors",),
    "polygamma": ("digamma",),
    "trigamma": ("polygamma",),
    "faddeeva": ("complex_maths",),
    "complex_digamma": ("complex_maths", "digamma"),
}

_NAME: Final = re.compile(r"\b[a-z_]+\d+\b")


@cache
def support_text(name: str) -> str:
    """Return the text of a file that comes with this package in ``support``."""
    return files("lamella.codegen.c").joinpath("support", name).read_text(encoding="utf-8")


class UserText(str):
    """C of a user's own at file scope, in the place of a support header, and the flags that compiling it takes."""

    __slots__ = ("flags",)

    flags: tuple[str, ...]

    def __new__(cls, text: str, flags: tuple[str, ...] = ()) -> Self:
        """Return the text with its flags."""
        self = super().__new__(cls, text)
        self.flags = flags
        return self


@final
class Unit:
    """What a translation unit holds beside its steps; each thing once."""

    def __init__(self) -> None:
        self._headers: dict[str, None] = {}
        self._dimensions: set[int] = set()
        self._types: dict[str, str] = {}
        self._kernels: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def need(self, *headers: str) -> None:
        """Ask for support headers, or for users' own C (`UserText`)."""
        for header in headers:
            self.need(*_HEADER_NEEDS.get(header, ()))
            self._headers[header] = None

    @property
    def users_flags(self) -> tuple[str, ...]:
        """The flags that users' own C takes."""
        return tuple(dict.fromkeys([f for text in self._headers if isinstance(text, UserText) for f in text.flags]))

    def array_type(self, ndim: int) -> str:
        """Return the name of the C type of arrays of some number of dimensions."""
        self._dimensions.add(ndim)
        return f"lm_array{ndim}"

    def tensor_type(self, type: TensorType) -> str:
        """Return the name of the constant that describes a type."""
        lengths = ", ".join([str(-1 if length is None else length) for length in type.shape])
        shape = f"(const lm_int[]){{{lengths}}}" if type.shape else "NULL"
        c_dtype = C_DTYPES[type.dtype]
        return self._type(f"{{{c_dtype.code}, {type.ndim}, {c_dtype.itemsize}, {shape}, 0}}")

    def number_type(self, type: ScalarType) -> str:
        """Return the name of the constant that describes a type of numbers that are no arrays."""
        c_dtype = C_DTYPES[type.dtype]
        return self._type(f"{{{c_dtype.code}, 0, {c_dtype.itemsize}, NULL, 1}}")

    def object_type(self) -> str:
        """Return the name of the constant that describes values that are no arrays."""
        return self._type("{LM_OBJECT, 0, 0, NULL, 0}")

    def _type(self, text: str) -> str:
        return self._types.setdefault(text, f"type{len(self._types)}")

    def kernel(self, text: str, kind: str = "kernel") -> str:
        """Add a function, unless an equal one is there, and return its name.

        Parameters
        ----------
        text
            Its definition, with `KERNEL_NAME` in the place of its name.
        kind
            What its name begins with.
        """
        known = self._kernels.get(text)
        if known is None:
            number = self._counts[kind] = self._counts.get(kind, -1) + 1
            known = self._kernels[text] = f"{kind}{number}"
        return known

    def text(self, tables: str) -> str:
        """Return the whole text: that of a large unit in halves, which can be compiled at the same time.

        Parameters
        ----------
        tables
            What follows the functions; what it does not use is left out.
        """
        kernels = self._reached(tables)
        functions = {name: text.replace(KERNEL_NAME, name).strip() for text, name in kernels.items()}
        # Users' own C defines functions, and may keep a state, that there is to be once.
        is_whole = any([isinstance(header, UserText) for header in self._headers])
        halves = None if is_whole else halved(functions, tables)
        body = halves or "\n\n".join([*functions.values(), tables])
        return f"{self._declarations(kernels, tables)}\n\n{body}\n"

    def prologue(self, steps: str, first: str = "") -> str:
        """Return the part of the text that comes before the steps.

        Parameters
        ----------
        steps
            The rest of the text; what it does not use is left out.
        first
            What comes before everything, and has ``lamella.h`` in it.
        """
        kernels = self._reached(steps)
        functions = [text.replace(KERNEL_NAME, name).strip() for text, name in kernels.items()]
        return "\n\n".join([self._declarations(kernels, steps, first), *functions])

    def _declarations(self, kernels: Iterable[str], steps: str, first: str = "") -> str:
        used = set(re.findall(r"\btype\d+\b", "\n".join([*kernels, steps])))
        types = [f"static const lm_type {name} = {text};" for text, name in self._types.items() if name in used]
        parts = [first or support_text("lamella.h")]
        parts += [support_text(f"{name}.h") for name in _HEADER_ORDER if name in self._headers]
        parts += [text for text in self._headers if isinstance(text, UserText)]
        parts.append("\n".join([f"LM_DECLARE_ARRAY({ndim});" for ndim in sorted(self._dimensions) if ndim]))
        parts.append("\n".join(types))
        return "\n\n".join([part.strip() for part in parts if part.strip()])

    def _reached(self, steps: str) -> dict[str, str]:
        """Return the functions that steps call, or functions that they call."""
        of_names = {name: text for text, name in self._kernels.items()}
        reached: set[str] = set()
        waiting = [steps]
        while waiting:
            found = {name for name in _NAME.findall(waiting.pop()) if name in of_names} - reached
            reached |= found
            waiting += [of_names[name] for name in found]
        return {text: name for text, name in self._kernels.items() if name in reached}


def initializer(parts: Sequence[str]) -> str:
    """Return the text of a list of initial values; C has no empty ones."""
    return f"{{{', '.join(parts)}}}" if parts else "{0}"
