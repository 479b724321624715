"""`MapRows`: an inner graph run once for each row of some inputs; what a Jacobian of unknown size is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np
from typing_extensions import override

from lamella.ir.autodiff.backward import accumulate_cotangents
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.interpreter import interpret
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.replace import substitute
from lamella.ir.graph.traversal import ancestors
from lamella.ir.graph.variable import Constant, Variable
from lamella.ir.scalar.dtypes import is_differentiable_dtype
from lamella.ir.tensor import functions as lt
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorVariable

__all__ = ["MapRows", "map_rows"]


@final
@attrs.frozen(eq=False, repr=False)
class MapRows(Op[..., Any]):
    """Run an inner graph once for each row of the first inputs, and stack what it gives.

    Parameters
    ----------
    fgraph
        The inner graph. Its first `n_sequences` inputs stand for rows, the others are the same in every run.
    n_sequences
        How many inputs are gone through row by row; they have the same length.
    """

    fgraph: FunctionGraph
    n_sequences: int

    @override
    def make_node(self, *inputs: Variable[Any]) -> Apply[Any]:
        lengths = {x.type.shape[0] for x in inputs[: self.n_sequences]} - {None}
        length = lengths.pop() if lengths else None
        rows = [out.type for out in self.fgraph.outputs]
        return Apply(self, inputs, [TensorType(row.dtype, (length, *row.shape)) for row in rows])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        sequences, others = inputs[: self.n_sequences], inputs[self.n_sequences :]
        order = self.fgraph.order
        rows = [[np.asarray(s[i]) for s in sequences] for i in range(len(sequences[0]))]
        # Without rows, one of zeros tells how long the rows of the results would be.
        tried = rows or [[np.zeros(s.shape[1:], s.dtype) for s in sequences]]
        runs = [interpret(self.fgraph.inputs, self.fgraph.outputs, [*given, *others], order) for given in tried]
        for o, cell in enumerate(output_storage):
            cell[0] = np.stack([run[o] for run in runs])[: len(rows)]

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        """Return the number of rows and the lengths of a row, which cannot depend on what is in it: all rows are stacked."""
        outer: dict[Variable[Any], Variable[Any]] = dict(zip(self.fgraph.inputs, node.inputs, strict=True))
        for row, whole in zip(self.fgraph.inputs[: self.n_sequences], shapes, strict=False):
            lengths = [b if a is None else a for a, b in zip(row.type.shape, whole[1:], strict=True)]
            outer[row] = lt.zeros(lengths, row.type.dtype)
        rows = [as_tensor_variable(row) for row in substitute(self.fgraph.outputs, outer, self.fgraph.inputs)]
        inferred: list[tuple[Any, ...]] = []
        for out, row in zip(node.outputs, rows, strict=True):
            count, *known = out.type.shape
            lengths = [lt.shape_i(row, axis) if length is None else length for axis, length in enumerate(known)]
            inferred.append((shapes[0][0] if count is None else count, *lengths))
        return inferred

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[Variable[Any]],
    ) -> list[Variable[Any]]:
        seeds: dict[Variable[Any], Variable[Any]] = {}
        row_cotangents: list[TensorVariable] = []
        for row, cotangent in zip(self.fgraph.outputs, output_grads, strict=True):
            if isinstance(row, TensorVariable) and isinstance(cotangent, TensorVariable):
                row_cotangents.append(row.type())
                seeds[lt.tensor_copy(row)] = row_cotangents[-1]
        wrt = [v for v in self.fgraph.inputs if is_differentiable_dtype(v.type.dtype)]
        found = accumulate_cotangents(seeds, wrt)
        wanted = [v for v in wrt if v in found]
        if not wanted:
            return [DisconnectedType()() for _ in inputs]
        given = [g for g in output_grads if isinstance(g, TensorVariable)]
        sequences = list(zip(self.fgraph.inputs, inputs, strict=True))
        pulled = map_rows(
            [found[v] for v in wanted],
            [*zip(row_cotangents, given, strict=True), *sequences[: self.n_sequences]],
            sequences[self.n_sequences :],
        )
        by_input = dict(zip(wanted, pulled, strict=True))
        results: list[Variable[Any]] = []
        for i, v in enumerate(self.fgraph.inputs):
            if v not in by_input:
                results.append(DisconnectedType()())
            else:
                results.append(by_input[v] if i < self.n_sequences else lt.sum(by_input[v], axis=0))
        return results


def map_rows(
    outputs: Sequence[Variable[Any]],
    sequences: Sequence[tuple[Variable[Any], TensorVariable]],
    others: Sequence[tuple[Variable[Any], TensorVariable]] = (),
) -> list[TensorVariable]:
    """Compute inner outputs once for each row of sequences, stacked along a new first axis.

    Parameters
    ----------
    outputs
        The inner outputs.
    sequences
        Pairs of an inner Variable that stands for a row, and the tensor whose rows it takes.
    others
        Pairs of a further inner Variable and the tensor it stands for, the same in every run. What else the inner graph needs of the
        outer one is found, and passed on in the same way.
    """
    rows = [inner for inner, _ in sequences]
    bound = {inner for inner, _ in (*sequences, *others)}
    free = [v for v in ancestors(outputs, bound) if v.owner is None and v not in bound and not isinstance(v, Constant)]
    placeholders: dict[Variable[Any], Variable[Any]] = {v: v.type() for v in free}
    inner = substitute(outputs, placeholders, list(bound))
    fgraph = FunctionGraph([*rows, *[v for v, _ in others], *placeholders.values()], inner)
    op = MapRows(fgraph, len(rows))
    node = op.make_node(*[outer for _, outer in (*sequences, *others)], *free)
    return [out for out in node.outputs if isinstance(out, TensorVariable)]
