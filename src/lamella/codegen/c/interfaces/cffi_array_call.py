"""`CffiArrayOp` in C: its function called on arrays in C's order.

z = scale(x, 2, x.size, x.shape[0])    ->    lm_contiguous(..., x.data, &held[0]);        where elements lie, or a copy
                                             scale_in_c(z->data, elements0, n, a);
"""

from __future__ import annotations

from collections.abc import Sequence

from lamella.codegen.c.dtypes import C_DTYPES
from lamella.codegen.c.interfaces.cffi_array_op import CffiArrayOp
from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.creation import require_addressable, required_lengths
from lamella.codegen.c.lowerings.moves import copy_elements, lengths_of
from lamella.codegen.c.step import Array, Step


@c_lowering.register(CffiArrayOp)
def call(op: CffiArrayOp, step: Step) -> None:
    """Give outputs memory, bring operands into C's order, and call the function while others run."""
    function = op.function
    name, needs = function.in_unit()
    parameters, inputs = op.operands, step.inputs
    places = dict(zip([p.name for p in parameters], inputs, strict=False))
    rest = inputs[len(parameters) :]
    texts: dict[str, str] = {}
    for (size, _), value in zip(op.sizes, rest, strict=False):
        dtype = next(p.dtype for p in function.parameters if p.name == size)
        for limit in _limits(dtype):
            step.require(f"{value.value()} {limit}")
        texts[size] = f"({C_DTYPES[dtype].storage}){value.value()}"
    lengths = iter(required_lengths(step, rest[len(op.sizes) :]))
    outputs = op.paired_outputs([step.output(i) for i in range(step.node.nout)])
    wanted = [
        []
        if p is None
        else lengths_of(places[p.name])
        if p.name in op.inout
        else [next(lengths) for _ in range(z.ndim)]
        for z, p in outputs
    ]
    for (z, _), shape in zip(outputs, wanted, strict=True):
        require_addressable(step, shape, z.c.itemsize)
    for i, ((_, of), shape) in enumerate(zip(outputs, wanted, strict=True)):
        z = step.allocate(shape, i)
        if of is not None:
            texts[of.name] = z.data
        if of is not None and of.name in op.inout:
            copy_elements(step, z.c.itemsize, z.shape, z.ndim, z.strided, places[of.name].strided)
    read = [p for p in parameters if p.is_pointer and p.name not in op.inout]
    step.unit.need("contiguous", *needs)
    step.emit("{", f"lm_block *held[{len(read) + 1}] = {{NULL}};", "int fails = 0;")
    for i, p in enumerate(read):
        texts[p.name] = _contiguous(step, places[p.name], i)
    for p in parameters:
        if not p.is_pointer:
            texts[p.name] = places[p.name].value()
    _emit_call(
        op, step, name, [texts[p.name] if not p.is_pointer else f"(void *){texts[p.name]}" for p in function.parameters]
    )
    step.emit(f"for (int i = 0; i < {len(read)}; ++i) lm_release(call, &held[i]);", "if (fails) return fails;", "}")


def _limits(dtype: str) -> list[str]:
    """Return what holds for a size that a parameter can take."""
    if dtype == "int64":
        return []
    name = dtype.upper()
    if dtype.startswith("u"):
        return [">= 0", *([] if dtype == "uint64" else [f"<= {name}_MAX"])]
    return [f">= {name}_MIN", f"<= {name}_MAX"]


def _contiguous(step: Step, x: Array, i: int) -> str:
    """Bring elements into C's order, and return the expression for the first."""
    if x.ndim == 0:
        return x.data
    step.emit(
        f"char *const elements{i} = fails ? NULL : lm_contiguous(call, &{x.type_name}, {x.shape}, {x.strides}, {x.data}, &held[{i}]);",
        f"fails = elements{i} == NULL ? -1 : 0;",
    )
    return f"elements{i}"


def _emit_call(op: CffiArrayOp, step: Step, name: str, arguments: Sequence[str]) -> None:
    applied = f"{name}({', '.join(arguments)})"
    step.emit("if (!fails) {", "void *const unlocked = call->serve->unlock();")
    if op.is_status:
        step.may_refer = True
        step.emit(f"if ({applied} != 0) fails = LM_REFER;")
    elif op.has_result:
        z = step.output(0)
        step.emit(f"{z.element} = {applied};")
    else:
        step.emit(f"{applied};")
    step.emit("if (unlocked != NULL) call->serve->lock(unlocked);", "}")
