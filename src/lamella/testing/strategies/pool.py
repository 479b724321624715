"""`Pool`: what a random graph is made of while it grows. It knows the value of every variable, so each step can fit the next."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from lamella.ir import TensorType, TensorVariable, constant, interpret
from lamella.testing.strategies.arrays import array_shapes, arrays
from lamella.testing.strategies.layouts import views_of
from lamella.testing.strategies.types import dtypes, static_shapes

__all__ = ["Pool", "Step"]

Array = npt.NDArray[Any]

# Empty arrays are few, for nothing much can be seen in them.
_SHAPES = st.lists(st.sampled_from([2, 3, 4, 1, 2, 3, 5, 0]), max_size=3).map(tuple)


@attrs.define(eq=False)
class Pool:
    """The variables made so far, with their values.

    Attributes
    ----------
    draw
        Draws from a strategy.
    inputs
        The inputs made so far, with the arrays that stand for them.
    values
        The values of all variables, inputs and others, in the order in which they were made.
    sides
        Lengths of axes of inputs; up to 5 where none are given.
    max_size
        The largest number of elements of an input of such lengths.
    """

    draw: Callable[[st.SearchStrategy[Any]], Any]
    special: bool = True
    sides: Sequence[int] = ()
    max_size: int = 1000
    inputs: dict[TensorVariable, Array] = attrs.field(factory=dict)
    values: dict[TensorVariable, Array] = attrs.field(factory=dict)

    def add(self, made: Sequence[TensorVariable]) -> None:
        """Compute variables, and keep them for later steps."""
        with np.errstate(all="ignore"):
            results = interpret(list(self.values), list(made), list(self.values.values()))
        self.values.update(zip(made, [np.asarray(r) for r in results], strict=True))

    def new_input(self, kinds: str = "biufc", shape: Sequence[int] | None = None) -> TensorVariable:
        """Make an input, whose value may be in memory of another's.

        Parameters
        ----------
        kinds
            Kinds of dtypes.
        shape
            The shape of its value; any when not given.
        """
        value = self._shared_memory(kinds, shape)
        if value is None:
            wanted = self._shape() if shape is None else tuple(shape)
            value = self.draw(arrays(self.draw(dtypes(kinds)), wanted, self.special))
        lengths = value.shape
        variable = TensorType(value.dtype, self.draw(static_shapes(lengths)))(f"x{len(self.inputs)}")
        self.inputs[variable] = self.values[variable] = value
        return variable

    def _shape(self, min_dims: int = 0, max_dims: int = 3) -> Sequence[int]:
        if not self.sides and min_dims:
            shortest = 0 if self.draw(st.integers(0, 7)) == 0 else 1
            return tuple(self.draw(array_shapes(min_dims, max_dims, shortest)))
        if not self.sides:
            return tuple(self.draw(_SHAPES)[:max_dims])
        lengths = self.draw(st.lists(st.sampled_from(list(self.sides)), min_size=min_dims, max_size=max_dims))
        while math.prod(lengths) > self.max_size:
            lengths[lengths.index(max(lengths))] = 2
        return tuple(lengths)

    def _shared_memory(self, kinds: str, shape: Sequence[int] | None) -> Array | None:
        """Now and then return a view of the value of another input."""
        others = [x for x in self.inputs.values() if x.dtype.kind in kinds]
        if not others or self.draw(st.integers(0, 3)):
            return None
        views = [self.draw(views_of(self.choose(others))) for _ in range(1 if shape is None else 3)]
        return next((view for view in views if shape is None or view.shape == tuple(shape)), None)

    def pick(
        self,
        kinds: str = "biufc",
        min_dims: int = 0,
        max_dims: int = 4,
        fits: Callable[[Array], bool] | None = None,
        shape: Sequence[int] | None = None,
    ) -> TensorVariable:
        """Choose a variable, or make a new input where none fits.

        Parameters
        ----------
        kinds
            Kinds of dtypes.
        min_dims, max_dims
            Limits of the number of dimensions.
        fits
            What else its value must be.
        shape
            The shape of its value.
        """
        fitting = [
            v
            for v, value in self.values.items()
            if value.dtype.kind in kinds
            and min_dims <= value.ndim <= max_dims
            and (shape is None or value.shape == tuple(shape))
            and (fits is None or fits(value))
        ]
        if fitting and self.draw(st.integers(0, 5)):
            # Later ones are chosen more often, so that graphs grow deep.
            return fitting[max(self.integer(0, len(fitting) - 1), self.integer(0, len(fitting) - 1))]
        wanted = self._shape(min_dims, min(max_dims, 3)) if shape is None else shape
        made = self.new_input(kinds, wanted)
        if fits is not None and not fits(self.values[made]):
            return fitting[-1] if fitting else made
        return made

    def like(self, x: TensorVariable, kinds: str = "biufc") -> TensorVariable:
        """Choose something that broadcasts with a variable: of its shape, of its last axes, with axes of length 1, or without axes."""
        shape = self.values[x].shape
        how = self.draw(st.integers(0, 5))
        if how == 0:
            return self.pick(kinds, max_dims=0)
        if how == 1 and shape:
            return self.pick(kinds, shape=shape[1:])
        if how == 2:
            wanted = [1 if self.draw(st.booleans()) else n for n in shape]
            made = self.pick(kinds, shape=wanted)
            # A variable of that shape may not know that these lengths are 1.
            return made if all(n != 1 or known == 1 for n, known in zip(wanted, made.type.shape, strict=True)) else x
        if how == 3:
            return constant(self.draw(arrays(self.draw(dtypes(kinds)), shape, self.special, layouts=False)))
        return self.pick(kinds, shape=shape)

    def pick_phase(self) -> TensorVariable | None:
        """Choose a variable of floats, for periodic functions; None where it is a computed one whose rounding leaves no phase.

        Of the sine of a number like 1e200 only an exact one tells anything: an input.
        """
        x = self.pick("f")
        value = self.values[x]
        rounding = np.abs(value) * np.finfo(value.dtype).eps
        return x if x in self.inputs or not np.any((rounding > 0.01) & np.isfinite(value)) else None

    def choose(self, options: Sequence[Any]) -> Any:
        """Draw one of some options."""
        return self.draw(st.sampled_from(list(options)))

    def integer(self, low: int, high: int) -> int:
        """Draw an integer between two, both included."""
        return int(self.draw(st.integers(low, high)))

    def flag(self) -> bool:
        """Draw a truth value."""
        return bool(self.draw(st.booleans()))


Step = Callable[[Pool], Sequence[TensorVariable]]
"""Makes variables of some that are in a pool; may return none. A TypeError says that the Op takes no such dtypes: the step is then left out."""
