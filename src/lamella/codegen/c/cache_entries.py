"""What the cache keeps on disk: files that carry a hash of their own contents, in a folder that nobody else may write to.

contents, facts as JSON, their length, a hash of it all, a mark
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Final

from lamella.config import config

__all__ = ["Damaged", "cache_folder", "folder_problem", "read_entry", "sealed"]

_MAGIC: Final = b"LAMELLA\x02"
_DIGEST_SIZE: Final = 32
_TRAILER_SIZE: Final = 4 + _DIGEST_SIZE + len(_MAGIC)


class Damaged(Exception):
    """An entry is not what was written, or not ours."""


def cache_folder() -> Path:
    """Return the folder of compiled C code."""
    return config.cache_dir / "c"


def sealed(contents: bytes, facts: dict[str, str]) -> bytes:
    """Return the bytes of an entry.

    Parameters
    ----------
    contents
        What is kept.
    facts
        What the entry says of itself; under ``key`` the stem of the name of its file.
    """
    told = json.dumps(facts, sort_keys=True).encode()
    body = contents + told + len(told).to_bytes(4, "little")
    return body + hashlib.blake2b(body, digest_size=_DIGEST_SIZE).digest() + _MAGIC


def read_entry(path: Path) -> tuple[bytes, dict[str, str]]:
    """Return the contents of an entry and what it says of itself, having checked that it is whole and ours.

    Raises
    ------
    FileNotFoundError
        There is no such entry.
    Damaged
        It may not be loaded.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Damaged(f"cannot be read: {error}") from error
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise Damaged("is no file")
        if status.st_uid != os.geteuid():
            raise Damaged(f"belongs to the user {status.st_uid}")
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise Damaged("can be written by others")
        written = file.read()
    if len(written) < _TRAILER_SIZE or not written.endswith(_MAGIC):
        raise Damaged("is cut short")
    end = len(written) - _TRAILER_SIZE
    digest = written[end + 4 : -len(_MAGIC)]
    if hashlib.blake2b(written[: end + 4], digest_size=_DIGEST_SIZE).digest() != digest:
        raise Damaged("has been changed")
    begin = end - int.from_bytes(written[end : end + 4], "little")
    facts: dict[str, str] = json.loads(written[begin:end])
    if facts["key"] != path.stem:
        raise Damaged(f"is the entry {facts['key']}")
    return written[:begin], facts


def folder_problem(folder: Path) -> str:
    """Return why code from a folder may not be run, because somebody else could have put it there; empty where it may."""
    real = Path(os.path.realpath(folder))
    for place in (real, *real.parents):
        status = os.stat(place)
        if place == real and status.st_uid != os.geteuid():
            return f"{place} belongs to the user {status.st_uid}, not to you"
        if place == real and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return f"others may write to {place} (chmod go-w {place})"
        # In a sticky folder, such as /tmp, others cannot rename what is ours.
        if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
            return f"others may write to {place}, and so put another folder in the place of {real}"
    return ""
