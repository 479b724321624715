"""Operations that return what they are given."""

import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.ir import TensorVariable, view_op
from lamella.rewriting.rules.identities import identity_of_x
from tests.rewriting.rules.before_and_after import after

x = lt.vector("x")


@pytest.mark.parametrize(
    "same",
    [
        lt.tensor_copy(x),
        view_op(x),
        lm.grad_clip(x, -1.0, 1.0),
        lm.grad_scale(x, 3.0),
        lm.zero_grad(x),
        lm.disconnected_grad(x),
        lm.consider_constant(x),
    ],
    ids=str,
)
def test_what_returns_its_input_is_its_input(same: TensorVariable) -> None:
    assert after([x], lt.exp(same), [[1.0, -0.0]], identity_of_x) == "%0: float64[?] = Exp(%x)\nreturn %0"
    assert after([x], same, [[1.0, -0.0]], identity_of_x) == "return %x"
