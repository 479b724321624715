"""Signs: tensors none of whose elements can be negative.

    is_nonnegative(sqrt(x) * abs(y) + x.shape[0])     True

NaN counts as not negative, and so does -0.0. Integers that may wrap around (sums, products, squares, absolute values of signed ones)
are never trusted.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lamella.ir import (
    BOOL_DTYPES,
    COMPLEX_DTYPES,
    FLOAT_DTYPES,
    UNSIGNED_DTYPES,
    Abs,
    Add,
    Alloc,
    AnnihilatingMul,
    Arccos,
    Arccosh,
    Arcsinh,
    Arctan,
    Arctanh,
    BitwiseAnd,
    BitwiseOr,
    Cast,
    Ceil,
    Clip,
    Cosh,
    Elemwise,
    Erf,
    Erfc,
    Erfcx,
    Exp,
    Exp2,
    Expm1,
    Floor,
    FloorDivide,
    Hypot,
    Identity,
    Log1p,
    Max,
    Maximum,
    Min,
    Minimum,
    Mod,
    Mul,
    Prod,
    RightShift,
    Rint,
    Second,
    Shape,
    Shape_i,
    Sigmoid,
    Sign,
    Sinh,
    Softmax,
    Softplus,
    SpecifyShape,
    Sqrt,
    Square,
    Sum,
    Switch,
    Tanh,
    TensorConstant,
    TensorType,
    TensorVariable,
    Trunc,
    Unbroadcast,
    Variable,
    moves_elements,
)
from lamella.typing_layer.facts import Fact, Rule

__all__ = ["is_nonnegative"]

AnyVariable = Variable[Any]

# What the results of a scalar Op need, to be 0 or more: nothing,
_ALWAYS: Final = (Abs, Arccos, Arccosh, Cosh, Erfc, Erfcx, Exp, Exp2, Hypot, Sigmoid, Softplus, Sqrt, Square)
# ... all operands,
_ALL_FLOATS: Final = (
    *(Add, AnnihilatingMul, Arcsinh, Arctan, Arctanh, Ceil, Erf, Expm1, Floor, Log1p, Mul, Rint, Sinh, Tanh, Trunc),
)
_ALL_INTEGERS: Final = (FloorDivide,)  # of floats, 1.0 // -0.0 is -inf, and so are other quotients
_ALL: Final = (BitwiseOr, Identity, Minimum, Sign)
# ... one of them,
_ANY: Final = (BitwiseAnd, Maximum)
# ... or those in these places.
_SOME: Final[tuple[tuple[type[Any], tuple[int, ...]], ...]] = (
    *((Clip, (1, 2)), (Mod, (1,)), (RightShift, (0,)), (Second, (1,)), (Switch, (1, 2))),
)


def is_nonnegative(variable: TensorVariable) -> bool:
    """Whether no element of a tensor can be less than 0 (NaN and -0.0 are not), as far as the graph tells.

    Parameters
    ----------
    variable
        The tensor. Of complex ones nothing is known.
    """
    return _nonnegative.of(variable)


def _rule(variable: AnyVariable) -> Rule[AnyVariable, bool]:
    kind = variable.type
    if not isinstance(kind, TensorType) or kind.dtype in COMPLEX_DTYPES:
        return False
    if kind.dtype in UNSIGNED_DTYPES or kind.dtype in BOOL_DTYPES:
        return True
    if isinstance(variable, TensorConstant):
        return not bool(np.any(variable.data < 0))
    node = variable.owner
    if node is None:
        return False
    op = node.op
    if isinstance(op, Shape | Shape_i):
        return True
    sources: list[AnyVariable]
    if isinstance(op, Elemwise):
        found = _needed(op.scalar_op, node.inputs, kind.dtype)
        if isinstance(op.scalar_op, _ANY):
            for source in node.inputs:
                if (yield source):
                    return True
            return False
        if found is None:
            return False
        sources = found
    elif moves_elements(op):
        sources = [node.inputs[place] for place in op.moved_inputs(node)]
    elif isinstance(op, Alloc | SpecifyShape | Unbroadcast):
        sources = [node.inputs[0]]
    elif isinstance(op, Softmax):
        sources = []
    elif isinstance(op, Max | Min) or (isinstance(op, Sum | Prod) and kind.dtype in FLOAT_DTYPES):
        sources = [node.inputs[0]]
    else:
        return False
    for source in sources:
        if not (yield source):
            return False
    return True


def _needed(op: object, operands: tuple[AnyVariable, ...], dtype: str) -> list[AnyVariable] | None:
    """Return the operands that must be 0 or more for the results to be; None where that does not suffice, or any one is enough."""
    floats = dtype in FLOAT_DTYPES
    if floats and isinstance(op, _ALWAYS):
        return []
    if floats and isinstance(op, Mul) and len(operands) == 2 and operands[0] is operands[1]:
        return []
    if isinstance(op, (*_ALL, *(_ALL_FLOATS if floats else _ALL_INTEGERS))):
        return list(operands)
    if isinstance(op, Cast):
        source = np.dtype(operands[0].type.dtype)
        return list(operands) if floats or np.can_cast(source, dtype) else None
    for kind, places in _SOME:
        if isinstance(op, kind):
            return [operands[place] for place in places]
    return None


_nonnegative: Fact[AnyVariable, bool] = Fact(_rule, circular=False)
