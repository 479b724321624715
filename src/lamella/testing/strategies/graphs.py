"""`graphs`: whole random graphs, with values for their inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from typing_extensions import override

from lamella.ir import FunctionGraph, TensorVariable, ancestors, to_text
from lamella.testing.strategies.pool import Pool, Step
from lamella.testing.strategies.steps import DEFAULT_STEPS

__all__ = ["RandomGraph", "graphs"]

Array = npt.NDArray[Any]

_LONGEST_TEXT = 12_000


@final
@attrs.frozen(eq=False, repr=False)
class RandomGraph:
    """Outputs of a graph, and values of its inputs.

    Attributes
    ----------
    outputs
        The outputs: results of several steps, which share parts; one may occur twice, or be an input.
    inputs
        For each input its value; not all of them need be used.
    """

    outputs: tuple[TensorVariable, ...]
    inputs: Mapping[TensorVariable, Array]

    @property
    def fgraph(self) -> FunctionGraph:
        """The graph, with its inputs in the order of the values."""
        return FunctionGraph(list(self.inputs), self.outputs)

    @override
    def __repr__(self) -> str:
        values = [
            f"{v.name} = {np.array2string(x, threshold=20, separator=', ')}  # {x.dtype}{list(x.shape)}, strides {x.strides}"
            for v, x in self.inputs.items()
        ]
        whole = "\n".join([to_text(self.fgraph), *values])
        return whole if len(whole) <= _LONGEST_TEXT else f"{whole[:_LONGEST_TEXT]}\n... ({len(whole)} characters)"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # Hypothesis would otherwise print the nodes field by field, each with all that it is computed from.
        printer.text(repr(self))


@st.composite
def graphs(
    draw: st.DrawFn,
    steps: Sequence[Step] = DEFAULT_STEPS,
    min_steps: int = 1,
    max_steps: int = 12,
    max_outputs: int = 4,
    special: bool = True,
    sides: Sequence[int] = (),
    max_size: int = 1000,
) -> RandomGraph:
    """Generate graphs: with several outputs, shared parts, mixed dtypes, all layouts of memory, and values that fit.

    Parameters
    ----------
    draw
        Given by Hypothesis.
    steps
        What they are made of; see `Step`. Add your own Ops: ``[*DEFAULT_STEPS, lambda pool: [my_op(pool.pick("f"))]]``.
    min_steps, max_steps
        Limits of the number of steps, each of which applies an Op or a few.
    max_outputs
        The largest number of outputs.
    special
        Let inputs hold NaN, infinities and other special values.
    sides, max_size
        Lengths of axes of inputs, and how many elements an input has at most; lengths up to 5 where none are given.
    """
    pool = Pool(draw, special, sides, max_size)
    for _ in range(draw(st.integers(min_steps, max_steps))):
        # A step may find that its Op does not take the dtypes at hand: then another one is tried.
        for step in draw(st.lists(st.sampled_from(list(steps)), min_size=4, max_size=4)):
            try:
                made = step(pool)
            except TypeError:
                continue
            if made:
                pool.add(made)
                break
    if not pool.values:
        pool.new_input()
    variables = list(pool.values)
    # What nothing uses comes first: it is at the end of a chain. Then anything may follow, an input too.
    used = {x for v in variables if v.owner is not None for x in ancestors([v]) if x is not v}
    ends = [v for v in variables if v not in used][-max_outputs:]
    others = draw(st.lists(st.sampled_from(variables), max_size=max(0, max_outputs - len(ends))))
    return RandomGraph((*ends, *others), dict(pool.inputs))
