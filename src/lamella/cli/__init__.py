"""The ``lamella`` command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from lamella.cli.cache import add_cache_arguments
from lamella.cli.demo import add_demo_arguments, run_demo
from lamella.cli.doctor import run_doctor

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
    doctor = commands.add_parser(
        "doctor", help="tell what compiled functions find on this machine, and what to do about what is missing"
    )
    doctor.set_defaults(run=run_doctor)
    add_cache_arguments(commands.add_parser("cache", help="list, check or clear the compiled code on disk"))
    chosen = parser.parse_args(arguments)
    try:
        status: int = chosen.run(chosen)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads it has had enough; Python must not try once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status
