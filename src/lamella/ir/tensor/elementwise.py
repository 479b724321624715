"""The elementwise functions: one `Elemwise` for each scalar Op, typed by its operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from typing_extensions import ParamSpec

import lamella.ir.scalar.functions as ls
from lamella.ir.scalar.op import ScalarOp
from lamella.ir.tensor.elemwise import Elemwise
from lamella.ir.tensor.variable import TensorLike

__all__ = ["add", "exp", "mul", "neg", "sub", "true_divide"]

P = ParamSpec("P")


def _unary(x: TensorLike, /) -> None: ...


def _binary(x: TensorLike, y: TensorLike, /) -> None: ...


def _two_or_more(x: TensorLike, y: TensorLike, /, *others: TensorLike) -> None: ...


def _elementwise(operands: Callable[P, None], scalar_op: ScalarOp[Any]) -> Elemwise[P]:
    return Elemwise(scalar_op)


add: Final = _elementwise(_two_or_more, ls.add)
mul: Final = _elementwise(_two_or_more, ls.mul)
sub: Final = _elementwise(_binary, ls.sub)
true_divide: Final = _elementwise(_binary, ls.true_divide)
neg: Final = _elementwise(_unary, ls.neg)
exp: Final = _elementwise(_unary, ls.exp)
