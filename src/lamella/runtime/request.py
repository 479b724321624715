"""`Request`: what `function` was asked to compile."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, final

import attrs

from lamella.ir import FunctionGraph
from lamella.runtime.signature import Signature

if TYPE_CHECKING:
    from lamella.runtime.mode import Mode

__all__ = ["Configured", "Request"]


class Configured(Protocol):
    """`Config.override` of the flags that were in force when a function was asked for."""

    def __call__(self) -> AbstractContextManager[Any]:
        """Return a block in which they are in force again."""


@final
@attrs.frozen(eq=False)
class Request:
    """What is to be compiled.

    Attributes
    ----------
    signature
        What the function takes and gives.
    original
        The graph as it was written.
    borrowed
        For each output, whether it may lie in the memory of something else.
    mode
        The mode, or its name.
    profiled
        Whether calls are profiled.
    trust_input
        Whether calls pass their arguments on as they are.
    configured
        The flags.
    """

    signature: Signature
    original: FunctionGraph
    borrowed: tuple[bool, ...]
    mode: Mode | str
    profiled: bool
    trust_input: bool
    configured: Configured
