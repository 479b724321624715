"""`Signature`: what a compiled function takes and gives, apart from how it computes that."""

from __future__ import annotations

from typing import Any, final

import attrs

from lamella.ir import SharedVariable
from lamella.runtime.inputs import In

__all__ = ["OutputForm", "Signature"]


@final
@attrs.frozen
class OutputForm:
    """How the outputs are handed back: as one value, a list, a tuple, or a dict with these keys; or not at all."""

    kind: type | None
    keys: tuple[Any, ...] = ()

    def pack(self, values: list[Any]) -> Any:
        """Return the values in this form."""
        if self.kind is list:
            return values
        if self.kind is tuple:
            return tuple(values)
        if self.kind is dict:
            return dict(zip(self.keys, values, strict=True))
        return values[0] if values else None


@final
@attrs.frozen
class Signature:
    """What a function takes and gives.

    Attributes
    ----------
    inputs
        The inputs that calls give, in order.
    shared
        The shared variables that are read; inputs of the graph after those.
    updated
        The shared variables that are set, to the last outputs of the graph, in order.
    form
        How the other outputs are handed back.
    name
        A name for people.
    """

    inputs: tuple[In, ...]
    shared: tuple[SharedVariable[Any], ...]
    updated: tuple[SharedVariable[Any], ...]
    form: OutputForm
    name: str | None
