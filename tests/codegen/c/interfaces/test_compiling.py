"""What Ops and Types say of how their code is compiled, and where such code ends up: pickles, branches, batches, several outputs."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella import Apply, Blockwise, FunctionGraph, OpFromGraph, Variable
from lamella.codegen import COp, compile_shared_object, find_compiler, write_program
from lamella.tensor import TensorLike, TensorType, TensorVariable, as_tensor_variable
from lamella.typing_layer import schedule

from .ops import Names, Scaled, Statistic, Sub, VectorTimesScalar

x, s = lt.dvector("x"), lt.dscalar("s")


class Answer(COp[[TensorLike], TensorVariable]):
    """A number out of a library of the user's, with what ran when it was loaded."""

    __props__ = ("folder",)

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)

    def make_node(self, v: TensorLike) -> Apply[TensorVariable]:
        return Apply(self, [as_tensor_variable(v)], [TensorType("int64", (None,))])

    def c_headers(self, **kwargs: Any) -> list[str]:
        return ["answer.h", '"answer.h"', "<limits.h>"]

    def c_header_dirs(self, **kwargs: Any) -> list[str]:
        return [self.folder]

    def c_lib_dirs(self, **kwargs: Any) -> list[str]:
        return [self.folder]

    def c_libraries(self, **kwargs: Any) -> list[str]:
        return ["answer"]

    def c_compile_args(self, c_compiler: str) -> list[str]:  # type: ignore[override]  # what older Ops write
        return [f'-DASKED="{c_compiler}"', "-DLEFT"]

    def c_no_compile_args(self, **kwargs: Any) -> list[str]:
        return ["-O3"]

    def c_support_code(self, **kwargs: Any) -> list[str]:
        return ["static int loaded = 0;", "static int loaded_for = 0;"]

    def c_init_code(self, **kwargs: Any) -> list[str]:
        return ["loaded += 1;", "int local = 5; loaded += local - 5;"]

    def c_init_code_apply(self, node: Apply[Any], name: str) -> str:
        return "loaded_for += 10;"

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        (z,) = outputs
        return f"""
        npy_intp n = 4;
        Py_XDECREF({z});
        {z} = (PyArrayObject *)PyArray_ZEROS(1, &n, NPY_INT64, 0);
        if ({z} == NULL) {sub["fail"]}
        npy_int64 *const found = (npy_int64 *)PyArray_DATA({z});
        found[0] = answer();
        found[1] = loaded;
        found[2] = loaded_for;
        #ifdef LEFT
        found[3] = (npy_int64)sizeof(ASKED);
        #endif
        """


def test_libraries_headers_and_flags_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "answer.h").write_text("#ifndef ANSWER\n#define ANSWER\nint answer(void);\n#endif\n")
    (tmp_path / "answer.c").write_text('#include "answer.h"\nint answer(void) { return 42; }\n')
    compile_shared_object(
        find_compiler(), tmp_path / "answer.c", tmp_path / "libanswer.so", [f"-I{tmp_path}", "-fPIC"], tmp_path
    )
    op = Answer(tmp_path)
    out = [op(lt.exp(x)), op(x * 2)]
    build = write_program(schedule(FunctionGraph([x], out))).build
    assert build is not None
    assert "-O3" in build.without
    a, b = lm.function([x], out)(np.ones(1))
    np.testing.assert_array_equal(a, [42, 1, 20, 1])
    np.testing.assert_array_equal(b, a)


class MinMax(COp[[TensorLike], tuple[TensorVariable, TensorVariable]]):
    """Two outputs, of which the code fails between the two for NaN."""

    __props__ = ()

    def make_node(self, v: TensorLike) -> Apply[tuple[TensorVariable, TensorVariable]]:
        return Apply(self, [as_tensor_variable(v)], [TensorType("float64", ()), TensorType("float64", ())])

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        (v,), (low, high) = inputs, outputs
        return f"""
        double least = *(double *)PyArray_DATA({v}), most = least;
        for (npy_intp i = 0; i < PyArray_DIM({v}, 0); ++i) {{
            const double number = *(double *)PyArray_GETPTR1({v}, i);
            if (number < least) least = number;
            if (number > most || number != number) most = number;
        }}
        Py_XDECREF({low});
        {low} = (PyArrayObject *)PyArray_ZEROS(0, NULL, NPY_FLOAT64, 0);
        if ({low} == NULL) {sub["fail"]}
        *(double *)PyArray_DATA({low}) = least;
        if (most != most) {{
            PyErr_SetString(PyExc_ValueError, "NaN");
            {sub["fail"]}
        }}
        Py_XDECREF({high});
        {high} = (PyArrayObject *)PyArray_ZEROS(0, NULL, NPY_FLOAT64, 0);
        if ({high} == NULL) {sub["fail"]}
        *(double *)PyArray_DATA({high}) = most;
        """


def test_several_outputs() -> None:
    low, high = MinMax()(lt.exp(x))
    f = lm.function([x], high - low)
    assert f(np.array([0.0, 1.0])) == np.exp(1) - 1
    with pytest.raises(ValueError, match="NaN") as caught:
        f(np.array([0.0, np.nan]))
    assert "MinMax" in caught.value.__notes__[0]


class Three(COp[[], TensorVariable]):
    """No inputs."""

    __props__ = ()

    def make_node(self) -> Apply[TensorVariable]:
        return Apply(self, [], [TensorType("float64", ())])

    def do_constant_folding(self, fgraph: object, node: Apply[Any]) -> bool:
        return False

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        (z,) = outputs
        return f"""
        if ({z} == NULL) {z} = (PyArrayObject *)PyArray_ZEROS(0, NULL, NPY_FLOAT64, 0);
        if ({z} == NULL) {sub["fail"]}
        *(double *)PyArray_DATA({z}) = 3;
        """


def test_no_inputs() -> None:
    assert lm.function([s], Three()() + s)(2.0) == 5
    assert Three()().eval() == 3


def test_a_pickled_function_compiles_again() -> None:
    f = lm.function([x], Scaled(2.0)(x) + 0)
    f(np.ones(2))
    again = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(again(np.ones(2)), [2, 2])


def test_branches_inner_graphs_and_batches() -> None:
    chosen = lm.ifelse(s > 0, VectorTimesScalar()(x, s), VectorTimesScalar()(x, -s * 10))
    inner = OpFromGraph([x, s], [VectorTimesScalar()(lt.exp(x), s)])
    rows = lt.dmatrix("rows")
    batch: Sequence[Variable[Any]] = Blockwise(VectorTimesScalar(), signature="(n),()->(n)").make_node(rows, s).outputs
    f = lm.function([x, s, rows], [chosen, inner(x, s), batch[0]])
    values, matrix = np.arange(3.0), np.arange(6.0).reshape(2, 3)
    for number in (2.0, -1.0):
        a, b, c = f(values, number, matrix)
        np.testing.assert_array_equal(a, values * number if number > 0 else values * -number * 10)
        np.testing.assert_allclose(b, np.exp(values) * number)
        np.testing.assert_array_equal(c, matrix * number)


def test_perform_of_any_signature_is_given_its_params() -> None:
    class Old(COp[[Any], TensorVariable]):
        params_type = lm.Generic()
        __props__ = ("by",)

        def __init__(self, by: int) -> None:
            self.by = by

        def get_params(self, node: Apply[Any]) -> int:
            return self.by

        def make_node(self, v: Any) -> Apply[TensorVariable]:
            return Apply(self, [v], [v.type])

        def perform(self, node: Apply[Any], ins: Any, outs: Any, value: Any) -> None:  # type: ignore[override]  # as pages have it
            outs[0][0] = ins[0] + value

    np.testing.assert_array_equal(Old(3)(x).eval({x: np.ones(2)}), [4, 4])
    np.testing.assert_array_equal(lm.function([x], Old(4)(x))(np.ones(2)), [5, 5])


def test_what_surrounds_the_code_compiles_without_warnings() -> None:
    flags = "-Wall -Wextra -Werror -Wno-missing-field-initializers"
    with lm.config.override(compiler_flags=flags):
        f = lm.function([x, s], [Statistic("total", 2.0, [1, 2])(x), VectorTimesScalar()(x, s)])
    total, product = f(np.ones(2), 3.0)
    assert total == 6
    np.testing.assert_array_equal(product, [3, 3])
