"""The ``lamella`` command."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from lamella.cli.demo import add_demo_arguments, run_demo

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the ``lamella`` command.

    Parameters
    ----------
    arguments
        What follows the command's name; that of the process by default.

    Returns
    -------
    int
        The exit status.
    """
    parser = argparse.ArgumentParser(prog="lamella", description="A symbolic tensor compiler.")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser(
        "demo", help="fit a softmax regression to handwritten digits, from an Op of one's own to C"
    )
    add_demo_arguments(demo)
    demo.set_defaults(run=run_demo)
    chosen = parser.parse_args(arguments)
    status: int = chosen.run(chosen)
    return status
