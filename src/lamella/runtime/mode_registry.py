"""The modes that have a name: for ``mode="FAST_RUN"`` and for the configuration."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import MappingProxyType

from lamella.config import config
from lamella.errors import ConfigError
from lamella.runtime.debug_mode import DebugMode
from lamella.runtime.mode import FAST_COMPILE, FAST_RUN, Mode
from lamella.runtime.nan_guard import NanGuardMode

__all__ = ["get_mode", "predefined_modes", "register_mode"]

_modes: dict[str, Mode] = {
    "FAST_RUN": FAST_RUN,
    "FAST_COMPILE": FAST_COMPILE,
    "DebugMode": DebugMode(),
    "NanGuardMode": NanGuardMode(nan_is_error=True, inf_is_error=True),
}
_lock = threading.Lock()


def predefined_modes() -> Mapping[str, Mode]:
    """Return the modes that have a name."""
    return MappingProxyType(dict(_modes))


def register_mode(name: str, mode: Mode) -> None:
    """Give a mode a name, for ``mode=`` and the configuration.

    Raises
    ------
    ValueError
        The name is taken by another mode.
    """
    with _lock:
        if _modes.setdefault(name, mode) != mode:
            raise ValueError(f"another mode is named {name!r}")


def get_mode(mode: Mode | str | None = None) -> Mode:
    """Return a mode: the one given, the one of that name, or the configured one.

    Raises
    ------
    ConfigError
        No mode has that name.
    """
    if isinstance(mode, Mode):
        return mode
    name = config.mode if mode is None else mode
    if name not in _modes:
        raise ConfigError(f"no mode is named {name!r}; there are {', '.join(_modes)}")
    return _modes[name]
