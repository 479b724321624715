"""`LinearRecurrence`: ``t <- a * t + b`` along an axis; and the products of all other elements, which it computes without a division.

It is what derivatives of products are made of. Its own derivative is again a recurrence, in the other direction, so derivatives of all orders
are exact, with any number of zeros among the factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np
from typing_extensions import override

import lamella.ir.tensor.functions as lt
from lamella.errors import BroadcastError, StaticShapeError
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import is_differentiable_dtype
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.cotangents import conjugate, pull_back, times_slope
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["LinearRecurrence", "products_of_others"]


@final
@attrs.frozen(eq=False, repr=False)
class LinearRecurrence(Op[[TensorLike, TensorLike], TensorVariable]):
    """The states of ``t <- a * t + b`` along an axis, each taken *before* its elements of `a` and `b` are used.

    ``z[0] = initial; z[i + 1] = a[i] * z[i] + b[i]`` (from the last element to the first where `reverse`). Both inputs have one floating-point
    dtype and one shape, which are those of the result.

    Parameters
    ----------
    axis
        The axis to go along, counted from the first.
    initial
        The first state.
    reverse
        Go from the last element to the first.
    """

    axis: int
    initial: float = 0.0
    reverse: bool = False

    @override
    def make_node(self, a: TensorLike, b: TensorLike) -> Apply[TensorVariable]:
        inputs = [as_tensor_variable(a), as_tensor_variable(b)]
        factors, terms = inputs
        if factors.dtype != terms.dtype or factors.ndim != terms.ndim or not is_differentiable_dtype(factors.dtype):
            raise TypeError(
                f"{self} takes two arrays of one floating-point dtype and one number of dimensions, not {factors.type} and {terms.type}"
            )
        if not 0 <= self.axis < factors.ndim:
            raise np.exceptions.AxisError(self.axis, factors.ndim)
        shape = [n if m is None else m for n, m in zip(factors.type.shape, terms.type.shape, strict=True)]
        if [n if m is None else m for m, n in zip(factors.type.shape, terms.type.shape, strict=True)] != shape:
            raise StaticShapeError(f"{self} takes two arrays of one shape, not {factors.type} and {terms.type}")
        return Apply(self, inputs, [TensorType(factors.dtype, shape)])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        a, b = inputs
        if a.shape != b.shape:
            raise BroadcastError(f"{self} takes two arrays of one shape, not {a.shape} and {b.shape}")
        states = np.empty_like(a, order="C", subok=False)
        step = slice(None, None, -1 if self.reverse else 1)
        walk_a, walk_b, walk_states = [np.moveaxis(array, self.axis, 0)[step] for array in (a, b, states)]
        state = np.full(walk_a.shape[1:], self.initial, a.dtype)
        with np.errstate(all="ignore"):
            for factor, term, place in zip(walk_a, walk_b, walk_states[..., None], strict=True):
                place[..., 0] = state
                state = factor * state + term
        output_storage[0][0] = states

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [shapes[0]]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        (a, _), (z,), (gz,) = inputs, outputs, output_grads
        # A state's cotangent is g[i] + a[i] * (the next state's): the same recurrence, walked back.
        g_next = LinearRecurrence(self.axis, 0.0, not self.reverse)(conjugate(a), gz)
        return [pull_back(g_next, z), g_next]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        (a, b), (da, db) = inputs, eval_points
        terms = [] if da is None else [times_slope(da, self(a, b))]
        terms += [] if db is None else [db]
        if not terms:
            return [None]
        total = terms[0] if len(terms) == 1 else lt.add(terms[0], terms[1])
        return [LinearRecurrence(self.axis, 0.0, self.reverse)(a, total)]


def products_of_others(x: TensorVariable, axis: int) -> TensorVariable:
    """Return, for each element, the product of all other elements along an axis: those before it times those after it."""
    nothing = lt.zeros_like(x)
    before = LinearRecurrence(axis, 1.0)(x, nothing)
    after = LinearRecurrence(axis, 1.0, reverse=True)(x, nothing)
    return lt.mul(before, after)
