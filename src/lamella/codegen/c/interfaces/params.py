"""Params of an Op: values that its C code is given when a function is linked, so that they are no part of the code.

An Op says of which Type they are (``params_type``) and what they are (``get_params``). `ParamsType` bundles several: in Python an object with
an attribute each, in C a structure with a member each.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, final

from typing_extensions import override

from lamella.codegen.c.interfaces.c_sides import c_side
from lamella.codegen.c.interfaces.enums import EnumType
from lamella.codegen.c.interfaces.linker_object import CLinkerObject, CLinkerType, ask, call_checked
from lamella.errors import LoweringError
from lamella.ir import Apply, Type, strict_key

__all__ = ["Params", "ParamsType", "Wrapper", "op_params", "params_type_of"]

_C_KEYWORD: Final = re.compile(
    r"""
    alignas|alignof|and|and_eq|asm|auto|bitand|bitor|bool|break|case|catch|char|class|compl|concept|const|const_cast
    |consteval|constexpr|constinit|continue|decltype|default|delete|do|double|dynamic_cast|else|enum|explicit|export|extern
    |false|float|for|friend|goto|if|inline|int|long|mutable|namespace|new|noexcept|not|not_eq|nullptr|operator|or|or_eq
    |private|protected|public|register|reinterpret_cast|requires|restrict|return|short|signed|sizeof|static|static_assert
    |static_cast|struct|switch|template|this|thread_local|throw|true|try|typedef|typeid|typename|typeof|union|unsigned|using
    |virtual|void|volatile|wchar_t|while|xor|xor_eq|NULL
    """,
    re.VERBOSE,
)


@final
class Params(Mapping[str, Any]):
    """The params of one application: an attribute, and an item, for each member of a `ParamsType`. They never change.

    Parameters
    ----------
    params_type
        The Type.
    **values
        A value for each member; filtered as its Type says.

    Raises
    ------
    TypeError
        A member has no value, or a name is that of no member; or a value does not fit.
    """

    __slots__ = ("_key", "_type", "_values")

    _type: ParamsType
    _values: dict[str, Any]
    _key: tuple[Any, ...]

    def __init__(self, params_type: ParamsType, **values: Any) -> None:
        if set(values) != set(params_type.fields):
            raise TypeError(f"{params_type} has the members {', '.join(params_type.fields)}, not {', '.join(values)}")
        filtered: dict[str, Any] = {}
        for name, type in zip(params_type.fields, params_type.types, strict=True):
            try:
                filtered[name] = type.filter(values[name], allow_downcast=True)
            except (TypeError, ValueError) as error:
                error.add_note(f"as the member {name!r} of {params_type}")
                raise
        object.__setattr__(self, "_type", params_type)
        object.__setattr__(self, "_values", filtered)
        object.__setattr__(self, "_key", tuple([strict_key(value) for value in filtered.values()]))

    @property
    def params_type(self) -> ParamsType:
        """The Type."""
        return self._type

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._values:
            raise AttributeError(f"the params have no member {name!r}")
        return self._values[name]

    @override
    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"params never change: {name!r} cannot be set")

    @override
    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    @override
    def __len__(self) -> int:
        return len(self._values)

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Params) and self._type == other._type and self._key == other._key

    @override
    def __hash__(self) -> int:
        return hash((self._type, self._key))

    @override
    def __repr__(self) -> str:
        return f"Params({', '.join([f'{name}={value!r}' for name, value in self._values.items()])})"

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return (_params, (self._type, self._values))


def _params(params_type: ParamsType, values: Mapping[str, Any]) -> Params:
    return Params(params_type, **values)


@final
class ParamsType(Type[Params], CLinkerType):
    """Several params in one: ``ParamsType(scale=ScalarType("float64"), mode=EnumList("SUM", "MEAN"))``.

    In C ``sub["params"]`` is a pointer to a structure with the members. Constants of enumerations among the members are attributes.

    Parameters
    ----------
    **types
        The Type of each member. It needs a C side.

    Raises
    ------
    ValueError
        There are no members; a name is none in C, or one of its keywords; or two enumerations share the name of a constant or an alias.
    TypeError
        A member is no Type with a C side.
    """

    __props__: ClassVar[tuple[str, ...] | None] = ("fields", "types")

    def __init__(self, **types: Type[Any]) -> None:
        if not types:
            raise ValueError("a ParamsType has at least one member")
        for name, type in types.items():
            if (
                not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
                or _C_KEYWORD.fullmatch(name)
                or keyword.iskeyword(name)
            ):
                raise ValueError(f"{name!r} is no name for a member of a structure in C: choose another one")
            if not isinstance(type, Type):
                raise TypeError(f"the member {name!r} is a Type, not {type!r}")
            try:
                c_side(type)
            except LoweringError as error:
                raise TypeError(f"the member {name!r} needs a Type with a C side: {error}") from None
        self.fields = tuple(sorted(types))
        self.types = tuple([types[name] for name in self.fields])
        names = [name for enum in self._enums for name in (*enum.constants, *enum.aliases)]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"enumerations among the members share the names {', '.join(sorted(twice))}")

    @property
    def _enums(self) -> list[EnumType]:
        return [type for type in dict.fromkeys(self.types) if isinstance(type, EnumType)]

    def __getattr__(self, name: str) -> int | float:
        if not name.startswith("_") and name not in ("fields", "types"):
            for enum in self._enums:
                if name in enum.constants:
                    return enum.constants[name]
        raise AttributeError(f"{type(self).__name__} has no attribute and no constant {name!r}")

    @property
    def length(self) -> int:
        """Number of members."""
        return len(self.fields)

    @property
    def name(self) -> str:
        """The name of the structure in C; the macro ``PARAMS_TYPE`` in files of an `ExternalCOp`."""
        words = [f"{field}_{c_side(type).c_element_type() or _class(type)}" for field, type in self._members]
        return "lm_params_" + re.sub(r"\W+", "_", "_".join(words))

    @property
    def _members(self) -> list[tuple[str, Type[Any]]]:
        return list(zip(self.fields, self.types, strict=True))

    def has_type(self, type: Type[Any]) -> bool:
        """Whether a member is of that Type."""
        return type in self.types

    def get_type(self, field: str) -> Type[Any]:
        """Return the Type of a member."""
        return self.types[self.fields.index(field)]

    def get_field(self, type: Type[Any]) -> str:
        """Return the first member of a Type."""
        return self.fields[self.types.index(type)]

    def get_enum(self, name: str) -> int | float:
        """Return a constant of an enumeration among the members."""
        found: int | float = getattr(self, name)
        return found

    def enum_from_alias(self, alias: str) -> int | float:
        """Return a constant by its alias, or by its name.

        Raises
        ------
        KeyError
            There is none.
        """
        for enum in self._enums:
            if alias in enum.aliases or alias in enum.constants:
                return enum.from_alias(alias)
        raise KeyError(alias)

    def get_params(self, *sources: object, **values: Any) -> Params:
        """Return params made of attributes of objects (an Op's, say) and of values by name, which win.

        Raises
        ------
        TypeError
            A member is to be found nowhere.
        """
        found: dict[str, Any] = {}
        for field in self.fields:
            if field in values:
                found[field] = values[field]
                continue
            for source in sources:
                if hasattr(source, field):
                    found[field] = getattr(source, field)
                    break
            else:
                raise TypeError(
                    f"the member {field!r} of {self} is no attribute of {', '.join([repr(s) for s in sources])}"
                )
        return Params(self, **found)

    @override
    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> Params:
        if isinstance(value, Params) and value.params_type == self:
            return value
        if strict:
            raise TypeError(f"{value!r} are no params of {self}")
        return self.get_params(value, **(dict(value) if isinstance(value, Mapping) else {}))

    # The C side: a structure, and functions that fill and empty it.

    @override
    def c_support_code(self, **kwargs: Any) -> Sequence[str]:
        own: list[str] = []
        for type in dict.fromkeys(self.types):
            own += ask(c_side(type).c_support_code, "")
        name = self.name
        fail = {"fail": "return -1;"}
        declared = "\n".join([c_side(t).c_declare(f, fail) for f, t in self._members])
        # Arrays and numbers name the type of their elements, in a typedef, which is no member.
        members = re.sub(r"typedef [^;]*\bdtype_[^;]*;\n?", "", declared)
        fills: list[str] = []
        for field, type in self._members:
            side = c_side(type)
            shown = f"{name}_{field}"
            local = call_checked(side.c_declare, shown, fail, True)
            extract = call_checked(side.c_extract, shown, {"fail": "goto failed;"}, True)
            fills.append(
                f"static int {shown}_fill({name} *const params, PyObject *const all)\n{{\n{local}\n"
                f'PyObject *const py_{shown} = PyObject_GetAttrString(all, "{field}");\nif (py_{shown} == NULL) return -1;\n{{\n{extract}\n}}\n'
                f"params->{field} = {shown};\nPy_DECREF(py_{shown});\nreturn 0;\nfailed: __attribute__((unused));\n"
                f"{side.c_cleanup(shown, fail)}\nPy_DECREF(py_{shown});\nreturn -1;\n}}\n"
                f"static void {shown}_empty({name} *const params)\n{{\n{local}\n{shown} = params->{field};\n(void){shown};\n"
                f"{side.c_cleanup(shown, fail)}\n}}"
            )
        filled = "\n".join(
            [
                f"if ({name}_{field}_fill(params, all) < 0) return -1;\nparams->lm_filled = {i + 1};"
                for i, field in enumerate(self.fields)
            ]
        )
        emptied = "\n".join(
            [f"if (params->lm_filled > {i}) {name}_{field}_empty(params);" for i, field in enumerate(self.fields)]
        )
        guard = f"#ifndef {name.upper()}_DEFINED\n#define {name.upper()}_DEFINED"
        return [
            *own,
            f"{guard}\ntypedef struct {{\nint lm_filled;\n{members}\n}} {name};\n" + "\n".join(fills) + "\n"
            f"static int {name}_fill({name} *const params, PyObject *const all)\n{{\n{filled}\nreturn 0;\n}}\n"
            f"static void {name}_empty({name} *const params)\n{{\n{emptied}\nparams->lm_filled = 0;\n}}\n#endif",
        ]

    @override
    def c_declare(self, name: str, sub: Mapping[str, str], check_input: bool = True) -> str:
        return f"{self.name} lm_{name};\n{self.name} *{name};"

    @override
    def c_init(self, name: str, sub: Mapping[str, str]) -> str:
        return f"{name} = NULL;"

    @override
    def c_extract(self, name: str, sub: Mapping[str, str], check_input: bool = True, **kwargs: Any) -> str:
        return (
            f"memset(&lm_{name}, 0, sizeof(lm_{name}));\n{name} = &lm_{name};\n"
            f"if ({self.name}_fill({name}, py_{name}) < 0) {sub['fail']}"
        )

    @override
    def c_cleanup(self, name: str, sub: Mapping[str, str]) -> str:
        return f"{self.name}_empty(&lm_{name});"

    def _ask_members(self, method: str) -> list[str]:
        return list(dict.fromkeys([text for type in self.types for text in ask(getattr(c_side(type), method), "")]))

    @override
    def c_headers(self, **kwargs: Any) -> list[str]:
        return self._ask_members("c_headers")

    @override
    def c_libraries(self, **kwargs: Any) -> list[str]:
        return self._ask_members("c_libraries")

    @override
    def c_header_dirs(self, **kwargs: Any) -> list[str]:
        return self._ask_members("c_header_dirs")

    @override
    def c_lib_dirs(self, **kwargs: Any) -> list[str]:
        return self._ask_members("c_lib_dirs")

    @override
    def c_compile_args(self, **kwargs: Any) -> list[str]:
        return self._ask_members("c_compile_args")

    @override
    def c_no_compile_args(self, **kwargs: Any) -> list[str]:
        return self._ask_members("c_no_compile_args")

    @override
    def c_init_code(self, **kwargs: Any) -> list[str]:
        return self._ask_members("c_init_code")

    @override
    def c_code_cache_version(self) -> tuple[Any, ...]:
        return tuple([c_side(type).c_code_cache_version() for type in self.types])

    @override
    def __repr__(self) -> str:
        return f"ParamsType({', '.join([f'{field}={type}' for field, type in self._members])})"

    @override
    def __str__(self) -> str:
        return repr(self)


Wrapper = ParamsType
"""The older name of `ParamsType`."""


def _class(type: Type[Any]) -> str:
    return type.__class__.__name__


def params_type_of(op: CLinkerObject) -> Type[Any] | None:
    """Return the Type of an Op's params; None for an Op without params."""
    found = getattr(op, "params_type", None)
    if found is not None and not isinstance(found, Type):
        raise TypeError(f"params_type of {op} is a Type, not {found!r}")
    return found


def op_params(op: Any, node: Apply[Any]) -> Any:
    """Return the params of an application, as their Type wants them; None for an Op without params.

    Raises
    ------
    TypeError
        They are not of the Type that the Op declares.
    """
    type = params_type_of(op)
    return None if type is None else type.filter(op.get_params(node))
