"""`cffi_op` on whole arrays: sizes and shapes, layouts, several outputs, gradients, errors; in Python and in C."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from cffi import FFI

import lamella as lm
import lamella.tensor as lt
from lamella.codegen import CffiArrayOp, compile_shared_object, find_compiler
from lamella.errors import CompileError, GradientNotImplementedError
from lamella.tensor import TensorVariable
from lamella.testing import check_infer_shape, verify_grad

Array = npt.NDArray[Any]

SOURCE = """
#include <complex.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

void scale(double *out, const double *x, int64_t n, double a) { for (int64_t i = 0; i < n; ++i) out[i] = a * x[i]; }

double weighted(const double *x, const double *w, int n)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * w[i];
    return sum;
}

int rows(float *sums, uint8_t *is_large, const float *x, int32_t m, int32_t n, float limit)
{
    if (limit != limit) return 7;
    for (int32_t i = 0; i < m; ++i) {
        sums[i] = 0;
        for (int32_t j = 0; j < n; ++j) sums[i] += x[i * n + j];
        is_large[i] = sums[i] > limit;
    }
    return 0;
}

void add_to(double *y, const double *x, const bool *where, uint8_t n) { for (int i = 0; i < n; ++i) if (where[i]) y[i] += x[i]; }

void repeat(int64_t *out, int64_t value, int64_t n) { for (int64_t i = 0; i < n; ++i) out[i] = value; }

double _Complex weighted_sum(const double _Complex *z, int64_t n, float _Complex weight)
{
    double _Complex sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += weight * z[i];
    return sum;
}
void turn(double _Complex *out, const double _Complex *z, size_t n) { for (size_t i = 0; i < n; ++i) out[i] = I * z[i]; }
"""

SCALE = "void scale(double *out, const double *x, int64_t n, double a)"


def scale_gradient(
    operands: list[TensorVariable], outputs: list[TensorVariable], cotangents: list[TensorVariable]
) -> list[TensorVariable]:
    (x, a), (gz,) = operands, cotangents
    return [scale(gz, a), lt.sum(gz * x)]


scale = lm.cffi_op(SCALE, SOURCE, scale_gradient, sizes={"n": "x.size"}, shapes={"out": "x"})


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arrays")
    (folder / "arrays.c").write_text(SOURCE)
    compile_shared_object(find_compiler(), folder / "arrays.c", folder / "libarrays.so", ("-O1", "-fPIC"), folder)
    return folder / "libarrays.so"


def test_arrays_of_every_layout_in_c_and_in_python(library: Path) -> None:
    x, w, a = lt.matrix("x"), lt.matrix("w"), lt.scalar("a")
    y, where, count = lt.vector("y"), lt.vector("where", dtype="bool"), lt.lscalar("count")
    single, z = lt.fmatrix("single"), lt.zvector("z")
    weighted = lm.cffi_op("double weighted(const double *x, const double *w, int n)", library, sizes={"n": "x.size"})
    rows = lm.cffi_op(
        "int rows(float *sums, uint8_t *is_large, const float *x, int32_t m, int32_t n, float limit)",
        library,
        sizes={"m": "x.shape[0]", "n": "x.shape[-1]"},
        shapes={"sums": ("x.shape[0]",), "is_large": lambda x, limit: [x.shape[0]]},
        status=True,
    )
    add_to = lm.cffi_op(
        "void add_to(double *y, const double *x, const bool *where, uint8_t n)",
        library,
        sizes={"n": lambda y, x, where: y.size},
        inout=["y"],
    )
    repeat = lm.cffi_op(
        "void repeat(int64_t *out, int64_t value, int64_t n)",
        library,
        sizes={"n": lambda value: 6},
        shapes={"out": (2, 3)},
    )
    counted = lm.cffi_op(
        "void repeat(int64_t *out, int64_t value, int64_t n)", library, sizes={"n": "value"}, shapes={"out": ("value",)}
    )
    turn = lm.cffi_op(
        "void turn(double _Complex *out, const double _Complex *z, size_t n)",
        library,
        sizes={"n": "z.size"},
        shapes={"out": ["z.size"]},
    )
    weighted_sum = lm.cffi_op(
        "double _Complex weighted_sum(const double _Complex *z, int64_t n, float _Complex weight)",
        library,
        sizes={"n": "z.size"},
    )
    outputs = [
        *[
            scale(x.T, a),
            scale(x, 2),
            scale(scale(x[::2, ::-1], 3) + 1, a),
            scale(3.0, 2.0),
            weighted(x, w),
            weighted(x.T, w.T),
        ],
        *rows(single, 1.5),
        *[add_to(y, x[0], where), repeat(count), counted(count), turn(z), weighted_sum(z, 0.5 - 2j)],
        lm.grad(lt.sum(scale(x, a) ** 2), x),
    ]
    assert [v.type.shape for v in outputs] == [
        *[(None, None)] * 3,
        (),
        (),
        (),
        (None,),
        (None,),
        (None,),
        (2, 3),
        (None,),
        (None,),
        (),
        (None, None),
    ]
    inputs = [x, w, a, y, where, count, single, z]
    functions = [lm.function(inputs, outputs, mode=mode) for mode in ("FAST_RUN", "FAST_COMPILE", "DebugMode")]
    rng = np.random.default_rng(1)
    for m, n in ((4, 3), (1, 1), (3, 0), (0, 3)):
        u, v = rng.normal(size=(m, n)), rng.normal(size=(m, n))
        if m == 0:
            continue
        mask = rng.integers(0, 2, n).astype(bool)
        given: list[Array] = [np.asfortranarray(u), v, np.array(0.5), np.arange(2.0 * n)[::2], mask, np.array(5)]
        given += [u.astype("float32")[::-1], rng.normal(size=4) + 1j]
        before = [array.tobytes() for array in given]
        sums = given[6].sum(axis=1)
        expected = [
            *[0.5 * u.T, 2 * u, 0.5 * (3 * u[::2, ::-1] + 1), 6.0, (u * v).sum(), (u * v).sum(), sums, sums > 1.5],
            *[
                given[3] + mask * u[0],
                np.full((2, 3), 5),
                np.full(5, 5),
                1j * given[7],
                (0.5 - 2j) * given[7].sum(),
                2 * 0.25 * u,
            ],
        ]
        for f in functions:
            for i, (got, wanted) in enumerate(zip(f(*given), expected, strict=True)):
                np.testing.assert_allclose(got, wanted, rtol=1e-5 if i == 6 else 1e-13, err_msg=str(i))
            assert [array.tobytes() for array in given] == before


def test_gradient_and_shapes() -> None:
    rng = np.random.default_rng(2)
    verify_grad(scale, [rng.normal(size=(2, 3)), np.array(1.5)])
    check_infer_shape(scale, [rng.normal(size=(2, 3)), np.array(1.5)], CffiArrayOp)
    x = lt.matrix("x")
    assert scale(lt.specify_shape(x, (2, None)), 1).type.shape == (2, None)
    f = lm.function([x], scale(x, 1).shape[1])
    assert not any(isinstance(node.op, CffiArrayOp) for node in f.fgraph.order)  # it need not be computed
    with pytest.raises(GradientNotImplementedError, match="given no `grad`"):
        lm.grad(lt.sum(lm.cffi_op(SCALE, SOURCE, sizes={"n": "x.size"}, shapes={"out": "x"})(x, 2)), x)
    wrong = lm.cffi_op(SCALE, SOURCE, lambda *lists: [1.0], sizes={"n": "x.size"}, shapes={"out": "x"})
    with pytest.raises(ValueError, match="is to return 2 cotangents in a list"):
        lm.grad(lt.sum(wrong(x, 2)), x)


def test_ops_are_values_that_pickle(library: Path) -> None:
    again = lm.cffi_op(SCALE, SOURCE, scale_gradient, sizes={"n": "x.size"}, shapes={"out": "x"})
    assert again == scale
    assert hash(again) == hash(scale)
    x = lt.vector("x")
    assert again(x, 2.0) is scale(x, 2.0)
    assert again != lm.cffi_op(SCALE, library, scale_gradient, sizes={"n": "x.size"}, shapes={"out": "x"})
    assert again != lm.cffi_op(SCALE, SOURCE, scale_gradient, sizes={"n": 3}, shapes={"out": "x"})
    copied = pickle.loads(pickle.dumps(scale))
    assert copied == scale
    np.testing.assert_array_equal(copied(np.ones(2), 3.0).eval(), [3.0, 3.0])


def test_a_library_that_cffi_has_loaded_and_a_text_of_c(library: Path) -> None:
    ffi = FFI()
    ffi.cdef(f"{SCALE};")
    loaded = lm.cffi_op(SCALE, ffi.dlopen(str(library)), sizes={"n": "x.size"}, shapes={"out": "x"})
    assert loaded == lm.cffi_op(SCALE, library, sizes={"n": "x.size"}, shapes={"out": "x"})
    cube = lm.cffi_op("double cube(double)", "double cube(double x) { return x * x * x; }")
    x = lt.vector("x")
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        np.testing.assert_array_equal(lm.function([x], loaded(cube(x), 2), mode=mode)([2.0, -1.0]), [16.0, -2.0])
    with pytest.raises(TypeError, match="a library is a path"):
        lm.cffi_op(SCALE, object(), sizes={"n": "x.size"})
    with pytest.raises(CompileError, match="nonsense"):
        lm.cffi_op(SCALE, "void scale(...) { nonsense; }", sizes={"n": "x.size"}, shapes={"out": "x"})


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_what_cannot_be_computed_is_an_error(library: Path, mode: str) -> None:
    single, limit, count, y = lt.fmatrix("x"), lt.fscalar("limit"), lt.lscalar("count"), lt.vector("y")
    rows = lm.cffi_op(
        "int rows(float *sums, uint8_t *is_large, const float *x, int32_t m, int32_t n, float limit)",
        library, sizes={"m": "x.shape[0]", "n": "x.shape[1]"}, shapes={"sums": ("x.shape[0]",), "is_large": ("x.shape[0]",)}, status=True,
    )  # fmt: skip
    declaration = "void repeat(int64_t *out, int64_t value, int64_t n)"
    repeat = lm.cffi_op(declaration, library, sizes={"n": "value"}, shapes={"out": ("value",)})
    add_to = lm.cffi_op(
        "void add_to(double *y, const double *x, const bool *where, uint8_t n)",
        library,
        sizes={"n": "y.size"},
        inout=["y"],
    )
    f = lm.function([single, limit], rows(single, limit), mode=mode)
    assert [list(result) for result in f([[1, 2]], 2)] == [[3.0], [1]]
    with pytest.raises(RuntimeError, match="rows returned 7, which is to be 0"):
        f([[1, 2]], np.nan)
    with pytest.raises(ValueError, match=r"out of void repeat\(.*\) is to have the shape \(-1,\)"):
        lm.function([count], repeat(count), mode=mode)(-1)
    with pytest.raises(OverflowError, match=r"`uint8_t n` of void add_to\(.* cannot be 300"):
        lm.function([y], add_to(y, y, lt.gt(y, 0)), mode=mode)(np.ones(300))


@pytest.mark.parametrize(
    ("declaration", "arguments", "message"),
    [
        ("void f(double *out, const double *, int n)", {"sizes": {"n": "x.size"}}, "need names, each another"),
        ("void f(double *out, const double *x, int n)", {"sizes": {"n": "x.size"}}, r"`double \*out` .* is an output"),
        ("void f(double *out, const double *x)", {"shapes": {"out": "x", "x": "x"}}, "shapes names 'x', which is no pointer to what is written"),
        ("void f(double *out, const double *x, double n)", {"sizes": {"n": 3}, "shapes": {"out": "x"}}, "sizes names 'n', which is no integer"),
        ("void f(const double *x)", {"inout": ["x"]}, "inout names 'x', which is no pointer to what is not constant"),
        ("void f(const double *x)", {}, "gives nothing"),
        ("double f(const double *x)", {"status": True}, "is no integer, and is to be a status"),
        ("void f(double **x)", {}, "a pointer is written out, and points to numbers"),
        ("typedef double *vec; void f(vec x)", {}, "a pointer is written out"),
        ("void f(void *x)", {}, "what argument 0 of f points to is of type `void`"),
        ("void f(double *out, void (*g)(double))", {}, "something other than numbers and pointers"),
    ],
)  # fmt: skip
def test_declarations_that_cannot_be_mapped_are_errors(declaration: str, arguments: Any, message: str) -> None:
    text = f"typedef double *vec; {declaration.split(';')[-1]} {{ }}"
    with pytest.raises(TypeError, match=message):
        lm.cffi_op(declaration, text, **arguments)


def test_operands_that_do_not_fit_are_errors() -> None:
    with pytest.raises(TypeError, match=r"takes 2 operands \(x, a\), not 1"):
        scale(lt.vector())
    with pytest.raises(TypeError, match="takes 2 operands, not 3"):
        scale(lt.vector(), 1, 2)
    with pytest.raises(
        TypeError, match=r"`const double \*x` .* is float64, and complex128 is not cast to it without loss"
    ):
        scale(lt.zvector(), 1)
    with pytest.raises(TypeError, match=r"`double a` .* is a number, and .* has 1 dimensions"):
        scale(lt.vector(), lt.vector())
    for size, error, message in [
        ("x.shape[2]", TypeError, "has 1 dimensions here"),
        ("y.size", ValueError, "must be like 'x.size'"),
        ("x.size + 1", ValueError, "must be like 'x.size'"),
    ]:
        with pytest.raises(error, match=message):
            lm.cffi_op(SCALE, SOURCE, sizes={"n": size}, shapes={"out": "x"})(lt.vector(), 1)
    with pytest.raises(ValueError, match="which is no operand of"):
        lm.cffi_op(SCALE, SOURCE, sizes={"n": "x.size"}, shapes={"out": "x.size"})(lt.vector(), 1)
