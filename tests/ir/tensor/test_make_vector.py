"""`MakeVector` and the two Ops between numbers and arrays of no dimensions."""

import numpy as np
import pytest

from lamella.ir import MakeVector, ScalarType, TensorType, grad, interpret, lt
from tests.ir.tensor.agreement import Values, agrees, check_derivatives, run

A, B = TensorType("float64", ())("a"), TensorType("float64", ())("b")


def test_scalars_side_by_side() -> None:
    out = MakeVector("float64")(A, 3, B)
    assert out.type.shape == (3,)
    agrees(out, {A: np.array(1.0), B: np.array(2.0)}, [1.0, 3.0, 2.0])
    agrees(MakeVector("int8")(), {}, np.zeros(0, "int8"))


def test_each_scalar_gets_its_own_derivative() -> None:
    check_derivatives(lambda a: MakeVector("float64")(a, 3 * a, a), A, np.array(2.0))
    ga, gb = grad(lt.sum(MakeVector("float64")(A, B) * np.array([5.0, 7.0])), [A, B])
    values: Values = {A: np.array(1.0), B: np.array(2.0)}
    assert run([ga, gb], values) == [5.0, 7.0]


def test_casts_lose_nothing() -> None:
    i = TensorType("int8", ())("i")
    agrees(MakeVector("int64")(i), {i: np.array(3, "int8")}, [3])
    with pytest.raises(TypeError, match="cast it first"):
        MakeVector("int8")(A)
    with pytest.raises(TypeError, match="takes scalars"):
        MakeVector("float64")(TensorType("float64", (1,))())


def test_numbers_and_arrays_of_no_dimensions() -> None:
    s = ScalarType("float32")("s")
    array = lt.tensor_from_scalar(s)
    assert array.type == TensorType("float32", ())
    (value,) = interpret([s], [array], [np.float32(2.5)])
    assert isinstance(value, np.ndarray)
    assert value == 2.5
    number = lt.scalar_from_tensor(A)
    (value,) = run([number], {A: np.array(2.0)})
    assert isinstance(value, np.float64)
    assert not isinstance(value, np.ndarray)
    check_derivatives(lambda a: lt.tensor_from_scalar(lt.scalar_from_tensor(a)), A, np.array(3.0))
    with pytest.raises(TypeError, match="no dimensions"):
        lt.scalar_from_tensor(TensorType("float64", (2,))())
    with pytest.raises(TypeError, match="takes a scalar variable"):
        lt.tensor_from_scalar(A)  # type: ignore[arg-type]  # what is refused
