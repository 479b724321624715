"""Random index expressions: as NumPy takes them, and the same with some of their parts symbolic."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from hypothesis import strategies as st

from lamella.ir import TensorType, TensorVariable, constant

from .agreement import Array, laid_out


@attrs.frozen
class IndexCase:
    """An index, for NumPy and for a graph, and the values of the variables in the latter."""

    plain: tuple[Any, ...]
    symbolic: tuple[Any, ...]
    values: dict[TensorVariable, Array]

    def __repr__(self) -> str:
        return f"{self.plain}, of which symbolic: {self.symbolic}"


@attrs.define
class _Case:
    draw: st.DrawFn
    values: dict[TensorVariable, Array] = attrs.field(factory=dict)

    def integer(self, value: int) -> Any:
        """An integer, as people may write it."""
        kind = self.draw(st.sampled_from(["int", "numpy", "0-d", "constant", "symbolic", "symbolic"]))
        if kind == "numpy":
            return np.int32(value)
        if kind == "0-d":
            return np.array(value)
        if kind == "constant":
            return constant(np.int16(value))
        if kind == "symbolic":
            fitting = ["int8", "int64"] if value < 0 else ["int64", "uint64", "uint8"]
            return self.variable(np.array(value, self.draw(st.sampled_from(fitting))))
        return value

    def variable(self, value: Array) -> TensorVariable:
        # A length of 1 must be declared for it to broadcast.
        forgotten = [length if length == 1 or self.draw(st.booleans()) else None for length in value.shape]
        made = TensorType(value.dtype, forgotten)(f"i{len(self.values)}")
        self.values[made] = self.draw(laid_out(value))
        return made

    def array(self, value: Array) -> Any:
        """An index array or a mask, as people may write it."""
        kind = self.draw(st.sampled_from(["list", "array", "constant", "symbolic", "symbolic"]))
        if kind == "list" and value.size:
            return value.tolist()
        if kind == "constant":
            return constant(value)
        return self.variable(value) if kind == "symbolic" else value


_BOUNDS = st.one_of(st.none(), st.integers(-7, 7))
_STEPS = st.one_of(st.none(), st.integers(-4, 4).filter(bool))


def _slice(case: _Case) -> tuple[slice, slice]:
    bounds = [case.draw(_BOUNDS), case.draw(_BOUNDS), case.draw(_STEPS)]
    if case.draw(st.integers(0, 3)) == 0:
        return slice(None), slice(None)
    return slice(*bounds), slice(*[None if b is None else case.integer(b) for b in bounds])


def _entry(
    case: _Case, length: int, broadcast: Sequence[int], allowed: Sequence[str], wrong: bool
) -> tuple[Any, Any, int]:
    """One entry for an axis: as NumPy takes it, as a graph does, and how many axes it takes."""
    kind = case.draw(st.sampled_from(allowed))
    low, high = (-length - wrong, length - 1 + wrong) if length or wrong else (0, 0)
    if kind == "integer" and (length or wrong):
        value = case.draw(st.integers(low, high))
        return value, case.integer(value), 1
    shape = [
        1 if case.draw(st.integers(0, 4)) == 0 else n for n in broadcast[case.draw(st.integers(0, len(broadcast))) :]
    ]
    if kind == "array" and (length or wrong or 0 in shape):
        dtype = case.draw(st.sampled_from(["int64", "int8", "int32"]))
        size = int(np.prod(shape))
        elements = case.draw(st.lists(st.integers(low, high), min_size=size, max_size=size))
        array = np.array(elements, dtype).reshape(shape)
        if array.ndim == 0:
            value = int(array)
            return value, case.integer(value), 1
        return array, case.array(array), 1
    plain, symbolic = _slice(case)
    return plain, symbolic, 1


@st.composite
def basic_indices(draw: st.DrawFn, shape: Sequence[int], wrong: bool = False) -> IndexCase:
    """Slices, integers, new axes and an ellipsis for an array of a shape; with `wrong`, integers that may be out of bounds, too many."""
    return _index(draw, shape, (), ["integer", "slice", "slice"], wrong)


@st.composite
def advanced_indices(draw: st.DrawFn, shape: Sequence[int], wrong: bool = False) -> IndexCase:
    """All of `basic_indices`, and integer arrays that broadcast; with `wrong`, they may be out of bounds, or not broadcast."""
    broadcast = draw(st.lists(st.integers(0, 3), max_size=2))
    return _index(draw, shape, broadcast, ["integer", "slice", "array", "array"], wrong)


def _index(
    draw: st.DrawFn, shape: Sequence[int], broadcast: Sequence[int], allowed: Sequence[str], wrong: bool
) -> IndexCase:
    case = _Case(draw)
    plain: list[Any] = []
    symbolic: list[Any] = []
    axis = 0
    used = len(shape) + (wrong and draw(st.booleans())) if draw(st.booleans()) else draw(st.integers(0, len(shape)))
    ellipsis_at = draw(st.one_of(st.none(), st.integers(0, used)))
    skipped = 0
    while True:
        for _ in range(draw(st.sampled_from([0, 0, 0, 1]))):
            plain.append(None)
            symbolic.append(None)
        if ellipsis_at == axis and skipped == 0:
            plain.append(...)
            symbolic.append(...)
            skipped = len(shape) - used
            ellipsis_at = None
        if axis >= used:
            break
        place = axis + skipped
        length = shape[place] if 0 <= place < len(shape) else 2
        wrong_here = wrong and draw(st.integers(0, 3)) == 0
        lengths = [n + 1 for n in broadcast] if wrong_here and draw(st.booleans()) else broadcast
        a, b, taken = _entry(case, length, lengths, allowed, wrong_here)
        plain.append(a)
        symbolic.append(b)
        axis += taken
    return IndexCase(tuple(plain), tuple(symbolic), case.values)
