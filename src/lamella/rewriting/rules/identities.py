"""Operations that return what they are given: copies, views, and what only changes gradients."""

from __future__ import annotations

from typing import Any

from lamella.ir import Apply, Elemwise, FunctionGraph, GradientControl, Identity, Variable, ViewOp
from lamella.rewriting.engine import OpPattern, node_rewriter

__all__ = ["identity_of_x"]


@node_rewriter([OpPattern(Elemwise, scalar_op=Identity), GradientControl, ViewOp])
def identity_of_x(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
    """``identity(x) -> x``, for copies (`tensor_copy`), views (`view_op`), and `grad_clip`, `zero_grad` and their like.

    Always valid: gradients have been taken by now, and that results are no aliases of anything is seen to after rewriting. It pays
    because nothing is copied, and because others see through it.
    """
    (x,) = node.inputs
    return [x]
