"""`IndexedElemwise`: elements at an index are read, computed, reduced and added in one pass.

total, slope = sum(square(x[i])), zeros[i].inc(2 * x[i])
->  if (x.shape[0] ...) ...;  (slope is allocated, or is zeros itself)
    const int status = call->serve->pass_at(call, &indexed0, i.shape[0], {&total, slope.data, x.data, i.data}, {strides}, {lengths}, 0);

Where something is added to an array that others may see, all indices are seen to be in bounds before the first of them is used. Of a constant
index, the greatest is compared with the lengths, and that is all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lamella.codegen.c.elementwise_kernel import Operand
from lamella.codegen.c.indexed_kernel import Gather, Scatter, add_indexed_pass
from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.elementwise import broadcast_lengths, operand_of
from lamella.codegen.c.lowerings.moves import copy_of, whole_view
from lamella.codegen.c.lowerings.reduced_elementwise import Accumulator, reduction_of
from lamella.codegen.c.reduction_kernel import Reduction
from lamella.codegen.c.step import Array, Step, integers
from lamella.errors import LoweringError
from lamella.ir import IndexedElemwise, Max, Min


@c_lowering.register(IndexedElemwise)
def indexed_elementwise(op: IndexedElemwise, step: Step) -> None:
    """Look at the lengths; go through the elements."""
    inputs = step.inputs
    indices = [inputs[op.index_input(k)] for k in range(op.n_indices)]
    along = [x for x, at in zip(inputs, op.gathers, strict=False) if at is None]
    if any([index.type.shape[0] == 1 for index in indices]):
        raise LoweringError("an index vector that may broadcast has no loop of its own")
    (length,) = broadcast_lengths(step, [*along, *indices])
    _, dtypes = op.scalar_op.loop([x.type.dtype for x in inputs[: len(op.gathers)]])

    places = _Places()
    operands: list[Operand | Gather] = []
    for x, at in zip(inputs, op.gathers, strict=False):
        operands.append(operand_of(x) if at is None else Gather(Operand(x.type.dtype), places.of(at, x)))
    whole = [i for i, use in enumerate(zip(op.reductions, op.scatters, strict=True)) if use == (None, None)]
    added = [(i, at) for i, at in enumerate(op.scatters) if at is not None]
    scatters = [Scatter(op.results[i], places.of(at, inputs[op.base_input(i)])) for i, at in added]
    reduced: list[tuple[int, Reduction]] = []
    for i, reduction in enumerate(op.reductions):
        if reduction is not None:
            reduced.append((i, reduction_of(reduction, dtypes[op.results[i]])))
            if isinstance(reduction, Max | Min):
                step.require(f"{length} > 0")
    kernel = add_indexed_pass(
        step.unit,
        op.scalar_op,
        operands,
        dtypes,
        [op.results[i] for i in whole],
        [(op.results[i], reduction) for i, reduction in reduced],
        scatters,
        places.indices,
        [k for k, index in enumerate(indices) if _is_in_bounds(index, places.tables_of(k), step)],
    )
    if _may_overwrite_what_is_read(op, step):
        step.refer()
        return

    accumulators = [Accumulator.begun(step, i, reduction, (0,), [length], []) for i, reduction in reduced]
    overwritten = dict(op.inplace_pattern)
    written = [step.allocate([length], index=i) for i in whole]
    bases: list[Array] = []
    for i, _ in added:
        base = inputs[op.base_input(i)]
        bases.append(whole_view(step, base, i) if i in overwritten else copy_of(step, base, i))
    must_look = any([not step.is_own(place) for place in overwritten.values()])
    tables = [x for x, at in zip(inputs, op.gathers, strict=False) if at is not None]
    read = [
        x
        for x, operand in zip(inputs, operands, strict=False)
        if isinstance(operand, Operand) and operand.constant is None
    ]
    vectors, sums = [*bases, *tables, *read, *indices], [a.strided.data for a in accumulators]
    data = ", ".join([*[z.data for z in written], *sums, *[x.data for x in vectors]])
    strides = integers([*[z.stride(0) for z in written], *["0"] * len(accumulators), *[x.stride(0) for x in vectors]])
    step.emit(
        f"const int status = call->serve->pass_at(call, &{kernel}, {length}, (char *const[]){{{data}}},",
        f"                                        {strides}, {integers(places.lengths)}, {int(must_look)});",
        "if (LM_UNLIKELY(status != 0)) return status;",
    )
    step.may_refer = True
    for accumulator in accumulators:
        accumulator.finish(step)


class _Places:
    """Sets of places: an index vector and the length of what it selects from."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, str], int] = {}

    def of(self, index: int, table: Array) -> int:
        """Return the number of the set for a table."""
        return self._numbers.setdefault((index, table.length(0)), len(self._numbers))

    @property
    def indices(self) -> Sequence[int]:
        """The number of the index vector of each set."""
        return [index for index, _ in self._numbers]

    def tables_of(self, index: int) -> Sequence[str]:
        """Return the lengths of what an index vector selects from."""
        return [length for k, length in self._numbers if k == index]

    @property
    def lengths(self) -> Sequence[str]:
        """Expressions for the lengths."""
        return [length for _, length in self._numbers]


def _is_in_bounds(index: Array, lengths: Sequence[str], step: Step) -> bool:
    """Whether an index vector is known to have places only, of tables that are required to be long enough for them."""
    if index.constant is None or np.min(index.constant, initial=0) < 0:
        return False
    highest = int(np.max(index.constant, initial=-1))
    for length in lengths:
        step.require(f"{length} > {highest}")
    return True


def _may_overwrite_what_is_read(op: IndexedElemwise, step: Step) -> bool:
    # What is not overwritten but added to is copied before.
    copied = op.destroyhandler_tolerate_aliased
    pairs = [(place, other) for _, place in op.inplace_pattern for other in range(len(step.inputs)) if other != place]
    return any([pair not in copied and step.may_alias(*pair) for pair in pairs])
