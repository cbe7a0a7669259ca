"""The how-to page on choosing a method runs as it is written."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "choose_a_method.md"


def test_the_page_runs_as_written():
    # The closing fence of a block stands right after its expected output, so a blank line ends that output first.
    failures, examples = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8", verbose=False)
    assert examples > 10
    assert failures == 0


def test_a_changed_figure_is_found(tmp_path):
    wrong = tmp_path / "page.md"
    wrong.write_text(PAGE.read_text(encoding="utf-8").replace("Alg. 4 (TLI)   9/10", "Alg. 4 (TLI)   7/8"), "utf-8")
    failures, _ = doctest.testfile(str(wrong), module_relative=False, encoding="utf-8", verbose=False, report=False)
    assert failures == 1
