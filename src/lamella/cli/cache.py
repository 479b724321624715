"""``lamella cache list|check|clear``: the compiled code on disk."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from lamella.cli.tables import print_table
from lamella.codegen import check_cache, clear_cache, list_cache
from lamella.config import config

__all__ = ["add_cache_arguments"]

_DAY = 86400.0


def add_cache_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the three commands, and what runs them."""
    actions = parser.add_subparsers(dest="action", required=True)
    listing = actions.add_parser("list", help="list the entries, the newest first")
    listing.set_defaults(run=_list)
    checking = actions.add_parser(
        "check", help="read every entry; the exit status is 1 if one is damaged, or the folder unsafe"
    )
    checking.set_defaults(run=_check)
    clearing = actions.add_parser("clear", help="remove entries")
    clearing.add_argument("--older-than", type=float, default=0.0, metavar="DAYS", help="keep what is younger")
    clearing.set_defaults(run=_clear)
    for action in (listing, checking, clearing):
        action.add_argument(
            "--folder", type=Path, help="a folder of compiled code (default: c in the flag `cache_dir`)"
        )


def _folder(options: argparse.Namespace) -> Path:
    folder: Path = options.folder or config.cache_dir / "c"
    return folder


def _list(options: argparse.Namespace) -> int:
    entries = list_cache(_folder(options))
    rows = [
        (
            entry.key[:12],
            time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.modified)),
            f"{entry.size / 1024:.0f} KiB",
            entry.problem or entry.description,
        )
        for entry in entries
    ]
    if rows:
        print_table(("key", "written", "size", "what"), rows)
    print(f"{len(entries)} entries, {sum([entry.size for entry in entries]) / 1e6:.1f} MB, in {_folder(options)}")
    return 0


def _check(options: argparse.Namespace) -> int:
    problems = check_cache(_folder(options))
    for problem in problems:
        print(problem)
    print(f"{_folder(options)}: {len(problems) or 'no'} problem{'' if len(problems) == 1 else 's'}")
    return 1 if problems else 0


def _clear(options: argparse.Namespace) -> int:
    removed = clear_cache(_folder(options), options.older_than * _DAY)
    print(f"{removed} entries removed from {_folder(options)}")
    return 0
