"""Modules that hand on names of other modules, and load those when a name is first asked for (PEP 562).

Such a module writes its names as imports that only type checkers read, and asks this one for the rest::

    if TYPE_CHECKING:
        from lamella.runtime.mode import Mode as Mode
    else:
        __getattr__, __dir__ = lazy_names(__name__)

So the names stand in one place, and a type checker knows as much as if the imports were made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

from lamella.collector import collecting_rarely

__all__ = ["lazy_names"]


def lazy_names(module: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the functions ``__getattr__`` and ``__dir__`` of a module that is being loaded.

    Parameters
    ----------
    module
        Its name. Each of its names is a line ``from home import name as name``, indented, in its source.

    Raises
    ------
    ImportError
        Its source cannot be read.
    """
    loaded = sys.modules[module]
    read = getattr(getattr(loaded.__spec__, "loader", None), "get_source", None)
    source = None if read is None else read(module)
    if source is None:
        raise ImportError(f"the source of {module} lists its names, and cannot be read", name=module)
    words = [line.split() for line in source.splitlines() if line.startswith("    from ")]
    homes = {w[3]: w[1] for w in words if len(w) == 6 and w[3] == w[5]}

    def find(name: str) -> object:
        if name == "__all__":  # asked for by `from module import *`
            return [public for public in names() if not public.startswith("_")]
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        with collecting_rarely():
            value = getattr(import_module(home), name)
        setattr(loaded, name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(loaded), *homes})

    return find, names
