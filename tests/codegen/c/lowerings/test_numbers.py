"""Numbers that are no arrays: computed in C without Python, given and handed out as NumPy scalars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.codegen import write_program
from lamella.ir import (
    Apply,
    FunctionGraph,
    Op,
    OutputStorage,
    ScalarType,
    ScalarVariable,
    TensorType,
    Variable,
    interpret,
    ls,
    make_slice,
)
from lamella.typing_layer import schedule
from tests.codegen.agreement import compiled
from tests.codegen.c.lowerings.against_perform import DTYPES


def is_without_python(inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
    return not write_program(schedule(FunctionGraph(inputs, outputs))).needs_python


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_of_all_dtypes(dtype: str) -> None:
    x, y, a = ScalarType(dtype)("x"), ScalarType(dtype)("y"), TensorType(dtype, ())("a")
    number = lt.scalar_from_tensor(a)
    outputs: list[Variable[Any]] = [
        x,
        ls.add(x, y),
        ls.mul(number, ls.add(x, 1)),
        lt.tensor_from_scalar(x),
        number,
        ls.eq(x, y),
    ]
    assert is_without_python([x, y, a], outputs)
    function = compiled([x, y, a], outputs)
    for given in [(0, 1, 1), (1, 1, 3), (3, 2, 5)]:
        values = [np.dtype(dtype).type(v) for v in given[:2]]
        array = np.array(given[2], dtype)
        for got, wanted in zip(
            function([*values, array]), interpret([x, y, a], outputs, [*values, array]), strict=True
        ):
            assert type(got) is type(wanted)
            assert got.dtype == wanted.dtype
            assert got.tobytes() == wanted.tobytes()


def test_constants_mixed_dtypes_and_several_results() -> None:
    i, x, z = ScalarType("int8")("i"), ScalarType("float32")("x"), ScalarType("complex128")("z")
    outputs = [
        ls.add(i, x),
        ls.mul(z, 2j),
        ls.exp(x),
        ls.switch(ls.gt(x, 0), x, 1.5),
        ls.add(ls.square(x), np.float64(3)),
    ]
    assert is_without_python([i, x, z], outputs)
    values = [np.int8(-3), np.float32(0.5), 1 + 2j]
    given = [v.type.filter(value) for v, value in zip((i, x, z), values, strict=True)]
    for got, wanted in zip(compiled([i, x, z], outputs)(given), interpret([i, x, z], outputs, given), strict=True):
        assert type(got) is type(wanted)
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_functions_take_numbers_as_their_type_does() -> None:
    x, n = ScalarType("float64")("x"), ScalarType("int64")("n")
    function = lm.function([x, n], ls.mul(x, n))
    for values in [
        (2.5, 3),
        (np.float64(2.5), np.int64(3)),
        (np.float32(2.5), np.int8(3)),
        (np.array(2.5), np.array(3)),
    ]:
        result = function(*values)
        assert type(result) is np.float64
        assert result == 7.5
    with pytest.raises(TypeError, match="a scalar is expected, not an array of shape"):
        function(np.zeros(1), 1)
    with pytest.raises(TypeError, match="does not fit int64"):
        function(1.0, 2.5)
    trusting = lm.function([x, n], ls.mul(x, n), trust_input=True)
    assert trusting(np.float64(1.5), np.int64(4)) == 6
    strict = lm.function([lm.In(x, strict=True)], ls.neg(x))
    assert strict(np.float64(1.5)) == -1.5
    for wrong in (1.5, np.array(1.5)):
        with pytest.raises(TypeError, match="is no scalar of dtype float64"):
            strict(wrong)


def test_errors_are_those_of_perform() -> None:
    i, j = ScalarType("int64")("i"), ScalarType("int64")("j")
    function = lm.function([i, j], ls.power(i, j))
    assert function(2, 5) == 32
    with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
        function(2, -1)


class Doubled(Op[[ScalarVariable], ScalarVariable]):
    """Twice a number, by a `perform` that sees what it is given."""

    __props__ = ()

    def make_node(self, x: ScalarVariable) -> Apply[ScalarVariable]:
        return Apply(self, [x], [x.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        assert type(inputs[0]) is np.float64
        output_storage[0][0] = inputs[0] * 2


def test_ops_in_python_are_given_numpy_scalars() -> None:
    x = ScalarType("float64")("x")
    function = lm.function([x], [ls.add(Doubled()(ls.add(x, 1.0)), x), make_slice(ls.cast(x, "int64"), None)])
    assert function(2.0) == [8.0, slice(2, None, None)]


def test_a_branch_of_numbers_is_chosen() -> None:
    x, flag = ScalarType("float64")("x"), lt.scalar("flag", dtype="bool")
    function = lm.function([x, flag], lm.ifelse(flag, ls.exp(x), ls.neg(x)))
    assert function(0.0, True) == 1
    assert function(2.0, False) == -2


def test_a_shared_number_is_read_and_set() -> None:
    x = lt.scalar("x")
    number = lt.scalar_from_tensor(x)
    total = lm.shared(np.array(1.5))
    function = lm.function(
        [x], number, updates={total: lt.tensor_from_scalar(ls.add(number, lt.scalar_from_tensor(total)))}
    )
    assert function(2.0) == 2
    assert total.get_value() == 3.5
