"""Kernels of elementwise Ops: one pass over the elements of all operands.

    static inline void KERNEL_element(double *const o0, const double i0, const double i1)      what one element is
    static void KERNEL(lm_int n, char *const *data, const lm_int *strides)                      the loops

There are two loops: one over elements that lie one behind the other (or are the same for all), which becomes vector code,
and one for any strides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, final

import attrs

from lamella.codegen.c.dtypes import C_DTYPES
from lamella.codegen.c.scalar_body import ScalarBody, TypedText
from lamella.codegen.c.unit import KERNEL_NAME, Unit
from lamella.ir import ScalarOp

__all__ = ["ElementwiseKernel", "Operand"]


@final
@attrs.frozen
class Operand:
    """An operand of a kernel.

    Attributes
    ----------
    dtype
        Its dtype.
    inner
        How it usually lies along the innermost axis: one element behind the other, or the same one for all.
    constant
        The value of an operand that is a known number, the same for all elements: it stands in the code.
    """

    dtype: str
    inner: Literal["contiguous", "same"] = "contiguous"
    constant: Any = None


@final
@attrs.frozen
class ElementwiseKernel:
    """The functions of one kernel, as they stand in the unit.

    Attributes
    ----------
    loops
        The name of the `lm_kernel` function. Its operands are the outputs, then the inputs that are not constant.
    element
        The name of the function for one element: pointers to the outputs, then values of those inputs.
    guard
        The name of a function like `loops` over those inputs alone, followed by an ``int``, that sets the ``int`` where an element is an
        error; None where none can be.
    """

    loops: str
    element: str
    guard: str | None


def add_elementwise_kernel(
    unit: Unit, op: ScalarOp[Any], operands: Sequence[Operand], outputs: Sequence[str]
) -> ElementwiseKernel:
    """Add the kernel of a scalar Op to a unit.

    Parameters
    ----------
    unit
        The unit.
    op
        The Op.
    operands
        Its operands.
    outputs
        The dtypes of its results.

    Raises
    ------
    LoweringError
        The Op has no expression for these dtypes.
    """
    body = ScalarBody()
    for dtype in (*[operand.dtype for operand in operands], *outputs):
        body.need_for(dtype)
    texts: list[TypedText] = []
    names: list[tuple[str, Operand]] = []
    for operand in operands:
        if operand.constant is not None:
            texts.append(body.constant(operand.constant, operand.dtype))
        else:
            name = f"i{len(names)}"
            names.append((name, operand))
            texts.append(TypedText(name, operand.dtype))
    results = [body.cast(r, dtype).text for r, dtype in zip(body.apply(op, texts), outputs, strict=True)]
    unit.need(*body.headers)
    written = [(f"o{i}", Operand(dtype)) for i, dtype in enumerate(outputs)]
    element = unit.kernel(_element(body, written, names, results), "element")
    loops = unit.kernel(_loops(element, written, names))
    guard = unit.kernel(_guard(body, names), "guard") if body.guards else None
    return ElementwiseKernel(loops, element, guard)


Named = Sequence[tuple[str, Operand]]


def _element(body: ScalarBody, written: Named, read: Named, results: Sequence[str]) -> str:
    parameters = [f"{C_DTYPES[o.dtype].storage} *const {name}" for name, o in written]
    parameters += [f"const {C_DTYPES[o.dtype].computed} {name}" for name, o in read]
    stores = [
        f"*{name} = {C_DTYPES[o.dtype].stored(result)};" for (name, o), result in zip(written, results, strict=True)
    ]
    statements = "\n".join([f"    {line}" for line in (*body.lines, *stores)])
    return f"static inline void {KERNEL_NAME}({', '.join(parameters)})\n{{\n{statements}\n}}"


def _loops(element: str, written: Named, read: Named) -> str:
    operands = [*written, *read]
    test = " && ".join(
        [
            f"strides[{i}] == {C_DTYPES[o.dtype].itemsize if o.inner == 'contiguous' else 0}"
            for i, (_, o) in enumerate(operands)
        ]
    )
    addresses = "\n".join(
        [
            f"    {'const ' if i >= len(written) else ''}char *const {name} = data[{i}];"
            for i, (name, _) in enumerate(operands)
        ]
    )
    usual = [_at_usual_place(name, o) for name, o in operands]
    anywhere = [f"({name} + i * strides[{i}])" for i, (name, _) in enumerate(operands)]
    return f"""static void {KERNEL_NAME}(const lm_int n, char *const *const data, const lm_int *const strides)
{{
{addresses}
    if ({test}) {{
#pragma omp simd
        for (lm_int i = 0; i < n; ++i)
            {_call(element, written, read, usual)}
    }} else {{
#pragma omp simd
        for (lm_int i = 0; i < n; ++i)
            {_call(element, written, read, anywhere)}
    }}
}}"""


def _at_usual_place(name: str, operand: Operand) -> str:
    return f"({name} + i * {C_DTYPES[operand.dtype].itemsize})" if operand.inner == "contiguous" else name


def _call(element: str, written: Named, read: Named, addresses: Sequence[str]) -> str:
    arguments = [
        f"({C_DTYPES[o.dtype].storage} *){address}" for (_, o), address in zip(written, addresses, strict=False)
    ]
    for (_, operand), address in zip(read, addresses[len(written) :], strict=True):
        c_dtype = C_DTYPES[operand.dtype]
        arguments.append(c_dtype.loaded(f"*(const {c_dtype.storage} *){address}"))
    return f"{element}({', '.join(arguments)});"


def _guard(body: ScalarBody, read: Named) -> str:
    loads = "\n".join(
        [
            f"        const {C_DTYPES[o.dtype].computed} {name} = "
            f"{C_DTYPES[o.dtype].loaded(f'*(const {C_DTYPES[o.dtype].storage} *)(data[{i}] + i * strides[{i}])')};"
            for i, (name, o) in enumerate(read)
        ]
    )
    statements = "\n".join([f"        {line}" for line in body.lines])
    unused = "\n".join([f"        (void){name};" for name, _ in read])
    return f"""static void {KERNEL_NAME}(const lm_int n, char *const *const data, const lm_int *const strides)
{{
    int found = 0;
    for (lm_int i = 0; i < n; ++i) {{
{loads}
{unused}
{statements}
        found |= {" || ".join(body.guards)};
    }}
    if (found) *(int *)data[{len(read)}] = 1;
}}"""
