"""`ExternalCOp`: an Op whose C code stands in files, in sections.

    #section support_code_apply

    int APPLY_SPECIFIC(scaled)(PyArrayObject *x, PyArrayObject **z, PARAMS_TYPE *params) {...}

A file is nothing but sections: ``support_code``, ``init_code`` (of the Op), ``support_code_apply``, ``init_code_apply``, ``code``, ``code_cleanup`` (of an application),
``support_code_struct``, ``init_code_struct``, ``cleanup_code_struct`` (of an application in a linked function).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, ParamSpec

import numpy as np
from typing_extensions import TypeVar, override

from lamella.codegen.c.interfaces.c_op import COp
from lamella.codegen.c.interfaces.c_sides import c_side
from lamella.codegen.c.interfaces.params import ParamsType
from lamella.ir import Apply

__all__ = ["ExternalCOp"]

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True, default=Any)

_SECTION: Final = re.compile(r"^#section[ \t]+(\w+)[ \t]*$", re.MULTILINE)

_SECTIONS: Final = frozenset(
    {
        "support_code",
        "init_code",
        "support_code_apply",
        "init_code_apply",
        "support_code_struct",
        "init_code_struct",
        "cleanup_code_struct",
        "code",
        "code_cleanup",
    }
)


class ExternalCOp(COp[P, R_co]):
    """An Op whose C code stands in files.

    Parameters
    ----------
    func_files
        The files; a relative path starts from the folder of the class's own file. Sections of one name are joined.
    func_name
        The function that computes an application: it is given the inputs, the addresses of the outputs, and the params if there are some,
        and returns 0, or something else for failure. ``"APPLY_SPECIFIC(f)"`` names a function of ``support_code_apply``. None where a section ``code`` computes.

    Raises
    ------
    ValueError
        A file has text before its first section, or a section of an unknown name; or there is both a function and a section ``code``, or neither.
    """

    __props__: ClassVar[tuple[str, ...] | None] = ("func_files", "func_name")

    def __init__(self, func_files: str | Path | Sequence[str | Path], func_name: str | None = None) -> None:
        files = (func_files,) if isinstance(func_files, str | Path) else tuple(func_files)
        self.func_files = tuple([str(file) for file in files])
        self.func_name = func_name
        found: dict[str, str] = {}
        for file in self.func_files:
            path = self.get_path(file)
            for name, text in _sections(path):
                found[name] = found.get(name, "") + text
        self.code_sections = tuple(found.items())
        if (func_name is not None) == ("code" in found):
            both = "both a function and a section `code`" if func_name else "neither a function nor a section `code`"
            raise ValueError(f"{type(self).__name__} has {both} that computes it")

    @classmethod
    def get_path(cls, file: str) -> Path:
        """Return the place of a file of the class."""
        path = Path(file)
        return path if path.is_absolute() else Path(inspect.getfile(cls)).resolve().parent / path

    def section(self, name: str) -> str:
        """Return the text of a section; empty where there is none."""
        return dict(self.code_sections).get(name, "")

    def _wrapped(self, text: str, macros: Mapping[str, str]) -> str:
        if not text.strip():
            return ""
        defined = "\n".join([f"#define {name} {_continued(value)}" for name, value in macros.items()])
        undefined = "\n".join([f"#undef {name.partition('(')[0]}" for name in macros])
        return f"{defined}\n{text}\n{undefined}\n"

    def _macros(self, node: Apply[Any], name: str) -> dict[str, str]:
        macros = {"APPLY_SPECIFIC(name)": f"name##_{name}"}
        for kind, variables in (("INPUT", node.inputs), ("OUTPUT", node.outputs)):
            for i, variable in enumerate(variables):
                dtype = getattr(variable.type, "dtype", None)
                if isinstance(dtype, str):
                    numpy_dtype = np.dtype(dtype)
                    macros[f"DTYPE_{kind}_{i}"] = f"npy_{dtype}"
                    macros[f"TYPENUM_{kind}_{i}"] = str(numpy_dtype.num)
                    macros[f"ITEMSIZE_{kind}_{i}"] = str(numpy_dtype.itemsize)
        if isinstance(self.params_type, ParamsType):
            macros["PARAMS_TYPE"] = self.params_type.name
            for field, type in zip(self.params_type.fields, self.params_type.types, strict=True):
                element = c_side(type).c_element_type()
                if element is not None:
                    macros[f"DTYPE_PARAM_{field}"] = element
        return macros

    def _macros_of_code(self, node: Apply[Any], name: str, sub: Mapping[str, str]) -> dict[str, str]:
        params = {"PARAMS": sub["params"]} if "params" in sub else {}
        return {**self._macros(node, name), "FAIL": sub["fail"], **params}

    def _macros_of_operands(
        self, node: Apply[Any], name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Mapping[str, str]
    ) -> dict[str, str]:
        operands = {f"INPUT_{i}": text for i, text in enumerate(inputs)}
        operands.update({f"OUTPUT_{i}": text for i, text in enumerate(outputs)})
        return {**self._macros_of_code(node, name, sub), **operands}

    @override
    def c_support_code(self, **kwargs: Any) -> str | Sequence[str]:
        return self.section("support_code")

    @override
    def c_init_code(self, **kwargs: Any) -> Sequence[str]:
        return [self.section("init_code")]

    @override
    def c_support_code_apply(self, node: Apply[Any], name: str) -> str:
        return self._wrapped(self.section("support_code_apply"), self._macros(node, name))

    @override
    def c_init_code_apply(self, node: Apply[Any], name: str) -> str:
        return self._wrapped(self.section("init_code_apply"), self._macros(node, name))

    @override
    def c_support_code_struct(self, node: Apply[Any], name: str) -> str:
        return self._wrapped(self.section("support_code_struct"), self._macros(node, name))

    @override
    def c_init_code_struct(self, node: Apply[Any], name: str, sub: Mapping[str, str]) -> str:
        return self._wrapped(self.section("init_code_struct"), self._macros_of_code(node, name, sub))

    @override
    def c_cleanup_code_struct(self, node: Apply[Any], name: str) -> str:
        return self._wrapped(self.section("cleanup_code_struct"), self._macros(node, name))

    @override
    def c_code(
        self, node: Apply[Any], name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Mapping[str, str]
    ) -> str:
        if self.func_name is None:
            return self._wrapped(self.section("code"), self._macros_of_operands(node, name, inputs, outputs, sub))
        params = [sub["params"]] if "params" in sub else []
        arguments = ", ".join([*inputs, *[f"&{output}" for output in outputs], *params])
        call = f"if ({self.func_name}({arguments}) != 0) {sub['fail']}"
        return self._wrapped(call, self._macros(node, name))

    @override
    def c_code_cleanup(
        self, node: Apply[Any], name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Mapping[str, str]
    ) -> str:
        return self._wrapped(self.section("code_cleanup"), self._macros_of_operands(node, name, inputs, outputs, sub))


def _continued(text: str) -> str:
    return " \\\n".join(text.split("\n"))


def _sections(path: Path) -> list[tuple[str, str]]:
    stray, *parts = _SECTION.split(path.read_text(encoding="utf-8"))
    if stray.strip():
        raise ValueError(f"{path}: there is text before the first #section: {stray.strip().splitlines()[0]!r}")
    found = list(zip(parts[::2], parts[1::2], strict=True))
    for name, _ in found:
        if name not in _SECTIONS:
            raise ValueError(
                f"{path}: there is no kind of section named {name!r}; there are {', '.join(sorted(_SECTIONS))}"
            )
    return found
