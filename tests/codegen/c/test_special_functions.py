"""Special functions, remainders and powers as vector code: exact to few units in the last place, and the same for an element wherever it is."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
import scipy.special

import lamella as lm
import lamella.tensor as lt
from lamella.ir import TensorType

Array = np.ndarray[Any, Any]

EXACT: Final = {
    -1.5: (0.860047015376481, 0.7031566406452432, 9.379246644989124),
    -0.75: (1.5757045971498584, -2.894120200042932, 18.975106932284888),
    -0.5: (1.2655121234846454, 0.03648997397857652, 8.934802200544679),
    -0.25: (1.589575312551186, 2.9141391202135276, 18.541879647671607),
    1e-05: (11.512919692895826, -100000.57719921567, 10000000001.644909),
    0.1: (2.252712651734206, -10.423754940411076, 101.43329915079275),
    0.4999: (0.5725613186041184, -1.9640035904016993, 4.936485567383169),
    0.7499999999999999: (0.2032809514312955, -1.0858608797864724, 2.5418796476716072),
    0.75: (0.20328095143129538, -1.0858608797864722, 2.5418796476716063),
    0.999: (0.0005780385328913802, -0.5788618021086455, 1.6473414317770505),
    0.9999999999: (5.7721571274281786e-11, -0.5772156650660263, 1.6449340670886379),
    1.0000001: (-5.772155829918507e-08, -0.5772155004081381, 1.6449338264368782),
    1.001: (-0.0005763935982833062, -0.5755719318103006, 1.6425331958689784),
    1.25: (-0.09827183642181316, -0.22745353337626542, 1.1973291545071107),
    1.46163214496836: (-0.12148629053584961, -2.2410766695906462e-15, 0.9676722454476232),
    1.4616321449684: (-0.12148629053584961, 3.6434875589129025e-14, 0.9676722454475878),
    1.4999999: (-0.12078224128423795, 0.036489880498352265, 0.9348022834243508),
    1.75: (-0.08440112102048555, 0.24747245354686118, 0.7641018698938287),
    1.9999999: (-4.2278430309861296e-08, 0.4227842706050584, 0.6449341072596095),
    1.999: (-0.0004224618006921073, 0.4221391988923556, 0.6453384277720445),
    2.0000001: (4.227843666532498e-08, 0.4227843995918717, 0.6449340264368484),
    2.001: (0.000423106734800117, 0.42342906719069845, 0.6445301998639841),
    2.2499999999999996: (0.12487171489239635, 0.5725464666237343, 0.5573291545071108),
    2.25: (0.1248717148923966, 0.5725464666237345, 0.5573291545071107),
    2.43: (0.23667701361878538, 0.6682397756292523, 0.5074591433007793),
    2.9999: (0.6930549041011312, 0.9227448409211934, 0.3949494788235781),
    3.0001: (0.6932394609681, 0.9228238277346028, 0.3949186560622688),
    3.28: (0.9664729939981942, 1.0277275929258485, 0.3559938543779776),
    3.9999: (1.7916338588803398, 1.2560892857360206, 0.2838309599346727),
    4.0: (1.791759469228055, 1.2561176684318005, 0.2838229557371153),
    4.9999: (3.1779032196877255, 1.5060955358922745, 0.2213278348174813),
    5.0: (3.1780538303479458, 1.5061176684318005, 0.22132295573711533),
    6.5: (5.662562059857142, 1.792911330399933, 0.16628453574995825),
    7.9999: (8.524959797583307, 2.015628164165642, 0.1331387846744475),
    8.0: (8.525161361065415, 2.01564147795561, 0.1331370146940314),
    10.36: (13.619188854861283, 2.2889139842705895, 0.10133325508771159),
    123.456: (469.6055471299295, 4.811829323828985, 0.008132945834278198),
    10000000000.0: (220258509288.81058, 23.025850929890456, 1.00000000005e-10),
}
"""x: gammaln, digamma and trigamma of x, computed with 40 digits; next to their zeros, where ways to compute them change, and in between."""

AROUND: Final = np.array(
    [0.0, -0.0, -0.5, -1.0, -2.75, -1e3, -np.inf, np.inf, np.nan, 5e-324, 1e-310, 1e-200, 1e200, 2.6e305, 1.7e308]
)


def vector(dtype: str, name: str = "x") -> Any:
    return TensorType(dtype, (None,))(name)


def special(dtype: str) -> Any:
    x = vector(dtype)
    return lm.function([x], [lt.gammaln(x), lt.digamma(x), lt.polygamma(1, x)])


def off(found: Array, exact: Array) -> Any:
    return np.abs((found - exact) / np.spacing(np.abs(exact)))


def test_next_to_zeros_and_where_ways_change() -> None:
    x = np.array(list(EXACT))
    for found, exact in zip(special("float64")(x), np.array(list(EXACT.values())).T, strict=True):
        assert off(found, exact).max() <= 4


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_agree_with_scipy_everywhere(dtype: str) -> None:
    rng = np.random.default_rng(3)
    spread = np.exp(rng.uniform(-20, 20, 4000))
    with np.errstate(over="ignore"):
        x = np.concatenate([spread, rng.uniform(0, 12, 4000), rng.uniform(-12, 0, 500), AROUND]).astype(dtype)
    x = x[(abs(x) >= np.finfo(x.dtype).tiny * 8) | (x == 0) | np.isnan(x)]  # of less, SciPy's are infinite that are not
    rng.shuffle(x)
    with np.errstate(all="ignore"):
        wide = x.astype("float64")
        exact = scipy.special.gammaln(wide), scipy.special.psi(wide), scipy.special.polygamma(1, wide)
        for name, found, wanted in zip(("gammaln", "digamma", "trigamma"), special(dtype)(x), exact, strict=True):
            rounded = wanted.astype(dtype)
            is_finite = np.isfinite(rounded)
            np.testing.assert_array_equal(found[~is_finite], rounded[~is_finite], err_msg=name)
            tolerance = 1e-11 if dtype == "float64" else 1e-6  # that of SciPy's own functions between negative poles
            np.testing.assert_allclose(found[is_finite], rounded[is_finite], tolerance, tolerance, err_msg=name)


def test_an_element_does_not_depend_on_the_others() -> None:
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.uniform(-3, 12, 37), AROUND])
    y = np.concatenate([rng.uniform(-1, 1, 37), AROUND[::-1]])
    a, b = vector("float64", "a"), vector("float64", "b")
    f = lm.function([a, b], [lt.gammaln(a), lt.digamma(a), lt.polygamma(1, a), a % b, a // b])
    with np.errstate(all="ignore"):
        whole = f(x, y)
        for i in range(x.size):
            for one, all_ in zip(f(x[i : i + 1], y[i : i + 1]), whole, strict=True):
                np.testing.assert_array_equal(one, all_[i : i + 1])


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_integers_are_divided_as_by_numpy(bits: int) -> None:
    rng = np.random.default_rng(bits)
    names = [f"int{bits}", f"uint{bits}"]
    pairs = [(vector(name, "x"), vector(name, "y")) for name in names]
    f = lm.function(sum(pairs, ()), [z for x, y in pairs for z in (x // y, x % y)])
    arguments = []
    for name in names:
        info = np.iinfo(name)
        edges = [info.min, info.min + 1, info.max, info.max - 1, info.max // 2, info.max // 2 + 1, 0, 1, 2, 3, 7]
        edges += [-1, -2, -3] if info.min else []
        sizes = rng.integers(0, bits, (2, 3000))
        wide = rng.integers(info.min, info.max, (2, 3000), dtype=name, endpoint=True) >> sizes.astype(name)
        divisor, factor = wide[1], rng.integers(0, 2 ** (bits // 2), 3000).astype(name)
        crossed = np.meshgrid(*[np.array(edges, name)] * 2)
        x = np.concatenate([crossed[0].ravel(), wide[0], divisor * factor, divisor * factor - wide.dtype.type(1)])
        arguments += [x, np.concatenate([crossed[1].ravel(), divisor, divisor, divisor])]
    found = f(*arguments)
    with np.errstate(all="ignore"):
        for i, (x, y) in enumerate(zip(arguments[::2], arguments[1::2], strict=True)):
            np.testing.assert_array_equal(found[2 * i], x // y)
            np.testing.assert_array_equal(found[2 * i + 1], x % y)


def test_powers_of_integers_wrap() -> None:
    names = ["int8", "uint16", "int32", "int64", "uint64"]
    pairs = [(vector(name, "x"), vector(name, "y")) for name in names]
    f = lm.function(sum(pairs, ()), [x**y for x, y in pairs])
    rng = np.random.default_rng(6)
    arguments = []
    for name in names:
        info = np.iinfo(name)
        x = rng.integers(info.min, info.max, 400, dtype=name, endpoint=True)
        y = np.concatenate(
            [rng.integers(0, 16, 200), rng.integers(0, 100, 190), [0, 1, 15, 16, 17, 31, 63, 64, 65, 127]]
        )
        arguments += [x, y.astype(name)]
    for found, x, y in zip(f(*arguments), arguments[::2], arguments[1::2], strict=True):
        np.testing.assert_array_equal(found, x**y)
