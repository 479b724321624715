"""The special functions of complex numbers: exact in each part, and tied to one another where there are no exact values."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.codegen import Entry
from lamella.ir import TensorType, lt
from tests.codegen.agreement import compiled

FUNCTIONS: Final = {"erf": lt.erf, "erfc": lt.erfc, "erfcx": lt.erfcx, "digamma": lt.digamma}

# Computed in 40 digits or more by mpmath, and rounded.
EXACT: Final[dict[str, list[tuple[complex, complex]]]] = {
    "erf": [
        ((0.5 + 0.5j), (0.6426129148548205 + 0.4578813944351922j)),
        ((1e-08 + 2e-09j), (1.1283791670955126e-08 + 2.256758334191025e-09j)),
        ((-1.3 + 0.02j), (-0.9341162103495734 + 0.0041628381791838686j)),
        ((2.5 - 3.75j), (-202.61793558903992 - 236.2951158361971j)),
        ((0.001 + 5j), (81247447.11862522 + 8297867640.123574j)),
        ((-0.125 - 6.25j), (-8295864883835364 - 239331473745869.84j)),
        ((6.5 + 1e-12j), (1 + 5.0525800030626525e-31j)),
        ((5.25 - 5.5j), (1.4551805565024836 - 0.9910933766683943j)),
        ((-4.25 + 1j), (-1.000000003744979 + 3.1813046100057926e-09j)),
        ((7 + 8.5j), (-563879362.0129914 + 306066472.26369816j)),
        ((100000 - 3j), (1 + 0j)),
        ((0.25 + 0.375j), (0.31622022186173415 + 0.4144201294044215j)),
        ((-0.0625 + 1.875j), (-2.34750860433331 + 12.200637623728934j)),
    ],
    "erfc": [
        ((0.5 + 0.5j), (0.3573870851451795 - 0.4578813944351922j)),
        ((1e-08 + 2e-09j), (0.9999999887162083 - 2.256758334191025e-09j)),
        ((-1.3 + 0.02j), (1.9341162103495735 - 0.0041628381791838686j)),
        ((2.5 - 3.75j), (203.61793558903992 + 236.2951158361971j)),
        ((0.001 + 5j), (-81247446.11862522 - 8297867640.123574j)),
        ((-0.125 - 6.25j), (8295864883835365 + 239331473745869.84j)),
        ((6.5 + 1e-12j), (3.8421483271206475e-20 - 5.0525800030626525e-31j)),
        ((5.25 - 5.5j), (-0.4551805565024836 + 0.9910933766683943j)),
        ((-4.25 + 1j), (2.000000003744979 - 3.1813046100057926e-09j)),
        ((7 + 8.5j), (563879363.0129914 - 306066472.26369816j)),
        ((100000 - 3j), -0j),
        ((0.25 + 0.375j), (0.6837797781382658 - 0.4144201294044215j)),
        ((-0.0625 + 1.875j), (3.34750860433331 - 12.200637623728934j)),
    ],
    "erfcx": [
        ((0.5 + 0.5j), (0.533156707912175 - 0.2304882313844584j)),
        ((1e-08 + 2e-09j), (0.9999999887162084 - 2.2567582941910256e-09j)),
        ((-1.3 + 0.02j), (10.46237873841432 - 0.5671165127810056j)),
        ((2.5 - 3.75j), (0.07248164680087427 + 0.10333139578811608j)),
        ((0.001 + 5j), (2.4080463967103415e-05 - 0.11524595667450373j)),
        ((-0.125 - 6.25j), (-0.0018787934239024554 + 0.09143412471459662j)),
        ((6.5 + 1e-12j), (0.08580567010489461 - 1.290545573188275e-14j)),
        ((5.25 - 5.5j), (0.05170793300176011 + 0.053240595913522905j)),
        ((-4.25 + 1j), (-30958839.513684053 - 41062700.224711835j)),
        ((7 + 8.5j), (0.03275676379897546 - 0.039448397937285336j)),
        ((100000 - 3j), (5.641895830117762e-06 + 1.6925687488660717e-10j)),
        ((0.25 + 0.375j), (0.692753067089485 - 0.2586782825710593j)),
        ((-0.0625 + 1.875j), (0.012611847359858848 - 0.3773816741493117j)),
    ],
    "digamma": [
        ((0.5 + 0.5j), (-0.8681073626454773 + 1.4406595199775145j)),
        ((1e-08 + 2e-09j), (-96153846.7310618 + 19230769.230769236j)),
        ((-1.3 + 0.02j), (2.868895297588766 + 0.289716962141031j)),
        ((2.5 - 3.75j), (1.4456430194662668 - 1.0789025355153858j)),
        ((0.001 + 5j), (1.6127648642109818 + 1.670597667121166j)),
        ((-0.125 - 6.25j), (1.836517066442615 - 1.6706759641593787j)),
        ((9.5 + 1e-12j), (2.1977378764029494 + 1.1099728846909903e-13j)),
        ((-7.999 - 0.001j), (-497.8561861702536 - 500.0031723464869j)),
        ((-40.25 + 1j), (3.7195153436501265 + 3.117037018748904j)),
        ((20 + 80j), (4.410879170595994 + 1.3317057837715718j)),
        ((100000 - 3j), (11.5129204654119 - 3.0000149991499866e-05j)),
        ((-3.5 + 12j), (2.537378494866733 + 1.892703405510894j)),
        ((1.75 + 0.25j), (0.2647656224206512 + 0.18897726383386831j)),
    ],
}


@cache
def functions() -> Entry:
    """All of them, of one vector."""
    z = TensorType("complex128", (None,))("z")
    return compiled([z], [function(z) for function in FUNCTIONS.values()])


def values(*points: complex) -> dict[str, npt.NDArray[Any]]:
    """The values of all functions."""
    return dict(zip(FUNCTIONS, functions()([np.array(points, "complex128")]), strict=True))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_part_is_exact(name: str) -> None:
    points, exact = np.array(EXACT[name]).T
    found = values(*points)[name]
    np.testing.assert_allclose(found.real, exact.real, rtol=4e-15, atol=0)
    np.testing.assert_allclose(found.imag, exact.imag, rtol=4e-15, atol=0)


PARTS = st.floats(-5, 5) | st.floats(-1e-3, 1e-3)
POINTS = st.builds(complex, PARTS, PARTS)


@given(POINTS)
def test_values_at_points_and_at_their_mirror_images_agree(z: complex) -> None:
    for found in values(z, z.conjugate()).values():
        np.testing.assert_array_equal(found[0], found[1].conjugate())
    erf, erfc = values(z, -z)["erf"], values(z, -z)["erfc"]
    assert erf[0] == -erf[1]
    assert abs(erfc[0] + erfc[1] - 2) <= 1e-15 * (2 + abs(erfc[0]))


@given(POINTS)
def test_error_functions_agree(z: complex) -> None:
    (erf,), (erfc,), (erfcx,), _ = values(z).values()
    assert abs(erf + erfc - 1) <= 1e-14 * (1 + abs(erf))
    assert abs(np.exp(z * z) * erfc - erfcx) <= 1e-13 * abs(erfcx)


@given(POINTS.filter(lambda z: abs(z) > 1e-3 and abs(z + np.round(-z.real)) > 1e-3))
def test_digamma_recurs(z: complex) -> None:
    here, there = values(z, z + 1)["digamma"]
    z_rounded = (z + 1) - 1  # what was added to
    assert abs(here + 1 / z - there) <= 1e-13 * (1 + abs(here)) + abs(z_rounded - z) * abs(here) ** 2 * 10


@pytest.mark.parametrize("sign", [1, -1])
def test_overflow_underflow_and_poles(sign: int) -> None:
    found = values(30 + sign * 1j, sign * 30j, sign * np.inf + 0j, complex(0, sign * np.inf), -3 + 0j)
    assert found["erf"].tolist()[0] == 1
    assert found["erf"][1] == complex(0, sign * np.inf)
    assert found["erf"][2:4].tolist() == [sign, complex(0, sign * np.inf)]
    assert found["erfc"][0] == 0
    assert found["erfc"][2] == (0 if sign > 0 else 2)
    assert found["erfcx"][2:4].tolist() == [0 if sign > 0 else np.inf, 0]
    assert np.isnan(found["digamma"][4])


def test_tiny_arguments_lose_nothing() -> None:
    z = 3e-300 - 2e-305j
    (erf,), _, _, (digamma,) = values(z).values()
    np.testing.assert_allclose([erf.real, erf.imag], np.array([z.real, z.imag]) * 2 / np.sqrt(np.pi), rtol=4e-15)
    np.testing.assert_allclose(digamma, -1 / z, rtol=1e-15)


def test_single_precision_is_double_precision_rounded() -> None:
    z = TensorType("complex64", (None,))("z")
    points = (np.linspace(-3, 3, 25)[:, None] + 1j * np.linspace(-2, 2, 17)).ravel().astype("complex64")
    single = compiled([z], [function(z) for function in FUNCTIONS.values()])([points])
    double = functions()([points.astype("complex128")])
    for few, many in zip(single, double, strict=True):
        np.testing.assert_array_equal(few, many.astype("complex64"))
