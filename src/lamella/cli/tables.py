"""Tables in a terminal: drawn by rich where it is installed, plain text elsewhere and in pipes."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence

__all__ = ["plain_table", "print_table"]


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table to the standard output.

    Parameters
    ----------
    columns
        The headings.
    rows
        The cells, which may have several lines.
    """
    if sys.stdout.isatty() and importlib.util.find_spec("rich") is not None:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(*columns)
        for row in rows:
            table.add_row(*[Text(cell) for cell in row])
        Console().print(table)
    else:
        print(plain_table(columns, rows))


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as text, its columns aligned."""
    split = [[cell.split("\n") for cell in row] for row in (columns, *rows)]
    widths = [max([len(line) for row in split for line in row[i]]) for i in range(len(columns))]
    lines: list[str] = []
    for row in split:
        for k in range(max([len(cell) for cell in row])):
            texts = [cell[k] if k < len(cell) else "" for cell in row]
            lines.append("  ".join([text.ljust(width) for text, width in zip(texts, widths, strict=True)]).rstrip())
    return "\n".join(lines)
