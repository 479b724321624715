"""Cutting the functions of a large unit into two halves, which two processes compile at the same time.

    inline functions and small ones of both halves
    declarations of large ones of both halves, and of steps
    #if LM_HALF != 2
    functions and steps of the first
    #endif
    #if LM_HALF != 1
    functions and steps of the second, tables
    #endif

Where ``LM_HALF`` is not defined, the text is that of the whole unit. Where it is 1 or 2, steps are not static, so that the tables of the
second half can name those of the first; nor are large functions that both halves call. A small unit stays whole: each process reads the headers.
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

_WEIGHT_OF_ELEMENTWISE: Final = 3000
"""Of what the first half alone has of the headers, beside its functions."""

_VECTORS: Final = "#pragma omp simd"
_WEIGHT_OF_LOOP: Final = 1000
"""Of a loop that becomes vector code."""

_NAME: Final = re.compile(r"\b[a-z]\w*\d+\b")
_INLINE: Final = ("LM_INLINE ", "static inline ")


@final
@attrs.frozen
class _Function:
    name: str
    text: str
    is_step: bool
    needs: frozenset[str]
    weight: int
    """How long it takes to compile, in some unit; inline functions take their time where they are called."""

    @property
    def can_be_shared(self) -> bool:
        """Whether a half can call it that is not the one that it is compiled in."""
        return self.text.startswith(_ALONE)


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
    halves, shared = _share_out(known)
    both = (halves[0] & halves[1]) - shared.keys()
    first, second = [
        [f for f in known.values() if f.name in half - both and shared.get(f.name, k) == k]
        for k, half in enumerate(halves)
    ]
    steps = [f for f in first if f.is_step]
    if not steps or not any([f.is_step for f in second]):
        return None

    def text(function: _Function) -> str:
        if function.name in shared:
            return function.text.replace(_ALONE, "LM_SHARED ", 1)
        return function.text.replace(_STEP, "LM_STEP int ", 1) if function.is_step else function.text

    declared = [f"{_head(text(f))};" for f in known.values() if f.name in shared]
    parts = [
        _LINKAGE,
        *(["\n".join(declared)] if declared else []),
        *[f.text for f in known.values() if f.name in both],
        f"{HALVED}!= 2",
        *[text(f) for f in first],
        "#endif",
        f"{HALVED}!= 1",
        "\n".join([f"{_head(text(f))};" for f in steps]),
        *[text(f) for f in second],
        tables,
        "#endif",
    ]
    return "\n\n".join(parts)


_LINKAGE: Final = """#ifdef LM_HALF
#define LM_STEP LM_BESIDE
#define LM_SHARED __attribute__((noinline))
#else
#define LM_STEP static LM_BESIDE
#define LM_SHARED LM_ALONE
#endif"""

_STEP: Final = "static LM_BESIDE int "
_ALONE: Final = "LM_ALONE "


def _known(functions: Mapping[str, str], tables: str) -> dict[str, _Function]:
    """Return the functions, each with all that it calls, itself among them."""
    steps = set(_NAME.findall(tables))
    known: dict[str, _Function] = {}
    inlined: dict[str, int] = {}
    for name, text in functions.items():
        names = _NAME.findall(text)
        called = [known[other] for other in dict.fromkeys(names) if other in known]
        needs = frozenset([name]).union(*[other.needs for other in called])
        weight = len(text) + sum([inlined.get(other, 0) for other in names]) + _WEIGHT_OF_LOOP * text.count(_VECTORS)
        if text.startswith(_INLINE):
            inlined[name], weight = weight, 0
        known[name] = _Function(name, text, name in steps and _STEP in text, needs, weight and weight + 300)
    return known


def _share_out(known: Mapping[str, _Function]) -> tuple[tuple[set[str], set[str]], dict[str, int]]:
    """Give each step, the heaviest first, to the half that is finished earlier with it.

    Returns the names of what each half needs, and in which of them those functions are compiled that both call and one has.
    """
    halves: tuple[set[str], set[str]] = (set(), set())
    shared: dict[str, int] = {}
    loads = [_WEIGHT_OF_ELEMENTWISE if any(["lm_run_elementwise(" in f.text for f in known.values()]) else 0, 0]

    def new(function: _Function, half: int) -> list[_Function]:
        needs = [known[name] for name in function.needs - halves[half]]
        return [f for f in needs if not (f.can_be_shared and f.name in halves[1 - half])]

    steps = [function for function in known.values() if function.is_step]
    for step in sorted(steps, key=lambda step: -sum([known[name].weight for name in step.needs])):
        half = min((0, 1), key=lambda half: loads[half] + sum([f.weight for f in new(step, half)]))
        added = new(step, half)
        loads[half] += sum([f.weight for f in added])
        shared |= dict.fromkeys(step.needs - halves[half] - {f.name for f in added}, 1 - half)
        halves[half].update(step.needs)
    return halves, shared


def _head(text: str) -> str:
    """Return the head of a function, without the comment before it."""
    start = text.rindex("*/\n") + 3 if text.startswith("/*") else 0
    return text[start : text.index("\n{", start)]
