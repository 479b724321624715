"""Choices moved out of what is computed from them, where one branch becomes a number.

before                              after
%0 = switch(%c, 1.0, 0.0)           %0 = switch(%c, 2.0, 0.0)
%1 = mul(%0, 2.0)
"""

from __future__ import annotations

from typing import Any

from lamella.ir import (
    BOOL_DTYPES,
    INTEGER_DTYPES,
    Add,
    AnnihilatingMul,
    Apply,
    Cast,
    Elemwise,
    FunctionGraph,
    Mul,
    Power,
    Switch,
    TensorVariable,
    UfuncScalarOp,
    constant,
    lt,
)
from lamella.rewriting.engine import OpPattern, node_rewriter
from lamella.rewriting.rules.operands import applied, elementwise, instead_of, is_number, number, operands

__all__ = ["annihilating_mul_of_switch", "ufunc_of_switches"]


@node_rewriter(
    [OpPattern(Elemwise, scalar_op=UfuncScalarOp, inplace_pattern=()), *elementwise(Add, Cast, Mul)],
    tracks_inputs=elementwise(Switch),
)
def ufunc_of_switches(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``f(switch(c, 1, 2)) -> switch(c, f(1), f(2))``; ``f(switch(c, 1, x), switch(c, 2, y)) -> switch(c, f(1, 2), f(x, y))``; for numbers 1 and 2.

    Operands that are numbers may stand beside choices, which all have one condition. Valid for every function of numbers that raises no errors, hence not for powers of integers. It pays because f of numbers is known, and
    one choice is made.
    """
    for variable in node.inputs:
        if variable.owner is not None and applied(Switch, variable):
            break
    else:
        return None
    if len(node.outputs) != 1:
        return None
    (condition, *_) = operands(variable.owner)
    branches: tuple[list[TensorVariable], list[TensorVariable]] = [], []
    choices = 0
    for operand in operands(node):
        found = applied(Switch, operand)
        if found is not None and found[0] is condition:
            choices += 1
            branches[0].append(found[1])
            branches[1].append(found[2])
        elif number(operand) is not None:
            branches[0].append(operand)
            branches[1].append(operand)
        else:
            return None
    known = [all([number(operand) is not None for operand in branch]) for branch in branches]
    if not all(known) and (choices < 2 or not any(known)):
        return None
    assert isinstance(node.op, Elemwise)
    if isinstance(node.op.scalar_op, Power) and node.outputs[0].type.dtype in INTEGER_DTYPES:
        return None
    dtypes = [operand.dtype for operand in operands(node)]
    results = [node.op(*[lt.cast(v, d) for v, d in zip(branch, dtypes, strict=True)]) for branch in branches]
    return instead_of(node, lt.switch(condition, *results))


@node_rewriter(elementwise(AnnihilatingMul), tracks_inputs=elementwise(Cast, Switch))
def annihilating_mul_of_switch(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``annihilating_mul(switch(c, g, 0), x) -> switch(c, g * x, 0)``, for a number g that is not 0; so too for ``switch(c, 0, g)``.

    A truth value that is cast to a number is a choice of 1 and 0. The choice is as large as the result. Always valid: where the choice is 0, so is the product. It pays because nothing is compared with 0, and 1 times x is x.
    """
    g, slope = operands(node)
    out = node.outputs[0].type
    if g.type.broadcastable != out.broadcastable or g.dtype != out.dtype:
        return None
    truth = applied(Cast, g)
    if truth is not None and truth[0].dtype in BOOL_DTYPES:
        return instead_of(node, lt.switch(truth[0], slope, constant(0, dtype=out.dtype)))
    found = applied(Switch, g)
    if found is None:
        return None
    condition, *branches = found
    for place in (0, 1):
        factor = number(branches[place])
        if factor and factor == factor and is_number(branches[1 - place], 0):
            break
    else:
        return None
    zero = constant(0, dtype=out.dtype)
    scaled = slope if factor == 1 else lt.mul(branches[place], slope)
    return instead_of(node, lt.switch(condition, *((scaled, zero) if place == 0 else (zero, scaled))))
