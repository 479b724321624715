"""What compiled code is to Python: a library that is loaded, and a function of it that is linked with its constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntFlag
from typing import Any, Protocol, TypeVar, runtime_checkable

__all__ = ["Annotate", "ArgumentRule", "Entry", "Library", "Perform"]

FunctionT = TypeVar("FunctionT")

Perform = Callable[[int, list[Any]], Sequence[Any]]
"""Computes a step, given its number and the values of its inputs."""

Annotate = Callable[[int, BaseException], None]
"""Tells an exception which step it came from."""


class ArgumentRule(IntFlag):
    """What compiled code may do with an argument of a call."""

    TAKES_NUMBERS = 1
    """Accept numbers of Python where no digit is lost."""
    ROUNDS = 2
    """Round floats of Python to the dtype."""
    MUTABLE = 4
    """Write over it."""


@runtime_checkable
class Entry(Protocol):
    """A compiled function, linked with its constants. Threads may call it at once."""

    def __call__(self, inputs: Sequence[Any], /) -> list[Any]:
        """Return the outputs. Arrays are checked as far as memory safety needs: dtype, dimensions, known lengths."""

    threads: int
    """How many threads a call may have, with the one that calls: at first as many as ``OMP_NUM_THREADS`` said when it was linked, or as
    there are processors that the process may use."""

    def timed(self, inputs: Sequence[Any], /) -> tuple[list[Any], list[tuple[float, int] | None]]:
        """Return the outputs, and for each step what it cost, None where it did not run.

        That is the seconds that it took, and the bytes of those of its outputs that are new arrays.
        """

    def function_type(self, base: type[FunctionT], /) -> type[FunctionT]:
        """Return a subclass of a class with a slot ``trust_input``, whose instances are called as `plan_calls` says."""

    def plan_calls(
        self,
        function: object,
        python: Callable[..., Any],
        rules: bytes,
        keywords: tuple[str | None, ...],
        defaults: tuple[Any, ...],
        required: object,
        read: tuple[object, ...],
        updated: tuple[object, ...],
        locks: tuple[object, ...],
        kind: type | None,
        keys: tuple[Any, ...],
        /,
    ) -> None:
        """Let calls of an instance of such a class compute what this function computes, without Python where that is possible.

        Parameters
        ----------
        function
            The instance.
        python
            What is called in its place, with the instance and the arguments, where there is more to do.
        rules
            For each argument the `ArgumentRule` flags that are true of it.
        keywords
            For each argument its name.
        defaults, required
            For each argument its default value, or ``required``.
        read
            What holds the values of the inputs after those, in a slot ``value``.
        updated
            What the last outputs are stored in, in a slot ``value``.
        locks
            What is held meanwhile, in this order.
        kind, keys
            How the other outputs are returned: as a list, a tuple, or a dict with these keys; None: as one value.
        """


class Library(Protocol):
    """A loaded shared object."""

    @property
    def n_linked(self) -> int:
        """How many functions use it."""

    def link(
        self, constants: Sequence[Any], perform: Perform, annotate: Annotate, params: tuple[Any, ...] = ..., /
    ) -> Entry:
        """Return the function with values for its constants, what computes and annotates steps, and the params of users' Ops."""
