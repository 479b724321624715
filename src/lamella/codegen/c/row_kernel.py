"""Kernels that go along rows: vectors inside of arrays, along one axis (or several that lie in memory as one).

    static inline void row0(lm_int n, const char *x, lm_int x_stride, char *z, lm_int z_stride)      one row
    static void rows0(lm_int n, char *const *data, const lm_int *strides)                             all rows

The strides inside of the rows come as a further operand of the kernel, an ``lm_row``, whose own strides are 0. Rows that lie one element
behind the other have code of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from lamella.codegen.c.step import Array, Step, Strided, integers
from lamella.codegen.c.unit import KERNEL_NAME

__all__ = ["joined_axes", "run_rows"]


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
    listed = f"(const int[]){{{', '.join([str(axis) for axis in axes])}}}" if axes else "NULL"
    step.emit(f"lm_int {length}, {stride};")
    step.require(f"lm_join_axes({len(axes)}, {listed}, {x.shape}, {x.strides}, &{length}, &{stride})")
    return length, stride


def run_rows(
    step: Step,
    row: str,
    length: str,
    operands: Sequence[tuple[Array, str, Sequence[int]]],
    itemsizes: Sequence[int | None],
) -> None:
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
    itemsizes
        For each operand the stride inside of its rows for which there is to be code of its own; None where there are no rows, but single
        elements.
    """
    rows = step.unit.kernel(_rows(row, itemsizes), "rows")
    first, _, axes = operands[0]
    zeros = integers(["0"] * len(axes))
    name = f"row{step.number}"
    strides = ", ".join([stride for _, stride, _ in operands])
    step.emit(f"const lm_row {name} = {{{length}, {{{strides}}}}};")
    strided = [Strided(array.data, integers([array.stride(axis) for axis in others])) for array, _, others in operands]
    shape = integers([first.length(axis) for axis in axes])
    step.nest(rows, shape, len(axes), [*strided, Strided(f"(char *)&{name}", zeros)])


def _rows(row: str, itemsizes: Sequence[int | None]) -> str:
    n_operands = len(itemsizes)
    test = " && ".join([f"row.stride[{i}] == {size}" for i, size in enumerate(itemsizes) if size is not None])
    addresses = [f"data[{i}] + r * strides[{i}]" for i in range(n_operands)]

    def call(constant: bool) -> str:
        arguments = ["row.n"]
        for i, (address, size) in enumerate(zip(addresses, itemsizes, strict=True)):
            arguments += [address, str(size) if constant and size is not None else f"row.stride[{i}]"]
        return f"{row}({', '.join(arguments)});"

    return f"""static void {KERNEL_NAME}(const lm_int n, char *const *const data, const lm_int *const strides)
{{
    const lm_row row = *(const lm_row *)data[{n_operands}];
    if ({test})
        for (lm_int r = 0; r < n; ++r) {call(True)}
    else
        for (lm_int r = 0; r < n; ++r) {call(False)}
}}"""
