"""What running something costs, told by what is called, not by a clock: the same on every machine, and beside other work."""

import sys
from collections.abc import Callable
from typing import ParamSpec

__all__ = ["calls_made"]


P = ParamSpec("P")


def calls_made(function: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> int:
    """Return how many functions, of Python and of C, are called by calling one."""
    made = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function(*args, **kwargs)
    finally:
        sys.setprofile(before)
    return made
