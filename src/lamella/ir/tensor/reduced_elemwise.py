"""`ReducedElemwise`: a scalar Op applied to every element, and some of its results reduced along axes in the same pass.

Fusion makes it: ``sum(exp(x))`` has no array of exponentials any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np
from typing_extensions import override

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.op import ScalarOp
from lamella.ir.tensor.elemwise import Elemwise, check_broadcast
from lamella.ir.tensor.functions import add
from lamella.ir.tensor.reduced_axes import kept
from lamella.ir.tensor.reduction import CAReduce
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["ReducedElemwise"]


def _inplace_map(self: ReducedElemwise) -> Mapping[int, Sequence[int]]:
    return {output: [input] for output, input in self.inplace_pattern}


@final
@attrs.frozen(eq=False, repr=False)
class ReducedElemwise(Op[..., TensorVariable]):
    """Apply a scalar Op to every element of arrays that broadcast; hand out its results, whole or reduced.

    The inputs are those of `Elemwise`.

    Parameters
    ----------
    scalar_op
        The function of numbers.
    results
        For each output, which result of `scalar_op` it is.
    reductions
        For each output, the reduction of that result, as the Op of a node has it; None for an output that is the whole result.
    inplace_pattern
        Pairs of an output that is a whole result and the input whose memory it takes.

    Raises
    ------
    ValueError
        There are not as many reductions as results, or there is no such result.
    """

    scalar_op: ScalarOp[Any]
    results: tuple[int, ...]
    reductions: tuple[CAReduce | None, ...]
    inplace_pattern: tuple[tuple[int, int], ...] = ()
    destroy_map: Mapping[int, Sequence[int]] = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_inplace_map, takes_self=True)
    )

    def __attrs_post_init__(self) -> None:
        if len(self.results) != len(self.reductions) or not all([0 <= r < self.scalar_op.nout for r in self.results]):
            raise ValueError(
                f"there are {self.scalar_op.nout} results of {self.scalar_op}, and for each output one of them and its reduction (or None) "
                f"is to be named, not {self.results} and {self.reductions}"
            )

    @property
    def whole_results(self) -> tuple[int, ...]:
        """The outputs that are not reduced."""
        return tuple([i for i, reduction in enumerate(self.reductions) if reduction is None])

    @property
    def elementwise(self) -> Elemwise[...]:
        """The elementwise Op whose results are reduced."""
        return Elemwise(self.scalar_op)

    @override
    def make_node(self, *inputs: TensorLike) -> Apply[TensorVariable]:
        whole = self.elementwise.make_node(*inputs)
        return Apply(self, whole.inputs, [self._type(whole.outputs[r].type, i) for i, r in enumerate(self.results)])

    def _type(self, whole: TensorType, output: int) -> TensorType:
        reduction = self.reductions[output]
        if reduction is None:
            return whole
        _, dtype = reduction.loop(whole.dtype)
        return TensorType(dtype, kept(whole.shape, reduction.axes))

    @override
    def rebuild(self, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Apply[Any]:
        make: Any = self.make_node
        return make(*self.elementwise.rebuild(self.elementwise.make_node(*node.inputs), inputs).inputs)  # type: ignore[no-any-return]  # `make` is Any to take Variables

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        shape = check_broadcast(node, inputs)
        computed = [np.broadcast_to(array, shape) for array in self.scalar_op.compute(inputs)]
        _, dtypes = self.scalar_op.loop([v.type.dtype for v in node.inputs])
        targets = dict(self.inplace_pattern)
        found: list[Any] = []
        for result, reduction in zip(self.results, self.reductions, strict=True):
            array = computed[result].astype(dtypes[result], copy=False)
            if reduction is None:
                found.append(np.array(array))
                continue
            accumulator, dtype = reduction.loop(dtypes[result])
            with np.errstate(all="ignore"):
                reduced = reduction.ufunc.reduce(array, axis=reduction.axes, dtype=accumulator)
                found.append(np.array(np.asarray(reduced).astype(dtype, copy=False)))
        for i, array in enumerate(found):
            if i in targets:
                inputs[targets[i]][...] = array
            output_storage[i][0] = inputs[targets[i]] if i in targets else array

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        whole = self.elementwise.make_node(*node.inputs)
        lengths = self.elementwise.infer_shape(fgraph, whole, shapes)[0]
        return [lengths if reduction is None else tuple(kept(lengths, reduction.axes)) for reduction in self.reductions]

    @override
    def connection_pattern(self, node: Apply[Any]) -> Sequence[Sequence[bool]]:
        pattern = self.scalar_op.connection_pattern(node)
        return [[of[result] for result in self.results] for of in pattern]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[Variable[Any]],
    ) -> list[Variable[Any]]:
        elementwise = self.elementwise
        whole = elementwise.make_node(*inputs).outputs
        cotangents: list[Variable[Any]] = [DisconnectedType()() for _ in whole]
        for result, reduction, out, g in zip(self.results, self.reductions, outputs, output_grads, strict=True):
            if not isinstance(g, TensorVariable):
                continue
            (pulled,) = [g] if reduction is None else reduction.L_op([whole[result]], [out], [g])
            known = cotangents[result]
            if isinstance(pulled, TensorVariable):
                cotangents[result] = add(known, pulled) if isinstance(known, TensorVariable) else pulled
        return elementwise.L_op(inputs, [v for v in whole if isinstance(v, TensorVariable)], cotangents)

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        whole = self.elementwise.make_node(*inputs).outputs
        tangents = self.elementwise.R_op(inputs, eval_points)
        pushed: list[Variable[Any] | None] = []
        for result, reduction in zip(self.results, self.reductions, strict=True):
            tangent = tangents[result]
            if reduction is None or not isinstance(tangent, TensorVariable):
                pushed.append(tangent)
            else:
                pushed.extend(reduction.R_op([whole[result]], [tangent]))
        return pushed

    @override
    def flops(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
        size = int(np.prod(np.broadcast_shapes(*[tuple(shape) for shape in inputs]), dtype=np.int64))
        reduced = len(self.reductions) - len(self.whole_results)
        return size * (self.scalar_op.flops_per_element + reduced)

    @override
    def __str__(self) -> str:
        shown = [
            str(result) if reduction is None else f"{reduction} of {result}"
            for result, reduction in zip(self.results, self.reductions, strict=True)
        ]
        inplace = f", inplace={list(self.inplace_pattern)}" if self.inplace_pattern else ""
        return f"{self.scalar_op}{{{', '.join(shown)}{inplace}}}"
