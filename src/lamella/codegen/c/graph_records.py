"""Compiled graphs that are known again by a key of what they were made of, so that nothing need be rewritten or written in C.

A graph that was compiled is kept in the cache as the names of the shared objects that compute it, and the constants that they are
linked with. Who finds it again needs no compiler, and few modules: this is what a program does first.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, final

import attrs
import numpy as np

from lamella.codegen.c.cache_entries import Damaged, cache_folder, folder_problem, read_entry
from lamella.codegen.c.entry import Annotate, Entry, Library, Perform
from lamella.codegen.c.host import load_host, loaded_host
from lamella.config import config

__all__ = ["GraphRecord", "recall"]


@final
@attrs.frozen
class GraphRecord:
    """What is kept of a compiled graph.

    Attributes
    ----------
    unit, host
        The keys of the shared object and of the host that loads it.
    constants
        The values that it is linked with.
    n_nodes
        How many nodes the rewritten graph has.
    """

    unit: str
    host: str
    constants: tuple[Any, ...]
    n_nodes: int

    def to_bytes(self) -> bytes:
        """Return it as bytes."""
        return pickle.dumps((self.unit, self.host, self.constants, self.n_nodes), protocol=5)

    @classmethod
    def from_bytes(cls, written: bytes) -> GraphRecord:
        """Return what `to_bytes` wrote. Bytes that others may have written are not to be given to this: reading them runs code."""
        unit, host, constants, n_nodes = pickle.loads(written)
        for value in constants:
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # as in graphs
        return cls(unit, host, constants, n_nodes)


def recall(key: str, perform: Perform, annotate: Annotate) -> tuple[Entry, GraphRecord] | None:
    """Return the function of a graph that was compiled before, and what was kept of it; None where it, or a part of it, is not there.

    Parameters
    ----------
    key
        What it was kept under.
    perform, annotate
        As of `Library.link`.
    """
    folder = cache_folder()
    try:
        path = folder / f"{key}.graph"
        if not path.exists() or folder_problem(folder):
            return None
        record = GraphRecord.from_bytes(read_entry(path)[0])
        library = _library(folder, record)
    except (OSError, ImportError, Damaged):
        return None  # it is compiled, and what is damaged is made again
    entry = library.link(record.constants, perform, annotate)
    if config.threads > 0:
        entry.threads = config.threads
    return entry, record


def _library(folder: Path, record: GraphRecord) -> Library:
    unit = folder / f"{record.unit}.so"
    read_entry(unit)
    host = loaded_host.module
    if host is None:
        place = folder / f"{record.host}.so"
        read_entry(place)
        host = loaded_host.settle(load_host(place))
    library: Library = host.load(unit)
    return library
