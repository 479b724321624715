"""C sides of Types: of one's own, of this package's, and what is registered for Ops of this package's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella import Apply, FunctionGraph, Generic, NoneConst, ScalarType, Type, Variable
from lamella.codegen import (
    CDataType,
    CLinkerType,
    COp,
    c_type,
    dtype_specs,
    lower_to_c,
    register_deep_copy_op_c_code,
    register_shape_c_code,
    register_shape_i_c_code,
    register_view_op_c_code,
    write_program,
)
from lamella.errors import LoweringError
from lamella.ir import Shape, Shape_i, deep_copy_op, view_op
from lamella.tensor import TensorType
from lamella.typing_layer import schedule

from .ops import Double, DoubleOp, Mix, MulOp, Names, Sub, double


def test_a_graph_of_floats_runs_in_c() -> None:
    a, b, c = double("a"), double("b"), double("c")
    out = DoubleOp("*")(DoubleOp("+")(a, b), c)
    f = lm.function([a, b, c], out)
    assert f(1.0, 2.0, 3.0) == 9.0 == out.eval({a: 1.0, b: 2.0, c: 3.0})
    assert lm.function([a], DoubleOp("*")(a, double.make_constant(2.5)))(2.0) == 5.0


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int32", "uint64", "int64", "float32", "float64", "complex64", "complex128"]
)
def test_numbers_of_each_dtype_go_through_c(dtype: str) -> None:
    class Same(COp[[Any], Variable[Any]]):
        __props__ = ()

        def make_node(self, v: Variable[Any]) -> Apply[Variable[Any]]:
            return Apply(self, [v], [v.type])

        def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
            return f"dtype_{inputs[0]} copy = {inputs[0]}; {outputs[0]} = copy;"

    v = ScalarType(dtype)("v")
    f = lm.function([v], Same()(v))
    for value in (0, 1, 77 if dtype != "bool" else 1):
        given = np.dtype(dtype).type(value)
        found = f(given)
        assert type(found) is type(given)
        assert found == given


def test_params_may_be_objects_or_be_read_once() -> None:
    s, t = ScalarType("float32")("s"), ScalarType("float32")("t")
    two, three = np.float32(2), np.float32(3)
    assert lm.function([s], MulOp(2.5)(s))(two) == 5.0 == MulOp(2.5)(s).eval({s: two})
    f, g = lm.function([s, t], Mix(2.0, 3.0)(s, t)), lm.function([s, t], Mix(10.0, 100.0)(s, t))
    assert (f(two, three), g(two, three), f(two, two)) == (13, 320, 10)
    assert MulOp(2.0) == MulOp(2.0) != MulOp(3.0)


def test_objects_are_python_objects_in_c() -> None:
    class Keep(COp[[Any, Any], Variable[Any]]):
        """The first, unless it is None."""

        __props__ = ()

        def make_node(self, v: Variable[Any], w: Variable[Any]) -> Apply[Variable[Any]]:
            return Apply(self, [v, w], [Generic()])

        def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
            (v, w), (z,) = inputs, outputs
            return f"Py_XDECREF({z}); {z} = Py_NewRef({v} == Py_None ? {w} : {v});"

    v = Generic()("v")
    marker = object()
    assert lm.function([v], Keep()(NoneConst, v))(marker) is marker
    assert lm.function([v], Keep()(v, v))({"key": 1}) == {"key": 1}


class Words(Type[str]):
    """Texts; nothing in it knows of C."""

    __props__ = ()

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> str:
        if not isinstance(value, str):
            raise TypeError("a text is expected")
        return value


class WordsInC(CLinkerType):
    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        return f"const char *{name};"

    def c_init(self, name: str, sub: Sub) -> str:
        return f"{name} = NULL;"

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: Any) -> str:
        return f"{name} = PyUnicode_AsUTF8(py_{name}); if ({name} == NULL) {sub['fail']}"

    def c_sync(self, name: str, sub: Sub) -> str:
        return f"Py_XDECREF(py_{name}); py_{name} = PyUnicode_FromString({name});"


class Length(COp[[Variable[Words]], Variable[Any]]):
    __props__ = ()

    def make_node(self, v: Variable[Words]) -> Apply[Variable[Any]]:
        return Apply(self, [v], [ScalarType("int64")])

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        return f"{outputs[0]} = (npy_int64)strlen({inputs[0]});"


def test_a_c_side_may_be_given_to_a_type_that_has_none() -> None:
    with pytest.raises(LoweringError, match="have no C side"):
        c_type.get(Words())

    @c_type.register(Words)
    def words_in_c(type: Words) -> CLinkerType:
        return WordsInC()

    v = Words()("v")
    assert lm.function([v], Length()(v))("four") == 4


def test_what_pages_ask_of_a_type_is_a_function_here() -> None:
    assert dtype_specs(TensorType("float32", (None,))) == (np.float32, "npy_float32", "NPY_FLOAT32")
    assert dtype_specs("int64") == (np.int64, "npy_int64", "NPY_INT64")
    assert c_type.get(TensorType("int8", ())).c_element_type() == "npy_int8"
    with pytest.raises(TypeError, match="have no dtype"):
        dtype_specs(Generic())


class Pair(Type["tuple[float, ...]"], CLinkerType):
    """Tuples of floats; in C they are Python objects, and have a shape."""

    __props__ = ()
    shape = (None, None)
    ndim = 2

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> tuple[float, ...]:
        if not isinstance(value, tuple):
            raise TypeError("a tuple is expected")
        return value

    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        return f"PyObject *{name};"

    def c_init(self, name: str, sub: Sub) -> str:
        return f"{name} = NULL;"

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: Any) -> str:
        return f"{name} = Py_NewRef(py_{name});"

    def c_sync(self, name: str, sub: Sub) -> str:
        return f"Py_XDECREF(py_{name}); py_{name} = Py_NewRef({name});"

    def c_cleanup(self, name: str, sub: Sub) -> str:
        return f"Py_XDECREF({name});"


def test_ops_of_this_package_take_c_code_for_a_type_of_ones_own() -> None:
    register_deep_copy_op_c_code(Pair, "%(oname)s = PySequence_List(%(iname)s); if (%(oname)s == NULL) %(fail)s", (1,))
    register_view_op_c_code(Pair, "%(oname)s = Py_NewRef(%(iname)s);", (1,))
    p = Pair()("p")
    program = write_program(schedule(FunctionGraph([p], [deep_copy_op(p), view_op(p)])))
    assert "PySequence_List(V0)" in program.text
    assert "DeepCopyOp" not in program.text.split("user_0")[0]
    copied, viewed = lm.function([p], [deep_copy_op(p), view_op(p)], mode="FAST_RUN")((1.0, 2.0))
    assert (copied, viewed) in ([[1.0, 2.0], (1.0, 2.0)], ([1.0, 2.0], [1.0, 2.0]))


def test_shapes_take_c_code_for_a_type_of_ones_own() -> None:
    length = "PyArray_ZEROS(0, NULL, NPY_INT64, 0)"
    register_shape_i_c_code(
        Pair,
        f"Py_XDECREF(%(oname)s); %(oname)s = (PyArrayObject *){length};"
        "*(npy_int64 *)PyArray_DATA(%(oname)s) = PyTuple_GET_SIZE(%(iname)s) + %(i)s;",
        'if (!PyTuple_Check(%(iname)s)) { PyErr_SetString(PyExc_TypeError, "a tuple is expected"); %(fail)s }',
    )
    register_shape_c_code(
        Pair,
        "{ npy_intp n = 1; Py_XDECREF(%(oname)s); %(oname)s = (PyArrayObject *)PyArray_ZEROS(1, &n, NPY_INT64, 0); }"
        "*(npy_int64 *)PyArray_DATA(%(oname)s) = PyTuple_GET_SIZE(%(iname)s);",
    )
    p = Pair()("p")
    one: Sequence[Any] = Apply(Shape_i(1), [p], [TensorType("int64", ())]).outputs
    both: Sequence[Any] = Apply(Shape(), [p], [TensorType("int64", (None,))]).outputs
    f = lower_to_c(schedule(FunctionGraph([p], [one[0] * 10, both[0]]))).executable()
    a, b = f([(1.0, 2.0, 3.0)])
    assert a == 40
    np.testing.assert_array_equal(b, [3])


def test_a_type_that_says_no_more_than_it_must_works_too() -> None:
    class Bare(Double):
        """As on older pages: no ``check_input``, no keywords."""

        __props__ = ()

        def c_declare(self, name: str, sub: Sub) -> str:  # type: ignore[override]  # what this test is about
            return f"double {name};"

        def c_extract(self, name: str, sub: Sub) -> str:  # type: ignore[override]  # what this test is about
            return f"{name} = PyFloat_AsDouble(py_{name});"

        def c_headers(self) -> list[str]:  # type: ignore[override]  # what this test is about
            return ["<float.h>"]

    class Twice(COp[[Variable[Any]], Variable[Any]]):
        __props__ = ()

        def make_node(self, v: Variable[Any]) -> Apply[Variable[Any]]:
            return Apply(self, [v], [Bare()])

        def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
            return f"{outputs[0]} = {inputs[0]} * 2 * DBL_MAX / DBL_MAX;"

    v = Bare()("v")
    assert lm.function([v], Twice()(v))(4.0) in (8.0, np.inf)
    assert lm.function([lt.dscalar("unused"), v], Twice()(v), on_unused_input="ignore")(0.0, 0.5) in (1.0, np.inf)


POINTER = CDataType(
    "struct counted *",
    "counted_free",
    extra_support_code="""
    struct counted { double value; };
    static int counted_alive;
    static void counted_free(void *p) { --counted_alive; free(p); }
    """,
)


class MakeCounted(COp[[Any], Variable[CDataType]]):
    """A pointer to memory with a number in it; NULL for 0."""

    __props__ = ()

    def make_node(self, v: Any) -> Apply[Variable[CDataType]]:
        return Apply(self, [v], [POINTER])

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        (v,), (z,) = inputs, outputs
        return f"""
        if ({v} != 0) {{
            {z} = (struct counted *)malloc(sizeof(struct counted));
            if ({z} == NULL) {{ PyErr_NoMemory(); {sub["fail"]} }}
            ++counted_alive;
            {z}->value = {v};
        }}
        """


class ReadCounted(COp[[Any], Variable[Any]]):
    """The number, and 1000 for each piece of memory that is alive."""

    __props__ = ()

    def make_node(self, v: Any) -> Apply[Variable[Any]]:
        return Apply(self, [v], [ScalarType("float64")])

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        return f"{outputs[0]} = 1000 * counted_alive + ({inputs[0]} == NULL ? -1 : {inputs[0]}->value);"


def test_pointers_are_passed_from_op_to_op_and_freed() -> None:
    v = ScalarType("float64")("v")
    f = lm.function([v], ReadCounted()(MakeCounted()(v)))
    assert [f(np.float64(n)) for n in (3, 4, 0)] == [1003, 1004, -1]
    g = lm.function([v], MakeCounted()(v))
    capsule = g(np.float64(7))
    assert type(capsule).__name__ == "PyCapsule"
    pointer = POINTER("pointer")
    assert lm.function([pointer], ReadCounted()(pointer))(capsule) == 7
    with pytest.raises(TypeError, match=r"a pointer of type struct counted \* or None is expected"):
        lm.function([pointer], ReadCounted()(pointer))(3)
    assert CDataType("struct counted *", "counted_free", extra_support_code=POINTER.extra_support_code) == POINTER


class Counter(Double):
    """Floats that remember, in C, how often an output was given its old value."""

    __props__ = ()

    def c_extract_out(self, name: str, sub: Sub, check_input: bool = True, **kwargs: Any) -> str:
        return f"{name} = py_{name} == Py_None ? 0 : PyFloat_AS_DOUBLE(py_{name});"


class CountUp(COp[[Any], Variable[Counter]]):
    """One more than what its output held before."""

    __props__ = ()

    def make_node(self, v: Any) -> Apply[Variable[Counter]]:
        return Apply(self, [v], [Counter()])

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        return f"{outputs[0]} += 1.5;"


class Plain(COp[[Any], Variable[Double]]):
    __props__ = ()

    def make_node(self, v: Any) -> Apply[Variable[Double]]:
        return Apply(self, [v], [double])

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        return f"{outputs[0]} += {inputs[0]};"


def test_an_output_may_begin_with_its_old_value() -> None:
    v = double("v")
    f = lm.function([v], Plain()(CountUp()(v)))
    assert [f(0.0) for _ in range(3)] == [1.5, 3.0, 4.5]
    g = lm.function([v], Plain()(Plain()(v)))
    assert [g(1.0) for _ in range(3)] == [1, 1, 1]
