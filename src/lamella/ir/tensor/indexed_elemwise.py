"""`IndexedElemwise`: a scalar Op applied to elements that index vectors select, whose results are added up at places that they select.

Fusion makes it: the value ``sum(square(x[i]))`` and its gradient ``zeros_like(x)[i].inc(2 * x[i])`` are one loop over `i`, and no array has the
length of `i`.
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
from lamella.ir.tensor.advanced_inc_subtensor import AdvancedIncSubtensor1
from lamella.ir.tensor.advanced_subtensor import AdvancedSubtensor1, as_index_vector
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.elemwise import Elemwise
from lamella.ir.tensor.functions import add
from lamella.ir.tensor.reduction import CAReduce
from lamella.ir.tensor.subtensor_value import kept_unbroadcast
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["IndexedElemwise"]


def _inplace_map(self: IndexedElemwise) -> Mapping[int, Sequence[int]]:
    return {output: [input] for output, input in self.inplace_pattern}


@final
@attrs.frozen(eq=False)
class _Unfused:
    """The nodes that compute the same one after the other, and their results that are the outputs."""

    nodes: tuple[Apply[Any], ...]
    outputs: tuple[TensorVariable, ...]


@final
@attrs.frozen(eq=False, repr=False)
class IndexedElemwise(Op[..., TensorVariable]):
    """Apply a scalar Op in one loop over vectors and over elements of vectors at an index; hand out its results, reduced, or added at an index.

    The inputs are the arguments of the scalar Op, the index vectors (int64), and, for each output that adds at an index, the vector that is
    added to. An argument is a vector that the loop goes along, of its length or of length 1, or, where an index vector is named for
    it, a table of any length, of which the elements at that index are taken (as `AdvancedSubtensor1` does). Tables and what
    is added to have one dimension. Results are added one after the other, as `AdvancedIncSubtensor1` does. All index vectors are of the length of
    the loop.

    Parameters
    ----------
    scalar_op
        The function of numbers.
    gathers
        For each of its arguments, the number of the index vector that selects it from a table; None for one that the loop goes along.
    results
        For each output, which result of `scalar_op` it is made of.
    reductions
        For each output, the reduction of that result, as the Op of a node has it; else None.
    scatters
        For each output, the number of the index vector at which the result is added to a vector; else None. An output with neither is the
        whole result.
    inplace_pattern
        Pairs of an output that adds, and the input that it adds to, whose memory it takes.

    Raises
    ------
    ValueError
        The parameters do not fit each other.
    """

    scalar_op: ScalarOp[Any]
    gathers: tuple[int | None, ...]
    results: tuple[int, ...]
    reductions: tuple[CAReduce | None, ...]
    scatters: tuple[int | None, ...]
    inplace_pattern: tuple[tuple[int, int], ...] = ()
    destroy_map: Mapping[int, Sequence[int]] = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_inplace_map, takes_self=True)
    )

    def __attrs_post_init__(self) -> None:
        uses = list(zip(self.reductions, self.scatters, strict=False))
        if (
            not len(self.results) == len(self.reductions) == len(self.scatters)
            or not all([0 <= r < self.scalar_op.nout for r in self.results])
            or any([reduction is not None and at is not None for reduction, at in uses])
        ):
            raise ValueError(
                f"for each output, one of the {self.scalar_op.nout} results of {self.scalar_op} is to be named, and its reduction or the index at "
                f"which it is added (or neither), not {self.results}, {self.reductions} and {self.scatters}"
            )
        named = {at for at in (*self.gathers, *self.scatters) if at is not None}
        if named != set(range(len(named))):
            raise ValueError(f"index vectors are numbered from 0 on, not {sorted(named)}")
        added_to = self._added_to()
        if any([(output, input) not in added_to.items() for output, input in self.inplace_pattern]):
            raise ValueError(
                f"of {added_to}, outputs and what they add to, some may be in place, not {self.inplace_pattern}"
            )

    @property
    def n_indices(self) -> int:
        """The number of index vectors."""
        return len({at for at in (*self.gathers, *self.scatters) if at is not None})

    def index_input(self, number: int) -> int:
        """Return the place among the inputs of an index vector."""
        return len(self.gathers) + number

    @property
    def destroyhandler_tolerate_aliased(self) -> tuple[tuple[int, int], ...]:
        """An input whose memory is taken may be added to by other outputs, which do not take it: they are copies, made before."""
        taken = [place for _, place in self.inplace_pattern]
        others = [place for place in self._added_to().values() if place not in taken]
        return tuple([(place, other) for place in taken for other in others])

    def _added_to(self) -> dict[int, int]:
        """Return, for each output that adds, the place among the inputs of what it adds to."""
        outputs = [i for i, at in enumerate(self.scatters) if at is not None]
        first = len(self.gathers) + self.n_indices
        return {output: first + i for i, output in enumerate(outputs)}

    def base_input(self, output: int) -> int:
        """Return the place among the inputs of what an output adds to."""
        return self._added_to()[output]

    @property
    def elementwise(self) -> Elemwise[...]:
        """The elementwise Op that computes the results."""
        return Elemwise(self.scalar_op)

    @override
    def make_node(self, *inputs: TensorLike) -> Apply[TensorVariable]:
        added_to = self._added_to()
        expected = len(self.gathers) + self.n_indices + len(added_to)
        if len(inputs) != expected:
            raise TypeError(f"{self} takes {expected} inputs, not {len(inputs)}")
        indices = range(len(self.gathers), len(self.gathers) + self.n_indices)
        given = [as_index_vector(x) if i in indices else as_tensor_variable(x) for i, x in enumerate(inputs)]
        # Constants among them that can never be right are errors here, as they are for the Ops that this one is made of.
        for i, at in enumerate(self.gathers):
            if at is not None:
                AdvancedSubtensor1().make_node(given[i], given[self.index_input(at)])
        for output, base in added_to.items():
            at = self.scatters[output]
            assert at is not None
            AdvancedSubtensor1().make_node(given[base], given[self.index_input(at)])
        return self._node(given)

    def _node(self, inputs: Sequence[TensorVariable]) -> Apply[TensorVariable]:
        return Apply(self, inputs, [v.type for v in self._unfused(inputs).outputs])

    def _unfused(self, given: Sequence[Variable[Any]]) -> _Unfused:
        inputs = [as_tensor_variable(v) for v in given]
        nodes: list[Apply[Any]] = []
        arguments: list[TensorVariable] = []
        for x, at in zip(inputs[: len(self.gathers)], self.gathers, strict=True):
            if x.ndim != 1:
                raise TypeError(f"{self} takes vectors, not {x!r} of {x.type}")
            if at is None:
                arguments.append(x)
            else:
                nodes.append(AdvancedSubtensor1().unchecked_node(x, [inputs[self.index_input(at)]]))
                arguments.append(as_tensor_variable(nodes[-1].outputs[0]))
        whole = self.elementwise.make_node(*arguments)
        nodes.append(whole)
        outputs: list[TensorVariable] = []
        added_to = self._added_to()
        for i, (result, reduction, at) in enumerate(zip(self.results, self.reductions, self.scatters, strict=True)):
            value = as_tensor_variable(whole.outputs[result])
            if reduction is not None:
                nodes.append(reduction.make_node(value))
            elif at is not None:
                base = inputs[added_to[i]]
                if base.ndim != 1 or base.dtype != value.dtype:
                    raise TypeError(
                        f"{self} adds {value.dtype} to a vector of that dtype, not to {base!r} of {base.type}"
                    )
                nodes.append(AdvancedIncSubtensor1().unchecked_node(base, value, [inputs[self.index_input(at)]]))
            outputs.append(value if reduction is None and at is None else as_tensor_variable(nodes[-1].outputs[0]))
        return _Unfused(tuple(nodes), tuple(outputs))

    @override
    def rebuild(self, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Apply[Any]:
        fixed = kept_unbroadcast(inputs, node.inputs)
        first = len(self.gathers) + self.n_indices
        tables = [i for i, at in enumerate(self.gathers) if at is not None]
        return self._node(
            [as_tensor_variable(inputs[i]) if i in tables or i >= first else v for i, v in enumerate(fixed)]
        )

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        unfused = self._unfused(node.inputs)
        values = dict(zip(node.inputs, inputs, strict=True))
        for part in unfused.nodes:
            cells: list[list[Any]] = [[None] for _ in part.outputs]
            part.op.perform(part, [values[v] for v in part.inputs], cells)
            values.update(zip(part.outputs, [cell[0] for cell in cells], strict=True))
        targets = dict(self.inplace_pattern)
        for i, variable in enumerate(unfused.outputs):
            if i in targets:
                inputs[targets[i]][...] = values[variable]
            output_storage[i][0] = inputs[targets[i]] if i in targets else np.array(values[variable])

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        unfused = self._unfused(node.inputs)
        known = dict(zip(node.inputs, shapes, strict=True))
        for part in unfused.nodes:
            known.update(
                zip(part.outputs, part.op.infer_shape(fgraph, part, [known[v] for v in part.inputs]), strict=True)
            )
        return [known[v] for v in unfused.outputs]

    @override
    def connection_pattern(self, node: Apply[Any]) -> Sequence[Sequence[bool]]:
        of_arguments = self.scalar_op.connection_pattern(self._unfused(node.inputs).nodes[self._n_gathered])
        pattern = [[of[result] for result in self.results] for of in of_arguments]
        added_to = self._added_to()
        others = range(len(self.gathers), node.nin)
        return [*pattern, *[[added_to.get(i) == place for i in range(len(self.results))] for place in others]]

    @property
    def _n_gathered(self) -> int:
        return len([at for at in self.gathers if at is not None])

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[Variable[Any]],
    ) -> list[Variable[Any]]:
        n, first = self._n_gathered, len(self.gathers) + self.n_indices
        unfused = self._unfused(inputs)
        whole = unfused.nodes[n]
        cotangents: list[Variable[Any]] = [DisconnectedType()() for _ in whole.outputs]
        of_bases: list[Variable[Any]] = []
        parts = iter(unfused.nodes[n + 1 :])
        for result, reduction, at, g in zip(self.results, self.reductions, self.scatters, output_grads, strict=True):
            part = None if reduction is None and at is None else next(parts)
            pulled: Variable[Any] = g
            if part is not None and isinstance(g, TensorVariable):
                found = part.op.L_op(part.inputs, part.outputs, [g])
                pulled = found[1 if at is not None else 0]
                of_bases += [found[0]] if at is not None else []
            elif at is not None:
                of_bases.append(DisconnectedType()())
            known = cotangents[result]
            if isinstance(pulled, TensorVariable):
                cotangents[result] = add(known, pulled) if isinstance(known, TensorVariable) else pulled
        of_arguments = list(whole.op.L_op(whole.inputs, whole.outputs, cotangents))
        gathered = iter(unfused.nodes[:n])
        for i, at in enumerate(self.gathers):
            if at is not None:
                part, g = next(gathered), of_arguments[i]
                if isinstance(g, TensorVariable):
                    of_arguments[i] = part.op.L_op(part.inputs, part.outputs, [g])[0]
        return [*of_arguments, *[DisconnectedType()() for _ in range(len(self.gathers), first)], *of_bases]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        unfused = self._unfused(inputs)
        n, first = self._n_gathered, len(self.gathers) + self.n_indices
        gathered = iter(unfused.nodes[:n])
        tangents: list[Variable[Any] | None] = []
        for tangent, at in zip(eval_points[: len(self.gathers)], self.gathers, strict=True):
            part = None if at is None else next(gathered)
            tangents.append(
                tangent if part is None or tangent is None else part.op.R_op(part.inputs, [tangent, None])[0]
            )
        whole = unfused.nodes[n]
        pushed = whole.op.R_op(whole.inputs, tangents)
        parts, bases = iter(unfused.nodes[n + 1 :]), iter(eval_points[first:])
        found: list[Variable[Any] | None] = []
        for result, reduction, at in zip(self.results, self.reductions, self.scatters, strict=True):
            of_value = pushed[result]
            if at is not None:
                part = next(parts)
                found += part.op.R_op(part.inputs, [next(bases), of_value, None])
            elif reduction is not None:
                part = next(parts)
                found += [None] if of_value is None else part.op.R_op(part.inputs, [of_value])
            else:
                found.append(of_value)
        return found

    @override
    def flops(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
        along = [shape for shape, at in zip(inputs, self.gathers, strict=False) if at is None]
        lengths = [*along, *inputs[len(self.gathers) : len(self.gathers) + self.n_indices]]
        size = int(np.prod(np.broadcast_shapes(*[tuple(shape) for shape in lengths]), dtype=np.int64))
        combined = len(
            [1 for reduction, at in zip(self.reductions, self.scatters, strict=True) if reduction or at is not None]
        )
        return size * (self.scalar_op.flops_per_element + combined)

    @override
    def __str__(self) -> str:
        read = [f"i{i} at {at}" for i, at in enumerate(self.gathers) if at is not None]
        shown: list[str] = []
        for result, reduction, at in zip(self.results, self.reductions, self.scatters, strict=True):
            added = f"{result} added at {at}" if at is not None else str(result)
            shown.append(added if reduction is None else f"{reduction} of {result}")
        inplace = f", inplace={list(self.inplace_pattern)}" if self.inplace_pattern else ""
        return f"{self.scalar_op}{{{', '.join(read)}{'; ' if read else ''}{', '.join(shown)}{inplace}}}"
