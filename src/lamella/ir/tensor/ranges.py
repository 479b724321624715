"""`ARange`: evenly spaced numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

import lamella.ir.tensor.functions as lt
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import COMPLEX_DTYPES, INTEGER_DTYPES, is_differentiable_dtype, normalize_dtype
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.known_integers import known_integer
from lamella.ir.tensor.shape import Shape_i, shape_i
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["ARange", "arange", "linspace"]


def _range_dtype(dtype: npt.DTypeLike) -> str:
    name = normalize_dtype(dtype)
    if name == "bool" or name in COMPLEX_DTYPES:
        raise TypeError(f"there is no range of dtype {name}")
    return name


@final
@attrs.frozen(eq=False, repr=False)
class ARange(Op[[TensorLike, TensorLike, TensorLike], TensorVariable]):
    """``start``, ``start + step``, ... as far as they are before ``stop``: a vector.

    Parameters
    ----------
    dtype
        The dtype of the vector.
    """

    dtype: str = attrs.field(converter=_range_dtype)

    @override
    def make_node(self, start: TensorLike, stop: TensorLike, step: TensorLike) -> Apply[TensorVariable]:
        inputs = [_bound(x) for x in (start, stop, step)]
        return Apply(self, inputs, [TensorType(self.dtype, (_static_length(*inputs),))])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        start, stop, step = inputs
        if _all_integers(node.inputs):
            # NumPy computes the length in the dtype of its arguments, which wraps, or in floats, which round; Python's are exact.
            if not step:
                raise ZeroDivisionError("arange: the step is 0")
            exact = range(int(start), int(stop), int(step))
            result = np.arange(exact.start, exact.stop, exact.step, dtype=self.dtype)
            if len(result) != len(exact):
                result = np.array(exact, dtype="int64").astype(self.dtype)
        else:
            with np.errstate(all="ignore"):
                result = np.arange(start[()], stop[()], step[()], dtype=self.dtype)
        output_storage[0][0] = result

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        (known,) = node.outputs[0].type.shape
        if known is not None:
            return [(constant(known, dtype="int64"),)]
        return [(self._length(*[as_tensor_variable(x) for x in node.inputs]),)]

    def _length(self, start: TensorVariable, stop: TensorVariable, step: TensorVariable) -> TensorVariable:
        if not _all_integers([start, stop, step]):
            distance = lt.sub(stop, start)
            steps = lt.true_divide(distance, step)
            # A quotient that vanishes is part of a step, if that is the way to the stop.
            vanishes = lt.and_(lt.eq(steps, 0), lt.neq(distance, 0))
            is_part = lt.and_(vanishes, lt.eq(lt.gt(distance, 0), lt.gt(step, 0)))
            return lt.maximum(lt.cast(lt.switch(is_part, 1, lt.ceil(steps)), "int64"), 0)
        first, last, by = [x if x.dtype == "int64" else lt.cast(x, "int64") for x in (start, stop, step)]
        if known_integer(by) != 1:
            return lt.maximum(lt.neg(lt.floor_divide(lt.sub(first, last), by)), 0)
        if known_integer(first) != 0:
            return lt.maximum(lt.sub(last, first), 0)
        return last if last.owner is not None and isinstance(last.owner.op, Shape_i) else lt.maximum(last, 0)

    @override
    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        return [[True], [False], [True]]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        start, _, step = inputs
        (gz,) = output_grads
        places = arange(shape_i(outputs[0], 0), dtype=gz.dtype)
        return [
            self._cotangent(start, gz),
            DisconnectedType()(),
            self._cotangent(step, lt.mul(gz, places)),
        ]

    def _cotangent(self, x: TensorVariable, terms: TensorVariable) -> TensorVariable:
        if not is_differentiable_dtype(x.dtype) or not is_differentiable_dtype(self.dtype):
            return constant(0.0, dtype=x.dtype if is_differentiable_dtype(x.dtype) else "float64")
        total = lt.sum(terms)
        return total if total.dtype == x.dtype else lt.cast(total, x.dtype)


def _all_integers(variables: Sequence[Variable[Any]]) -> bool:
    return all([v.type.dtype in INTEGER_DTYPES for v in variables])


def _bound(x: TensorLike) -> TensorVariable:
    variable = as_tensor_variable(x)
    if variable.ndim != 0 or variable.dtype in COMPLEX_DTYPES:
        raise TypeError(f"a bound of a range is a real scalar; {variable!r} is of type {variable.type}")
    return lt.cast(variable, "int64") if variable.dtype == "bool" else variable


def _static_length(start: TensorVariable, stop: TensorVariable, step: TensorVariable) -> int | None:
    if _all_integers([start, stop, step]):
        first, last, by = known_integer(start), known_integer(stop), known_integer(step)
        if by == 0:
            raise ZeroDivisionError("arange: the step is 0")
        return None if first is None or last is None or by is None else max(0, -((first - last) // by))
    if not (start.is_constant and stop.is_constant and step.is_constant):
        return None
    a, b, by_ = [v.stored_value()[()] for v in (start, stop, step)]
    with np.errstate(all="ignore"):
        distance = b - a
        length = float(distance / by_)
    if not np.isfinite(length):
        raise ValueError(f"arange: a range from {a} to {b} by {by_} has no length")
    vanishes = length == 0 and distance != 0
    return int((distance > 0) == (by_ > 0)) if vanishes else max(0, ceil(length))


def arange(
    start: TensorLike, stop: TensorLike | None = None, step: TensorLike = 1, dtype: npt.DTypeLike | None = None
) -> TensorVariable:
    """Return evenly spaced numbers from a half-open interval: a vector.

    Parameters
    ----------
    start, stop
        The interval; one argument alone is `stop`, with a `start` of 0.
    step
        The spacing; it may be negative.
    dtype
        The dtype; by default NumPy's choice: that of the arguments and of int64 together.

    Raises
    ------
    TypeError
        An argument is no real scalar.
    ZeroDivisionError
        The step is the integer 0; at run time where it is not known.
    ValueError
        The length is not finite; at run time where it is not known.
    """
    if stop is None:
        start, stop = 0, start
    arguments = [_bound(x) for x in (start, stop, step)]
    chosen = np.result_type("int64", *[x.dtype for x in arguments]) if dtype is None else dtype
    return ARange(chosen)(*arguments)


def linspace(
    start: TensorLike, stop: TensorLike, num: int = 50, endpoint: bool = True, dtype: npt.DTypeLike | None = None
) -> TensorVariable:
    """Return `num` evenly spaced numbers over an interval, along a new first axis.

    Parameters
    ----------
    start, stop
        The ends of the interval: numbers, or arrays that broadcast.
    num
        How many numbers.
    endpoint
        Whether `stop` is the last of them.
    dtype
        The dtype; that of the ends, or float64 for integers, by default. Integers are rounded down.

    Raises
    ------
    ValueError
        `num` is negative.
    """
    if num < 0:
        raise ValueError(f"linspace: the number of samples, {num}, is negative")
    first, last = as_tensor_variable(start), as_tensor_variable(stop)
    delta = lt.sub(lt.mul(last, 1.0), lt.mul(first, 1.0))
    intervals = num - 1 if endpoint else num
    places = lt.reshape(arange(num, dtype=delta.dtype), (num, *[1] * delta.ndim))
    if intervals > 0:
        samples = lt.add(lt.mul(places, lt.expand_dims(lt.true_divide(delta, intervals), 0)), lt.expand_dims(first, 0))
    else:
        samples = lt.add(lt.mul(places, lt.expand_dims(delta, 0)), lt.expand_dims(first, 0))
    if endpoint and num > 1:
        end = lt.expand_dims(lt.fill(delta, lt.cast(last, samples.dtype)), 0)
        samples = lt.concatenate([lt.getitem(samples, slice(None, -1)), end], 0)
    if dtype is None or np.dtype(dtype).name == samples.dtype:
        return samples
    return lt.cast(lt.floor(samples) if np.dtype(dtype).kind in "iu" else samples, dtype)
