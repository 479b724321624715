"""Random elementwise expressions of two vectors that hold all pairs of special values, full of numbers that do nothing and minus signs."""

import math
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from hypothesis import strategies as st

from lamella.ir import TensorType, TensorVariable, lt
from tests.rewriting.rules.special_values import Array, grid

UNARY = ("neg", "abs", "square", "exp", "log", "sqrt", "reciprocal", "sigmoid", "tanh", "isnan", "logical_not", "sign")
MORE_UNARY = ("expm1", "log1p", "cosh", "sinh", "erf", "erfc", "softplus", "log_sigmoid", "floor", "cos")
BINARY = ("add", "sub", "mul", "true_divide", "maximum", "minimum", "lt", "ge", "eq", "neq", "annihilating_mul")
MORE_BINARY = ("logical_and", "logical_or", "logical_xor", "power", "logaddexp", "floor_divide", "mod", "second")
BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
NUMBERS = (0, 1, -1, 2, 3, 0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -3.0, 4.0, math.nan, math.inf, -math.inf, True, False)
DTYPES = ("float64", "float32", "int64", "int8", "uint8", "bool", "float16")


@attrs.frozen
class RandomExpressions:
    """Expressions of some inputs, and values for these."""

    inputs: list[TensorVariable]
    values: list[Array]
    made: list[TensorVariable]


@st.composite
def random_expressions(draw: st.DrawFn, most_steps: int = 14, dtypes: Sequence[str] = DTYPES) -> RandomExpressions:
    """Draw expressions; each is made of the inputs, of numbers and of those before it."""
    of = [draw(st.sampled_from(dtypes)) for _ in range(2)]
    inputs = [TensorType(dtype, (None,))(f"x{i}") for i, dtype in enumerate(of)]
    made = list(inputs)

    def operand() -> Any:
        if draw(st.integers(0, 4)) == 0:
            return draw(st.sampled_from(NUMBERS))
        return made[-min(len(made), draw(st.sampled_from([1, 1, 1, 2, 2, 3, len(made)])))]

    for _ in range(draw(st.integers(1, most_steps))):
        kind = draw(st.integers(0, 9))
        try:
            if kind < 3:
                new = getattr(lt, draw(st.sampled_from((*UNARY, *UNARY, *MORE_UNARY))))(made[-1])
            elif kind < 8:
                name = draw(st.sampled_from((*BINARY, *BINARY, *MORE_BINARY, *BITWISE)))
                new = getattr(lt, name)(operand(), operand())
            elif kind == 8:
                new = lt.switch(operand(), operand(), operand())
            else:
                new = lt.clip(operand(), operand(), operand())
        except (TypeError, ValueError, OverflowError):
            continue
        if new.ndim == 1:
            made.append(new)
    with np.errstate(all="ignore"):
        return RandomExpressions(inputs, grid(of), made)
