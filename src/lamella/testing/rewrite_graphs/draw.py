"""`Draw`: what a generator of graphs draws its arguments, numbers and choices from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar, final

import attrs
import numpy as np
import numpy.typing as npt

from lamella.ir import FLOAT_DTYPES, INTEGER_DTYPES, TensorConstant, TensorType, TensorVariable, constant, lt
from lamella.testing.rewrite_graphs.elements import Array, Elements

__all__ = ["Argument", "Draw"]

T = TypeVar("T")

_LENGTHS: Final = (2, 3, 1, 5, 0, 4)
_WIDER: Final = {"float16": "float64", "float32": "float64"}


@final
@attrs.frozen(eq=False)
class Argument:
    """An input of a graph: which arrays may stand for it.

    Attributes
    ----------
    variable
        The input.
    shape
        The shape of its value.
    elements
        What its elements may be.
    """

    variable: TensorVariable
    shape: tuple[int, ...]
    elements: Elements


@final
@attrs.define(eq=False)
class Draw:
    """Draws what a graph is made of. Equal calls draw anew each time: ``draw.floats()`` is another argument each time it is called.

    Attributes
    ----------
    integer
        Draws an integer between two, both included: all else is made of that. Smaller ones are simpler.
    widened
        Have the arguments that would be float16 or float32 be float64, to see what exact arithmetic gives.
    arguments
        The arguments drawn so far.
    """

    integer: Callable[[int, int], int]
    widened: bool = False
    arguments: list[Argument] = attrs.field(factory=list)

    def flag(self) -> bool:
        """Draw a truth value."""
        return self.integer(0, 1) == 1

    def choose(self, *options: T) -> T:
        """Draw one of some options, the simplest first."""
        return options[self.integer(0, len(options) - 1)]

    def one_of(self, *makers: Callable[[], T]) -> T:
        """Call one of some functions, the simplest first, and return what it gives."""
        return self.choose(*makers)()

    def axes(self, ndim: int, least: int = 0) -> tuple[int, ...]:
        """Draw some of the axes of an array with `ndim` dimensions, in their order, and not fewer than `least`."""
        drawn = [axis for axis in range(ndim) if self.flag()]
        missing = [axis for axis in range(ndim) if axis not in drawn][: max(0, least - len(drawn))]
        return tuple(sorted([*drawn, *missing]))

    def order(self, ndim: int) -> tuple[int, ...]:
        """Draw a permutation of the axes of an array with `ndim` dimensions."""
        left = list(range(ndim))
        return tuple([left.pop(self.integer(0, len(left) - 1)) for _ in range(ndim)])

    def length(self, least: int = 0) -> int:
        """Draw a length: 2, 3, 1, 5, 0 or 4."""
        return self.choose(*[n for n in _LENGTHS if n >= least])

    def shape(self, min_dims: int = 0, max_dims: int = 3, least: int = 0) -> tuple[int, ...]:
        """Draw a shape of some number of dimensions, whose lengths are not below `least`."""
        ndim = self.choose(*[n for n in (1, 2, 0, 3, 4) if min_dims <= n <= max_dims])
        return tuple([self.length(least) for _ in range(ndim)])

    def static(self, shape: Sequence[int]) -> tuple[int | None, ...]:
        """Draw what a type knows of a shape. A length of 1 is known but rarely not, for else it does not broadcast."""
        return tuple([n if (self.integer(0, 4) < 4 if n == 1 else self.flag()) else None for n in shape])

    def tensor(
        self,
        dtype: str,
        shape: Sequence[int] | None = None,
        low: float | None = None,
        high: float | None = None,
        static: Sequence[int | None] | None = None,
    ) -> TensorVariable:
        """Draw an argument.

        Parameters
        ----------
        dtype
            Its dtype.
        shape
            The shape of its value; any when not given.
        low, high
            Bounds of its elements, both included.
        static
            What its type knows of the shape; drawn when not given.
        """
        lengths = self.shape() if shape is None else tuple(shape)
        of = _WIDER.get(dtype, dtype) if self.widened else dtype
        variable = TensorType(of, self.static(lengths) if static is None else static)(f"x{len(self.arguments)}")
        self.arguments.append(Argument(variable, lengths, Elements(of, low, high)))
        return variable

    def given(self, value: npt.ArrayLike, static: Sequence[int | None] | None = None) -> TensorVariable:
        """Return an argument whose value is always this one."""
        array = np.asarray(value)
        made = self.tensor(str(array.dtype), array.shape, static=static)
        self.arguments[-1] = attrs.evolve(self.arguments[-1], elements=Elements(str(array.dtype), fixed=array))
        return made

    def float_dtype(self) -> str:
        """Draw a dtype of floats."""
        return self.choose("float64", "float32", "float16")

    def integer_dtype(self) -> str:
        """Draw a dtype of integers."""
        return self.choose("int64", "int8", "uint8", "uint64", "int32", "int16", "uint32", "uint16")

    def real_dtype(self) -> str:
        """Draw a dtype of integers or floats."""
        return self.choose("float64", "int64", "float32", "uint8", "int8", "float16", "uint64")

    def floats(
        self, shape: Sequence[int] | None = None, low: float | None = None, high: float | None = None
    ) -> TensorVariable:
        """Draw an argument of a float dtype; see `tensor`."""
        return self.tensor(self.float_dtype(), shape, low, high)

    def integers(
        self, shape: Sequence[int] | None = None, low: float | None = None, high: float | None = None
    ) -> TensorVariable:
        """Draw an argument of an integer dtype; see `tensor`."""
        return self.tensor(self.integer_dtype(), shape, low, high)

    def reals(self, shape: Sequence[int] | None = None) -> TensorVariable:
        """Draw an argument of an integer or a float dtype."""
        return self.tensor(self.real_dtype(), shape)

    def booleans(self, shape: Sequence[int] | None = None) -> TensorVariable:
        """Draw an argument of truth values."""
        return self.tensor("bool", shape)

    def numbers(self, shape: Sequence[int] | None = None) -> TensorVariable:
        """Draw an argument of any dtype of numbers, complex ones too."""
        return self.tensor(self.choose("float64", "int64", "float32", "complex128", "uint8", "complex64"), shape)

    def anything(self, shape: Sequence[int] | None = None) -> TensorVariable:
        """Draw an argument of any dtype."""
        return self.tensor(
            self.choose("float64", "int64", "bool", "float32", "complex128", "uint8", "float16", "int32"), shape
        )

    def shape_of(self, variable: TensorVariable) -> tuple[int, ...]:
        """Return the shape of the value of an argument."""
        return next(argument.shape for argument in self.arguments if argument.variable is variable)

    def like(self, variable: TensorVariable) -> TensorVariable:
        """Draw another argument of the dtype and shape of an argument."""
        known = next(argument for argument in self.arguments if argument.variable is variable)
        return self.tensor(known.elements.dtype, known.shape, known.elements.low, known.elements.high)

    def beside(self, variable: TensorVariable, dtype: str | None = None) -> TensorVariable:
        """Draw an argument that broadcasts with another one, and makes it no larger: with its shape, or without some of its lengths or axes."""
        shape = self.shape_of(variable)
        how = self.integer(0, 3)
        of = variable.dtype if dtype is None else dtype
        if how < 2:
            return self.tensor(of, shape)
        if how == 2:
            return self.tensor(of, shape[self.integer(0, len(shape)) :])
        lengths = [1 if self.flag() else n for n in shape]
        return self.tensor(of, lengths, static=[1 if n == 1 else None for n in lengths])

    def symbolic(self, length: int) -> TensorVariable:
        """Draw a scalar of int64 that is a length: a constant, an argument, or the length of another argument."""
        how = self.integer(0, 2)
        if how == 0:
            return constant(length)
        if how == 1:
            return self.given(np.int64(length))
        return lt.shape_i(self.tensor("bool", (length,), static=(None,)), 0)

    def repeated(self, number: complex, variable: TensorVariable) -> TensorConstant:
        """Draw a constant that holds one number, of the dtype of an argument, and broadcasts with it: without axes, or with some."""
        ndim = self.choose(0, variable.ndim)
        filled: Array = np.full((1,) * ndim, number).astype(variable.dtype)
        return constant(filled)

    def number(self, variable: TensorVariable) -> TensorConstant:
        """Draw a constant that holds one number of the dtype of an argument."""
        dtype = variable.dtype
        if dtype in FLOAT_DTYPES:
            drawn: complex = self.choose(2.0, 1.0, 0.0, -1.0, 0.5, -0.0, 3.5, float("inf"), float("nan"), -float("inf"))
        elif dtype in INTEGER_DTYPES:
            limits = np.iinfo(dtype)
            drawn = self.choose(2, 1, 0, 3, int(limits.min), int(limits.max))
        elif dtype == "bool":
            drawn = self.flag()
        else:
            drawn = self.choose(2.0, 1.0, 1j, 0.0)
        return self.repeated(drawn, variable)
