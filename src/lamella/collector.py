"""The garbage collector, while much is made that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["collecting_rarely"]

_RARELY: Final = 100_000


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Let Python look for garbage in cycles a hundred times less often inside a block, in all threads.

    Where nodes, or modules, are made by the thousand, and most of them stay, it would look at all that exist again and again: nearly half of
    the time of rewriting a large graph. What has become garbage is still found, a little later. A program that has switched the collector
    off, or set it to look as seldom, is left alone.
    """
    usual = gc.get_threshold()
    if not 0 < usual[0] < _RARELY:
        yield
        return
    gc.set_threshold(_RARELY, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
