"""What an error at run time says about the node it came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from lamella.ir.graph.apply import Apply

__all__ = ["annotate_error", "describe_node"]


def _describe_value(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"shape {value.shape}, strides {value.strides}"
    return type(value).__name__


def describe_node(node: Apply[Any], values: Sequence[Any] | None = None) -> list[str]:
    """Return lines that say which node this is, what its inputs are, and which line of the user's built it.

    Parameters
    ----------
    node
        The node.
    values
        Values of its inputs, where they are known; their shapes and strides are told.
    """
    lines = [f"node: {node!r}"]
    for i, variable in enumerate(node.inputs):
        found = f", {_describe_value(values[i])}" if values is not None and i < len(values) else ""
        lines.append(f"  input {i}: {variable.name or 'unnamed'}, {variable.type}{found}")
    if node.origin is not None:
        lines.append(f"built at {node.origin}")
    return lines


def annotate_error(error: BaseException, node: Apply[Any], values: Sequence[Any] | None = None) -> None:
    """Add notes (PEP 678) to an exception that describe the node it came from; its class stays what it is.

    An exception that carries such a note already is left alone.
    """
    if not any(note.startswith("node: ") for note in getattr(error, "__notes__", ())):
        error.add_note("\n".join(describe_node(node, values)))
