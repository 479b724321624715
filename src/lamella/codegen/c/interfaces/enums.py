"""Enumerations as params: constants with the same names in Python and in C."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from typing_extensions import override

from lamella.codegen.c.interfaces.linker_object import CLinkerType
from lamella.ir import Type

__all__ = ["CEnumType", "EnumList", "EnumType"]

Number = int | float


class EnumType(Type[Number], CLinkerType):
    """Named numbers: ``EnumType(SUM=0, MEAN=("average", 1), ctype="int")``.

    In Python a constant is an attribute, in C a macro. A value may be given by the name of a constant or by its alias.

    Parameters
    ----------
    ctype
        The C type of values.
    cname
        What C functions of the enumeration are named after; after `ctype` by default.
    **constants
        The value of each constant, or its alias and its value. Names are written in capitals.

    Attributes
    ----------
    constants
        The values by name.
    aliases
        The names by alias.

    Raises
    ------
    ValueError
        A name is not written in capitals, an alias is used twice or is the name of a constant, or `ctype` or `cname` is none in C.
    TypeError
        A value is no number, or an alias no text.
    """

    __props__: ClassVar[tuple[str, ...] | None] = ("ctype", "cname", "items", "named")

    def __init__(
        self, ctype: str = "double", cname: str | None = None, **constants: Number | tuple[str, Number]
    ) -> None:
        self._fill(ctype, cname, constants)

    def _fill(self, ctype: str, cname: str | None, constants: Mapping[str, Number | tuple[str, Number]]) -> None:
        words = ctype.split()
        if not words or not all([re.fullmatch(r"[A-Za-z_]\w*", word) for word in words]):
            raise ValueError(f"{ctype!r} is no C type of numbers")
        self.ctype = " ".join(words)
        self.cname = "_".join(words) if cname is None else cname
        if not re.fullmatch(r"[A-Za-z_]\w*", self.cname):
            raise ValueError(f"{cname!r} is no name in C")
        values: dict[str, Number] = {}
        aliases: dict[str, str] = {}
        for name, given in constants.items():
            if not re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
                raise ValueError(f"the constant {name!r} is written in capitals, digits and underscores")
            alias, value = given if isinstance(given, tuple) else (None, given)
            if not isinstance(value, int | float):
                raise TypeError(f"the constant {name} is a number, not {value!r}")
            values[name] = int(value) if isinstance(value, bool) else value
            if alias is None:
                continue
            if not isinstance(alias, str):
                raise TypeError(f"the alias of {name} is a text, not {alias!r}")
            if alias in aliases or alias in constants:
                raise ValueError(f"{alias!r} stands for a constant already")
            aliases[alias] = name
        self.items = tuple(values.items())
        self.named = tuple(aliases.items())

    @property
    def constants(self) -> dict[str, Number]:
        """The values by name."""
        return dict(self.items)

    @property
    def aliases(self) -> dict[str, str]:
        """The names by alias."""
        return dict(self.named)

    def __getattr__(self, name: str) -> Number:
        if not name.startswith("_") and name != "items":
            for constant, value in self.items:
                if constant == name:
                    return value
        raise AttributeError(f"{type(self).__name__} has no attribute and no constant {name!r}")

    def __getitem__(self, name: str) -> Number:
        return self.constants[name]

    def __contains__(self, name: str) -> bool:
        return name in self.constants

    def __len__(self) -> int:
        return len(self.items)

    def from_alias(self, alias: str) -> Number:
        """Return a constant by its alias, or by its name.

        Raises
        ------
        KeyError
            There is none.
        """
        return self.constants[self.aliases.get(alias, alias)]

    def fromalias(self, alias: str) -> Number:
        """The same as `from_alias`."""
        return self.from_alias(alias)

    def has_alias(self, alias: str) -> bool:
        """Whether something is an alias."""
        return alias in self.aliases

    def get_aliases(self) -> tuple[str, ...]:
        """Return all aliases, sorted."""
        return tuple(sorted(self.aliases))

    @override
    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> Number:
        """Return the value of a constant; without `strict`, also by its name or alias.

        Raises
        ------
        TypeError
            There is no such constant.
        """
        found = value
        if isinstance(value, str) and not strict:
            found = self.constants.get(self.aliases.get(value, value))
        if isinstance(found, int | float):
            for known in self.constants.values():
                if known == found:
                    return known
        raise TypeError(
            f"{value!r} is none of the constants {', '.join(self.constants)} (aliases: {', '.join(self.aliases)})"
        )

    @override
    def c_declare(self, name: str, sub: Mapping[str, str], check_input: bool = True) -> str:
        return f"{self.ctype} {name};"

    @override
    def c_init(self, name: str, sub: Mapping[str, str]) -> str:
        return f"{name} = ({self.ctype})0;"

    @override
    def c_extract(self, name: str, sub: Mapping[str, str], check_input: bool = True, **kwargs: Any) -> str:
        number = f"py_{name}"
        return (
            f"{name} = PyLong_Check({number}) ? ({self.ctype})PyLong_AsLongLong({number}) : ({self.ctype})PyFloat_AsDouble({number});\n"
            f"if (PyErr_Occurred()) {sub['fail']}"
        )

    @override
    def c_sync(self, name: str, sub: Mapping[str, str]) -> str:
        return f"Py_XDECREF(py_{name});\npy_{name} = PyFloat_FromDouble((double){name});"

    @override
    def c_element_type(self) -> str:
        return self.ctype

    @override
    def c_is_simple(self) -> bool:
        return True

    @override
    def c_literal(self, data: Any) -> str:
        return repr(self.filter(data))

    @override
    def c_support_code(self, **kwargs: Any) -> list[str]:
        return [*[f"#define {name} {value!r}" for name, value in sorted(self.items)], self._to_string()]

    def _to_string(self) -> str:
        # Values need not be integers: a switch would not do.
        cases = "\n".join(
            [f'if (value == ({self.ctype}){name}) return strcpy(text, "{name}"), 0;' for name, _ in self.items]
        )
        return (
            f"#ifndef LM_ENUM_{self.cname}\n#define LM_ENUM_{self.cname}\n"
            f"static inline int lamella_enum_to_string_{self.cname}(const {self.ctype} value, char *const text)\n{{\n{cases}\n"
            'PyErr_SetString(PyExc_ValueError, "no constant of the enumeration has this value");\nreturn -1;\n}\n#endif'
        )

    @override
    def __str__(self) -> str:
        by_name = {name: f"({alias})" for alias, name in self.named}
        shown = ", ".join([f"{name}{by_name.get(name, '')}:{value}" for name, value in sorted(self.items)])
        return f"{type(self).__name__}<{self.ctype}>({shown})"


def _numbered(names: Sequence[str | tuple[str, str]]) -> dict[str, Number | tuple[str, Number]]:
    """Number names, each of which may have an alias."""
    constants: dict[str, Number | tuple[str, Number]] = {}
    for i, given in enumerate(names):
        name, alias = given if isinstance(given, tuple) else (given, None)
        if name in constants:
            raise ValueError(f"the constant {name} is there twice")
        constants[name] = i if alias is None else (alias, i)
    return constants


class EnumList(EnumType):
    """Names that are numbered: ``EnumList("SUM", ("MEAN", "average"), ctype="int")``.

    Parameters
    ----------
    *names
        The names, or pairs of a name and an alias. The first one is 0.
    ctype, cname
        As those of `EnumType`.

    Raises
    ------
    ValueError, TypeError
        As `EnumType`, or a name is given twice.
    """

    def __init__(self, *names: str | tuple[str, str], ctype: str = "int", cname: str | None = None) -> None:
        self._fill(ctype, cname, _numbered(names))


class CEnumType(EnumType):
    """Names that C headers define, as macros or enumerators: ``CEnumType("RAND_MAX", ctype="int")``.

    Values are not known in Python: there, a constant is the number of its place, and in C what the headers say.

    Parameters
    ----------
    *names
        The names, or pairs of a name and an alias.
    ctype, cname
        As those of `EnumType`.
    headers
        The headers that define them.

    Raises
    ------
    ValueError, TypeError
        As `EnumList`.
    """

    __props__: ClassVar[tuple[str, ...] | None] = ("ctype", "cname", "items", "named", "headers")

    def __init__(
        self,
        *names: str | tuple[str, str],
        ctype: str = "int",
        cname: str | None = None,
        headers: tuple[str, ...] = (),
    ) -> None:
        self._fill(ctype, cname, _numbered(names))
        self.headers = tuple(headers)

    @override
    def c_headers(self, **kwargs: Any) -> tuple[str, ...]:
        return self.headers

    @override
    def c_support_code(self, **kwargs: Any) -> list[str]:
        return [self._to_string()]

    @override
    def c_extract(self, name: str, sub: Mapping[str, str], check_input: bool = True, **kwargs: Any) -> str:
        cases = "\n".join([f"case {i}: {name} = {constant}; break;" for constant, i in self.items])
        return (
            f"switch (PyLong_AsLongLong(py_{name})) {{\n{cases}\ndefault:\n"
            'if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "no constant of the enumeration has this number");\n'
            f"{sub['fail']}\n}}"
        )
