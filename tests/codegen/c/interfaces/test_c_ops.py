"""Ops with C code of one's own: alone, among lowered Ops, with state, in every way of running them."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella import Apply, FunctionGraph
from lamella.codegen import COp, lower_to_c, write_program
from lamella.errors import CompileError, MethodNotDefined
from lamella.runtime import OpWiseCLinker
from lamella.tensor import TensorLike, TensorType, TensorVariable, as_tensor_variable
from lamella.typing_layer import schedule

from .ops import Names, Scaled, Statistic, Sub, VectorTimesScalar, VectorTimesVector

x, y, s = lt.dvector("x"), lt.fvector("y"), lt.dscalar("s")
STEPS = np.arange(4.0)


def test_an_op_in_the_middle_of_lowered_ops_is_a_step_of_the_same_unit() -> None:
    inner = VectorTimesScalar()(lt.exp(x), s + 1)
    outputs = [lt.exp(inner) + VectorTimesScalar()(x[::-1], s), lt.sum(inner)]
    program = write_program(schedule(FunctionGraph([x, s], outputs)))
    assert program.text.count("#include <Python.h>") == 1
    assert program.text.count("LM_STEP int user_") == 2
    first, second = lm.function([x, s], outputs)(STEPS, 2.0)
    np.testing.assert_allclose(first, np.exp(np.exp(STEPS) * 3) + STEPS[::-1] * 2)
    np.testing.assert_allclose(second, np.sum(np.exp(STEPS) * 3))


def test_a_function_without_such_ops_has_nothing_of_python_in_it() -> None:
    assert "Python.h" not in write_program(schedule(FunctionGraph([x], [lt.exp(x)]))).text


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "DebugMode", lm.Mode(OpWiseCLinker(), lm.FAST_RUN.query)])
def test_every_mode_runs_the_op(mode: Any) -> None:
    out = VectorTimesVector()(lt.exp(x), y) * 2
    f = lm.function([x, y], out, mode=mode)
    np.testing.assert_allclose(f(STEPS, np.ones(4, "float32")), np.exp(STEPS) * 2)


def test_an_op_without_perform_is_interpreted_by_its_c_code() -> None:
    np.testing.assert_array_equal(VectorTimesScalar()(x, s).eval({x: STEPS, s: 2.0}), 2 * STEPS)
    np.testing.assert_array_equal(VectorTimesScalar()(x, x[0]).eval({x: STEPS + 1}), STEPS + 1)
    np.testing.assert_array_equal(VectorTimesScalar()(lt.constant(STEPS), s).eval({s: 3.0}), 3 * STEPS)


@pytest.mark.parametrize("dtypes", [("int8", "uint16"), ("float32", "int64"), ("complex64", "float64")])
def test_the_types_in_c_are_those_of_numpy(dtypes: tuple[str, str]) -> None:
    a, b = [lt.vector(dtype=dtype) for dtype in dtypes]
    values = [np.arange(6).astype(dtype)[::2] for dtype in dtypes]
    op = VectorTimesVector()
    if "complex64" in dtypes:  # the code multiplies numbers
        np.testing.assert_array_equal(op(a, b).eval({a: values[0], b: values[1]}), values[0] * values[1])
        return
    found = lm.function([a, b], op(a, b))(*values)
    expected = values[0] * values[1]
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_an_error_in_c_arrives_with_a_note_of_the_node() -> None:
    f = lm.function([x, y], VectorTimesVector()(x, y) + 1)
    with pytest.raises(ValueError, match="lengths 4 and 2") as caught:
        f(STEPS, np.ones(2, "float32"))
    assert "VectorTimesVector" in caught.value.__notes__[0]
    np.testing.assert_array_equal(f(STEPS, np.ones(4, "float32")), STEPS + 1)


def test_the_memory_of_an_intermediate_output_is_used_again() -> None:
    class Reporting(VectorTimesScalar):
        """Ends with whether it found memory of an earlier call."""

        __props__ = ()

        def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
            z = outputs[0]
            found = f"const int found = {z} != NULL;"
            return f"{found} {super().c_code(node, name, inputs, outputs, sub)} *(double *)PyArray_DATA({z}) = found;"

    inner = lm.function([x, s], lt.sum(Reporting()(x, s)))
    assert [inner(np.zeros(n), 1.0) for n in (4, 4, 3)] == [0, 1, 1]
    returned = lm.function([x, s], Reporting()(x, s))
    assert [returned(STEPS, 1.0)[0] for _ in range(3)] == [0, 0, 0]


class InPlace(COp[[TensorLike], TensorVariable]):
    """Doubles its input, in its place."""

    __props__ = ()
    destroy_map = {0: [0]}

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        variable = as_tensor_variable(x)
        return Apply(self, [variable], [variable.type])

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        (v,), (z,) = inputs, outputs
        return f"""
        Py_INCREF({v});
        Py_XDECREF({z});
        {z} = {v};
        for (npy_intp i = 0; i < PyArray_DIM({z}, 0); ++i) *(double *)PyArray_GETPTR1({z}, i) *= 2;
        """


class Reversed(COp[[TensorLike], TensorVariable]):
    """A view from the last element to the first."""

    __props__ = ()
    view_map = {0: [0]}

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        return Apply(self, [as_tensor_variable(x)], [TensorType("float64", (None,))])

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        (v,), (z,) = inputs, outputs
        return f"""
        Py_XDECREF({z});
        npy_intp n = PyArray_DIM({v}, 0), stride = -PyArray_STRIDE({v}, 0);
        {z} = (PyArrayObject *)PyArray_New(&PyArray_Type, 1, &n, NPY_FLOAT64, &stride,
            PyArray_BYTES({v}) - (n ? n - 1 : 0) * stride, 0, NPY_ARRAY_WRITEABLE, NULL);
        if ({z} == NULL) {sub["fail"]}
        Py_INCREF({v});
        if (PyArray_SetBaseObject({z}, (PyObject *){v}) < 0) {sub["fail"]}
        """


def test_views_and_destruction_are_what_the_op_declares() -> None:
    given = STEPS.copy()
    f = lm.function([x], [InPlace()(lt.exp(x)), Reversed()(x), lt.sum(Reversed()(x) * x)])
    doubled, turned, product = f(given)
    np.testing.assert_allclose(doubled, 2 * np.exp(STEPS))
    np.testing.assert_array_equal(turned, STEPS[::-1])
    assert product == STEPS @ STEPS[::-1]
    np.testing.assert_array_equal(given, STEPS)
    turned[:] = 9
    np.testing.assert_array_equal(given, STEPS)
    lm.function([lm.In(x, mutable=True)], InPlace()(x))(given)
    np.testing.assert_array_equal(given, 2 * STEPS)


def test_each_application_and_each_function_has_a_state_of_its_own() -> None:
    outputs = [Scaled(2.0)(x), Scaled(3.0)(x) + 0]
    f, g = lm.function([x], outputs), lm.function([x], outputs)
    for calls in range(3):
        for factor, found in zip((2, 3), f(STEPS), strict=True):
            np.testing.assert_array_equal(found, factor * STEPS + calls)
    for factor, found in zip((2, 3), g(STEPS), strict=True):
        np.testing.assert_array_equal(found, factor * STEPS)
    del f
    gc.collect()
    np.testing.assert_array_equal(lm.function([x], outputs)(STEPS)[0], 2 * STEPS)
    np.testing.assert_array_equal(g(STEPS)[0], 2 * STEPS + 1)


def test_params_are_no_part_of_the_code() -> None:
    texts = {
        write_program(schedule(FunctionGraph([x], [Statistic(kind, scale, weights)(x)]))).text
        for kind, scale, weights in (("total", 1.0, [1, 2]), ("MEAN", 2.0, [3.0]))
    }
    assert len(texts) == 1


def test_threads_may_call_a_function_with_state_at_once() -> None:
    f = lm.function([x], lt.sum(Scaled(2.0)(lt.exp(x)) * 0))
    values = np.linspace(0, 1, 1000)
    found: list[float] = []

    def run() -> None:
        found.extend([float(f(values)) for _ in range(200)])

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [0.0] * 800


def test_make_thunk_runs_the_asked_implementation() -> None:
    node = VectorTimesVector().make_node(x, y)
    for impl in ("c", "py", None):
        storage: dict[Any, list[Any]] = {v: [None] for v in (*node.inputs, *node.outputs)}
        computed = {v: [False] for v in storage}
        storage[x][0], storage[y][0] = STEPS, np.ones(4, "float32")
        node.op.make_thunk(node, storage, computed, impl=impl)()
        np.testing.assert_array_equal(storage[node.outputs[0]][0], STEPS)
        assert computed[node.outputs[0]] == [True]
    with pytest.raises(ValueError, match="impl is 'c', 'py' or None, not 'rust'"):
        node.op.make_thunk(node, {}, {}, impl="rust")


class OnlyPython(COp[[TensorLike], TensorVariable]):
    """Has no C code for vectors."""

    __props__ = ()

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        variable = as_tensor_variable(x)
        return Apply(self, [variable], [variable.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        output_storage[0][0] = inputs[0] + 1

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        if node.inputs[0].type.ndim == 1:
            raise NotImplementedError("vectors")
        return f"Py_XDECREF({outputs[0]}); {outputs[0]} = (PyArrayObject *)PyArray_Copy({inputs[0]});"


def test_without_c_code_perform_computes() -> None:
    np.testing.assert_array_equal(lm.function([x], OnlyPython()(x) * 2)(STEPS), (STEPS + 1) * 2)
    assert lm.function([s], OnlyPython()(s) * 2)(3.0) == 6.0  # its C code says something else
    node = OnlyPython().make_node(x)
    with pytest.raises(MethodNotDefined, match="has no C code for"):
        node.op.make_thunk(node, {}, {}, impl="c")


def test_half_precision_is_for_code_that_is_written_for_it() -> None:
    h = lt.vector(dtype="float16")
    program = write_program(schedule(FunctionGraph([h], [VectorTimesVector()(h, h)])))
    assert program.build is None


def test_what_does_not_compile_shows_what_the_compiler_says() -> None:
    class Wrong(VectorTimesScalar):
        __props__ = ()

        def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
            return "this is no C;"

    with pytest.raises(CompileError, match=r"unknown type name.*this"):
        lower_to_c(schedule(FunctionGraph([x, s], [Wrong()(x, s)])))


def test_code_that_asks_for_cxx_is_cxx() -> None:
    class Remembering(VectorTimesScalar):
        """Keeps a container of C++ from call to call."""

        __props__ = ()

        def c_compiler(self) -> str:
            return "g++"

        def c_headers(self, **kwargs: Any) -> list[str]:
            return ["vector"]

        def c_support_code_struct(self, node: Apply[Any], name: str) -> str:
            return f"std::vector<double> seen_{name};"

        def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
            z = outputs[0]
            code = super().c_code(node, name, inputs, outputs, sub)
            return f"seen_{name}.push_back(1); {code} {{ *(double *)PyArray_DATA({z}) = seen_{name}.size(); }}"

    f = lm.function([x, s], Remembering()(lt.exp(x), s) + 1)
    assert [f(STEPS, 1.0)[0] for _ in range(2)] == [2, 3]


def test_the_code_takes_part_in_fresh_processes_from_the_cache() -> None:
    program = (
        "import numpy as np, lamella as lm, lamella.tensor as lt, time\n"
        "from tests.codegen.c.interfaces.ops import Scaled\n"
        "x = lt.dvector('x')\n"
        "print(lm.function([x], Scaled(2.0)(x))(np.ones(2)))\n"
    )
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout == "[2. 2.]\n"
