"""``lamella doctor``: what this machine offers to compiled functions, and what to do about what is missing."""

from __future__ import annotations

import argparse
import platform
import re
import warnings
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version

import numpy as np

import lamella as lm
import lamella.tensor as lt
from lamella.cli.tables import print_table
from lamella.codegen import Finding, diagnose
from lamella.errors import LamellaError

__all__ = ["run_doctor"]

_MARKS = {"fine": "ok", "lacking": "--", "failing": "NO"}


def run_doctor(options: argparse.Namespace) -> int:
    """Print what was found, and return the exit status: 1 where functions cannot be compiled, otherwise 0."""
    findings = [_versions(), *diagnose()]
    if not any([f.state == "failing" for f in findings]):
        findings.append(_function())
    findings += _extras()
    print_table(("", "what", "found"), [(_MARKS[f.state], f.subject, f.found) for f in findings])
    advice = [f for f in findings if f.remedy]
    if advice:
        print("\nWhat to do:")
    for finding in advice:
        print(f"  {finding.subject}: {finding.remedy}")
    is_failing = any([f.state == "failing" for f in findings])
    print("\nFunctions cannot be compiled." if is_failing else "\nFunctions are compiled.")
    return 1 if is_failing else 0


def _versions() -> Finding:
    told = f"lamella {version('lamella')}, Python {platform.python_version()}, NumPy {np.__version__}, {platform.platform()}"
    return Finding("versions", "fine", told)


def _function() -> Finding:
    """Compile a function and call it, as users do."""
    x, y = lt.matrix("x"), lt.vector("y")
    value = np.linspace(-1.0, 1.0, 12).reshape(3, 4)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compiled = lm.function([x, y], lt.sum(lt.exp(x) @ y), mode="FAST_RUN", name="doctor")
            result = compiled(value, value[0])
    except (LamellaError, ImportError, OSError) as error:
        return Finding("a function", "failing", str(error), "the lines above should tell why; otherwise report this")
    told = "\n".join(["compiled and called", *[str(warning.message) for warning in caught]])
    if not np.allclose(result, np.sum(np.exp(value) @ value[0])):
        return Finding(
            "a function", "failing", f"{told}; its result is wrong", "report this, with all that stands above"
        )
    return Finding("a function", "lacking" if caught else "fine", told)


def _extras() -> Iterator[Finding]:
    """Look for the packages that the extras of this one name."""
    extras: dict[str, list[str]] = {}
    for line in requires("lamella") or ():
        match = re.match(r"([\w.-]+).*;.*extra == ['\"]([\w-]+)['\"]", line)
        if match is not None:
            extras.setdefault(match[2], []).append(match[1])
    for extra, names in sorted(extras.items()):
        found = {name: _version(name) for name in sorted(names)}
        told = ", ".join([f"{name} {number or '-'}" for name, number in found.items()])
        is_there = all(found.values())
        remedy = "" if is_there else f"pip install 'lamella[{extra}]', if you want it"
        yield Finding(f"extra {extra}", "fine" if is_there else "lacking", told, remedy)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
