"""`ExternalCOp`, `OpenMPOp` and `CScalarOp`."""

from __future__ import annotations

import stat
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella import Apply, FunctionGraph
from lamella.codegen import CScalarOp, EnumType, ExternalCOp, OpenMPOp, find_compiler, write_program
from lamella.ir import Elemwise, ScalarLike, ScalarVariable
from lamella.tensor import TensorLike, TensorType, TensorVariable, as_tensor_variable
from lamella.typing_layer import schedule

from .ops import Names, Scaled, Sub

x, f32 = lt.dvector("x"), lt.fvector("y")


class Counted(ExternalCOp[[TensorLike], TensorVariable]):
    """A multiple of the number of elements, by a section ``code``."""

    params_type = EnumType(TWICE=2, ctype="long")

    def __init__(self) -> None:
        super().__init__("counted.c")

    def get_params(self, node: Apply[Any]) -> int | float:
        return self.params_type.TWICE

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        return Apply(self, [as_tensor_variable(x)], [TensorType("int32", ())])


def test_a_file_may_hold_the_code_itself() -> None:
    f = lm.function([x], Counted()(lt.exp(x)) + 0)
    assert f(np.zeros(5)) == 11
    with pytest.raises(ValueError, match="there is nothing to count") as caught:
        f(np.zeros(0))
    assert "Counted" in caught.value.__notes__[0]


def test_macros_follow_the_types_of_each_application() -> None:
    op = Scaled(2.0)
    a, b = lm.function([x, f32], [op(x), op(f32)])(np.ones(2), np.ones(3, "float32"))
    assert (a.dtype, b.dtype) == ("float64", "float32")
    np.testing.assert_array_equal(b, [2, 2, 2])
    assert Scaled(2.0) == op != Scaled(3.0)


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("int f;\n#section code\n", None, "text before the first #section: 'int f;'"),
        ("#section cood\n", None, "no kind of section named 'cood'"),
        ("#section code\n", "f", "both a function and a section"),
        ("#section support_code\n", None, "neither a function nor a section"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(tmp_path: Path, text: str, name: str | None, message: str) -> None:
    file = tmp_path / "op.c"
    file.write_text(text)

    class Written(ExternalCOp[[TensorLike], TensorVariable]):
        pass

    with pytest.raises(ValueError, match=message):
        Written(file, name)


class Threads(OpenMPOp[[TensorLike], TensorVariable]):
    """The number of threads of a parallel section for two."""

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        return Apply(self, [as_tensor_variable(x)], [TensorType("int64", ())])

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        (z,) = outputs
        return f"""
        npy_int64 n = 0;
        Py_XDECREF({z});
        {z} = (PyArrayObject *)PyArray_ZEROS(0, NULL, NPY_INT64, 0);
        if ({z} == NULL) {sub["fail"]}
        #pragma omp parallel num_threads(2) reduction(+ : n)
        ++n;
        *(npy_int64 *)PyArray_DATA({z}) = n;
        """


def test_openmp_is_used_where_asked_for() -> None:
    a, b = lt.dvector("a"), lt.dvector("b")
    assert Threads(openmp=True) == Threads(openmp=False) == Threads()
    assert lm.function([a], Threads(openmp=True)(a))(np.ones(1)) == 2
    assert lm.function([b], Threads()(b))(np.ones(1)) == 1
    with lm.config.override(openmp=True):
        assert lm.function([b], Threads()(b))(np.ones(1)) == 2


def test_a_compiler_without_openmp_is_named_once(tmp_path: Path) -> None:
    compiler = tmp_path / "cc"
    real = find_compiler().command[0]
    compiler.write_text(f'#!/bin/sh\nfor a; do [ "$a" != -fopenmp ] || exit 1; done\nexec {real} "$@"\n')
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    v = lt.dvector("v")
    with lm.config.override(compiler=str(compiler), openmp=True):
        with pytest.warns(RuntimeWarning, match=r"has no OpenMP .* Ops run in one thread"):
            f = lm.function([v], Threads()(v))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert lm.function([v], Threads()(v) + 0)(np.ones(1)) == 1
    assert f(np.ones(1)) == 1


class Softcube(CScalarOp[[ScalarLike]]):
    """``x**3 / (1 + x**2)``, in C with a function of its own."""

    __props__ = ()
    nin = 1

    def impl(self, *operands: Any) -> Any:
        (v,) = operands
        return v**3 / (1 + v**2)

    def slopes(self, inputs: Sequence[ScalarVariable], outputs: Sequence[ScalarVariable]) -> list[ScalarVariable]:
        (v,) = inputs
        return [(v**4 + 3 * v**2) / (1 + v**2) ** 2]

    def c_headers(self, **kwargs: Any) -> list[str]:
        return ["float.h"]

    def c_support_code(self, **kwargs: Any) -> str:
        return "static inline double softcube(const double v) { return v * v * v / (1 + v * v); }"

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        if node.inputs[0].type.dtype.startswith("complex"):
            raise NotImplementedError("complex numbers")
        return f"{outputs[0]} = {inputs[0]} > DBL_MAX ? {inputs[0]} : softcube({inputs[0]});"


softcube = Elemwise(Softcube())
VALUES = np.linspace(-3, 3, 40).reshape(5, 8)


def test_a_scalar_op_with_c_code_is_a_part_of_the_fused_kernel() -> None:
    v, row = lt.dmatrix("v"), lt.drow("row")
    out = [softcube(lt.exp(v) * row) + softcube(v), lt.sum(softcube(v) * 2, axis=0)]
    rewritten = lm.function([v, row], out).fgraph.order
    elementwise = [node for node in rewritten if isinstance(node.op, Elemwise)]
    assert len(elementwise) <= 2
    text = write_program(schedule(FunctionGraph([v, row], out))).text
    assert "Python.h" not in text
    assert text.count("static inline double softcube") == 1
    first, second = lm.function([v, row], out)(VALUES, VALUES[:1])
    impl = Softcube().impl
    np.testing.assert_allclose(first, impl(np.exp(VALUES) * VALUES[:1]) + impl(VALUES))
    np.testing.assert_allclose(second, (impl(VALUES) * 2).sum(0))


def test_its_gradient_and_its_other_dtypes() -> None:
    v, i, h, c = lt.dvector("v"), lt.ivector("i"), lt.vector("h", dtype="float16"), lt.vector("c", dtype="complex128")
    lm_grad = lm.function([v], lm.grad(lt.sum(softcube(v)), v))
    values = np.linspace(-2, 2, 9)
    impl = Softcube().impl
    np.testing.assert_allclose(
        lm_grad(values), (impl(values + 1e-6) - impl(values - 1e-6)) / 2e-6, rtol=1e-6, atol=1e-8
    )
    whole, half, complex_ = lm.function([i, h, c], [softcube(i), softcube(h), softcube(c)])(
        np.arange(4, dtype="int32"), values.astype("float16"), values + 1j / 2
    )
    np.testing.assert_allclose(whole, impl(np.arange(4.0)))
    assert half.dtype == "float16"
    np.testing.assert_allclose(half, impl(values), atol=1e-2)
    np.testing.assert_allclose(complex_, impl(values + 1j / 2))
