"""Kernels that many lowerings use: copying, filling, adding."""

from __future__ import annotations

from typing import Any

from lamella.codegen.c.elementwise_kernel import ElementwiseKernel, Operand, add_elementwise_kernel
from lamella.codegen.c.unit import Unit
from lamella.ir import Add, Identity

__all__ = ["add_kernel", "cast_kernel", "copy_kernel", "fill_kernel"]


def copy_kernel(unit: Unit, dtype: str) -> ElementwiseKernel:
    """Return the kernel of two operands that copies the second to the first."""
    return add_elementwise_kernel(unit, Identity(), [Operand(dtype)], [dtype])


def cast_kernel(unit: Unit, dtype: str, result: str) -> ElementwiseKernel:
    """Return the kernel of two operands that copies the second, of one dtype, to the first, of another."""
    return add_elementwise_kernel(unit, Identity(), [Operand(dtype)], [result])


def fill_kernel(unit: Unit, dtype: str, value: Any) -> ElementwiseKernel:
    """Return the kernel of one operand that sets its elements to a value."""
    return add_elementwise_kernel(unit, Identity(), [Operand(dtype, constant=value)], [dtype])


def add_kernel(unit: Unit, dtype: str) -> ElementwiseKernel:
    """Return the kernel of three operands that sets the first to the sum of the others."""
    return add_elementwise_kernel(unit, Add(), [Operand(dtype), Operand(dtype)], [dtype])
