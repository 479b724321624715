"""Kernels that compute elements and reduce them in one pass, a block at a time: no array of the elements is written.

    static void kernel1(lm_int n, char *const *data, const lm_int *strides)
    {
        double b0[512];
        for (lm_int i = 0; i < n; i += 512) {
            kernel0(m, {b0, data[1] + ...}, ...);          elements, into a block that stays in the nearest cache
            reduction0(m, {data[0] + ..., b0}, ...);       added to their accumulators
        }
    }

Totals of blocks are added up pairwise, as those of a reduction alone are. Few elements are computed and combined one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import attrs

from lamella.codegen.c.dtypes import C_DTYPES, CDType, literal
from lamella.codegen.c.elementwise_kernel import ElementwiseKernel, Operand
from lamella.codegen.c.reduction_kernel import Reduction, add_combination, add_reduction_kernel
from lamella.codegen.c.unit import KERNEL_NAME, Unit
from lamella.errors import LoweringError

__all__ = ["ReducedOutput", "add_reduced_kernel"]

_BLOCK = 512
_FEW = 8


@final
@attrs.frozen
class ReducedOutput:
    """An output of a kernel: which result of the elementwise kernel it is, and how that is reduced (None: not at all)."""

    result: int
    reduction: Reduction | None


@final
@attrs.frozen
class _Place:
    """Where a result of the elementwise kernel goes: the operand that is an array of all of them, or None for a block."""

    dtype: CDType
    operand: int | None


def add_reduced_kernel(
    unit: Unit,
    elementwise: ElementwiseKernel,
    dtypes: Sequence[str],
    outputs: Sequence[ReducedOutput],
    read: Sequence[Operand],
) -> str:
    """Add a kernel to a unit, and return its name.

    Parameters
    ----------
    unit
        The unit.
    elementwise
        What computes the elements.
    dtypes
        The dtypes of its results.
    outputs
        What becomes of the results. The operands of the kernel are these (arrays, or accumulators), then what the elementwise
        kernel reads.
    read
        That: without constants.

    Raises
    ------
    LoweringError
        A reduction has no expression for these dtypes; or a result is handed out as a whole more than once.
    """
    whole = {output.result: i for i, output in enumerate(outputs) if output.reduction is None}
    places = [_Place(C_DTYPES[dtype], whole.get(r)) for r, dtype in enumerate(dtypes)]
    parts = [_Reduced.of(unit, i, o.result, o.reduction) for i, o in enumerate(outputs) if o.reduction is not None]
    if len(whole) != len([output for output in outputs if output.reduction is None]):
        raise LoweringError("a result is written as a whole to one output only")
    first = len(outputs)
    blocks = "\n".join([f"    {p.dtype.storage} b{r}[{_BLOCK}];" for r, p in enumerate(places) if p.operand is None])
    at = [f"(char *)b{r}" if p.operand is None else _moved(p.operand) for r, p in enumerate(places)]
    step = [str(p.dtype.itemsize) if p.operand is None else f"strides[{p.operand}]" for p in places]
    inputs = range(first, first + len(read))
    addresses = ", ".join([*at, *[_moved(i) for i in inputs]])
    strides = ", ".join([*step, *[f"strides[{i}]" for i in inputs]])
    return unit.kernel(
        f"""static void {KERNEL_NAME}(const lm_int n, char *const *const data, const lm_int *const strides)
{{
{_few(elementwise, places, parts, read, first)}
{blocks}
    const lm_int step[] = {{{strides}}};
    if (n <= {_BLOCK}) {{
        const lm_int i = 0, m = n;
        char *const at[] = {{{addresses}}};
        {elementwise.loops}(m, at, step);
{_lines(2, [part.alone for part in parts])}
        return;
    }}
{_lines(1, [part.before for part in parts])}
    for (lm_int i = 0; i < n; i += {_BLOCK}) {{
        const lm_int m = n - i < {_BLOCK} ? n - i : {_BLOCK};
        char *const at[] = {{{addresses}}};
        {elementwise.loops}(m, at, step);
{_lines(2, [part.block for part in parts])}
    }}
{_lines(1, [part.after for part in parts])}
}}"""
    )


def _moved(operand: int) -> str:
    return f"data[{operand}] + i * strides[{operand}]"


def _lines(depth: int, texts: Sequence[str]) -> str:
    indent = "    " * depth
    return "\n".join([f"{indent}{line}" for text in texts for line in text.splitlines()])


@final
@attrs.frozen
class _Reduced:
    """The statements that reduce one result to one accumulator: for an element, for a block that is all, and before, for and after blocks."""

    result: int
    element: str
    alone: str
    before: str
    block: str
    after: str

    @classmethod
    def of(cls, unit: Unit, operand: int, result: int, reduction: Reduction) -> _Reduced:
        acc, element = C_DTYPES[reduction.accumulator], C_DTYPES[reduction.element]
        kernel = add_reduction_kernel(unit, reduction)
        combine = add_combination(unit, reduction, reduction.element)
        place = f"*({acc.storage} *)({_moved(operand)})"
        combined = f"{combine}({acc.loaded(place)}, {element.loaded(f'r{result}')})"
        one = f"{place} = {acc.stored(combined)};"

        def reduce(to: str, to_stride: str) -> str:
            return (
                f"{kernel}(m, (char *const[]){{{to}, at[{result}]}}, (const lm_int[]){{{to_stride}, step[{result}]}});"
            )

        plain = reduce(_moved(operand), f"strides[{operand}]")
        if not reduction.is_pairwise:
            return cls(result, one, plain, "", plain, "")
        merge = add_combination(unit, reduction, reduction.accumulator)
        t, n, k = f"waiting{operand}", f"n_waiting{operand}", f"number{operand}"
        zero = acc.stored(literal(reduction.identity, reduction.accumulator))
        total = f"*({acc.storage} *)data[{operand}]"
        two = f"{merge}({acc.loaded(f'{t}[{n} - 2]')}, {acc.loaded(f'{t}[{n} - 1]')})"
        last = f"{merge}({acc.loaded(total)}, {acc.loaded(f'{t}[--{n}]')})"
        return cls(
            result,
            one,
            plain,
            f"{acc.storage} {t}[64];\nint {n} = 0;",
            f"""if (strides[{operand}] != 0) {plain}
else {{
    {t}[{n}] = {zero};
    {reduce(f"(char *)&{t}[{n}]", "0")}
    ++{n};
    for (lm_int {k} = i / {_BLOCK} + 1; {k} % 2 == 0; {k} /= 2, --{n}) {t}[{n} - 2] = {acc.stored(two)};
}}""",
            f"while ({n} > 0) {total} = {acc.stored(last)};",
        )


def _few(
    elementwise: ElementwiseKernel,
    places: Sequence[_Place],
    parts: Sequence[_Reduced],
    read: Sequence[Operand],
    first: int,
) -> str:
    """Return the statements for few elements."""
    results = ", ".join([f"r{r}" for r in range(len(places))])
    declared = "\n".join([f"            {p.dtype.storage} r{r};" for r, p in enumerate(places)])
    loaded: list[str] = []
    for i, operand in enumerate(read, start=first):
        c = C_DTYPES[operand.dtype]
        loaded.append(c.loaded(f"*(const {c.storage} *)({_moved(i)})"))
    call = f"{elementwise.element}({', '.join([*[f'&{r}' for r in results.split(', ')], *loaded])});"
    stored = [
        f"*({p.dtype.storage} *)({_moved(p.operand)}) = r{r};" for r, p in enumerate(places) if p.operand is not None
    ]
    statements = "\n".join([f"            {line}" for line in [call, *stored, *[part.element for part in parts]]])
    return f"""    if (n < {_FEW}) {{
        for (lm_int i = 0; i < n; ++i) {{
{declared}
{statements}
        }}
        return;
    }}"""
