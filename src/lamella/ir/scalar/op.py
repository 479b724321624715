"""`ScalarOp`: functions of numbers, from which elementwise Ops are made.

A scalar Op says three things: which dtypes it computes in (`loop`), what it computes (`impl`, on whole NumPy arrays),
and its derivatives (`slopes`, or `L_op` where there is more to say; written with scalar Ops). How it becomes C stands in ``codegen``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from typing_extensions import ParamSpec, override

import lamella.ir.scalar.functions as ls
from lamella.errors import GradientNotImplementedError
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.cotangents import pull_back, zero_cotangent
from lamella.ir.scalar.dtypes import DTypeOrLiteral, Loop, is_differentiable_dtype, resolve_ufunc_loop
from lamella.ir.scalar.type import ScalarType
from lamella.ir.scalar.variable import ScalarLike, ScalarVariable

__all__ = ["BinaryUfunc", "ScalarOp", "Scalars", "Slopes", "UfuncScalarOp", "UnaryUfunc", "is_literal", "operand_dtype"]

P = ParamSpec("P")

Scalars = Sequence[ScalarVariable]
"""The operands, the results, or their cotangents."""

Slopes = Sequence[ScalarVariable | float | None]
"""For each operand the derivative of the result by it; None where the result varies with it nowhere, but for jumps."""


def is_literal(operand: object) -> bool:
    """Whether the operand is a Python number, which has no dtype of its own."""
    return isinstance(operand, bool | int | float | complex) and not isinstance(operand, np.generic)


def operand_dtype(operand: object) -> DTypeOrLiteral:
    """Return the dtype of an operand; for a Python literal its type, since literals are weak.

    Raises
    ------
    TypeError
        The operand is no number and has no dtype.
    """
    dtype = getattr(operand, "dtype", None)
    if dtype is not None:
        return str(dtype)
    if isinstance(operand, bool):
        return "bool"
    for literal in (int, float, complex):
        if isinstance(operand, literal):
            return literal
    raise TypeError(f"{operand!r} of type {type(operand).__name__} is no number")


class ScalarOp(Op[P, ScalarVariable]):
    """A function of numbers.

    A subclass sets `nin` and writes `loop`, `impl` and, where it has a gradient, `slopes` or `L_op`. ``Elemwise(op)`` then is the
    function on arrays. A class with parameters is an ``attrs.frozen`` one.

    Attributes
    ----------
    commutative
        Whether the operands may be exchanged.
    associative
        Whether the grouping of operands does not matter (but for rounding).
    """

    __slots__ = ()

    commutative: ClassVar[bool] = False
    associative: ClassVar[bool] = False

    # Properties, so that a class may write ``nin = 2`` and an Op made of others may compute it.
    @property
    @abstractmethod
    def nin(self) -> int:
        """Number of operands; -1 for two or more."""

    @property
    def nout(self) -> int:
        """Number of results."""
        return 1

    @property
    def flops_per_element(self) -> int:
        """A measure of the work, in additions: what decides whether it pays to compute something twice."""
        return 1

    @abstractmethod
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        """Return the dtypes to cast the operands to before computing, and those of the results.

        Raises
        ------
        TypeError
            The function is not defined for these dtypes.
        """

    @abstractmethod
    def impl(self, *operands: Any) -> Any:
        """Compute the result (a tuple of results where `nout` is not 1) for arrays that have the loop's dtypes and broadcast."""

    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        """Return the derivatives of the only result by each operand.

        Operands whose own dtype is discrete are seen here in the dtype that the loop casts them to.

        Raises
        ------
        GradientNotImplementedError
            The Op does not override this method.
        """
        raise GradientNotImplementedError(f"{self} has no gradient: it defines neither slopes nor L_op")

    @override
    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        varying = [is_differentiable_dtype(x.dtype) for x in inputs]
        if not any(varying) or not any([is_differentiable_dtype(z.dtype) for z in outputs]):
            return [zero_cotangent(x) for x in inputs]
        ins, _ = self.loop([x.dtype for x in inputs])
        seen = [x if v else ls.cast(x, dtype) for x, v, dtype in zip(inputs, varying, ins, strict=True)]
        return [
            pull_back(output_grads[0], slope) if v and slope is not None else zero_cotangent(x)
            for x, v, slope in zip(inputs, varying, self.slopes(seen, outputs), strict=True)
        ]

    def loop_for(self, operands: Sequence[object]) -> Loop:
        """Return the `loop` for operands as people write them: Variables, arrays and literals.

        Raises
        ------
        TypeError
            The number of operands is wrong, or the function is not defined for their dtypes.
        OverflowError, ValueError
            A literal is impossible here.
        """
        if len(operands) != self.nin if self.nin >= 0 else len(operands) < 2:
            wanted = str(self.nin) if self.nin >= 0 else "two or more"
            raise TypeError(f"{self} takes {wanted} operands, not {len(operands)}")
        return self.loop([operand_dtype(x) for x in operands])

    @override
    def make_node(self, *args: P.args, **kwargs: P.kwargs) -> Apply[ScalarVariable]:
        if kwargs:
            raise TypeError(f"{self} takes no keyword arguments")
        operands: tuple[object, ...] = args
        ins, outs = self.loop_for(operands)
        inputs = [
            x if isinstance(x, ScalarVariable) else _constant(x, dtype) for x, dtype in zip(operands, ins, strict=True)
        ]
        return Apply(self, inputs, [ScalarType(dtype) for dtype in outs])

    def compute(self, operands: Sequence[Any]) -> tuple[Any, ...]:
        """Compute all results for arrays or numbers of any dtypes that broadcast: casts, then `impl`.

        Floating-point exceptions raise no warnings: infinities and NaN are results like others.
        """
        ins, outs = self.loop([str(np.asarray(x).dtype) for x in operands])
        with np.errstate(all="ignore"):
            cast = [np.asarray(x).astype(dtype, copy=False) for x, dtype in zip(operands, ins, strict=True)]
            results = self.impl(*cast)
            several = results if self.nout != 1 else (results,)
            return tuple([np.asarray(r).astype(dtype, copy=False) for r, dtype in zip(several, outs, strict=True)])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        for cell, result in zip(output_storage, self.compute(inputs), strict=True):
            cell[0] = result[()]

    @override
    def flops(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
        return self.flops_per_element


def _constant(operand: object, dtype: str) -> ScalarVariable:
    return ScalarType(dtype if is_literal(operand) else np.asarray(operand).dtype).make_constant(operand)


class UfuncScalarOp(ScalarOp[P]):
    """A scalar Op that is a NumPy ufunc: it takes from it dtypes and values.

    Attributes
    ----------
    ufunc
        The ufunc.
    """

    __slots__ = ()

    ufunc: ClassVar[np.ufunc]

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        return resolve_ufunc_loop(self.ufunc, tuple(dtypes))

    @override
    def impl(self, *operands: Any) -> Any:
        return self.ufunc(*operands)


class UnaryUfunc(UfuncScalarOp[[ScalarLike]]):
    """A ufunc of one operand."""

    __slots__ = ()

    nin = 1


class BinaryUfunc(UfuncScalarOp[[ScalarLike, ScalarLike]]):
    """A ufunc of two operands."""

    __slots__ = ()

    nin = 2
