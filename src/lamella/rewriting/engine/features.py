"""Features of graphs that rewriters ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import attrs
from typing_extensions import override

from lamella.ir import Apply, Feature, FunctionGraph

__all__ = ["ReplaceValidate"]


@final
@attrs.frozen
class ReplaceValidate(Feature):
    """Says that replacements are to be validated, as the tutorial's rewriters do.

    It demands nothing: every replacement in a `FunctionGraph` asks all features of the graph whether they accept the new one, and if
    one does not, the old graph is what it was.
    """

    @override
    def validate(self, fgraph: FunctionGraph) -> None:
        """Accept every graph."""

    @override
    def orderings(self, fgraph: FunctionGraph) -> Mapping[Apply[Any], Sequence[Apply[Any]]]:
        """Constrain nothing."""
        return {}
