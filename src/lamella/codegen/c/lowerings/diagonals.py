"""Diagonals: views that go down and across at once, and arrays with zeros everywhere else."""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.creation import require_addressable, required_lengths
from lamella.codegen.c.lowerings.moves import copy_elements, fill_with_zeros, lengths_of
from lamella.codegen.c.step import Array, Step, Strided, integers
from lamella.ir import AllocDiag, ExtractDiag, Eye


@c_lowering.register(Eye)
def eye(op: Eye, step: Step) -> None:
    """Fill with zeros, then set the diagonal."""
    rows, columns, offset = step.inputs
    shape = required_lengths(step, [rows, columns])
    require_addressable(step, shape, step.output().c.itemsize)
    z = step.allocate(shape)
    fill_with_zeros(step, z)
    diagonal = _diagonal(step, shape[0], shape[1], offset.value())
    if z.c.kind == "c":
        step.unit.need("complex")
        one = f"({z.c.storage}){{1, 0}}"
    elif z.type.dtype == "float16":
        step.unit.need("half")
        one = "lm_to_half(1.0f)"
    else:
        one = f"({z.c.storage})1"
    to = Strided(_start(z, diagonal, 0, 1), integers([f"{z.stride(0)} + {z.stride(1)}"]))
    ones = Strided(f"(char *)({z.c.storage}[1]){{{one}}}", integers(["0"]))
    copy_elements(step, z.c.itemsize, f"&{diagonal}.length", 1, to, ones)


@c_lowering.register(ExtractDiag)
def extract_diag(op: ExtractDiag, step: Step) -> None:
    """Take a view that goes down and across at once."""
    (x,) = step.inputs
    kept = [axis for axis in range(x.ndim) if axis not in (op.axis1, op.axis2)]
    diagonal = _diagonal(step, x.length(op.axis1), x.length(op.axis2), str(op.offset))
    lengths = [*[x.length(axis) for axis in kept], f"{diagonal}.length"]
    strides = [*[x.stride(axis) for axis in kept], f"{x.stride(op.axis1)} + {x.stride(op.axis2)}"]
    step.view(x, _start(x, diagonal, op.axis1, op.axis2), lengths, strides)


@c_lowering.register(AllocDiag)
def alloc_diag(op: AllocDiag, step: Step) -> None:
    """Fill with zeros, then copy to the diagonal."""
    x, *ends = step.inputs
    rows, columns = required_lengths(step, ends)
    diagonal = _diagonal(step, rows, columns, str(op.offset))
    step.require(f"{x.length(x.ndim - 1)} == {diagonal}.length")
    others = iter([x.length(axis) for axis in range(x.ndim - 1)])
    placed = {op.axis1: rows, op.axis2: columns}
    lengths = [placed[axis] if axis in placed else next(others) for axis in range(x.ndim + 1)]
    require_addressable(step, lengths, x.c.itemsize)
    z = step.allocate(lengths)
    fill_with_zeros(step, z)
    kept = [z.stride(axis) for axis in range(z.ndim) if axis not in (op.axis1, op.axis2)]
    strides = integers([*kept, f"{z.stride(op.axis1)} + {z.stride(op.axis2)}"])
    to = Strided(_start(z, diagonal, op.axis1, op.axis2), strides)
    copy_elements(step, z.c.itemsize, integers(lengths_of(x)), x.ndim, to, x.strided)


def _diagonal(step: Step, rows: str, columns: str, offset: str) -> str:
    name = f"diagonal{step.number}"
    step.unit.need("indexing")
    step.emit(f"const lm_diagonal {name} = lm_diagonal_of({rows}, {columns}, {offset});")
    return name


def _start(x: Array, diagonal: str, axis1: int, axis2: int) -> str:
    return f"{x.data} + {diagonal}.row * {x.stride(axis1)} + {diagonal}.column * {x.stride(axis2)}"
