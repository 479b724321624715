"""`CLinker`: a whole graph as one C function."""

from __future__ import annotations

import threading
import warnings
from typing import final

import attrs
from typing_extensions import override

from lamella.codegen import lower_to_c
from lamella.errors import CompilerNotFoundError
from lamella.runtime.linking import Executable, Linker, PerformLinker
from lamella.typing_layer import ScheduledGraph

__all__ = ["CLinker"]


class _Once:
    """Lets something happen once in the life of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done = False

    def first(self) -> bool:
        with self._lock:
            first, self._done = not self._done, True
            return first


_no_compiler_warning = _Once()


@final
@attrs.frozen
class CLinker(Linker):
    """Compiles a whole graph to one C function; without a C compiler, warns once and runs the graph in Python."""

    @override
    def link(self, scheduled: ScheduledGraph) -> Executable:
        try:
            return lower_to_c(scheduled).executable()
        except CompilerNotFoundError as error:
            if _no_compiler_warning.first():
                warnings.warn(f"{error} Until then, functions run in Python, on NumPy.", RuntimeWarning, stacklevel=2)
            return PerformLinker().link(scheduled)
