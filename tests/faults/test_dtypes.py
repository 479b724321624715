"""Dtypes and integers."""

from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from tests.faults.three_ways import Case, check, check_error

F64 = np.float64


def test_an_integer_to_a_negative_integer_power_is_an_error() -> None:
    x, n = lt.lscalar("x"), lt.lscalar("n")
    check_error({x: 2, n: -1}, x**n, ValueError)
    check_error({x: 2}, x ** lt.constant(-1), ValueError)
    check_error({n: -1}, lt.constant(2) ** n, ValueError)
    v = lt.lvector("v")
    check_error({v: [1, 2]}, v ** lt.constant([2, -1]), ValueError)
    check(
        {x: 2, n: 3},
        (x**n, np.int64(8)),
        (x**0, np.int64(1)),
        (x**-1.0, F64(0.5)),
        (x ** lt.constant(62), np.int64(2**62)),
        (x**63, np.int64(-(2**63))),
        (x**64, np.int64(0)),
    )
    check({v: [0, -2, 3]}, (v**3, np.array([0, -8, 27])), (v**1, np.array([0, -2, 3])), (v**2, np.array([0, 4, 9])))
    small = lt.bvector("small")
    check({small: [100, -3]}, (small**2, np.array([16, 9], np.int8)), (small**3, np.array([64, -27], np.int8)))


def test_a_fractional_power_of_a_negative_number_is_nan() -> None:
    x, y, z = lt.dscalar("x"), lt.dscalar("y"), lt.fvector("z")
    nan = F64(np.nan)
    check(
        {x: -1.0, y: 0.01},
        (x**0.01, nan),
        (x**y, nan),
        (lt.constant(-1.0) ** 0.01, nan),
        (lt.constant(-1.0) ** lt.constant(0.01), nan),
        (x**0.5, nan),
        (x**-0.5, nan),
        (lt.sqrt(x), nan),
        (lt.log(x), nan),
        (x**2.0, F64(1)),
        (x**3.0, F64(-1)),
        (lt.arccos(2 * x), nan),
        (lt.log(x) * 0, nan),
    )
    check({z: [-8.0, 8.0]}, (z ** np.float32(0.5), np.array([np.nan, np.sqrt(np.float32(8))], np.float32)))
    check({x: -0.0}, (x**0.5, F64(0)), (lt.sqrt(x), F64(-0.0)), (x**3.0, F64(-0.0)), (x**2.0, F64(0)))
    check({x: -np.inf}, (x**0.5, F64(np.inf)), (lt.sqrt(x), nan), (x**3.0, F64(-np.inf)), (x**-1.0, F64(-0.0)))


def test_unsigned_and_signed_integers_are_compared_as_numbers() -> None:
    u, i, f = lt.vector("u", dtype="uint64"), lt.lvector("i"), lt.dvector("f")
    a, b = np.array([2**63, 2**64 - 1, 5], np.uint64), np.array([-1, -1, 5])
    check(
        {u: a, i: b, f: a.astype(float)},
        (u > i, np.array([True, True, False])),
        (lt.eq(u, i), np.array([False, False, True])),
        (lt.neq(u, i), np.array([True, True, False])),
        (u < i, np.array([False, False, False])),
        (u <= i, np.array([False, False, True])),
        (i < u, np.array([True, True, False])),
        (i >= u, np.array([False, False, True])),
        (u > -1, np.array([True, True, True])),
        (lt.eq(u, -1), np.array([False, False, False])),
        (i < 2**63, np.array([True, True, True])),
        (u >= f, a >= a.astype(float)),
        (lt.maximum(u, i), np.maximum(a, b)),
        (u + i, a + b),
    )
    small, byte = lt.bvector("small"), lt.vector("byte", dtype="uint8")
    c, d = np.array([-1, 100], np.int8), np.array([255, 100], np.uint8)
    check(
        {small: c, byte: d},
        (lt.eq(small, byte), np.array([False, True])),
        (small < byte, np.array([True, False])),
        (small + byte, c + d),
        (byte < 256, np.array([True, True])),
        (small > -129, np.array([True, True])),
    )


def test_arithmetic_of_bytes_and_booleans() -> None:
    x, b = lt.vector("x", dtype="uint8"), lt.vector("b", dtype="bool")
    a, flags = np.array([100, 2], np.uint8), np.array([True, False])
    with np.errstate(over="ignore"):
        check(
            {x: a},
            (x + np.uint8(200), np.array([44, 202], np.uint8)),
            (x - np.uint8(3), np.array([97, 255], np.uint8)),
            (-x, np.array([156, 254], np.uint8)),
            (lt.sum(x), np.uint64(102)),
            (lt.prod(x), np.uint64(200)),
            (lt.mean(x), F64(51)),
            (x + 0, a),
            (x + 200, a + 200),
            (x * 3, a * 3),
            (x // 3, a // 3),
            (x % 3, a % 3),
            (x / 3, a / 3),
            (x**2, a**2),
            (x + 0.5, a + 0.5),
            (x + np.int8(1), a + np.int8(1)),
            (x + 1 - 1, a + 1 - 1),
            (lt.sqrt(x), np.sqrt(a)),
            (lt.exp(x), np.exp(a)),
            (lt.abs(x - np.uint8(3)), np.array([97, 255], np.uint8)),
            (x << 1, a << 1),
            (~x, ~a),
            (lt.cumsum(x), np.cumsum(a)),
            rtol=2e-3,  # of float16
        )
    with pytest.raises(OverflowError):
        x + 256
    with pytest.raises(OverflowError):
        x - (-1)
    check(
        {b: flags},
        (b + b, flags),
        (b * b, flags),
        (b + 1, flags + 1),
        (b | ~b, flags | ~flags),
        (lt.sum(b), np.int64(1)),
        (lt.mean(b), F64(0.5)),
        (lt.exp(b), np.exp(flags)),
        (b / 2, flags / 2),
        (lt.eq(b, True), flags),
        (b + 0.5, flags + 0.5),
        rtol=2e-3,
    )
    with pytest.raises(TypeError):
        b - b
    with pytest.raises(TypeError):
        b - True
    with pytest.raises(TypeError):
        lt.neg(b)


def test_division_and_remainder_at_the_corners() -> None:
    x, y = lt.lvector("x"), lt.lvector("y")
    a, b = np.array([-7, 7, -7, 7]), np.array([2, -2, -2, 2])
    check(
        {x: a, y: b},
        (x // y, np.array([-4, -4, 3, 3])),
        (x % y, np.array([1, -1, -1, 1])),
        (x / y, a / b),
        (x // 2, a // 2),
        (x % -2, a % -2),
        (-7 // y, -7 // b),
        (divmod(x, y)[0] * y + divmod(x, y)[1], a),
    )
    lowest = np.iinfo(np.int64).min
    with np.errstate(all="ignore"):
        c, d = np.array([5, 0, -5, lowest]), np.array([0, 0, 0, -1])
        check({x: c, y: d}, (x // y, c // d), (x % y, c % d), (x / y, c / d), (x // 0, c // 0), (x % 0, c % 0))
        f, g = lt.dvector("f"), lt.dvector("g")
        e = np.array([5.5, np.inf, 1.0, -1.0, 0.0, -0.0, 5.5, -5.5, np.nan, 1e308, 7.0, -7.0])
        h = np.array([-np.inf, 2.0, 0.0, 0.0, 0.0, 3.0, np.inf, np.inf, 1.0, 1e-308, -2.0, 2.0])
        check({f: e, g: h}, (f // g, e // h), (f % g, e % h), (f / g, e / h))
        check({f: e}, (f // 0.0, e // 0.0), (f % 0.0, e % 0.0), (f / 0.0, e / 0.0), (f % np.inf, e % np.inf))
        for dtype in ("int8", "int16", "uint8", "uint64", "float32"):
            p, q = lt.vector("p", dtype=dtype), lt.vector("q", dtype=dtype)
            low = np.finfo(dtype).min if dtype == "float32" else np.iinfo(dtype).min
            k, m = np.array([low, 7, 7, 0], dtype), np.array([-1 if dtype[0] != "u" else 3, 0, 2, 0], dtype)
            check({p: k, q: m}, (p // q, k // m), (p % q, k % m))


def test_clipping_where_the_bounds_are_in_the_wrong_order() -> None:
    x, lo, hi, i = lt.dvector("x"), lt.dscalar("lo"), lt.dscalar("hi"), lt.lvector("i")
    a, n = np.array([-2.0, 0.0, 2.0]), np.array([-2, 0, 2])
    check(
        {x: a, lo: 1.0, hi: -1.0, i: n},
        (lt.clip(x, 1, -1), np.clip(a, 1, -1)),
        (lt.clip(x, lo, hi), np.clip(a, 1.0, -1.0)),
        (lt.clip(i, 1, -1), np.clip(n, 1, -1)),
        (lt.clip(x, np.nan, 1), np.clip(a, np.nan, 1)),
        (lt.clip(x, None, 0), np.clip(a, None, 0)),
        (lt.clip(x, 0.0, None), np.clip(a, 0.0, None)),
        (lt.clip(x * np.nan, -1, 1), np.full(3, np.nan)),
        (lt.clip(i, 0, 1.5), np.clip(n, 0, 1.5)),
        (lm.grad(lt.sum(lt.clip(x, lo, hi)), x), np.zeros(3)),
        (lt.clip(x, x + 1, x - 1), np.clip(a, a + 1, a - 1)),
    )


def test_casts_keep_what_fits_and_wrap_what_does_not() -> None:
    x, i = lt.dvector("x"), lt.lvector("i")
    a, n = np.array([1.9, -1.9, 0.0]), np.array([300, -1, 2**40])
    check(
        {x: a, i: n},
        (lt.cast(x, "int8"), a.astype("int8")),
        (lt.cast(x, "bool"), a.astype(bool)),
        (lt.cast(i, "uint8"), n.astype("uint8")),
        (lt.cast(lt.cast(i, "int8"), "int64"), n.astype("int8").astype("int64")),
        (lt.cast(lt.cast(i, "float32"), "float64"), n.astype("float32").astype("float64")),
        (lt.cast(lt.cast(x, "float32"), "float64"), a.astype("float32").astype("float64")),
        (lt.cast(lt.cast(x, "int64"), "float64"), np.array([1.0, -1.0, 0.0])),
        (lt.cast(lt.cast(x, "bool"), "float64"), np.array([1.0, 1.0, 0.0])),
    )
    with pytest.raises(TypeError):
        lt.cast(lt.vector("z", dtype="complex128"), "float64")


def test_literals_are_weak() -> None:
    f, h, i, b = (
        lt.fvector("f"),
        lt.vector("h", dtype="float16"),
        lt.vector("i", dtype="int8"),
        lt.vector("b", dtype="bool"),
    )
    arrays = [np.ones(2, "f4"), np.ones(2, "f2"), np.ones(2, "i1"), np.ones(2, bool)]
    literals: list[Any] = [
        2,
        2.0,
        True,
        np.float64(2),
        np.int64(2),
        np.float32(2),
        np.int8(2),
        np.array(2.0),
        np.array([2]),
    ]
    cases: list[Case] = []
    for variable, array in zip((f, h, i, b), arrays, strict=True):
        for literal in literals:
            cases.append((variable + literal, array + literal))
            cases.append((lt.maximum(literal, variable), np.maximum(literal, array)))
    check(dict(zip((f, h, i, b), arrays, strict=True)), *cases)
    assert lt.add(1, 2).dtype == "int64"
    assert lt.add(1, 2.0).dtype == "float64"
    assert lt.add(1, 2j).dtype == "complex128"
    with pytest.raises(OverflowError):
        i + 128
    with pytest.raises(OverflowError):
        lt.constant(2**64)
    assert lt.constant(2**64 - 1).dtype == "uint64"
