"""Products of vectors, matrices and stacks of them whose dtype no BLAS knows: integers, booleans, halves.

z = dot(x, y)    ->    product0(x.shape[0], x.shape[1], y.shape[1], z.data, ..., x.data, ..., y.data, ...);
"""

from __future__ import annotations

from collections.abc import Sequence

from lamella.codegen.c.dtypes import CDType
from lamella.codegen.c.lowerings.interpreter_lock import unlocked_for_long
from lamella.codegen.c.step import Array, Step
from lamella.codegen.c.unit import KERNEL_NAME

__all__ = ["multiply_matrices"]

_HEAD = f"""LM_ALONE void {KERNEL_NAME}(
    const lm_int rows, const lm_int inner, const lm_int columns, char *const z, const lm_int z_row, const lm_int z_column,
    const char *const x, const lm_int x_row, const lm_int x_column, const char *const y, const lm_int y_row, const lm_int y_column)
"""

# Row by row, so that what is added to lies side by side. Integers wrap: they are multiplied as unsigned ones that are not promoted.
_INTEGERS = """{
    for (lm_int i = 0; i < rows; ++i) {
        for (lm_int j = 0; j < columns; ++j) *(@T@ *)(z + i * z_row + j * z_column) = 0;
        for (lm_int k = 0; k < inner; ++k) {
            const @W@ factor = (@W@)*(const @T@ *)(x + i * x_row + k * x_column);
            @T@ *restrict const to = (@T@ *)(z + i * z_row);
            const @T@ *const from = (const @T@ *)(y + k * y_row);
            if (z_column == sizeof(@T@) && y_column == sizeof(@T@))
                for (lm_int j = 0; j < columns; ++j) to[j] = (@T@)(to[j] @ADD@ (factor @TIMES@ (@W@)from[j]));
            else
                for (lm_int j = 0; j < columns; ++j) {
                    @T@ *const at = (@T@ *)((char *)to + j * z_column);
                    *at = (@T@)(*at @ADD@ (factor @TIMES@ (@W@)*(const @T@ *)((const char *)from + j * y_column)));
                }
        }
    }
}"""

# As NumPy does: added up in single precision, rounded once.
_HALVES = """{
    for (lm_int i = 0; i < rows; ++i)
        for (lm_int j = 0; j < columns; ++j) {
            const char *from = x + i * x_row, *times = y + j * y_column;
            float sum = 0;
            for (lm_int k = 0; k < inner; ++k, from += x_column, times += y_row)
                sum += lm_from_half(*(const lm_half *)from) * lm_from_half(*(const lm_half *)times);
            *(lm_half *)(z + i * z_row + j * z_column) = lm_to_half(sum);
        }
}"""


def _kernel(step: Step, c: CDType) -> str:
    if c.name == "float16":
        step.unit.need("half")
        return step.unit.kernel(_HEAD + _HALVES, "product")
    wide = "uint64_t" if c.itemsize == 8 else "uint32_t"
    add, times = ("|", "&") if c.kind == "b" else ("+", "*")
    body = _INTEGERS.replace("@T@", c.storage).replace("@W@", wide).replace("@ADD@", add).replace("@TIMES@", times)
    return step.unit.kernel(_HEAD + body, "product")


def multiply_matrices(step: Step, z: Array, a: Array, b: Array) -> None:
    """Write the product of two arrays to a third, which has its shape: of vectors, matrices, or stacks of matrices.

    Parameters
    ----------
    step
        The step.
    z
        Where the product is written.
    a, b
        The factors. Of stacks, the axes before the last two are as many as those of `z`.
    """
    kernel = _kernel(step, z.c)
    depth = max(z.ndim - 2, 0) if a.ndim > 2 else 0
    over = a.length(a.ndim - 1)
    rows = a.length(a.ndim - 2) if a.ndim > 1 else "1"
    columns = b.length(b.ndim - 1) if b.ndim > 1 else "1"
    with unlocked_for_long(step, f"(double)({z.size}) * {over}"):
        step.emit(*[f"for (lm_int i{k} = 0; i{k} < {z.length(k)}; ++i{k})" for k in range(depth)])
        z_row, z_column = _strides(z, a.ndim > 1, b.ndim > 1)
        a_row, a_column = _strides(a, a.ndim > 1, True)
        b_row, b_column = _strides(b, True, b.ndim > 1)
        step.emit(
            f"    {kernel}({rows}, {over}, {columns}, {_start(z, depth)}, {z_row}, {z_column},",
            f"        {_start(a, depth)}, {a_row}, {a_column}, {_start(b, depth)}, {b_row}, {b_column});",
        )


def _strides(array: Array, has_rows: bool, has_columns: bool) -> Sequence[str]:
    """Return the strides of the last axes: from row to row, and from column to column."""
    axes = iter(range(array.ndim - has_rows - has_columns, array.ndim))
    return [array.stride(next(axes)) if has else "0" for has in (has_rows, has_columns)]


def _start(array: Array, depth: int) -> str:
    return array.offset(*[f"i{k}" for k in range(depth)])
