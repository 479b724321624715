"""Kernels that walk along an axis with a state: running sums, and recurrences.

Each element of the operands is the first of a row along that axis. Rows are walked one after another, with the state in a register; or,
where their elements lie side by side, all at once, an element of each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import final

import attrs

from lamella.codegen.c.dtypes import C_DTYPES
from lamella.codegen.c.lowerings.interpreter_lock import unlocked_for_long_rows
from lamella.codegen.c.scalar_body import ScalarBody, TypedText
from lamella.codegen.c.step import Array, Step, Strided, integers
from lamella.codegen.c.unit import KERNEL_NAME, Unit

__all__ = ["RunningState", "add_running_kernel", "walk_along"]


@final
@attrs.frozen
class RunningState:
    """What a kernel computes: ``z[0]`` is the first state, and each later one is the next of the one before it.

    Attributes
    ----------
    dtype
        The dtype of the state and of the result.
    inputs
        The dtypes of the arrays that are read.
    first
        Returns the first state, given the first element of each array.
    next
        Returns the next state, given the state before it and an element of each array.
    lag
        How far the elements for ``z[i]`` lie before place ``i``.
    """

    dtype: str
    inputs: tuple[str, ...]
    first: Callable[[ScalarBody, Sequence[TypedText]], TypedText]
    next: Callable[[ScalarBody, TypedText, Sequence[TypedText]], TypedText]
    lag: int = 0


def add_running_kernel(unit: Unit, state: RunningState) -> str:
    """Add a kernel, and return its name.

    Its operands are the result, the arrays that are read, and integers: how long a row is, and for each of the former its stride along
    a row.

    Raises
    ------
    LoweringError
        There are no expressions for these dtypes.
    """
    z = C_DTYPES[state.dtype]
    names = [f"x{i}" for i in range(len(state.inputs))]
    elements = [TypedText(name, dtype) for name, dtype in zip(names, state.inputs, strict=True)]
    first, following = ScalarBody(), ScalarBody()
    for dtype in (state.dtype, *state.inputs):
        if dtype == "float16":
            first.need("half")
        elif C_DTYPES[dtype].kind == "c":
            first.need("complex")
    first_text = state.first(first, elements).text
    next_text = state.next(following, TypedText("state", state.dtype), elements).text
    unit.need(*first.headers, *following.headers, "rows")
    parameters = {name: C_DTYPES[dtype].computed for name, dtype in zip(names, state.inputs, strict=True)}
    first_name = unit.kernel(_function(z.computed, parameters, first, first_text), "first")
    with_state = {"state": z.computed, **parameters}
    next_name = unit.kernel(_function(z.computed, with_state, following, next_text), "next")

    def loads(k: str, row: str) -> str:
        texts: list[str] = []
        for i, dtype in enumerate(state.inputs):
            c_dtype = C_DTYPES[dtype]
            stride = f"strides[{i + 1}]" if row == "r" else str(c_dtype.itemsize)
            texts.append(
                c_dtype.loaded(f"*(const {c_dtype.storage} *)(x{i} + ({k}) * along[{i + 2}] + {row} * {stride})")
            )
        return ", ".join(texts)

    def place(k: str, row: str) -> str:
        stride = "strides[0]" if row == "r" else str(z.itemsize)
        return f"*({z.storage} *)(z + ({k}) * along[1] + {row} * {stride})"

    at = f"k - {state.lag}" if state.lag else "k"
    before = z.loaded(place("k - 1", "i"))
    arrays = "\n".join([f"    const char *const x{i} = data[{i + 1}];" for i in range(len(names))])
    sizes = [z.itemsize, *[C_DTYPES[dtype].itemsize for dtype in state.inputs]]
    side_by_side = " && ".join([f"strides[{i}] == {size}" for i, size in enumerate(sizes)])
    return unit.kernel(
        f"""static void {KERNEL_NAME}(const lm_int n, char *const *const data, const lm_int *const strides)
{{
    char *const z = data[0];
{arrays}
    const lm_int *const along = (const lm_int *)data[{len(names) + 1}];
    if (n > 1 && {side_by_side}) {{
        for (lm_int i = 0; i < n; ++i) {place("0", "i")} = {z.stored(f"{first_name}({loads('0', 'i')})")};
        for (lm_int k = 1; k < along[0]; ++k) {{
#pragma omp simd
            for (lm_int i = 0; i < n; ++i)
                {place("k", "i")} = {z.stored(f"{next_name}({before}, {loads(at, 'i')})")};
        }}
        return;
    }}
    for (lm_int r = 0; r < n; ++r) {{
        {z.computed} state = {first_name}({loads("0", "r")});
        {place("0", "r")} = {z.stored("state")};
        for (lm_int k = 1; k < along[0]; ++k) {{
            state = {next_name}(state, {loads(at, "r")});
            {place("k", "r")} = {z.stored("state")};
        }}
    }}
}}""",
        "running",
    )


def _function(result: str, parameters: Mapping[str, str], body: ScalarBody, text: str) -> str:
    lines = [*body.lines, f"return {text};"]
    unused = [f"(void){name};" for name in parameters if not re.search(rf"\b{name}\b", " ".join(lines))]
    statements = "\n".join([f"    {line}" for line in (*unused, *lines)])
    declared = ", ".join([f"const {c_type} {name}" for name, c_type in parameters.items()])
    return f"static inline {result} {KERNEL_NAME}({declared})\n{{\n{statements}\n}}"


def walk_along(step: Step, kernel: str, axis: int, z: Array, arrays: Sequence[Array], reverse: bool = False) -> None:
    """Run a kernel of `add_running_kernel` over all rows along an axis.

    Parameters
    ----------
    step
        The step.
    kernel
        The name of the kernel.
    axis
        The axis.
    z
        The result.
    arrays
        What is read.
    reverse
        Go from the last element of each row to the first.
    """
    operands = [z, *arrays]
    others = [a for a in range(z.ndim) if a != axis]
    length, rows = z.length(axis), " * ".join([z.length(a) for a in others]) or "1"
    along = [f"-{x.stride(axis)}" if reverse else x.stride(axis) for x in operands]
    start = [f"{x.data} + ({length} - 1) * {x.stride(axis)}" if reverse else x.data for x in operands]
    context = Strided(f"(char *){integers([length, *along])}", integers(["0"] * len(others)))
    strided = [Strided(d, integers([x.stride(a) for a in others])) for d, x in zip(start, operands, strict=True)]
    step.emit(f"if ({length} > 0) {{")
    with unlocked_for_long_rows(step, rows, length):
        step.nest(kernel, integers([z.length(a) for a in others]), len(others), [*strided, context])
    step.emit("}")
