"""What `import lamella` loads, and what it does not."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

import lamella
import lamella as lm
import lamella.codegen
import lamella.codegen.c
import lamella.runtime

HEAVY = ["scipy", "matplotlib", "sklearn", "hypothesis", "pytest", "mypy", "rich", "cffi", "numba", "jax", "sybil"]
NEEDED_LATER = ["hashlib", "json", "shutil", "subprocess", "tempfile", "tomllib", "importlib.resources"]
UPPER_LAYERS = [f"lamella.{layer}" for layer in ("typing_layer", "rewriting", "codegen", "runtime", "testing", "cli")]


def output_of(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env=dict(os.environ), capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout


def modules_loaded_by(code: str) -> set[str]:
    return set(
        output_of(f"import numpy, sys; before = {{*sys.modules}}\n{code}\nprint(*({{*sys.modules}} - before))").split()
    )


def loaded_by(code: str) -> set[str]:
    program = f"{code}\nimport sys; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    return set(output_of(program).split())


@pytest.mark.parametrize("code", ["import lamella", "import lamella as lm, lamella.tensor as lt"])
def test_importing_loads_no_heavy_package(code: str) -> None:
    found = loaded_by(code)
    assert {"lamella", "numpy", "attr"} <= found
    assert found.isdisjoint(HEAVY)


@pytest.mark.parametrize("code", ["import lamella", "import lamella as lm, lamella.tensor as lt"])
def test_importing_loads_neither_what_compiles_nor_what_only_that_needs(code: str) -> None:
    found = modules_loaded_by(code)
    assert "lamella.ir.tensor.elemwise" in found
    assert found.isdisjoint(NEEDED_LATER)
    assert found.isdisjoint(UPPER_LAYERS)


def test_building_and_differentiating_loads_nothing_that_compiles() -> None:
    found = modules_loaded_by(
        "import lamella as lm, lamella.tensor as lt\n"
        "x = lt.dvector('x')\n"
        "lm.grad(lt.sum(lt.exp(x[1:])), x).eval({x: [1.0, 2.0]})"
    )
    assert found.isdisjoint(UPPER_LAYERS)


@pytest.mark.parametrize("code", ["import lamella as lm; lm.rewrite_graph", "from lamella import optdb"])
def test_a_name_of_an_upper_layer_loads_its_home_alone(code: str) -> None:
    found = modules_loaded_by(code)
    assert "lamella.rewriting" in found
    assert found.isdisjoint({"lamella.runtime", "lamella.codegen"})


def test_what_is_called_from_the_cache_needs_no_more_than_this(tmp_path: Path) -> None:
    code = (
        "import lamella as lm, lamella.tensor as lt\n"
        "x = lt.dvector('x')\n"
        f"with lm.config.override(cache_dir={str(tmp_path)!r}, recall=True):\n"
        "    f = lm.function([x], lt.exp(x) + 1.0)\n"
        "assert f([0.0]) == [2.0]"
    )
    assert "lamella.rewriting" in modules_loaded_by(code)
    found = modules_loaded_by(code)
    assert found.isdisjoint({"lamella.rewriting", "lamella.typing_layer", "lamella.codegen.c.driver", "subprocess"})
    assert len([name for name in found if name.startswith(("lamella.runtime", "lamella.codegen"))]) < 20


LAZY_FACES = [lamella, lamella.runtime, lamella.codegen, lamella.codegen.c]


def test_a_face_has_all_its_names_however_it_is_asked() -> None:
    assert {"function", "optdb", "rewrite_graph", "FAST_RUN"} <= {*dir(lamella)}
    assert "'function', " in output_of("import lamella; print(dir(lamella))")
    assert output_of("from lamella import *; print(function.__name__, grad.__name__)") == "function grad\n"
    assert output_of("import lamella; print(hasattr(lamella, 'no_such_name'))") == "False\n"


@pytest.mark.parametrize("face", LAZY_FACES)
def test_no_name_stands_for_two_things(face: ModuleType) -> None:
    for name in dir(face):
        if not name.startswith("_"):
            value = getattr(face, name)
            assert value is getattr(face, name)
            # Where a submodule has the name, what it means depends on what was loaded first.
            is_submodule = find_spec(f"{face.__name__}.{name}") is not None
            assert (
                isinstance(value, ModuleType) or not is_submodule or value is lm.config
            )  # which is loaded with its face


def test_a_missing_name_is_an_error_that_says_so() -> None:
    with pytest.raises(AttributeError, match="module 'lamella' has no attribute 'no_such_name'"):
        lamella.no_such_name  # type: ignore[attr-defined]  # that is the point  # noqa: B018


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
    assert found.isdisjoint({"pytest", "hypothesis", "matplotlib", "sklearn", "mypy"})
