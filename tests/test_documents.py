"""The documentation runs: every Python block of a page, from top to bottom, in one namespace."""

from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
READER = Sybil(parsers=[PythonCodeBlockParser()], path=str(ROOT), pattern="*.md")


# A test per page, not per block: the blocks of a page belong together, in one process.
@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in PAGES])
def test_the_blocks_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for example in READER.parse(ROOT / page).examples():
        example.evaluate()
