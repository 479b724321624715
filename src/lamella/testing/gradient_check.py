"""`verify_grad`: a gradient, compared with a numeric one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

from lamella.ir import FLOAT_DTYPES, TensorType, TensorVariable, grad, lt
from lamella.runtime import Mode, function
from lamella.testing.numeric_gradient import NumericGradient, numeric_gradient

__all__ = ["GradientError", "verify_grad"]

Array = npt.NDArray[Any]


@final
@attrs.frozen(eq=False)
class GradientError(AssertionError):
    """A gradient differs from the numeric one; it says where, and by how much.

    Attributes
    ----------
    input, index
        Which input, and which of its elements.
    symbolic, numeric
        Both values.
    tolerance
        By how much they may differ there.
    jump
        By how much the slopes to the right and to the left of the point differ.
    point
        The values of all inputs.
    """

    input: int
    index: tuple[int, ...]
    symbolic: float
    numeric: float
    tolerance: float
    jump: float
    point: tuple[Array, ...] = attrs.field(repr=False)

    @override
    def __str__(self) -> str:
        where = f"element {list(self.index)} of input {self.input}" if self.index else f"input {self.input}"
        off = abs(self.symbolic - self.numeric)
        kink = (
            f" The slopes to the right and to the left of the point differ by {self.jump:.3g}: it is at or near a kink, where "
            "no numeric derivative can be compared with; choose another point."
            if self.jump > max(off, self.tolerance)
            else ""
        )
        return (
            f"the gradient with respect to {where} is {self.symbolic!r}, but numerically {self.numeric!r}: "
            f"they differ by {off:.3g}, and {self.tolerance:.3g} is allowed.{kink} "
            f"Inputs: {', '.join([f'{x.dtype}{list(x.shape)}' for x in self.point])}"
        )


_RELATIVE = {"float16": 1e-1, "float32": 1e-2, "float64": 1e-5}


def verify_grad(
    fun: Callable[..., TensorVariable | Sequence[TensorVariable]],
    pt: Sequence[Any],
    n_tests: int = 2,
    rng: np.random.Generator | None = None,
    eps: float | None = None,
    abs_tol: float | None = None,
    rel_tol: float | None = None,
    mode: Mode | str | None = None,
) -> None:
    """Compare the gradient of a function with a numeric one, element by element.

    The outputs are summed with random weights. Each element of the gradient is judged relative to its own size and to what the
    numeric derivative is known to: a gradient of 0 where the slope is tiny fails. Two functions are compiled, whatever the number of
    elements and tests.

    Parameters
    ----------
    fun
        Takes symbolic tensors, gives one or several: an Op, for example. Outputs that are no floats are not looked at.
    pt
        The point: an array of floats for each argument. No kink may be near: there, the numeric derivative lies between the slopes on
        both sides, and a gradient that is one of them (or any convention) is refused. What else the function needs (indices, axes,
        flags) is bound before, as in ``lambda x: op(x, i)``.
    n_tests
        How many random weightings to try.
    rng
        Source of the weights; seeded when not given.
    eps
        Step of the numeric derivative, relative to each element.
    abs_tol
        A difference that is always allowed; by default what the rounding of the numeric derivative explains.
    rel_tol
        The difference that is allowed relative to the derivative; by default 1e-5 for float64, 1e-2 for float32, 1e-1 for float16, of inputs
        and outputs.
    mode
        Mode to compile in.

    Raises
    ------
    GradientError
        They differ; says which element of which input, and both values.
    AssertionError
        The gradient has another shape than the input.
    TypeError
        An array of `pt` has no float dtype, or no output has one.

    Examples
    --------
    >>> import numpy as np
    >>> import lamella.tensor as lt
    >>> verify_grad(lt.exp, [np.array([0.5, -1.0])])
    """
    point = tuple([np.asarray(x) for x in pt])
    for i, x in enumerate(point):
        if x.dtype.name not in FLOAT_DTYPES:
            raise TypeError(
                f"verify_grad varies arrays of floats; argument {i} has the dtype {x.dtype}: bind it before, as in lambda x: fun(x, i)"
            )
    generator = np.random.default_rng(0) if rng is None else rng
    inputs = [TensorType(x.dtype, [1 if n == 1 else None for n in x.shape])(f"x{i}") for i, x in enumerate(point)]
    outputs = _float_outputs(fun(*inputs))
    weights = [output.type(f"w{i}") for i, output in enumerate(outputs)]
    cost = lt.add(*[lt.sum(o * w, dtype="float64") for o, w in zip(outputs, weights, strict=True)], np.float64(0.0))
    gradients = grad(cost, inputs, disconnected_inputs="ignore")
    forward = function(inputs, outputs, mode=mode, on_unused_input="ignore")
    backward = function([*inputs, *weights], gradients, mode=mode, on_unused_input="ignore")
    values = forward(*point)
    drawn = [[_weights(generator, np.shape(v), v.dtype) for v in values] for _ in range(n_tests)]
    pulled = [backward(*point, *weighting) for weighting in drawn]
    coarsest = max([_RELATIVE[v.dtype.name] for v in values])
    for i, x in enumerate(point):
        relative = max(coarsest, _RELATIVE[x.dtype.name]) if rel_tol is None else rel_tol
        numeric = numeric_gradient(lambda p: forward(*p), point, drawn, i, eps)
        for found, wanted in zip([one[i] for one in pulled], numeric, strict=True):
            _compare(i, np.asarray(found, np.float64), wanted, relative, abs_tol, point)


def _float_outputs(made: TensorVariable | Sequence[TensorVariable]) -> list[TensorVariable]:
    several = [made] if isinstance(made, TensorVariable) else list(made)
    outputs = [out for out in several if out.dtype in FLOAT_DTYPES]
    if not outputs:
        raise TypeError(
            f"no output is an array of floats, through which a gradient flows: they are of types {[out.type for out in several]}"
        )
    return outputs


def _weights(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    drawn: Array = rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)
    return drawn.astype(dtype)


def _compare(
    which: int,
    symbolic: npt.NDArray[np.float64],
    numeric: NumericGradient,
    relative: float,
    absolute: float | None,
    point: tuple[Array, ...],
) -> None:
    if symbolic.shape != numeric.value.shape:
        raise AssertionError(
            f"the gradient of input {which} has the shape {symbolic.shape}, the input {numeric.value.shape}"
        )
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(numeric.value), np.abs(symbolic))
        allowed = (numeric.error if absolute is None else absolute) + relative * size
        off = np.abs(symbolic - numeric.value)
        same = (symbolic == numeric.value) | (np.isnan(symbolic) & np.isnan(numeric.value))
        wrong = ~same & ~(off <= allowed)
        if not wrong.any():
            return
        excess = np.where(wrong, np.where(np.isnan(off), np.inf, off / np.maximum(allowed, 1e-300)), -1.0)
    index = tuple([int(k) for k in np.unravel_index(int(np.argmax(excess)), excess.shape)])
    raise GradientError(
        which,
        index,
        float(symbolic[index]),
        float(numeric.value[index]),
        float(allowed[index]),
        float(numeric.jump[index]),
        point,
    )
