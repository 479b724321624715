"""Cutting the functions of a large unit into two halves, which two processes compile at the same time.

    functions of both halves
    #if LM_HALF != 2
    functions and steps of the first
    #endif
    #if LM_HALF != 1
    functions and steps of the second, tables
    #endif

Where ``LM_HALF`` is not defined, the text is that of the whole unit. Where it is 1 or 2, steps are not static, so that the tables of the
second half can name those of the first. A small unit stays whole: each process reads the headers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, final

import attrs

__all__ = ["HALVED", "halved"]

HALVED: Final = "#if LM_HALF "
"""Stands in the text of a unit with halves only."""

_SMALLEST: Final = 9000
"""Characters of functions from which on compiling halves at once is faster, by far."""

_NAME: Final = re.compile(r"\b[a-z]\w*\d+\b")
_INLINE: Final = ("LM_INLINE ", "static inline ")


@final
@attrs.frozen
class _Function:
    name: str
    text: str
    is_step: bool
    needs: frozenset[str]

    @property
    def weight(self) -> int:
        """How long it takes to compile, in some unit; inline functions take their time where they are called."""
        return 0 if self.text.startswith(_INLINE) else len(self.text) + 300


def halved(functions: Mapping[str, str], tables: str) -> str | None:
    """Return the text of functions and tables in two halves; None where they had better stay whole.

    Parameters
    ----------
    functions
        The text of each function, in an order in which they can be defined; steps are those that tables name.
    tables
        What follows the functions.
    """
    if sum([len(text) for text in functions.values()]) < _SMALLEST:
        return None
    known = _known(functions, tables)
    halves = _share_out(known)
    both = halves[0] & halves[1]
    first, second = [[f for f in known.values() if f.name in half - both] for half in halves]
    declared = [f"{_head(f.text)};" for f in first if f.is_step]
    if not declared or not any([f.is_step for f in second]):
        return None
    parts = [
        "#ifdef LM_HALF\n#define LM_STEP LM_BESIDE\n#else\n#define LM_STEP static LM_BESIDE\n#endif",
        *[f.text for f in known.values() if f.name in both],
        f"{HALVED}!= 2",
        *[_as_step(f.text) if f.is_step else f.text for f in first],
        "#endif",
        f"{HALVED}!= 1",
        "\n".join([_as_step(line) for line in declared]),
        *[_as_step(f.text) if f.is_step else f.text for f in second],
        tables,
        "#endif",
    ]
    return "\n\n".join(parts)


_STEP: Final = "static LM_BESIDE int "


def _known(functions: Mapping[str, str], tables: str) -> dict[str, _Function]:
    """Return the functions, each with all that it calls, itself among them."""
    steps = set(_NAME.findall(tables))
    known: dict[str, _Function] = {}
    for name, text in functions.items():
        called = [known[other] for other in dict.fromkeys(_NAME.findall(text)) if other in known]
        needs = frozenset([name]).union(*[other.needs for other in called])
        known[name] = _Function(name, text, name in steps and _STEP in text, needs)
    return known


def _share_out(known: Mapping[str, _Function]) -> tuple[set[str], set[str]]:
    """Give each step, the heaviest first, to the half that is finished earlier with it."""
    halves: tuple[set[str], set[str]] = (set(), set())
    loads = [0, 0]

    def more(function: _Function, half: int) -> int:
        return sum([known[name].weight for name in function.needs - halves[half]])

    steps = [function for function in known.values() if function.is_step]
    for step in sorted(steps, key=lambda step: -sum([known[name].weight for name in step.needs])):
        half = min((0, 1), key=lambda half: loads[half] + more(step, half))
        loads[half] += more(step, half)
        halves[half].update(step.needs)
    return halves


def _head(text: str) -> str:
    """Return the head of a step's function."""
    start = text.index(_STEP)
    return text[start : text.index("\n", start)]


def _as_step(text: str) -> str:
    return text.replace(_STEP, "LM_STEP int ", 1)
