"""`cffi_op`: functions of C libraries as elementwise Ops, in Python and in C, alone and fused."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy import special

import lamella as lm
import lamella.tensor as lt
from lamella.codegen import CffiScalarOp, compile_shared_object, find_compiler
from lamella.errors import GradientNotImplementedError
from lamella.ir import Elemwise
from lamella.tensor import TensorVariable
from lamella.testing import verify_grad

SOURCE = """
#include <stdint.h>
#include <stdbool.h>
double add(double x, double y) { return SCALE * (x + 2 * y); }   /* a name that others have too */
bool is_odd(int8_t n) { return n & 1; }
uint64_t widest(uint64_t n) { return ~n; }
float half_of(float x) { return x / 2; }
double square(double x) { return x * x; }
double square_slope(double x) { return 2 * x; }
"""


def compile_library(folder: Path, scale: int) -> Path:
    source, target = folder / f"scaled{scale}.c", folder / f"libscaled{scale}.so"
    source.write_text(f"#define SCALE {scale}\n{SOURCE}")
    compile_shared_object(find_compiler(), source, target, ("-O0", "-fPIC"), folder)
    return target


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_library(tmp_path_factory.mktemp("library"), 1)


def hypot_slopes(x: TensorVariable, y: TensorVariable) -> list[TensorVariable]:
    length = lt.sqrt(x * x + y * y)
    return [x / length, y / length]


def hypot() -> Elemwise[...]:
    return lm.cffi_op("double hypot(double, double)", grad=hypot_slopes)


def test_libm_in_c_and_in_python_computes_what_numpy_does() -> None:
    x, y = lt.matrix("x"), lt.vector("y")
    erf = lm.cffi_op("double erf(double)", grad=lambda t: 2 / np.sqrt(np.pi) * lt.exp(-t * t))
    outputs = [2 * hypot()(x, y) + 1, erf(x), lm.grad(lt.sum(hypot()(x, y) * erf(x)), x)]
    a = np.random.default_rng(1).normal(size=(3, 4))
    b = np.array([0.0, np.inf, 1.0, -2.0])
    a[:, 1] = 1.0
    length = np.hypot(a, b)
    slope = a / length * special.erf(a) + length * 2 / np.sqrt(np.pi) * np.exp(-a * a)
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        doubled, erf_of_a, gradient = lm.function([x, y], outputs, mode=mode)(a, b)
        np.testing.assert_allclose(doubled, 2 * length + 1, rtol=1e-14)
        np.testing.assert_allclose(erf_of_a, special.erf(a), rtol=1e-14)
        finite = np.isfinite(slope)
        np.testing.assert_allclose(gradient[finite], slope[finite], rtol=1e-12)


def test_the_gradient_is_that_of_the_function() -> None:
    rng = np.random.default_rng(2)
    verify_grad(hypot(), [rng.normal(size=(2, 3)), rng.normal(size=3)])


def test_it_is_a_part_of_the_kernel_that_its_neighbours_fuse_into(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = lt.vectors("x", "y")
    f = lm.function([x, y], lt.exp(hypot()(x, y) * 3))
    assert len(f.fgraph.order) == 1
    assert "Composite" in str(f.fgraph.order[0].op)
    monkeypatch.delattr(CffiScalarOp, "impl")  # what Python would call
    np.testing.assert_allclose(f([3.0], [4.0]), np.exp([15.0]))


def test_functions_of_one_name_by_two_libraries_are_told_apart(library: Path, tmp_path: Path) -> None:
    folder = tmp_path / 'a "quoted" folder, \\n größer 😀'
    folder.mkdir()
    once, thrice = [lm.cffi_op("double add(double, double)", p) for p in (library, compile_library(folder, 3))]
    assert once != thrice
    x, y = lt.vectors("x", "y")
    f = lm.function([x, y], [once(x, y), thrice(x, y), x + y])
    for result, expected in zip(f([1.0, 2.0], [10.0, 20.0]), ([21.0, 42.0], [63.0, 126.0], [11.0, 22.0]), strict=True):
        np.testing.assert_array_equal(result, expected)


def test_dtypes_are_those_of_the_c_types(library: Path) -> None:
    is_odd = lm.cffi_op("bool is_odd(int8_t)", library)
    widest = lm.cffi_op("unsigned long widest(unsigned long)", library)
    half_of = lm.cffi_op("float half_of(float)", library)
    n, m, x = lt.bvector("n"), lt.tensor("m", "uint64", (None,)), lt.tensor("x", "float16", (None,))
    results = [is_odd(n), widest(m), half_of(x), half_of(n), half_of(3), half_of(2.5)]
    assert [z.dtype for z in results] == ["bool", "uint64", *["float32"] * 4]
    values = [np.array([1, 2, -1], np.int8), np.array([0, 2**64 - 1], np.uint64), np.array([0.5, np.nan], np.float16)]
    expected = [[True, False, True], [2**64 - 1, 0], [0.25, np.nan], [0.5, 1.0, -0.5], 1.5, 1.25]
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        for got, wanted in zip(lm.function([n, m, x], results, mode=mode)(*values), expected, strict=True):
            np.testing.assert_array_equal(got, wanted)


SPIRAL = """
double _Complex spiral(double _Complex z, float turns, int n)
{
    for (int i = 0; i < n; ++i) z *= 1 + turns * 1.0if;
    return z;
}
"""


def test_complex_numbers_are_passed_by_value() -> None:
    exp: Elemwise[...] = lm.cffi_op("double _Complex cexp(double _Complex)", grad=lambda z: exp(z))
    exp_of_single = lm.cffi_op("typedef float _Complex number; number cexpf(number)")
    size = lm.cffi_op("double cabs(double _Complex)")
    spiral = lm.cffi_op("double _Complex spiral(double _Complex, float, int)", SPIRAL)
    z, c, n = lt.zvector("z"), lt.cvector("c"), lt.ivector("n")
    loss = lt.real(lt.sum(exp(z) * z))
    outputs = [exp(2 * z) + 1, exp_of_single(c), size(z) * 2, spiral(z, 0.5, n), lm.grad(loss, z), spiral(1j, 2, 1)]
    assert [x.dtype for x in outputs] == ["complex128", "complex64", "float64", *["complex128"] * 3]
    zs = np.array([1 + 2j, -0.5j, complex(0.25, -0.0)])
    ns = np.array([0, 2, 5], "int32")
    slope = np.conj(np.exp(zs) * (zs + 1))
    expected = [np.exp(2 * zs) + 1, np.exp(zs.astype("complex64")), 2 * abs(zs), zs * (1 + 0.5j) ** ns, slope, -2 + 1j]
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        f = lm.function([z, c, n], outputs, mode=mode)
        for got, wanted in zip(f(zs, zs.astype("complex64"), ns), expected, strict=True):
            assert got.dtype == np.asarray(wanted).dtype
            np.testing.assert_allclose(got, wanted, rtol=1e-6 if got.dtype == "complex64" else 1e-14)
    with pytest.raises(TypeError, match="is float64, and complex128 is not cast to it without loss"):
        lm.cffi_op("double _Complex f(double)", "double _Complex f(double x) { return x; }")(z)


def test_an_operand_that_would_lose_something_is_refused(library: Path) -> None:
    half_of = lm.cffi_op("float half_of(float)", library)
    for operand in (lt.vector("x"), lt.lvector("n"), 1j, lt.zvector("z")):
        with pytest.raises(TypeError, match=r"argument 0 of float half_of\(float\) is float32, and .* cast it first"):
            half_of(operand)
    with pytest.raises(TypeError, match="takes 1 operands"):
        half_of(1.0, 2.0)


def test_another_function_of_the_library_is_the_derivative(library: Path) -> None:
    slope = lm.cffi_op("double square_slope(double)", library, grad=lambda x: 2.0)
    square = lm.cffi_op("double square(double)", library, grad=lambda x: [slope(x)])
    x = lt.vector("x")
    first = lm.grad(lt.sum(square(x)), x)
    second = lm.grad(lt.sum(first), x)
    got = lm.function([x], [first, second])([1.5, -2.0])
    np.testing.assert_array_equal(got[0], [3.0, -4.0])
    np.testing.assert_array_equal(got[1], [2.0, 2.0])


def test_gradients_that_are_missing_or_do_not_fit_are_named(library: Path) -> None:
    x, other = lt.vector("x"), lt.scalar("other")
    with pytest.raises(GradientNotImplementedError, match="given no `grad`"):
        lm.grad(lt.sum(lm.cffi_op("double square(double)", library)(x)), x)
    with pytest.raises(ValueError, match="returned 2 derivatives, and there are 1 operands"):
        lm.grad(lt.sum(lm.cffi_op("double square(double)", library, grad=lambda x: [x, x])(x)), x)
    with pytest.raises(TypeError, match="not one of the operands"):
        lm.grad(lt.sum(lm.cffi_op("double square(double)", library, grad=lambda x: x * other)(x)), x)
    with pytest.raises(TypeError, match="functions of numbers only"):
        lm.grad(lt.sum(lm.cffi_op("double square(double)", library, grad=lambda x: lt.sum(lt.zeros(3)) + x)(x)), x)


def test_operands_that_do_not_vary_have_no_derivative() -> None:
    ldexp: Elemwise[...] = lm.cffi_op("double ldexp(double, int)", grad=lambda x, n: [ldexp(1.0, n), None])
    x, n = lt.vector("x"), lt.ivector("n")
    z = ldexp(x, n)
    f = lm.function([x, n], [z, lm.grad(lt.sum(z), x)])
    value, gradient = f([1.0, 3.0], np.array([2, -1], np.int32))
    np.testing.assert_array_equal(value, [4.0, 1.5])
    np.testing.assert_array_equal(gradient, [4.0, 0.5])


def test_ops_are_equal_by_function_library_and_gradient(library: Path) -> None:
    plain = lm.cffi_op("double hypot(double, double)")
    assert plain == lm.cffi_op("double hypot ( double x , double y ) ;")
    assert hash(plain) == hash(lm.cffi_op("typedef double real; real hypot(real, real)"))
    assert plain != hypot()
    assert hypot() == hypot()
    assert plain != lm.cffi_op("double fmod(double, double)")
    x, y = lt.vectors("x", "y")
    assert hypot()(x, y) is hypot()(x, y)
    assert lm.cffi_op("double square(double)", library) == lm.cffi_op("double square(double)", str(library))


def test_it_pickles(library: Path) -> None:
    for op in (hypot(), lm.cffi_op("double square(double)", library)):
        copied = pickle.loads(pickle.dumps(op))
        assert copied == op
        assert copied.scalar_op.compute([2.0] * copied.scalar_op.nin) == op.scalar_op.compute([2.0] * op.scalar_op.nin)


@pytest.mark.parametrize(
    ("declaration", "error", "message"),
    [
        ("double (", ValueError, "no declaration that cffi understands"),
        ("typedef double real", ValueError, "declares none"),
        ("double sin(double); double cos(double)", ValueError, "declares cos, sin"),
        ("double nosuch(double)", AttributeError, "the C library has no function 'nosuch'"),
        ("double frexp(double, int *)", TypeError, "need names, each another"),
        ("long double expl(long double)", TypeError, "argument 0 of expl is of type `long double`"),
        ("void srand(unsigned int)", TypeError, "need names, each another"),
        ("char toupper(char)", TypeError, "say `signed char`"),
        ("int rand(void)", TypeError, "takes no arguments"),
        ("int ilogb(double, ...)", TypeError, "takes any number of arguments"),
    ],
)
def test_declarations_that_do_not_fit_are_errors(declaration: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        lm.cffi_op(declaration)


def test_a_library_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        lm.cffi_op("double f(double)", tmp_path / "missing.so")
