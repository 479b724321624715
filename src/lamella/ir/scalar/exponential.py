"""Exponentials and logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np
from typing_extensions import override

from lamella.ir.graph.core import Variable
from lamella.ir.scalar.op import UfuncScalarOp
from lamella.ir.scalar.variable import ScalarLike, ScalarVariable

__all__ = ["Exp", "exp"]


@final
@attrs.frozen(repr=False)
class Exp(UfuncScalarOp[[ScalarLike]]):
    """``e ** x``."""

    nin = 1

    @property
    @override
    def ufunc(self) -> np.ufunc:
        return np.exp

    @override
    def L_op(
        self,
        inputs: Sequence[ScalarVariable],
        outputs: Sequence[ScalarVariable],
        output_grads: Sequence[ScalarVariable],
    ) -> list[Variable[Any]]:
        return [output_grads[0] * outputs[0]]


exp = Exp()
