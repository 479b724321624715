"""Kernels that go along rows: vectors inside of arrays, along one axis (or several that lie in memory as one).

    static void pass0(lm_int n, char *z, lm_int z_stride, const char *x, lm_int x_stride, double shift)      elementwise, along one row
    static void row0(lm_int n, char *z, lm_int z_stride, const char *x, lm_int x_stride)                     all that is done to one row
    static void rows0(lm_int n, char *const *data, const lm_int *strides)                                    all rows

The strides inside of the rows come as a further operand of the kernel, an ``lm_row``, whose own strides are 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from lamella.codegen.c.dtypes import CDType
from lamella.codegen.c.step import Array, Step, Strided, integers
from lamella.codegen.c.unit import KERNEL_NAME, Unit

__all__ = ["add_pass", "joined_axes", "run_rows"]


def add_pass(unit: Unit, c: CDType, stored: str, parameters: Sequence[tuple[str, str]]) -> str:
    """Add a function that computes each element of a row from the same element of another, and return its name.

    Parameters
    ----------
    unit
        The unit.
    c
        The dtype of both rows.
    stored
        What is stored, an expression of the value ``x`` that is read and of the parameters.
    parameters
        C type and name of each parameter, which follow lengths, addresses and strides.
    """
    declared = "".join([f", const {c_type} {name}" for c_type, name in parameters])
    handed_on = "".join([f", {name}" for _, name in parameters])
    loop = unit.kernel(
        f"""LM_ALONE void {KERNEL_NAME}(const lm_int n, {c.storage} *const z_row, const {c.storage} *const x_row{declared})
{{
#pragma omp simd
    for (lm_int i = 0; i < n; ++i) {{
        const {c.computed} x = {c.loaded("x_row[i]")};
        z_row[i] = {stored};
    }}
}}""",
        "loop",
    )
    block = 256
    return unit.kernel(
        f"""static void {KERNEL_NAME}(const lm_int n, char *const z, const lm_int z_stride, const char *const x, const lm_int x_stride{declared})
{{
    if (z_stride == {c.itemsize} && x_stride == {c.itemsize}) {{
        {loop}(n, ({c.storage} *)z, (const {c.storage} *)x{handed_on});
        return;
    }}
    {c.storage} z_block[{block}], x_block[{block}];
    for (lm_int i = 0; i < n; i += {block}) {{
        const int m = n - i < {block} ? (int)(n - i) : {block};
        for (int j = 0; j < m; ++j) x_block[j] = *(const {c.storage} *)(x + (i + j) * x_stride);
        {loop}(m, z_block, x_block{handed_on});
        for (int j = 0; j < m; ++j) *({c.storage} *)(z + (i + j) * z_stride) = z_block[j];
    }}
}}""",
        "pass",
    )


def joined_axes(step: Step, x: Array, axes: Sequence[int], name: str) -> tuple[str, str]:
    """Return the length and the stride of the axis that some axes of an array are together; require that there is one.

    Parameters
    ----------
    step
        The step.
    x
        The array.
    axes
        The axes, from the outermost to the innermost.
    name
        What the names of the C variables begin with.
    """
    if len(axes) == 1:
        return x.length(axes[0]), x.stride(axes[0])
    length, stride = f"{name}_length{step.number}", f"{name}_stride{step.number}"
    step.unit.need("joined_axes")
    listed = f"(const int[]){{{', '.join([str(axis) for axis in axes])}}}" if axes else "NULL"
    step.emit(f"lm_int {length}, {stride};")
    step.require(f"lm_join_axes({len(axes)}, {listed}, {x.shape}, {x.strides}, &{length}, &{stride})")
    return length, stride


def run_rows(step: Step, row: str, length: str, operands: Sequence[tuple[Array, str, Sequence[int]]]) -> None:
    """Run a function on all rows of some arrays.

    Parameters
    ----------
    step
        The step.
    row
        The name of a function of the length of a row, and of the address and the stride of each operand.
    length
        The length of the rows.
    operands
        For each operand: the array, the stride inside of its rows, and its other axes. Those of the first operand have the lengths
        of all.
    """
    step.unit.need("joined_axes")
    rows = step.unit.kernel(_rows(row, len(operands)), "rows")
    first, _, axes = operands[0]
    zeros = integers(["0"] * len(axes))
    name = f"row{step.number}"
    strides = ", ".join([stride for _, stride, _ in operands])
    step.emit(f"const lm_row {name} = {{{length}, {{{strides}}}}};")
    strided = [Strided(array.data, integers([array.stride(axis) for axis in others])) for array, _, others in operands]
    shape = integers([first.length(axis) for axis in axes])
    step.nest(rows, shape, len(axes), [*strided, Strided(f"(char *)&{name}", zeros)])


def _rows(row: str, n_operands: int) -> str:
    arguments = [f"data[{i}] + r * strides[{i}], row.stride[{i}]" for i in range(n_operands)]
    return f"""static void {KERNEL_NAME}(const lm_int n, char *const *const data, const lm_int *const strides)
{{
    const lm_row row = *(const lm_row *)data[{n_operands}];
    for (lm_int r = 0; r < n; ++r) {row}(row.n, {", ".join(arguments)});
}}"""
