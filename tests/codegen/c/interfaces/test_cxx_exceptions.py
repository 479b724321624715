"""C++ code of users' Ops that throws: a Python exception with the node's note, nothing lost, and the process goes on."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella import Apply, Generic, OutputStorage
from lamella.codegen import COp
from lamella.tensor import TensorLike, TensorVariable, as_tensor_variable

from .ops import Names, Sub
from .test_failures import MOST_KILOBYTES, REPETITIONS, fails, kilobytes

x = lt.dvector("x")


class Throwing(COp[[TensorLike], TensorVariable]):
    """The identity; throws what its first element says, or when it is prepared."""

    params_type = Generic()
    __props__ = ("at_once",)

    def __init__(self, at_once: bool = False) -> None:
        self.at_once = at_once

    def get_params(self, node: Apply[Any]) -> bool:
        return self.at_once

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        variable = as_tensor_variable(x)
        return Apply(self, [variable], [variable.type])

    def perform(
        self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage, params: Any = None
    ) -> None:
        output_storage[0][0] = inputs[0].copy()

    def c_compiler(self) -> str:
        return "g++"

    def c_headers(self, **kwargs: Any) -> list[str]:
        return ["stdexcept", "string", "vector"]

    def c_support_code(self, **kwargs: Any) -> str:
        return """
        static int n_alive = 0;
        struct Alive { Alive() { ++n_alive; } ~Alive() { --n_alive; } };
        static void fly(int what)
        {
            Alive alive;
            switch (what) {
            case -1: throw std::invalid_argument("it is " + std::to_string(what));
            case -2: throw std::bad_alloc();
            case -3: throw what;
            case -4: PyErr_SetString(PyExc_KeyError, "Python's"); throw std::runtime_error("C++'s");
            case -5: std::vector<double>().at(3);
            }
        }
        """

    def c_init_code_struct(self, node: Apply[Any], name: str, sub: Sub) -> str:
        return f'if ({sub["params"]} == Py_True) throw std::runtime_error("it cannot begin");'

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        (x,), (z,) = inputs, outputs
        return f"""
        if (n_alive) {{ PyErr_SetString(PyExc_AssertionError, "not unwound"); {sub["fail"]} }}
        Py_XDECREF({z});
        {z} = (PyArrayObject *)PyArray_NewCopy({x}, NPY_ANYORDER);
        if ({z} == NULL) {sub["fail"]}
        fly((int)lround(*(double *)PyArray_DATA({x})));
        """


THROWN: dict[int, tuple[type[Exception], str]] = {
    -1: (RuntimeError, "it is -1"),
    -2: (MemoryError, "^\nnode: "),
    -3: (RuntimeError, "has thrown what is no std::exception"),
    -4: (KeyError, "Python's"),
    -5: (RuntimeError, "_M_range_check|out of range"),
}


def test_what_is_thrown_arrives_with_its_note_and_leaks_nothing() -> None:
    f = lm.function([x], Throwing()(lt.exp(x) - 6) + 1)
    for code, (error, message) in THROWN.items():
        value = np.log(np.full(300, code + 6.0))
        with pytest.raises(error, match=message) as caught:
            f(value)
        assert "node: Throwing" in caught.value.__notes__[0]
        del caught
        fails(f, value, error, 100)
        gc.collect()
        before, blocks, references = kilobytes(), sys.getallocatedblocks(), sys.getrefcount(value)
        times = REPETITIONS if code == -1 else REPETITIONS // 20
        fails(f, value, error, times)
        gc.collect()
        assert sys.getrefcount(value) == references
        assert sys.getallocatedblocks() - blocks < 100
        assert kilobytes() - before < MOST_KILOBYTES
    assert np.allclose(f(np.log(np.full(3, 9.0))), 4.0)


def test_what_is_thrown_before_the_first_call() -> None:
    with pytest.raises(RuntimeError, match="it cannot begin") as caught:
        lm.function([x], Throwing(at_once=True)(lt.exp(x) - 6) + 1)
    assert "Throwing" in caught.value.__notes__[0]
