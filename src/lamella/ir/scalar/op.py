"""`ScalarOp`: functions of numbers, from which elementwise Ops are made.

A scalar Op says three things: which dtypes it computes in (`loop`), what it computes (`impl`, on whole NumPy arrays),
and its gradient (`L_op`, written with scalar Ops). How it becomes C stands in ``codegen``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from typing_extensions import ParamSpec, override

from lamella.ir.graph.core import Apply, Op, OutputStorage
from lamella.ir.scalar.dtypes import DTypeOrLiteral, Loop, resolve_ufunc_loop
from lamella.ir.scalar.type import ScalarType
from lamella.ir.scalar.variable import ScalarVariable

__all__ = ["ScalarOp", "UfuncScalarOp", "operand_dtype"]

P = ParamSpec("P")


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

    Attributes
    ----------
    nin
        Number of operands; -1 for two or more.
    nout
        Number of results.
    commutative
        Whether the operands may be exchanged.
    associative
        Whether the grouping of operands does not matter (but for rounding).
    """

    __slots__ = ()

    nin: ClassVar[int]
    nout: ClassVar[int] = 1
    commutative: ClassVar[bool] = False
    associative: ClassVar[bool] = False

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

    @override
    def make_node(self, *args: P.args, **kwargs: P.kwargs) -> Apply[ScalarVariable]:
        operands: tuple[object, ...] = args
        if len(operands) != self.nin if self.nin >= 0 else len(operands) < 2:
            raise TypeError(
                f"{self} takes {self.nin if self.nin >= 0 else 'two or more'} operands, not {len(operands)}"
            )
        ins, outs = self.loop([operand_dtype(x) for x in operands])
        inputs = [
            x if isinstance(x, ScalarVariable) else ScalarType(dtype).make_constant(x)
            for x, dtype in zip(operands, ins, strict=True)
        ]
        return Apply(self, inputs, [ScalarType(dtype) for dtype in outs])

    def compute(self, operands: Sequence[Any]) -> tuple[Any, ...]:
        """Compute all results for arrays or numbers of any dtypes that broadcast: casts, then `impl`.

        Floating-point exceptions raise no warnings: infinities and NaN are results like others.
        """
        ins, outs = self.loop([str(np.asarray(x).dtype) for x in operands])
        cast = [np.asarray(x).astype(dtype, copy=False) for x, dtype in zip(operands, ins, strict=True)]
        with np.errstate(all="ignore"):
            results = self.impl(*cast)
        several = results if self.nout != 1 else (results,)
        return tuple([np.asarray(r).astype(dtype, copy=False) for r, dtype in zip(several, outs, strict=True)])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        for cell, result in zip(output_storage, self.compute(inputs), strict=True):
            cell[0] = result[()]


class UfuncScalarOp(ScalarOp[P]):
    """A scalar Op that is a NumPy (or SciPy) ufunc: it takes from it dtypes and values."""

    __slots__ = ()

    @property
    @abstractmethod
    def ufunc(self) -> np.ufunc:
        """The ufunc."""

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        return resolve_ufunc_loop(self.ufunc, tuple(dtypes))

    @override
    def impl(self, *operands: Any) -> Any:
        return self.ufunc(*operands)
