"""Values that are written to a part of an array, and what every test of such writing asks of its derivatives."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from lamella.ir import Lop, Rop, TensorType, TensorVariable

from .agreement import Array, laid_out, numbered, run


@st.composite
def written_values(draw: st.DrawFn, shape: Sequence[int], dtype: str) -> tuple[TensorVariable, Array]:
    """A value that broadcasts to a shape; lengths of 1 that broadcast are known."""
    kept = shape[draw(st.integers(0, len(shape))) :]
    lengths = [1 if draw(st.integers(0, 3)) == 0 else length for length in kept]
    value = 100 + numbered(lengths, dtype)
    static = [a if (a == 1 and b != 1) or draw(st.booleans()) else None for a, b in zip(lengths, kept, strict=True)]
    return TensorType(dtype, static)("v"), draw(laid_out(value.astype(dtype)))


def check_linear(out: TensorVariable, values: dict[TensorVariable, Array], others: dict[TensorVariable, Array]) -> None:
    """See that products with the Jacobian of a linear function of `values` are exact, from both sides."""
    (result,) = run([out], {**values, **others})
    rng = np.random.default_rng(1)
    weights = rng.integers(-3, 4, result.shape).astype("float64")
    directions = {v: rng.integers(-3, 4, value.shape).astype("float64") for v, value in values.items()}
    cotangent = out.type("cotangent")
    backs = run(Lop(out, list(values), cotangent), {**values, **others, cotangent: weights})
    for back, value in zip(backs, values.values(), strict=True):
        assert back.shape == value.shape
    (moved,) = run([out], {**directions, **others})
    assert sum([np.sum(b * d) for b, d in zip(backs, directions.values(), strict=True)]) == np.sum(weights * moved)
    tangents = {v: v.type("tangent") for v in values}
    pushed = Rop(out, list(values), list(tangents.values()))
    (found,) = run([pushed], {**values, **others, **{tangents[v]: d for v, d in directions.items()}})
    np.testing.assert_array_equal(found, moved)
