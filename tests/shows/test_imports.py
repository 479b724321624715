"""What `import lamella` loads, and what it does not."""

import os
import subprocess
import sys

import pytest

HEAVY = ["scipy", "matplotlib", "sklearn", "hypothesis", "pytest", "mypy", "rich", "cffi", "numba", "jax", "sybil"]


def loaded_by(code: str) -> set[str]:
    program = f"{code}\nimport sys; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run(
        [sys.executable, "-c", program], env=dict(os.environ), capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return set(done.stdout.split())


@pytest.mark.parametrize("code", ["import lamella", "import lamella as lm, lamella.tensor as lt"])
def test_importing_loads_no_heavy_package(code: str) -> None:
    found = loaded_by(code)
    assert {"lamella", "numpy", "attr"} <= found
    assert found.isdisjoint(HEAVY)


def test_building_differentiating_and_compiling_without_c_loads_none_either() -> None:
    found = loaded_by(
        "import lamella as lm, lamella.tensor as lt\n"
        "x = lt.dvector('x')\n"
        "f = lm.function([x], [lt.exp(x), lm.grad(lt.sum(x**2), x)], mode='FAST_COMPILE')\n"
        "f([1.0, 2.0])"
    )
    assert found.isdisjoint(HEAVY)


def test_the_testing_layer_needs_no_pytest() -> None:
    found = loaded_by(
        "import numpy as np, lamella.tensor as lt\n"
        "from lamella.testing import compare_backends, verify_grad\n"
        "verify_grad(lambda x: lt.sum(lt.exp(x)), [np.ones(2)])"
    )
    assert found.isdisjoint({"pytest", "matplotlib", "sklearn", "mypy"})
