"""Where a node comes from: the line of the user's program that built it."""

from __future__ import annotations

import sys
from contextvars import ContextVar
from typing import Final, final

import attrs
from typing_extensions import override

__all__ = ["BUILT_FOR", "Line", "Origin", "users_line"]

Line = tuple[str, int, str]
"""File, line and function, as plain data."""


@final
@attrs.frozen
class Origin:
    """The line of a user's program that built a node."""

    filename: str
    line: int
    function: str

    @override
    def __str__(self) -> str:
        return f"{self.filename}:{self.line}, in {self.function}"


BUILT_FOR: Final[ContextVar[Line | None]] = ContextVar("BUILT_FOR", default=None)
"""The line that nodes made now come from, where it is known: that of the node they replace, or of the call of `grad`."""


def users_line() -> Line | None:
    """Return the line that a node made now comes from; None where there is none.

    It is the one in `BUILT_FOR`, else the innermost line being executed that is neither this library's nor in a `make_node`: an Op of
    the user's own makes the node, but the line to tell is the one that called the Op.
    """
    known = BUILT_FOR.get()
    if known is not None:
        return known
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__", "").startswith("lamella.") or frame.f_code.co_name == "make_node":
        if frame.f_back is None:
            return None
        frame = frame.f_back
    code = frame.f_code
    return (code.co_filename, frame.f_lineno, code.co_name)
