"""`CffiScalarOp`: a function of numbers in a C library as a scalar Op.

hypot = cffi_op("double hypot(double, double)")
z = mul(hypot(x, y), 2)    ->    static double (*hypot_in_c)(double, double);
                                 const double t0 = hypot_in_c(x, y);
                                 const double t1 = t0 * 0x1p+1;
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

import attrs
import numpy as np
from typing_extensions import override

from lamella.codegen.c.dtypes import C_DTYPES
from lamella.codegen.c.interfaces.cffi_library import CFunction, bind
from lamella.codegen.c.scalar_body import ScalarBody, ScalarLoop, c_expression
from lamella.errors import GradientNotImplementedError
from lamella.ir import (
    Apply,
    DTypeOrLiteral,
    Elemwise,
    FunctionGraph,
    Loop,
    ScalarConstant,
    ScalarOp,
    Scalars,
    ScalarType,
    ScalarVariable,
    Slopes,
    TensorConstant,
    TensorType,
    TensorVariable,
    Variable,
    as_tensor_variable,
    graph_inputs,
)

__all__ = ["CffiScalarOp", "SlopeFunction", "fits"]

SlopeFunction = Callable[..., TensorVariable | float | Sequence[TensorVariable | float | None]]
"""Given the operands, 0-d tensors, returns the derivative of the result by each; None where it does not vary with one."""


@final
@attrs.frozen(repr=False)
class CffiScalarOp(ScalarOp[...]):
    """A function of numbers in a C library; see `cffi_op`.

    Attributes
    ----------
    declaration
        The function's declaration, with types of fixed size.
    library
        Where it is; None for C's own functions.
    derivatives
        What `cffi_op` was given as `grad`.
    """

    declaration: str
    library: str | None = None
    derivatives: SlopeFunction | None = None

    @property
    def _function(self) -> CFunction:
        return bind(self.declaration, self.library)

    @property
    @override
    def nin(self) -> int:
        return len(self._function.parameters)

    @property
    @override
    def flops_per_element(self) -> int:
        # Nobody knows; as dear as exp, so that it is not computed twice.
        return 20

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        function = self._function
        for i, (given, wanted) in enumerate(zip(dtypes, [p.dtype for p in function.parameters], strict=True)):
            if not fits(given, wanted):
                shown = given if isinstance(given, str) else f"the literal of type {given.__name__}"
                raise TypeError(
                    f"argument {i} of {self.declaration} is {wanted}, and {shown} is not cast to it without loss: cast it first"
                )
        return tuple([p.dtype for p in function.parameters]), (function.result,)

    @override
    def impl(self, *operands: Any) -> Any:
        call, out = self._function.call, self._function.result
        arrays = np.broadcast_arrays(*operands)
        numbers = zip(*[array.ravel().tolist() for array in arrays], strict=True)
        results = np.fromiter((call(*row) for row in numbers), out, arrays[0].size)
        return results.reshape(arrays[0].shape)

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        if self.derivatives is None:
            raise GradientNotImplementedError(f"{self.declaration} has no gradient: cffi_op was given no `grad`")
        operands = [TensorType(x.dtype, ())() for x in inputs]
        returned = self.derivatives(*operands)
        slopes = returned if isinstance(returned, list | tuple) else [returned]
        if len(slopes) != len(inputs):
            raise ValueError(
                f"the grad of {self.declaration} returned {len(slopes)} derivatives, and there are {len(inputs)} operands"
            )
        variables = [None if slope is None else as_tensor_variable(slope) for slope in slopes]
        found = iter(_as_scalars(self, operands, [v for v in variables if v is not None], inputs))
        return [None if variable is None else next(found) for variable in variables]

    @override
    def __str__(self) -> str:
        return self._function.name


def fits(given: DTypeOrLiteral, wanted: str) -> bool:
    """Whether a number of some dtype, or a literal, is cast to a dtype without loss, by NumPy's rules."""
    if isinstance(given, str):
        return bool(np.can_cast(given, wanted, "safe"))
    kind = C_DTYPES[wanted].kind
    return kind in {int: "iufc", float: "fc", complex: "c"}[given]


def _as_scalars(
    op: CffiScalarOp, operands: Sequence[TensorVariable], results: Sequence[TensorVariable], inputs: Scalars
) -> Iterator[ScalarVariable]:
    """Return an elementwise graph on 0-d tensors as one on numbers."""
    known: dict[Variable[Any], ScalarVariable] = dict(zip(operands, inputs, strict=True))

    def scalar(variable: Variable[Any]) -> ScalarVariable:
        if isinstance(variable, TensorConstant) and variable.data.size == 1:
            made: ScalarConstant = ScalarType(variable.dtype).make_constant(variable.data.reshape(())[()])
            return made
        if variable not in known:
            raise TypeError(f"the grad of {op.declaration} uses {variable!r}, which is not one of the operands")
        return known[variable]

    others = [v for v in graph_inputs(results) if not isinstance(v, TensorConstant) and v not in known]
    if others:
        scalar(others[0])
    for node in FunctionGraph(list(operands), list(results)).order:
        if not isinstance(node.op, Elemwise) or any([z.type.ndim for z in node.outputs]):
            raise TypeError(
                f"the grad of {op.declaration} uses {node.op}, and may use functions of numbers only: it is applied to each element"
            )
        made: Apply[ScalarVariable] = node.op.scalar_op.make_node(*[scalar(v) for v in node.inputs])
        values: Sequence[Any] = made.outputs
        known.update(zip(node.outputs, values, strict=True))
    return iter([scalar(v) for v in results])


@c_expression.register(CffiScalarOp)
def _call(op: CffiScalarOp, loop: ScalarLoop, operands: Sequence[str], body: ScalarBody) -> str:
    """Call the function: through a pointer, whose name is no other's, or as its text defines it."""
    name, needs = bind(op.declaration, op.library).in_unit()
    body.need(*needs)
    return f"{name}({', '.join(operands)})"
