"""Whether the Ops of this package become C as this package says; others may put code of their own in the place of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, final

__all__ = ["OwnOps", "own_ops"]


@final
class OwnOps:
    """What is known of who says how this package's Ops become C."""

    def __init__(self) -> None:
        self._as_built = True

    @property
    def as_built(self) -> bool:
        """Whether nobody else has said so of any of them."""
        return self._as_built

    def see(self, classes: Iterable[type], module: str) -> None:
        """Take note of code that a module registers for some classes of Ops or Types."""
        if not _is_ours(module) and any([_is_ours(kind.__module__) for kind in classes]):
            self._as_built = False


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "lamella"


own_ops: Final = OwnOps()
"""What is known of it in this process."""
