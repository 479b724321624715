"""The layers hold: the import contracts are kept, and each of them notices when it is broken."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts of the checkout at ``root``, whichever copy of the package is installed."""
    command = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    return subprocess.run(
        [sys.executable, "-c", command, "--no-cache"],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root / "src"), "NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the package and its contracts, to break."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_every_contract_is_kept() -> None:
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 broken" in result.stdout


UPWARD = "A layer imports the layers below it"
FAMILIES = "Inside ir, the graph core knows no tensor"
PROCESSES = "Only the compiler driver and the runtime start processes"


@pytest.mark.parametrize(
    ("module", "source", "contract"),
    [
        ("ir/graph/planted.py", "import lamella.runtime\n", UPWARD),
        ("typing_layer/planted.py", "def f() -> None:\n    import lamella.rewriting\n", UPWARD),
        (
            "rewriting/planted.py",
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import lamella.codegen\n",
            UPWARD,
        ),
        ("codegen/planted.py", "from lamella import testing\n", UPWARD),
        ("planted.py", "", UPWARD),
        ("ir/graph/planted.py", "import lamella.ir.tensor\n", FAMILIES),
        ("ir/planted.py", "", FAMILIES),
        ("rewriting/planted.py", "import lamella.ir.graph\n", "ir is entered through its facade"),
        ("cli/planted.py", "import lamella.codegen.c\n", "codegen is entered through its facade"),
        ("testing/planted.py", "import subprocess\n", PROCESSES),
        ("codegen/c/planted.py", "from multiprocessing import Process\n", PROCESSES),
    ],
)
def test_a_planted_import_is_seen(checkout: Path, module: str, source: str, contract: str) -> None:
    (checkout / "src" / "lamella" / module).write_text(source)
    result = lint_imports(checkout)
    assert result.returncode == 1, result.stdout + result.stderr
    broken = [line for line in result.stdout.splitlines() if " BROKEN" in line]  # "(1 ignored import)" may follow
    assert any(line.startswith(contract) for line in broken), result.stdout


def test_the_compiler_driver_may_start_processes(checkout: Path) -> None:
    (checkout / "src/lamella/codegen/c/driver.py").write_text("import subprocess\n")
    result = lint_imports(checkout)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("layer", ["ir", "rewriting", "typing_layer", "codegen", "runtime", "testing"])
def test_a_link_at_the_root_leads_to_its_layer(layer: str) -> None:
    link = ROOT / layer
    if not link.is_symlink():
        pytest.skip("archives and some file systems lose the links, and nothing depends on them")
    assert link.readlink() == Path("src/lamella") / layer
