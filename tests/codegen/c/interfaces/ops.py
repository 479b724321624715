"""Ops and Types with C code, as the tests of this folder use them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lamella import Apply, Generic, OutputStorage, ScalarType, Type, Variable
from lamella.codegen import CLinkerType, COp, EnumList, ExternalCOp, ParamsType
from lamella.tensor import TensorLike, TensorType, TensorVariable, as_tensor_variable

Names = Sequence[str]
Sub = Mapping[str, str]


class VectorTimesScalar(COp[[TensorLike, TensorLike], TensorVariable]):
    """``x * y``, without a `perform`."""

    __props__ = ()

    def make_node(self, x: TensorLike, y: TensorLike) -> Apply[TensorVariable]:
        vector, scalar = as_tensor_variable(x), as_tensor_variable(y)
        if vector.ndim != 1 or scalar.ndim != 0:
            raise TypeError("a vector and a scalar are expected")
        return Apply(self, [vector, scalar], [TensorType(vector.dtype, (None,))])

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        (x, y), (z,) = inputs, outputs
        return f"""
        if ({z} == NULL || PyArray_DIM({z}, 0) != PyArray_DIM({x}, 0)) {{
            Py_XDECREF({z});
            {z} = (PyArrayObject *)PyArray_EMPTY(1, PyArray_DIMS({x}), PyArray_TYPE({x}), 0);
            if ({z} == NULL) {sub["fail"]}
        }}
        {{
            const dtype_{y} factor = *(dtype_{y} *)PyArray_DATA({y});
            for (npy_intp i = 0; i < PyArray_DIM({x}, 0); ++i)
                *(dtype_{z} *)PyArray_GETPTR1({z}, i) = *(dtype_{x} *)PyArray_GETPTR1({x}, i) * factor;
        }}
        """

    def c_code_cache_version(self) -> tuple[int, ...]:
        return (1, 0)


class VectorTimesVector(COp[[TensorLike, TensorLike], TensorVariable]):
    """``x * y`` of vectors of any two dtypes, with functions of the Op's and of the application's."""

    __props__ = ()

    def make_node(self, x: TensorLike, y: TensorLike) -> Apply[TensorVariable]:
        a, b = as_tensor_variable(x), as_tensor_variable(y)
        if a.ndim != 1 or b.ndim != 1:
            raise TypeError("two vectors are expected")
        return Apply(self, [a, b], [TensorType(np.result_type(a.dtype, b.dtype), (None,))])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        if inputs[0].shape != inputs[1].shape:
            raise ValueError("the vectors differ in length")
        output_storage[0][0] = inputs[0] * inputs[1]

    def c_support_code(self, **kwargs: Any) -> str:
        return """
        static bool equally_long(PyArrayObject *a, PyArrayObject *b)
        {
            return PyArray_DIM(a, 0) == PyArray_DIM(b, 0);
        }
        """

    def c_support_code_apply(self, node: Apply[Any], name: str) -> str:
        x, y, z = [f"npy_{v.type.dtype}" for v in (*node.inputs, *node.outputs)]
        return f"""
        static void multiply_{name}(PyArrayObject *a, PyArrayObject *b, PyArrayObject *product)
        {{
            for (npy_intp i = 0; i < PyArray_DIM(a, 0); ++i)
                *({z} *)PyArray_GETPTR1(product, i) = ({z})*({x} *)PyArray_GETPTR1(a, i) * ({z})*({y} *)PyArray_GETPTR1(b, i);
        }}
        """

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        (x, y), (z,) = inputs, outputs
        typenum = np.dtype(node.outputs[0].type.dtype).num
        return f"""
        if (!equally_long({x}, {y})) {{
            PyErr_Format(PyExc_ValueError, "lengths %zd and %zd", PyArray_DIM({x}, 0), PyArray_DIM({y}, 0));
            {sub["fail"]};
        }}
        if ({z} == NULL || !equally_long({x}, {z})) {{
            Py_XDECREF({z});
            {z} = (PyArrayObject *)PyArray_EMPTY(1, PyArray_DIMS({x}), {typenum}, 0);
            if (!{z}) {{
                {sub["fail"]};
            }}
        }}
        multiply_{name}({x}, {y}, {z});
        """


class Double(Type[float], CLinkerType):
    """Python floats; in C a ``double``."""

    __props__ = ()

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> float:
        if strict and not isinstance(value, float):
            raise TypeError("a float is expected")
        return float(value)

    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        return f"double {name};"

    def c_init(self, name: str, sub: Sub) -> str:
        return f"{name} = 0.0;"

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: Any) -> str:
        return f"""
        if (!PyFloat_Check(py_{name})) {{
            PyErr_SetString(PyExc_TypeError, "a float is expected");
            {sub["fail"]}
        }}
        {name} = PyFloat_AS_DOUBLE(py_{name});
        """

    def c_sync(self, name: str, sub: Sub) -> str:
        return f"Py_XDECREF(py_{name}); py_{name} = PyFloat_FromDouble({name});"

    def c_element_type(self) -> str:
        return "double"


double = Double()


class DoubleOp(COp[[Variable[Any], Variable[Any]], Variable[Double]]):
    """An arithmetic Op of two floats."""

    __props__ = ("sign",)

    def __init__(self, sign: str) -> None:
        self.sign = sign

    def make_node(self, x: Variable[Any], y: Variable[Any]) -> Apply[Variable[Double]]:
        return Apply(self, [double.filter_variable(x), double.filter_variable(y)], [double])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        x, y = inputs
        output_storage[0][0] = {"+": x + y, "*": x * y}[self.sign]

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        return f"{outputs[0]} = {inputs[0]} {self.sign} {inputs[1]};"


class MulOp(COp[[Any], Variable[ScalarType]]):
    """A number times a number that is a param: a Python float."""

    params_type = Generic()
    __props__ = ("factor",)

    def __init__(self, factor: float) -> None:
        self.factor = float(factor)

    def get_params(self, node: Apply[Any]) -> float:
        return self.factor

    def make_node(self, x: Any) -> Apply[Variable[ScalarType]]:
        return Apply(self, [x], [x.type])

    def perform(
        self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage, params: float | None = None
    ) -> None:
        assert params is not None
        output_storage[0][0] = node.outputs[0].type.filter(inputs[0] * params, allow_downcast=True)

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        return f"{outputs[0]} = {inputs[0]} * PyFloat_AsDouble({sub['params']});"


class Mix(COp[[Any, Any], Variable[ScalarType]]):
    """``alpha * x + beta * y``, whose weights are read once for a function."""

    params_type = Generic()
    __props__ = ("alpha", "beta")

    def __init__(self, alpha: float, beta: float) -> None:
        self.alpha, self.beta = alpha, beta

    def get_params(self, node: Apply[Any]) -> tuple[float, float]:
        return self.alpha, self.beta

    def make_node(self, x: Any, y: Any) -> Apply[Variable[ScalarType]]:
        return Apply(self, [x, y], [x.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        x, y = inputs
        output_storage[0][0] = node.outputs[0].type.filter(self.alpha * x + self.beta * y, allow_downcast=True)

    def c_support_code_struct(self, node: Apply[Any], name: str) -> str:
        return f"double alpha_{name}, beta_{name};"

    def c_init_code_struct(self, node: Apply[Any], name: str, sub: Sub) -> str:
        return f'if (!PyArg_ParseTuple({sub["params"]}, "dd", &alpha_{name}, &beta_{name})) {sub["fail"]}'

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        return f"{outputs[0]} = alpha_{name} * {inputs[0]} + beta_{name} * {inputs[1]};"


class Statistic(COp[[TensorLike], TensorVariable]):
    """A weighted sum or mean of a vector: a structure of params with an enumeration, a number and an array."""

    params_type = ParamsType(
        kind=EnumList(("SUM", "total"), ("MEAN", "average")),
        scale=ScalarType("float64"),
        weights=TensorType("float64", (None,)),
        shift=double,
    )
    __props__ = ("kind", "scale", "weights", "shift")

    def __init__(self, kind: str, scale: float, weights: Sequence[float], shift: float = 0.0) -> None:
        self.kind, self.scale, self.weights, self.shift = kind, scale, tuple(weights), shift

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        vector = as_tensor_variable(x)
        if vector.ndim != 1 or vector.dtype != "float64":
            raise TypeError("a vector of float64 is expected")
        return Apply(self, [vector], [TensorType("float64", ())])

    def perform(
        self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage, params: Any = None
    ) -> None:
        if len(inputs[0]) != len(params.weights):
            raise ValueError("there are not as many weights as elements")
        total = (inputs[0] * params.weights).sum()
        value = total if params.kind == self.params_type.SUM else total / inputs[0].size
        output_storage[0][0] = np.asarray(params.scale * value + params.shift)

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        (x,), (z,), p = inputs, outputs, sub["params"]
        return f"""
        if (PyArray_DIM({x}, 0) != PyArray_DIM({p}->weights, 0)) {{
            PyErr_SetString(PyExc_ValueError, "there are not as many weights as elements");
            {sub["fail"]}
        }}
        Py_XDECREF({z});
        {z} = (PyArrayObject *)PyArray_ZEROS(0, NULL, NPY_FLOAT64, 0);
        if ({z} == NULL) {sub["fail"]}
        {{
            double *const sum = (double *)PyArray_DATA({z});
            const npy_intp n = PyArray_DIM({x}, 0);
            for (npy_intp i = 0; i < n; ++i)
                *sum += *(double *)PyArray_GETPTR1({x}, i) * *(double *)PyArray_GETPTR1({p}->weights, i);
            switch ({p}->kind) {{
            case SUM: break;
            case MEAN: *sum /= n; break;
            }}
            *sum = {p}->scale * *sum + {p}->shift;
        }}
        """


class Scaled(ExternalCOp[[TensorLike], TensorVariable]):
    """A vector times a param, plus how often the function was called before; its C stands in a file."""

    params_type = ParamsType(factor=ScalarType("float64"))
    __props__ = ("factor",)

    def __init__(self, factor: float) -> None:
        super().__init__("scaled.c", "APPLY_SPECIFIC(scaled)")
        self.factor = factor

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        variable = as_tensor_variable(x)
        return Apply(self, [variable], [variable.type])

    def do_constant_folding(self, fgraph: object, node: Apply[Any]) -> bool:
        return False


class Failing(COp[[TensorLike], TensorVariable]):
    """Fails in a place of its C code where its input is negative (or, in the preparation, always)."""

    __props__ = ("where",)

    def __init__(self, where: str) -> None:
        self.where = where

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        variable = as_tensor_variable(x)
        return Apply(self, [variable], [variable.type])

    def c_init_code_struct(self, node: Apply[Any], name: str, sub: Sub) -> str:
        if self.where != "c_init_code_struct":
            return ""
        return f'held_{name} = PyList_New(1000); PyErr_SetString(PyExc_RuntimeError, "it cannot begin"); {sub["fail"]}'

    def c_support_code_struct(self, node: Apply[Any], name: str) -> str:
        return f"static PyObject *held_{name};" if self.where == "c_init_code_struct" else ""

    def c_cleanup_code_struct(self, node: Apply[Any], name: str) -> str:
        return f"Py_CLEAR(held_{name});" if self.where == "c_init_code_struct" else ""

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        (x,), (z,) = inputs, outputs
        how = {
            "c_code": f'PyErr_SetString(PyExc_ZeroDivisionError, "it is negative"); {sub["fail"]}',
            "silence": sub["fail"],
            "memory": f"""
            {{
                npy_intp huge = NPY_MAX_INTP / 16;
                Py_XDECREF({z});
                {z} = (PyArrayObject *)PyArray_EMPTY(1, &huge, NPY_FLOAT64, 0);
                if ({z} == NULL) {sub["fail"]}
            }}
            """,
        }.get(self.where, "")
        return f"""
        PyObject *scratch = PyList_New(100);
        if (PyArray_SIZE({x}) && *(double *)PyArray_DATA({x}) < 0) {{ {how} }}
        Py_XDECREF({z});
        {z} = (PyArrayObject *)PyArray_NewCopy({x}, NPY_ANYORDER);
        if ({z} == NULL) {sub["fail"]}
        """

    def c_code_cleanup(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        return "Py_XDECREF(scratch);"


class Calling(COp[[TensorLike], TensorVariable]):
    """Calls a Python function of no arguments, and returns its input."""

    params_type = Generic()
    __props__ = ("function",)

    def __init__(self, function: Callable[[], object]) -> None:
        self.function = function

    def get_params(self, node: Apply[Any]) -> Callable[[], object]:
        return self.function

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        variable = as_tensor_variable(x)
        return Apply(self, [variable], [variable.type])

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        (x,), (z,) = inputs, outputs
        return f"""
        PyObject *answer = PyObject_CallNoArgs({sub["params"]});
        if (answer == NULL) {sub["fail"]}
        Py_DECREF(answer);
        Py_XDECREF({z});
        {z} = (PyArrayObject *)PyArray_NewCopy({x}, NPY_ANYORDER);
        """
