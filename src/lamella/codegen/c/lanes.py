"""Long chains of arithmetic, computed statement by statement for many elements side by side.

    for (; done + LM_LANES(double) <= n; done += LM_LANES(double)) {
        double t0[LM_LANES(double)];
    #pragma omp simd
        for (int j = 0; j < LM_LANES(double); ++j) t0[j] = (i0[done + j] * 0x1.cp-1);
        ...
    }

Each statement of a chain waits for the one before. A processor begins later elements meanwhile, but only those whose instructions it can
hold. Side by side, several vectors are in the same place of the chain, and none has to wait. The compiler keeps the lanes in registers. A
chain of 30 operations took two thirds of the time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Protocol

__all__ = ["lanes_text"]

_LEAST_DEPTH: Final = 16
"""Statements that wait for each other, from which on lanes pay."""

_MOST_STATEMENTS: Final = 64
"""Statements up to which they may be compiled many times."""

_STATEMENT: Final = re.compile(r"const (double|float) (t\d+) = (.*);")
_INLINE: Final = re.compile(r"(lm_(maximum|minimum|sign)_f(32|64)|(fabs|floor|ceil|trunc|rint|sqrt|copysign)f?)")
_CALL: Final = re.compile(r"\b([a-z]\w*)\(")


class _Operand(Protocol):
    @property
    def dtype(self) -> str: ...
    @property
    def inner(self) -> str: ...


def lanes_text(
    lines: Sequence[str],
    results: Sequence[str],
    written: Sequence[tuple[str, _Operand]],
    read: Sequence[tuple[str, _Operand]],
) -> str:
    """Return a loop over whole groups of lanes, which counts elements in ``done``, or nothing where lanes do not pay.

    Parameters
    ----------
    lines
        The statements that compute an element; operands and results of other dtypes than ``float64`` or ``float32``, or of both, make no chain.
    results
        Expressions for what is stored.
    written, read
        Names and operands: pointers, but for an operand that is the same for all elements.
    """
    dtypes = {operand.dtype for _, operand in (*written, *read)}
    statements = [_STATEMENT.fullmatch(line) for line in lines]
    if dtypes not in ({"float64"}, {"float32"}) or len(lines) > _MOST_STATEMENTS:
        return ""
    c_type = "double" if dtypes == {"float64"} else "float"
    depths: dict[str, int] = {}
    texts: list[str] = []
    varying = {name for name, operand in read if operand.inner == "contiguous"}

    def in_lanes(text: str) -> str:
        return re.sub(r"\b[it]\d+\b", lambda name: _element(name[0], name[0] in varying), text)

    for statement in statements:
        if (
            statement is None
            or statement[1] != c_type
            or not all(_INLINE.fullmatch(f) for f in _CALL.findall(statement[3]))
        ):
            return ""
        name, text = statement[2], statement[3]
        depths[name] = 1 + max([depths.get(used, 0) for used in re.findall(r"\bt\d+\b", text)], default=0)
        texts += [f"{c_type} {name}[LM_LANES({c_type})];", *_loop(c_type, f"{name}[j] = {in_lanes(text)};")]
    if max(depths.values(), default=0) < _LEAST_DEPTH:
        return ""
    stores = [f"{name}[done + j] = {in_lanes(result)};" for (name, _), result in zip(written, results, strict=True)]
    texts += [line for store in stores for line in _loop(c_type, store)]
    body = "\n".join([line if line.startswith("#") else f"        {line}" for line in texts])
    return f"""    lm_int done = 0;
    for (; done + LM_LANES({c_type}) <= n; done += LM_LANES({c_type})) {{
{body}
    }}
"""


def _element(name: str, is_varying: bool) -> str:
    if name.startswith("t"):
        return f"{name}[j]"
    return f"{name}[done + j]" if is_varying else name


def _loop(c_type: str, statement: str) -> list[str]:
    return ["#pragma omp simd", f"for (int j = 0; j < LM_LANES({c_type}); ++j) {statement}"]
