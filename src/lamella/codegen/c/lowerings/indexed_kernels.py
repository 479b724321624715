"""Kernels that add elements at places which index arrays select, of dtypes for which the host has none."""

from __future__ import annotations

from typing import Final

from lamella.codegen.c.dtypes import CDType
from lamella.codegen.c.lowerings.common_kernels import add_kernel
from lamella.codegen.c.unit import KERNEL_NAME, Unit

__all__ = ["add_adding_kernels"]

_ADDED_BY_THE_HOST: Final = ("float32", "float64", "int32", "int64", "uint32", "uint64")


def add_adding_kernels(unit: Unit, dtype: CDType) -> tuple[str, str]:
    """Add the kernels that add elements to a unit, if it needs any, and return their names: ``points`` and ``row`` of an ``lm_indexed``."""
    if dtype.name in _ADDED_BY_THE_HOST:
        return "NULL", "NULL"
    element = add_kernel(unit, dtype.name).element

    def added(to: str, source: str) -> str:
        at, value = f"({dtype.storage} *)({to})", f"*({dtype.storage} *)({source})"
        return f"{element}({at}, {dtype.loaded(f'*{at}')}, {dtype.loaded(value)});"

    points = unit.kernel(
        f"""static void {KERNEL_NAME}(
    const lm_int n, const lm_int *const places, char *const array, char *const beside, const lm_int stride)
{{
    for (lm_int k = 0; k < n; ++k) {added("array + places[k]", "beside + k * stride")}
}}""",
        "points",
    )
    row = unit.kernel(
        f"""static void {KERNEL_NAME}(const lm_int n, char *const array, const lm_int by, char *const beside, const lm_int stride)
{{
    for (lm_int i = 0; i < n; ++i) {added("array + i * by", "beside + i * stride")}
}}""",
        "row",
    )
    return points, row
