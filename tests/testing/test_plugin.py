"""The pytest plugin: fixtures, messages, and no cost where it is not used. And what `lamella.testing` needs to be imported."""

import os
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from lamella.ir import FunctionGraph, lt
from lamella.testing.plugin import explain_comparison, seeded_generator


def run_pytest(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_sample.py").write_text(textwrap.dedent(source))
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "pytest_lamella", "-q"]
    # Only this plugin: others may import anything.
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def run_python(source: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", textwrap.dedent(source)], capture_output=True, text=True, check=False)


def test_a_project_that_does_not_use_it_does_not_import_it(tmp_path: Path) -> None:
    result = run_pytest(
        tmp_path,
        """
        import sys

        def test_nothing():
            assert "pytest_lamella" in sys.modules
            assert "lamella" not in sys.modules
            assert "numpy" not in sys.modules
        """,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_distribution_names_the_plugin() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"lamella": "pytest_lamella"}


def test_fixtures(tmp_path: Path) -> None:
    result = run_pytest(
        tmp_path,
        """
        import numpy as np

        seen = []

        def test_first(lamella_rng):
            seen.append(lamella_rng.random())
            assert isinstance(lamella_rng, np.random.Generator)

        def test_second(lamella_rng):
            assert lamella_rng.random() not in seen

        def test_modes(lamella_modes):
            assert {"FAST_RUN", "FAST_COMPILE"} <= set(lamella_modes)

        def test_mode(lamella_mode, lamella_modes):
            assert lamella_mode in lamella_modes
        """,
    )
    assert "5 passed" in result.stdout, result.stdout + result.stderr


def test_failed_comparisons_show_the_graphs(tmp_path: Path) -> None:
    result = run_pytest(
        tmp_path,
        """
        import lamella.tensor as lt

        def test_graphs():
            x = lt.vector("x")
            assert lt.exp(x) + 1 is lt.exp(x) + 2
        """,
    )
    assert result.returncode == 1
    for words in ("left (-) and right (+):", "Exp(%x)", "equal_computations says False"):
        assert words in result.stdout, result.stdout


def test_comparisons_in_words() -> None:
    x, y = lt.vector("x"), lt.vector("y")
    assert explain_comparison("==", lt.exp(x), lt.exp(y)) == [
        "TensorVariable Exp.0 == TensorVariable Exp.0",
        "equal_computations says False; `==` and `is` ask whether both are the same node",
        "left (-) and right (+):",
        "- graph(%x: float64[?]) {",
        "+ graph(%y: float64[?]) {",
        "-   %0: float64[?] = Exp(%x)",
        "+   %0: float64[?] = Exp(%y)",
        "    return %0",
        "  }",
    ]
    alike = explain_comparison("is", lt.exp(lt.vector("x")), lt.exp(x))
    assert alike is not None
    assert alike[2].startswith("both are printed alike")
    same = explain_comparison("is not", FunctionGraph([x], [lt.exp(x)]), FunctionGraph([x], [lt.exp(x)]))
    assert same is not None
    assert same[1] == "both are the same, computed as:"
    assert explain_comparison("==", 1, x) is None
    assert explain_comparison("<", x, y) is None


def test_generators_depend_on_the_name_only() -> None:
    assert seeded_generator("a").random() == seeded_generator("a").random() != seeded_generator("b").random()


@pytest.mark.parametrize("missing", ["pytest", "hypothesis"])
def test_the_testing_layer_needs_neither_pytest_nor_hypothesis(missing: str) -> None:
    result = run_python(
        f"""
        import sys

        sys.modules[{missing!r}] = None
        import numpy as np
        import lamella.tensor as lt
        from lamella.testing import make_tester, verify_grad, verify_op

        verify_op(lt.exp, np.array([0.5, 1.5]), backends=["PerformLinker"])
        make_tester("T", lt.exp, np.exp, good=[(np.ones(2),)], mode="FAST_COMPILE")().test_good()
        assert not {{"pytest", "hypothesis", "_pytest"}} - {{{missing!r}}} & set(sys.modules)
        """
    )
    assert result.returncode == 0, result.stderr
