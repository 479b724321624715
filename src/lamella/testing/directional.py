"""`check_rop_lop` and `RopLopChecker`: products with the Jacobian from the left and from the right, which must agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lamella.errors import LamellaError
from lamella.ir import FLOAT_DTYPES, Lop, Rop, TensorType, TensorVariable, clone_replace, lt
from lamella.runtime import Mode, function
from lamella.testing.numeric_gradient import numeric_gradient

__all__ = ["RopLopChecker", "check_rop_lop"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

_RELATIVE = {"float16": 2e-2, "float32": 1e-4, "float64": 1e-9}
_NUMERIC = {"float16": 1e-1, "float32": 1e-2, "float64": 1e-5}


def check_rop_lop(
    fun: Callable[..., TensorVariable | Sequence[TensorVariable]],
    pt: Sequence[Any],
    n_tests: int = 2,
    rng: np.random.Generator | None = None,
    mode: Mode | str | None = None,
) -> None:
    """Check `R_op` against `L_op` and against a numeric derivative.

    With random tangents ``t`` of the inputs and cotangents ``w`` of the outputs: `Rop` must be, element by element, what differentiating `Lop`
    gives; ``w @ Rop(t)`` must equal ``Lop(w) @ t``; and it must equal the derivative of ``w @ fun(pt + s * t)`` by ``s``, taken numerically. Where
    an Op has no `R_op`, `Rop` is made of its `L_op`, and only the numeric derivative tells more.

    Parameters
    ----------
    fun
        Takes symbolic tensors, gives one or several: an Op, for example. Outputs that are no floats are not looked at.
    pt
        The point: an array of floats for each argument; no kink may be near.
    n_tests
        How many tangents and cotangents to try.
    rng
        Their source; seeded when not given.
    mode
        Mode to compile in.

    Raises
    ------
    AssertionError
        They differ; says which output and element, and both values.
    TypeError
        An array of `pt` has no float dtype, or no output has one.
    """
    point = [np.asarray(x) for x in pt]
    for i, x in enumerate(point):
        if x.dtype.name not in FLOAT_DTYPES:
            raise TypeError(f"check_rop_lop varies arrays of floats; argument {i} has the dtype {x.dtype}")
    inputs = [TensorType(x.dtype, [1 if n == 1 else None for n in x.shape])(f"x{i}") for i, x in enumerate(point)]
    made = fun(*inputs)
    several = [made] if isinstance(made, TensorVariable) else list(made)
    outputs = [out for out in several if out.dtype in FLOAT_DTYPES]
    if not outputs:
        raise TypeError(f"no output is an array of floats: they are of types {[out.type for out in several]}")
    tangents = [x.type(f"t{i}") for i, x in enumerate(inputs)]
    cotangents = [y.type(f"w{i}") for i, y in enumerate(outputs)]
    pushed = Rop(outputs, inputs, tangents, disconnected_outputs="ignore")
    pulled = Lop(outputs, inputs, cotangents, disconnected_inputs="ignore")
    twice = Lop(pulled, cotangents, tangents, disconnected_inputs="ignore")
    forward = function(inputs, outputs, mode=mode, on_unused_input="ignore")
    products = function(
        [*inputs, *tangents, *cotangents], [*pushed, *pulled, *twice], mode=mode, on_unused_input="ignore"
    )
    generator = np.random.default_rng(0) if rng is None else rng
    values = forward(*point)
    for _ in range(n_tests):
        t = [np.asarray(generator.uniform(-1.5, 1.5, x.shape)).astype(x.dtype) for x in point]
        w = [np.asarray(generator.uniform(-1.5, 1.5, np.shape(v))).astype(v.dtype) for v in values]
        found = products(*point, *t, *w)
        rops, lops, doubles = found[: len(w)], found[len(w) : len(w) + len(t)], found[len(w) + len(t) :]
        relative = max([_RELATIVE[x.dtype.name] for x in (*t, *w)])
        for i, (rop, double, out) in enumerate(zip(rops, doubles, values, strict=True)):
            _compare_elements(i, rop, double, out, relative)
        _compare_products(rops, lops, t, w)
        _compare_with_numeric(lambda p: forward(*p), point, rops, t, w)


def _wide(x: Any) -> Floats:
    return np.asarray(x, np.float64)


def _compare_elements(output: int, rop: Array, double: Array, value: Array, relative: float) -> None:
    if rop.shape != value.shape or rop.dtype != value.dtype:
        raise AssertionError(
            f"output {output}: its tangent is {rop.dtype}{list(rop.shape)}, the output {value.dtype}{list(value.shape)}"
        )
    size = float(np.max(np.abs(_wide(double)), initial=0.0))
    with np.errstate(all="ignore"):
        wrong = ~(np.abs(_wide(rop) - _wide(double)) <= relative * (np.abs(_wide(double)) + 1e-3 * size))
    if wrong.any():
        index = tuple([int(k) for k in np.argwhere(wrong)[0]])
        raise AssertionError(
            f"output {output}, element {list(index)}: R_op gives {rop[index]!r}, L_op differentiated gives {double[index]!r}"
        )


def _dot(a: Sequence[Array], b: Sequence[Array]) -> tuple[float, float]:
    """Return a scalar product, and the sum of the sizes of its terms."""
    terms = [_wide(x) * _wide(y) for x, y in zip(a, b, strict=True)]
    return sum([float(np.sum(x)) for x in terms]), sum([float(np.sum(np.abs(x))) for x in terms])


def _compare_products(
    rops: Sequence[Array], lops: Sequence[Array], tangents: Sequence[Array], cotangents: Sequence[Array]
) -> None:
    (right, size), (left, other) = _dot(cotangents, rops), _dot(lops, tangents)
    relative = max([_RELATIVE[x.dtype.name] for x in (*tangents, *cotangents)])
    if not abs(left - right) <= relative * (size + other):
        raise AssertionError(
            f"R_op and L_op disagree: cotangents times Rop(tangents) is {right!r}, Lop(cotangents) times tangents is {left!r}"
        )


def _compare_with_numeric(
    forward: Callable[[Sequence[Array]], Sequence[Array]],
    point: Sequence[Array],
    rops: Sequence[Array],
    tangents: Sequence[Array],
    cotangents: Sequence[Array],
) -> None:
    def along(parameter: Sequence[Array]) -> Sequence[Array]:
        s = float(parameter[0])
        return forward([(x + s * t).astype(x.dtype) for x, t in zip(point, tangents, strict=True)])

    narrowest = max([np.finfo(x.dtype).eps for x in (*tangents, *cotangents)])
    # The parameter is a double, whatever the inputs are: the step must suit their dtype.
    (numeric,) = numeric_gradient(along, [np.array(0.0)], [list(cotangents)], 0, 10 * float(narrowest) ** (1 / 3))
    found, size = _dot(cotangents, rops)
    relative = max([_NUMERIC[x.dtype.name] for x in (*tangents, *cotangents)])
    noise = float(narrowest) / (float(narrowest) ** (1 / 3)) * size
    if not abs(found - numeric.value[()]) <= relative * size + numeric.error[()] + noise:
        raise AssertionError(
            f"cotangents times Rop(tangents) is {found!r}, but numerically the derivative along the tangents is {float(numeric.value)!r}"
        )


class RopLopChecker:
    """A base for classes of tests, with variables and values to check `R_op` and `L_op` on; each method also works alone.

    Attributes
    ----------
    x, v
        A vector, and a tangent for it.
    mx, mv
        A matrix, and a tangent for it.
    in_shape, mat_in_shape
        Shapes of their values.
    """

    def setup_method(self) -> None:
        """Make variables and values; pytest calls it before each test."""
        self.rng = np.random.default_rng(23098)
        self.x, self.v = lt.vector("x"), lt.vector("v")
        self.in_shape = (int(self.rng.integers(6, 10)),)
        self.mx, self.mv = lt.matrix("mx"), lt.matrix("mv")
        self.mat_in_shape = (int(self.rng.integers(4, 6)), int(self.rng.integers(7, 9)))

    def check_rop_lop(self, y: TensorVariable, out_shape: Sequence[int], mode: Mode | str | None = None) -> None:
        """Check an expression of `x`.

        Parameters
        ----------
        y
            The expression; any number of dimensions.
        out_shape
            The shape of its value.
        mode
            Mode to compile in.

        Raises
        ------
        AssertionError
            See the function `check_rop_lop`; or the value has another shape.
        """
        self._check(y, self.x, self.in_shape, out_shape, mode)

    def check_mat_rop_lop(self, y: TensorVariable, out_shape: Sequence[int], mode: Mode | str | None = None) -> None:
        """Check an expression of `mx`; in all else as `check_rop_lop`."""
        self._check(y, self.mx, self.mat_in_shape, out_shape, mode)

    def check_nondiff_rop(self, y: TensorVariable) -> None:
        """Check that an expression of `x` has no derivative: `Rop` must raise one of the library's errors.

        Raises
        ------
        AssertionError
            It raises nothing.
        """
        try:
            Rop(y, self.x, self.v)
        except LamellaError:
            return
        raise AssertionError(f"Rop of {y!r} raises nothing, so it has a derivative")

    def _check(
        self,
        y: TensorVariable,
        x: TensorVariable,
        in_shape: tuple[int, ...],
        out_shape: Sequence[int],
        mode: Mode | str | None,
    ) -> None:
        value = self.rng.uniform(0.5, 1.5, in_shape).astype(x.dtype)
        found = np.shape(function([x], y, mode=mode, on_unused_input="ignore")(value))
        if found != tuple(out_shape):
            raise AssertionError(f"the value of {y!r} has the shape {found}, not {tuple(out_shape)}")
        check_rop_lop(lambda given: clone_replace(y, {x: given}), [value], rng=self.rng, mode=mode)
