"""Kernels that go along rows: vectors inside of arrays, along one axis (or several that lie in memory as one).

    static void pass0(lm_int n, double *z_row, const double *x_row, double shift)      elementwise, along one row
    static void row0(lm_int n, char *const *rows)                                      all that is done to one row

The elements of a row lie side by side: the host, which goes through the rows, brings others into that form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import attrs

from lamella.codegen.c.dtypes import CDType
from lamella.codegen.c.step import Array, Step, Strided, integers, operand_arrays
from lamella.codegen.c.unit import KERNEL_NAME, Unit

__all__ = ["RowOperand", "add_pass", "joined_axes", "run_rows"]


@final
@attrs.frozen
class RowOperand:
    """An array of which a kernel works on one row at a time.

    Attributes
    ----------
    array
        The array.
    along
        The stride inside of rows; None for an array with a single element for each row.
    axes
        The axes besides that of the rows. Those of the first operand have the lengths of all.
    """

    array: Array
    along: str | None
    axes: Sequence[int]


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
        C type and name of each parameter, which follow the length and the addresses.
    """
    declared = "".join([f", const {c_type} {name}" for c_type, name in parameters])
    return unit.kernel(
        f"""LM_ALONE void {KERNEL_NAME}(const lm_int n, {c.storage} *const z_row, const {c.storage} *const x_row{declared})
{{
#pragma omp simd
    for (lm_int i = 0; i < n; ++i) {{
        const {c.computed} x = {c.loaded("x_row[i]")};
        z_row[i] = {stored};
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


def run_rows(step: Step, row: str, length: str, operands: Sequence[RowOperand], columns: str | None = None) -> None:
    """Run a function on all rows of some arrays.

    Parameters
    ----------
    step
        The step.
    row
        The name of a function of the length of a row, and of where the row of each operand is.
    length
        The length of the rows.
    operands
        The operands: the one that is written, then those that are read.
    columns
        The name of a function that does the same for many rows whose elements of one place lie side by side, if there is one: of an operand
        that is read and one that is written, with a single element for each row.
    """
    sizes = integers(["0" if x.along is None else str(x.array.c.itemsize) for x in operands])
    kernel = step.unit.kernel(
        f"static const lm_row_kernel {KERNEL_NAME} = {{{row}, 1, {len(operands)}, {sizes}, {columns or 'NULL'}}};",
        "rows",
    )
    first = operands[0]
    along = integers([x.along or "0" for x in operands])
    shape = integers([first.array.length(axis) for axis in first.axes])
    rows = operand_arrays(
        [Strided(x.array.data, integers([x.array.stride(axis) for axis in x.axes])) for x in operands]
    )
    step.attempt(f"call->serve->rows(call, &{kernel}, {length}, {along}, {len(first.axes)}, {shape}, {rows})")
