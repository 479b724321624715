"""Random elementwise expressions of two vectors that hold all pairs of special values, full of numbers that do nothing and minus signs."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
from hypothesis import strategies as st

from lamella.ir import TensorType, TensorVariable, lt
from tests.rewriting.rules.special_values import Array, grid

UNARY = ("neg", "abs", "square", "exp", "log", "sqrt", "reciprocal", "sigmoid", "tanh", "isnan", "logical_not", "sign")
MORE_UNARY = (
    *("expm1", "log1p", "cosh", "sinh", "erf", "erfc", "erfcx", "softplus", "log_sigmoid", "log1mexp", "floor", "cos"),
    *("exp2", "log2", "arcsinh", "arccosh", "arctanh", "isfinite", "isinf"),
)
BINARY = ("add", "sub", "mul", "true_divide", "maximum", "minimum", "lt", "ge", "eq", "neq", "annihilating_mul")
MORE_BINARY = (
    *("logical_and", "logical_or", "logical_xor", "power", "logaddexp", "floor_divide", "mod", "second", "xlogy"),
    *("gt", "le"),
)
BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    0.5,
    -3.0,
    4.0,
    -0.5,
    1.5,
    math.nan,
    math.inf,
    -math.inf,
    True,
    False,
)
FORMS: tuple[Callable[[Any, Any], TensorVariable], ...] = (
    *(lambda x, y: (x + y) - x, lambda x, y: (x - y) + y, lambda x, y: x - (x - y), lambda x, y: y - (x + y)),
    *(lambda x, y: x * 2 + x * 3, lambda x, y: x * 3 - x, lambda x, y: (x - 1) - 2, lambda x, y: 3 - (x - 1)),
    *(
        lambda x, y: (x + 1) + (y + 2),
        lambda x, y: (x / 3) / 5,
        lambda x, y: (x / 3) * 0.25,
        lambda x, y: (x * 5) / 0.5,
    ),
    *(lambda x, y: (x * y) / y, lambda x, y: x * (y / x), lambda x, y: -(x - y), lambda x, y: -(x + 1)),
    *(lambda x, y: lt.log(lt.exp(x)), lambda x, y: lt.exp(x) * lt.exp(y), lambda x, y: lt.exp(x) / lt.exp(y)),
    *(lambda x, y: 1 / lt.exp(x), lambda x, y: lt.sqrt(lt.exp(x)), lambda x, y: lt.log(lt.exp(x) - lt.exp(y))),
    *(lambda x, y: lt.log(1 + lt.exp(x) + lt.exp(y)), lambda x, y: lt.log1p(lt.exp(x) + lt.exp(y))),
    *(lambda x, y: lt.log(2.5 + lt.exp(x)), lambda x, y: lt.log(lt.expm1(x)), lambda x, y: y * x * lt.log(x)),
    *(lambda x, y: lt.exp(lt.softplus(x)), lambda x, y: lt.exp(lt.log_sigmoid(x)), lambda x, y: lt.expm1(lt.log(x))),
    *(lambda x, y: lt.log(lt.erfc(x)), lambda x, y: lt.log(0.5 * lt.erfc(x)), lambda x, y: lt.exp(x * x) * lt.erfc(x)),
    *(lambda x, y: lt.erf(x) - 1, lambda x, y: lt.log(1 - lt.tanh(x) ** 2), lambda x, y: lt.arctanh(lt.tanh(x))),
    *(lambda x, y: 1 / (1 / x), lambda x, y: 1 / (x / y), lambda x, y: x / (1 / y), lambda x, y: x * (1 / y)),
    *(lambda x, y: lt.abs(x) * lt.abs(y), lambda x, y: lt.abs(x) / lt.abs(y), lambda x, y: lt.cos(-x)),
    *(lambda x, y: lt.minimum(lt.maximum(x, -1), 2), lambda x, y: lt.maximum(lt.minimum(x, 3), 1)),
    *(lambda x, y: lt.clip(lt.clip(x, 1, 5), 2, 7), lambda x, y: lt.maximum(lt.clip(x, -3, 5), 7)),
    *(lambda x, y: lt.switch(x > 0, 1, 2) * 3, lambda x, y: lt.switch(y, 1, x) + lt.switch(y, 2, x)),
    *(lambda x, y: lt.annihilating_mul(lt.switch(y, 2, 0), x), lambda x, y: lt.switch(y, x, 0) * y),
    *(lambda x, y: -x < -y, lambda x, y: -x >= 2, lambda x, y: lt.isnan(-x), lambda x, y: lt.eq(x > 0, 1)),
    *(lambda x, y: x**0.5, lambda x, y: x**-0.5, lambda x, y: x**1.5, lambda x, y: x // 4, lambda x, y: x % 8),
)
"""Left sides of laws."""
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
        kind = draw(st.integers(0, 12))
        try:
            if kind < 3:
                new = getattr(lt, draw(st.sampled_from((*UNARY, *UNARY, *MORE_UNARY))))(made[-1])
            elif kind < 8:
                name = draw(st.sampled_from((*BINARY, *BINARY, *MORE_BINARY, *BITWISE)))
                new = getattr(lt, name)(operand(), operand())
            elif kind == 8:
                new = lt.switch(operand(), operand(), operand())
            elif kind == 9:
                new = lt.clip(operand(), operand(), operand())
            else:
                new = draw(st.sampled_from(FORMS))(made[-1], made[-min(len(made), draw(st.integers(1, 3)))])
        except (TypeError, ValueError, OverflowError):
            continue
        if new.ndim == 1:
            made.append(new)
    with np.errstate(all="ignore"):
        return RandomExpressions(inputs, grid(of), made)
