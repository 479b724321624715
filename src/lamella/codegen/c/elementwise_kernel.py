"""Kernels of elementwise Ops: one pass over the elements of all operands.

    static inline void element0(double *o0, double i0, double i1)                  what one element is
    static void loop0(lm_int n, char *const *data)                                 elements one behind the other, or the same for all
    static void kernel0(lm_int n, char *const *data, const lm_int *strides)        any strides

Only the second has a loop that becomes vector code; compiling it is most of what a kernel costs. Operands with other strides are
brought into its form by code that all kernels of a unit share (``support/elementwise.h``): copied to and from small arrays, a
block at a time; or, where an operand varies that is usually the same, taken one element at a time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, Literal, final

import attrs

from lamella.codegen.c.dtypes import C_DTYPES
from lamella.codegen.c.lanes import lanes_text
from lamella.codegen.c.scalar_body import ScalarBody, TypedText
from lamella.codegen.c.unit import KERNEL_NAME, Unit
from lamella.ir import ScalarOp

__all__ = [
    "ElementwiseKernel",
    "Named",
    "Operand",
    "add_element",
    "add_elementwise_kernel",
    "computed_elements",
    "element_costs",
]


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
    may_vary
        Whether one that is the same along the last axis varies along another, which may be the innermost one in memory.
    """

    dtype: str
    inner: Literal["contiguous", "same"] = "contiguous"
    constant: Any = None
    may_vary: bool = False


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
    cost
        About how long an element takes, in picoseconds.
    is_bound_by_memory
        Whether most of that is the way of elements from and to memory. Where it is not, the processor hides it behind the computation.
    """

    loops: str
    element: str
    guard: str | None
    cost: int
    is_bound_by_memory: bool


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
    body, names, results = computed_elements(unit, op, operands, outputs)
    written = [(f"o{i}", Operand(dtype)) for i, dtype in enumerate(outputs)]
    element = add_element(unit, body, written, names, results)
    lanes = lanes_text(body.lines, results, written, names)
    loop = unit.kernel(_loop(element, written, names, lanes), "loop")
    moving, computing = element_costs(body, [*written, *names])
    any_loop = None
    if any([operand.may_vary for _, operand in names]):
        varying = [(name, Operand(operand.dtype)) for name, operand in names]
        any_loop = unit.kernel(_loop(element, written, varying, ""), "loop")
    loops = unit.kernel(_kernel(loop, any_loop, written, names))
    guard = unit.kernel(_guard(body, names), "guard") if body.guards else None
    return ElementwiseKernel(loops, element, guard, moving + computing, moving > computing)


Named = Sequence[tuple[str, Operand]]
"""Operands by the names that statements have for them."""


def computed_elements(
    unit: Unit, op: ScalarOp[Any], operands: Sequence[Operand], outputs: Sequence[str]
) -> tuple[ScalarBody, Named, list[str]]:
    """Return the statements of a scalar Op, the names of operands that are not constant, and expressions for results of some dtypes.

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
    unit.need(*body.headers, "elementwise")
    return body, names, results


def add_element(unit: Unit, body: ScalarBody, written: Named, read: Named, results: Sequence[str]) -> str:
    """Add the function for one element to a unit, and return its name: see `ElementwiseKernel.element`."""
    return unit.kernel(_element(body, written, read, results), "element")


def element_costs(body: ScalarBody, operands: Named) -> tuple[int, int]:
    """Estimate how long an element takes, in picoseconds: its way from and to memory, and statements and calls of functions.

    Measured on a processor with vectors of 512 bits; what is wanted is the order of magnitude.
    """
    moved = sum([C_DTYPES[operand.dtype].itemsize for _, operand in operands])
    called = [name for line in body.lines for name in re.findall(r"\b([a-z]\w+)\(", line)]
    calls = sum([_COSTS.get(name) or _COSTS.get(re.sub(r"_\w\d+$|f$", "", name), 1000) for name in called])
    return 60 * moved, 60 * len(body.lines) + calls


_COSTS: Final = dict.fromkeys(("fabs", "floor", "ceil", "trunc", "rint", "sqrt", "copysign"), 100) | {
    "lm_round_to_half": 300,
    "lm_maximum": 200,
    "lm_minimum": 200,
    "lm_gammaln": 4000,
    "lm_digamma": 4000,
    "lm_trigamma": 4000,
    "lm_polygamma": 300000,
    "lm_erfcx": 30000,
    "pow": 3000,
    **{f"lm_{name}_{c}": 150000 for name in ("erf", "erfc", "erfcx", "digamma") for c in ("c64", "c128")},
}
"""Calls that take much more or less than others, in picoseconds."""


def _element(body: ScalarBody, written: Named, read: Named, results: Sequence[str]) -> str:
    parameters = [f"{C_DTYPES[o.dtype].storage} *const {name}" for name, o in written]
    parameters += [f"const {C_DTYPES[o.dtype].computed} {name}" for name, o in read]
    stores = [
        f"*{name} = {C_DTYPES[o.dtype].stored(result)};" for (name, o), result in zip(written, results, strict=True)
    ]
    text = " ".join([*body.lines, *stores])
    unused = [f"(void){name};" for name, _ in read if not re.search(rf"\b{name}\b", text)]
    statements = "\n".join([f"    {line}" for line in (*unused, *body.lines, *stores)])
    return f"LM_INLINE void {KERNEL_NAME}({', '.join(parameters)})\n{{\n{statements}\n}}"


def _loop(element: str, written: Named, read: Named, lanes: str) -> str:
    lines: list[str] = []
    arguments = [f"{name} + i" for name, _ in written]
    for i, (name, operand) in enumerate([*written, *read]):
        c = C_DTYPES[operand.dtype]
        const = "" if i < len(written) else "const "
        address = f"({const}{c.storage} *)data[{i}]"
        if operand.inner == "same":
            lines.append(f"    const {c.computed} {name} = {c.loaded(f'*{address}')};")
            arguments.append(name)
        else:
            lines.append(f"    {const}{c.storage} *const {name} = {address};")
            if const:
                arguments.append(c.loaded(f"{name}[i]"))
    declared = "\n".join(lines)
    return f"""LM_ALONE void {KERNEL_NAME}(const lm_int n, char *const *const data)
{{
{declared}
{lanes}#pragma omp simd
    for (lm_int i = {"done" if lanes else "0"}; i < n; ++i) {element}({", ".join(arguments)});
}}"""


def _kernel(loop: str, any_loop: str | None, written: Named, read: Named) -> str:
    sizes = ", ".join([str(C_DTYPES[o.dtype].itemsize) for _, o in (*written, *read)])
    others = f"\n    static const unsigned char sizes[] = {{{sizes}}};" if any_loop else ""
    steps = [C_DTYPES[o.dtype].itemsize if o.inner == "contiguous" else 0 for _, o in (*written, *read)]
    listed = ", ".join([str(step) for step in steps])
    return f"""static void {KERNEL_NAME}(const lm_int n, char *const *const data, const lm_int *const strides)
{{
    static const unsigned char steps[] = {{{listed}}};{others}
    static const lm_elementwise kernel = {{{loop}, {len(written)}, {len(steps)}, steps, {f"{any_loop}, sizes" if any_loop else "NULL, NULL"}}};
    lm_run_elementwise(&kernel, n, data, strides);
}}"""


def _guard(body: ScalarBody, read: Named) -> str:
    loads = "\n".join(
        [
            f"        const {C_DTYPES[o.dtype].computed} {name} = "
            f"{C_DTYPES[o.dtype].loaded(f'*(const {C_DTYPES[o.dtype].storage} *)(data[{i}] + i * strides[{i}])')};"
            for i, (name, o) in enumerate(read)
        ]
    )
    lines = "\n".join([f"        {line}" for line in body.lines])
    unused = "\n".join([f"        (void){name};" for name in (*[name for name, _ in read], *body.temporaries)])
    return f"""static void {KERNEL_NAME}(const lm_int n, char *const *const data, const lm_int *const strides)
{{
    int found = 0;
    for (lm_int i = 0; i < n; ++i) {{
{loads}
{lines}
{unused}
        found |= {" || ".join(body.guards)};
    }}
    if (found) *(int *)data[{len(read)}] = 1;
}}"""
