"""Scalar Ops that users write: a loop, an impl, slopes or an L_op, and they are functions of arrays; and what errors say."""

import pickle
from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np
import pytest
from typing_extensions import override

import lamella.tensor as lt
from lamella.errors import GradientNotImplementedError
from lamella.ir import (
    SCALAR_OPS,
    Cast,
    DTypeOrLiteral,
    Elemwise,
    Loop,
    ScalarLike,
    ScalarOp,
    Scalars,
    ScalarType,
    Slopes,
    Variable,
    grad,
    ls,
    result_dtype,
)
from lamella.testing import verify_grad


@final
@attrs.frozen
class XLogY(ScalarOp[[ScalarLike, ScalarLike]]):
    """``x * log(y)``, 0 where ``x`` is 0."""

    nin = 2

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        dtype = result_dtype(*dtypes, "float32")
        return (dtype, dtype), (dtype,)

    @override
    def impl(self, *operands: Any) -> Any:
        x, y = operands
        return np.where(x == 0, 0, x * np.log(y))

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        x, y = inputs
        return [ls.log(y), x / y]


@final
@attrs.frozen
class SinCos(ScalarOp[[ScalarLike]]):
    """Both at once."""

    nin = 1
    nout = 2

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        return ("float64",), ("float64", "float64")

    @override
    def impl(self, *operands: Any) -> Any:
        return np.sin(operands[0]), np.cos(operands[0])

    @override
    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        sine, cosine = outputs
        terms = [g * slope for g, slope in zip(output_grads, (cosine, -sine), strict=True) if hasattr(g, "dtype")]
        return [ls.add(*terms) if len(terms) > 1 else terms[0]]


@final
@attrs.frozen
class Step(ScalarOp[[ScalarLike]]):
    """Has no gradient."""

    nin = 1

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        return ("float64",), ("float64",)

    @override
    def impl(self, *operands: Any) -> Any:
        return np.heaviside(operands[0], 0.5)


def test_a_new_scalar_op_is_an_elementwise_function() -> None:
    xlogy = Elemwise(XLogY())
    x, y = lt.dmatrix("x"), lt.drow("y")
    made = xlogy(x, y)
    assert made.type.shape == (None, None)
    values = {x: np.array([[0.0, 2.0], [1.0, 3.0]]), y: np.array([[0.0, 4.0]])}
    np.testing.assert_array_equal(made.eval(values), [[0.0, 2 * np.log(4.0)], [-np.inf, 3 * np.log(4.0)]])
    verify_grad(xlogy, [np.array([[0.5, 2.0], [1.0, 3.0]]), np.array([[0.3, 4.0]])], mode="FAST_COMPILE")
    assert xlogy(lt.fvector("a"), 2).dtype == "float32"
    assert str(xlogy) == "XLogY"


def test_several_results() -> None:
    both = Elemwise(SinCos())
    x = lt.vector("x")
    made: Any = both(x)
    np.testing.assert_array_equal(made[1].eval({x: [0.5]}), [np.cos(0.5)])
    np.testing.assert_allclose(grad(lt.sum(made[0] * made[1]), x).eval({x: [0.5]}), [np.cos(1.0)])
    np.testing.assert_allclose(grad(lt.sum(made[1]), x).eval({x: [0.5]}), [-np.sin(0.5)])


def test_an_op_without_gradient_is_named() -> None:
    x = lt.vector("x")
    with pytest.raises(GradientNotImplementedError, match="Step has no gradient: it defines neither slopes nor L_op"):
        grad(lt.sum(Elemwise(Step())(lt.exp(x))), x)


def test_wrong_calls() -> None:
    a = ScalarType("float64")("a")
    with pytest.raises(TypeError, match="XLogY takes 2 operands, not 1"):
        XLogY()(a)  # type: ignore[call-arg]  # what is tested
    with pytest.raises(TypeError, match="Add takes two or more operands, not 1"):
        ls.add(a)  # type: ignore[call-arg]  # what is tested
    with pytest.raises(TypeError, match="'no' of type str is no number"):
        ls.exp("no")  # type: ignore[arg-type]  # what is tested
    with pytest.raises(TypeError, match="bitwise_and is not defined for float64 and the literal of type int"):
        ls.bitwise_and(a, 1)
    with pytest.raises(TypeError, match="it has no truth value"):
        bool(a)


def test_operators_of_scalars() -> None:
    a, b = ScalarType("int64")("a"), ScalarType("int64")("b")
    made = [a + b, 7 - a, a * 2, a / b, 7 // a, a % b, a**2, -a, abs(-a), ~a, a & b, a | 1, a ^ b, a << 1, 64 >> a]
    tests = [a < b, a <= b, a > b, a >= b]
    values = [v.eval({a: 3, b: 5}) for v in [*made, *tests]]
    assert values == [8, 4, 6, 0.6, 2, 3, 9, -3, 3, -4, 1, 3, 6, 6, 8, True, True, False, False]
    assert (np.float64(2.0) * ScalarType("float32")("f")).dtype == "float64"
    assert (2.0 * ScalarType("float32")("f")).dtype == "float32"
    assert a.astype("int8").dtype == "int8"
    assert a.astype("int64") is a


def test_scalar_ops_are_values() -> None:
    ops = [Cast("int8") if kind is Cast else kind() for kind in SCALAR_OPS]
    assert len(set(ops)) == len(ops)
    for op, kind in zip(ops, SCALAR_OPS, strict=True):
        again = Cast("int8") if kind is Cast else kind()
        assert op == again
        assert hash(op) == hash(again)
        assert pickle.loads(pickle.dumps(op)) == op
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            op.note = 1
        assert op.flops_per_element >= 0
        assert kind.__doc__
    assert Cast("int8") != Cast("int16")
    assert Cast(np.int8) == Cast("int8")
