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
from lamella.testing.numeric_gradient import numeric_gradient

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
    """

    input: int
    index: tuple[int, ...]
    symbolic: float
    numeric: float
    tolerance: float
    point: tuple[Array, ...] = attrs.field(repr=False)

    @override
    def __str__(self) -> str:
        where = f"element {list(self.index)} of input {self.input}" if self.index else f"input {self.input}"
        return (
            f"the gradient with respect to {where} is {self.symbolic!r}, but numerically {self.numeric!r}: "
            f"they differ by {abs(self.symbolic - self.numeric):.3g}, and {self.tolerance:.3g} is allowed. "
            f"Shapes of the inputs: {[x.shape for x in self.point]}"
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
    numeric derivative is known to: a gradient of 0 where the slope is tiny fails.

    Parameters
    ----------
    fun
        Takes symbolic tensors, gives one or several: an Op, for example.
    pt
        The point: an array of floats for each argument. No kink may be near.
    n_tests
        How many random weightings to try.
    rng
        Source of the weights; seeded when not given.
    eps
        Step of the numeric derivative, relative to each element.
    abs_tol
        A difference that is always allowed; by default what the rounding of the numeric derivative explains.
    rel_tol
        The difference that is allowed relative to the derivative; by default 1e-5 for float64, 1e-2 for float32, 1e-1 for float16.
    mode
        Mode to compile in.

    Raises
    ------
    GradientError
        They differ; says which element of which input, and both values.
    TypeError
        An array of `pt` has no float dtype, or an output has none.

    Examples
    --------
    >>> import numpy as np
    >>> import lamella.tensor as lt
    >>> verify_grad(lt.exp, [np.array([0.5, -1.0])])
    """
    point = tuple([np.asarray(x) for x in pt])
    for i, x in enumerate(point):
        if x.dtype.name not in FLOAT_DTYPES:
            raise TypeError(f"verify_grad varies arrays of floats; argument {i} has the dtype {x.dtype}")
    generator = np.random.default_rng(0) if rng is None else rng
    inputs = [TensorType(x.dtype, [1 if n == 1 else None for n in x.shape])(f"x{i}") for i, x in enumerate(point)]
    made = fun(*inputs)
    outputs = [made] if isinstance(made, TensorVariable) else list(made)
    for output in outputs:
        if output.dtype not in FLOAT_DTYPES:
            raise TypeError(f"an output has the dtype {output.dtype}, through which no gradient flows")
    forward = function(inputs, outputs, mode=mode, on_unused_input="ignore")
    weights = [output.type(f"w{i}") for i, output in enumerate(outputs)]
    cost = lt.add(*[lt.sum(o * w, dtype="float64") for o, w in zip(outputs, weights, strict=True)], np.float64(0.0))
    gradients = grad(cost, inputs, disconnected_inputs="ignore")
    backward = function([*inputs, *weights], gradients, mode=mode, on_unused_input="ignore")
    shapes = [np.shape(value) for value in forward(*point)]
    for _ in range(n_tests):
        drawn = [_weights(generator, shape, output.dtype) for shape, output in zip(shapes, outputs, strict=True)]
        symbolic = backward(*point, *drawn)
        for i, found in enumerate(symbolic):
            numeric = numeric_gradient(lambda p: forward(*p), point, drawn, i, eps)
            relative = _RELATIVE[point[i].dtype.name] if rel_tol is None else rel_tol
            allowed = (numeric.error if abs_tol is None else abs_tol) + relative * np.maximum(
                np.abs(numeric.value), np.abs(np.asarray(found, np.float64))
            )
            _compare(i, np.asarray(found, np.float64), numeric.value, allowed, point)


def _weights(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    drawn: Array = rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)
    return drawn.astype(dtype)


def _compare(which: int, symbolic: Array, numeric: Array, allowed: Array, point: tuple[Array, ...]) -> None:
    if symbolic.shape != numeric.shape:
        raise AssertionError(f"the gradient of input {which} has the shape {symbolic.shape}, the input {numeric.shape}")
    wrong = ~(np.abs(symbolic - numeric) <= allowed) & ~(
        (symbolic == numeric) | (np.isnan(symbolic) & np.isnan(numeric))
    )
    if wrong.any():
        excess = np.where(wrong, np.abs(symbolic - numeric) / np.where(allowed > 0, allowed, 1e-300), -1.0)
        index = tuple(
            int(k)
            for k in np.unravel_index(int(np.nanargmax(excess)) if not np.isnan(excess).all() else 0, excess.shape)
        )
        raise GradientError(which, index, float(symbolic[index]), float(numeric[index]), float(allowed[index]), point)
