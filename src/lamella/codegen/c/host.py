"""The host module, which loads compiled code and calls it: one in a process."""

from __future__ import annotations

import threading
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final, final

__all__ = ["LoadedHost", "load_host", "loaded_host"]


@final
class LoadedHost:
    """The host module that a process has loaded, once it has."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._module: ModuleType | None = None

    @property
    def module(self) -> ModuleType | None:
        """The module; None where none is loaded yet."""
        return self._module

    def settle(self, module: ModuleType) -> ModuleType:
        """Make a module the one that is used, unless another thread was faster, and return the one that is."""
        with self._guard:
            if self._module is None:
                self._module = module
            return self._module


loaded_host: Final = LoadedHost()
"""The host module of this process."""


def load_host(path: Path) -> ModuleType:
    """Return the host module of a file.

    Raises
    ------
    OSError, ImportError
        It cannot be loaded.
    """
    loader = ExtensionFileLoader("lamella_glue", str(path))
    spec = spec_from_file_location("lamella_glue", path, loader=loader)
    if spec is None:
        raise ImportError(f"{path} is no extension module")
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
