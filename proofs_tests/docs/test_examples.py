"""Every example of the book runs as it is written, and its picture is what the script draws."""

from __future__ import annotations

import doctest
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from proofs_tests.docs.book import DOCS, ROOT, pages

# These pages have tests of their own.
ELSEWHERE = {DOCS / "how_to" / "choose_a_method.md", DOCS / "first_day.md", DOCS / "tutorial.md"}

with_examples = [page for page in pages() if ">>>" in page.read_text(encoding="utf-8") and page not in ELSEWHERE]


@pytest.mark.parametrize("page", with_examples, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run_as_written(page: Path) -> None:
    # The closing fence of a block stands right after its expected output, so a blank line ends that output first.
    failures, examples = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert examples > 0
    assert failures == 0


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "first_verdict.md"], ids=lambda page: page.name)
def test_the_first_verdict_is_the_one_printed(page: Path, tmp_path: Path) -> None:
    """The program of the page, saved and run as a newcomer would, prints what the page says."""
    text = page.read_text(encoding="utf-8")
    (program,) = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "print(check" in block]
    (tmp_path / "mine.py").write_text(program, encoding="utf-8")
    ran = subprocess.run([sys.executable, "mine.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("Lossy for 1 draft: token 0 is emitted with probability 5/16")
    assert f"```\n{ran.stdout}```" in text


def test_the_picture_is_what_its_script_draws() -> None:
    script = DOCS / "pictures" / "lossless.py"
    drawn = runpy.run_path(str(script))["svg"]()
    assert script.with_suffix(".svg").read_text(encoding="utf-8") == drawn
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")


def test_a_changed_example_is_found(tmp_path: Path) -> None:
    """The control."""
    wrong = tmp_path / "page.md"
    text = (DOCS / "lossless.md").read_text(encoding="utf-8")
    wrong.write_text(text.replace("Fraction(3, 25)", "Fraction(3, 50)"), encoding="utf-8")
    failures, _ = doctest.testfile(str(wrong), module_relative=False, encoding="utf-8", report=False)
    assert failures == 1
