"""C code for `DeepCopyOp`, `ViewOp`, `Shape` and `Shape_i` of one's own Types: registered by class of Type.

The code is a text with ``%(iname)s`` and ``%(oname)s`` in the places of the names of input and output, ``%(i)s`` for the axis of `Shape_i`, and
``%(fail)s``. Any other ``%`` is written twice.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final, final

import attrs
from typing_extensions import override

from lamella.codegen.c.interfaces.linker_object import CLinkerOp
from lamella.codegen.c.ownership import own_ops
from lamella.ir import Apply, DeepCopyOp, Op, Shape, Shape_i, Type, ViewOp

__all__ = [
    "register_deep_copy_op_c_code",
    "register_shape_c_code",
    "register_shape_i_c_code",
    "register_view_op_c_code",
    "registered_c_code",
]


@final
@attrs.frozen
class _RegisteredCode(CLinkerOp):
    """The C side of an Op for one class of Types."""

    text: str
    check: str
    version: tuple[Any, ...]

    @override
    def c_code(
        self, node: Apply[Any], name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Mapping[str, str]
    ) -> str:
        axis = {"i": node.op.axis} if isinstance(node.op, Shape_i) else {}
        names = {"iname": inputs[0], "oname": outputs[0], "fail": sub["fail"], **axis}
        return "\n".join([text % names for text in (self.check, self.text) if text])

    @override
    def c_code_cache_version(self) -> tuple[Any, ...]:
        return self.version


@final
class _CodeTable:
    """C code by class of Op and class of Type."""

    def __init__(self) -> None:
        self._codes: dict[tuple[type, type], _RegisteredCode] = {}
        self._guard = threading.Lock()

    def put(self, op: type[Op[Any, Any]], type_: type[Type[Any]], code: _RegisteredCode) -> None:
        own_ops.see([type_], "")
        with self._guard:
            self._codes = {**self._codes, (op, type_): code}

    def get(self, node: Apply[Any]) -> _RegisteredCode | None:
        codes = self._codes
        if not codes or not isinstance(node.op, DeepCopyOp | ViewOp | Shape | Shape_i):
            return None
        for base in type(node.inputs[0].type).__mro__:
            found = codes.get((type(node.op), base))
            if found is not None:
                return found
        return None


_table: Final = _CodeTable()


def registered_c_code(node: Apply[Any]) -> CLinkerOp | None:
    """Return what was registered for the Op of a node and the Type of its input."""
    return _table.get(node)


def register_deep_copy_op_c_code(type: type[Type[Any]], code: str, version: tuple[Any, ...] = ()) -> None:
    """Say how values of a class of Types are copied in C.

    Parameters
    ----------
    type
        The class.
    code
        Statements that make ``%(oname)s`` a copy of ``%(iname)s``.
    version
        `CLinkerObject.c_code_cache_version`.
    """
    _table.put(DeepCopyOp, type, _RegisteredCode(code, "", tuple(version)))


def register_view_op_c_code(type: type[Type[Any]], code: str, version: tuple[Any, ...] = ()) -> None:
    """Say how `ViewOp` passes values of a class of Types on in C; for the parameters see `register_deep_copy_op_c_code`."""
    _table.put(ViewOp, type, _RegisteredCode(code, "", tuple(version)))


def register_shape_c_code(type: type[Type[Any]], code: str, version: tuple[Any, ...] = ()) -> None:
    """Say how `Shape` finds the shape of values of a class of Types in C: an array of int64.

    For the parameters see `register_deep_copy_op_c_code`.
    """
    _table.put(Shape, type, _RegisteredCode(code, "", tuple(version)))


def register_shape_i_c_code(
    type: type[Type[Any]], code: str, check_input: str = "", version: tuple[Any, ...] = ()
) -> None:
    """Say how `Shape_i` finds one length of values of a class of Types in C: an array of int64 without dimensions.

    Parameters
    ----------
    type
        The class.
    code
        Statements that make ``%(oname)s`` the length of ``%(iname)s`` along the axis ``%(i)s``.
    check_input
        Statements that run before, and see to it that there is such an axis.
    version
        `CLinkerObject.c_code_cache_version`.
    """
    _table.put(Shape_i, type, _RegisteredCode(code, check_input, tuple(version)))
