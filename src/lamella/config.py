"""Configuration: a frozen value, read once, overridden for a block of code.

Flags come, each later source winning, from the defaults, from the TOML file named by
``LAMELLA_CONFIG`` (else ``lamella/config.toml`` in the user's configuration folder), and from the environment
variable ``LAMELLA_FLAGS`` (``LAMELLA_FLAGS="mode=FAST_COMPILE,openmp=true"``). Code overrides
them for a block, in its own thread or task only::

    with lm.config.override(mode="FAST_COMPILE"):
        ...
"""

from __future__ import annotations

import contextvars
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

import attrs

from lamella.errors import ConfigError

__all__ = ["Config", "config", "read_config"]


def _user_folder(environment: Mapping[str, str], variable: str, fallback: str) -> Path:
    root = environment.get(variable)
    return (Path(root) if root else Path.home() / fallback) / "lamella"


def _default_cache_dir() -> Path:
    return _user_folder(os.environ, "XDG_CACHE_HOME", ".cache")


@attrs.frozen
class Config:
    """All flags, with their defaults.

    Attributes
    ----------
    mode
        Name of the mode that `function` compiles with when none is given.
    floatX
        dtype of the default constructors (`vector`, `matrix`, ...).
    cache_dir
        Folder of compiled C code.
    compiler
        Command of the C compiler; empty to look for ``cc``, ``gcc`` and ``clang``.
    compiler_flags
        Extra flags, appended to every C compilation.
    compilers
        The most compilers that work on one function at a time; 0 for as many as make it faster.
    c_debug
        Compile C with ``-O0 -g`` and keep the sources beside the modules.
    openmp
        Compile the C code of users' Ops with OpenMP (`OpenMPOp`).
    threads
        The most threads of one call of a compiled function, when it is made; 0 for as many as the environment's ``OMP_NUM_THREADS`` says,
        or else as there are processors that the process may use. Results do not depend on it.
    annihilate_zero_cotangents
        An incoming cotangent of exactly 0 makes the product with an infinite or NaN slope 0.
    on_unused_input
        What `function` does about an input that no output needs.
    excluded_rewrites, included_rewrites
        Tags or names taken from, or added to, every mode's rewriting query (separated by ``:``).
    check_rewrites
        Run the graph checker after every rewriting stage.
    recall
        Take functions that were compiled before from the cache as a whole, with no rewriting (mode FAST_RUN, Ops of this package).
    max_use_ratio
        Bound on the uses of one rewriter in an equilibrium, per node of the graph.
    profile
        Collect time and memory of every node of compiled functions.
    profile_rewrites
        Collect time, hits and nodes made of every rewriter.
    """

    mode: str = "FAST_RUN"
    floatX: Literal["float16", "float32", "float64"] = "float64"
    cache_dir: Path = attrs.field(factory=_default_cache_dir)
    compiler: str = ""
    compiler_flags: str = ""
    compilers: int = 0
    c_debug: bool = False
    openmp: bool = False
    threads: int = 0
    annihilate_zero_cotangents: bool = True
    on_unused_input: Literal["raise", "warn", "ignore"] = "raise"
    excluded_rewrites: str = ""
    included_rewrites: str = ""
    check_rewrites: bool = False
    recall: bool = True
    max_use_ratio: float = 8.0
    profile: bool = False
    profile_rewrites: bool = False

    @contextmanager
    def override(self, **flags: object) -> Iterator[Config]:
        """Use other values for some flags inside a ``with`` block.

        Parameters
        ----------
        **flags
            Names and new values.

        Yields
        ------
        Config
            The configuration in force inside the block.

        Raises
        ------
        ConfigError
            A name is unknown or a value does not fit.
        """
        token = _active.set(_with_flags(self, flags, "override()"))
        try:
            yield _active.get()
        finally:
            _active.reset(token)


_TRUE, _FALSE = frozenset({"true", "1", "yes", "on"}), frozenset({"false", "0", "no", "off"})


def _parse(name: str, value: object, expected: Any, source: str) -> object:
    choices = getattr(expected, "__args__", None)
    if choices is not None:
        if value in choices:
            return value
        raise ConfigError(f"{source}: {name} is one of {', '.join(map(str, choices))}, not {value!r}")
    if expected is bool and isinstance(value, str) and value.lower() in _TRUE | _FALSE:
        return value.lower() in _TRUE
    if expected is Path and isinstance(value, str | Path):
        return Path(value).expanduser()
    if expected is int and not isinstance(value, bool):
        try:
            return int(str(value))
        except ValueError:
            pass
    if expected is float and not isinstance(value, bool):
        try:
            return float(str(value))
        except ValueError:
            pass
    if type(value) is expected:
        return value
    raise ConfigError(f"{source}: {name} takes a {expected.__name__}, not {value!r}")


def _with_flags(base: Config, flags: Mapping[str, object], source: str) -> Config:
    hints = get_type_hints(Config)
    unknown = [name for name in flags if name not in hints]
    if unknown:
        raise ConfigError(f"{source}: no flag is named {unknown[0]!r}; there are {', '.join(hints)}")
    changes: dict[str, Any] = {name: _parse(name, value, hints[name], source) for name, value in flags.items()}
    return attrs.evolve(base, **changes)


def read_config(environment: Mapping[str, str] | None = None) -> Config:
    """Read the flags from the defaults, the user's file and ``LAMELLA_FLAGS``.

    Parameters
    ----------
    environment
        Environment variables; those of the process when not given.

    Raises
    ------
    ConfigError
        A flag is unknown, or has a value that it cannot take.
    """
    env = os.environ if environment is None else environment
    current = Config(cache_dir=_user_folder(env, "XDG_CACHE_HOME", ".cache"))
    path = (
        Path(env["LAMELLA_CONFIG"])
        if "LAMELLA_CONFIG" in env
        else _user_folder(env, "XDG_CONFIG_HOME", ".config") / "config.toml"
    )
    if path.is_file():
        import tomllib  # here, as there is seldom a file, and it takes as long to load as much of this package

        current = _with_flags(current, tomllib.loads(path.read_text()), str(path))
    words = [word.strip() for word in env.get("LAMELLA_FLAGS", "").split(",") if word.strip()]
    pairs = [word.partition("=") for word in words]
    malformed = [name for name, equals, _ in pairs if not equals]
    if malformed:
        raise ConfigError(f"LAMELLA_FLAGS: {malformed[0]!r} is not of the form name=value")
    return _with_flags(current, {name.strip(): value.strip() for name, _, value in pairs}, "LAMELLA_FLAGS")


_active: contextvars.ContextVar[Config] = contextvars.ContextVar("lamella_config", default=read_config())  # noqa: B039 -- frozen

if TYPE_CHECKING:
    config: Config
else:

    class _ActiveConfig:
        """Stands for the configuration in force where it is read."""

        __slots__ = ()

        def __getattr__(self, name: str) -> object:
            return getattr(_active.get(), name)

        def __setattr__(self, name: str, value: object) -> None:
            error = attrs.exceptions.FrozenInstanceError()
            error.add_note(f"use config.override({name}=...) in a with statement")
            raise error

        def __repr__(self) -> str:
            return repr(_active.get())

    config = _ActiveConfig()
