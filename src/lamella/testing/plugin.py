"""What the pytest plugin says and hands out; pytest itself is not needed here.

pytest loads ``pytest_lamella``, which imports this module when a test first asks for something of it: a project in which Lamella is only
installed pays nothing.
"""

from __future__ import annotations

import difflib
import zlib

import numpy as np

from lamella.ir import Apply, FunctionGraph, Variable, equal_computations, to_text

__all__ = ["explain_comparison", "seeded_generator"]


def explain_comparison(operator: str, left: object, right: object) -> list[str] | None:
    """Return, in lines of text, why a comparison of two Variables, nodes or graphs failed; None for what is none of these.

    Parameters
    ----------
    operator
        How they were compared: ``==``, ``!=``, ``is`` or ``is not``.
    left, right
        What was compared.
    """
    if operator not in ("==", "!=", "is", "is not"):
        return None
    if not isinstance(left, Variable | Apply | FunctionGraph) or not isinstance(
        right, Variable | Apply | FunctionGraph
    ):
        return None
    shown = [f"{type(x).__name__} {x!r}" for x in (left, right)]
    lines = [f"{shown[0]} {operator} {shown[1]}"]
    if operator in ("!=", "is not"):
        return [*lines, "both are the same, computed as:", *to_text(left).splitlines()]
    first, second = to_text(left).splitlines(), to_text(right).splitlines()
    if isinstance(left, Variable) and isinstance(right, Variable):
        alike = equal_computations([left], [right])
        lines.append(f"equal_computations says {alike}; `==` and `is` ask whether both are the same node")
    if first == second:
        return [
            *lines,
            "both are printed alike, so they differ in inputs of the same name, or are built of other Variables:",
            *first,
        ]
    lines.append("left (-) and right (+):")
    return [*lines, *[line.rstrip() for line in difflib.ndiff(first, second) if not line.startswith("?")]]


def seeded_generator(name: str) -> np.random.Generator:
    """Return a random generator that depends on a name only, such as that of a test.

    Parameters
    ----------
    name
        The name.
    """
    return np.random.default_rng(zlib.crc32(name.encode()))
