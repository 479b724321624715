"""What random tests are told (a seed, a number of cases) and where they say at once what they find."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import final

import attrs
from hypothesis import settings

__all__ = ["Fuzzing", "Hunt"]


@final
@attrs.frozen
class Fuzzing:
    """How many random cases are tried, and which.

    Attributes
    ----------
    seed
        What they are drawn from. The environment variable `FUZZ_SEED` sets it; the gate has one of its own, so that it fails for what was
        changed.
    count
        How many of them: a few hundred in the gate, thousands in `make fuzz`.
    report
        Shows a text at once, past what pytest captures: a hunt of an hour is to be told of while it goes on.
    """

    seed: int
    count: int
    report: Callable[[str], None]

    @property
    def is_gate(self) -> bool:
        """Tell whether only a few are tried."""
        return self.count <= 200

    @classmethod
    def of_environment(cls, report: Callable[[str], None]) -> Fuzzing:
        """Return what the environment and the profile of Hypothesis say."""
        return cls(int(os.environ.get("FUZZ_SEED", "0")), settings().max_examples, report)

    def share(self, number: int, shares: int) -> Fuzzing:
        """Return one of some shares, which tests may take side by side: with a part of the cases and a seed far from the others'."""
        return attrs.evolve(self, seed=self.seed + number * 1_000_000, count=-(-self.count // shares))


@final
class Hunt:
    """Random cases one after the other: what is wrong is shown at once, and does not end the hunt."""

    def __init__(self, fuzzing: Fuzzing) -> None:
        self._fuzzing = fuzzing
        self._wrong: list[str] = []

    @contextmanager
    def case(self) -> Iterator[None]:
        """Note what the block raises."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 -- an error of any kind is a find; `end` raises
            self._wrong.append("".join(traceback.format_exception(error)))
            self._fuzzing.report(self._wrong[-1])

    def end(self) -> None:
        """Raise AssertionError where anything was noted."""
        assert not self._wrong, f"{len(self._wrong)} cases of seed {self._fuzzing.seed} are wrong\n\n" + "\n\n".join(
            self._wrong
        )
