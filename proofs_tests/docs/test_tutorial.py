"""The tutorial runs as it stands, from top to bottom: its Python, its commands, and the files that they leave."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from proofs_tests.docs.book import DOCS, commands, typed

PAGE = DOCS / "tutorial.md"


def test_the_tutorial_runs_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    failures, examples = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert (failures, examples > 25) == (0, True)
    assert [command.split()[0] for command in commands(PAGE)] == ["compare", "prove", "blocks"]
    for command in commands(PAGE):
        ran = typed(command, tmp_path)
        assert ran.exit_code == 0, ran.output
    assert {path.suffix for path in (tmp_path / "results").iterdir()} == {
        ".html",
        ".json",
        ".csv",
        ".tex",
        ".svg",
        ".pdf",
    }


def test_a_tutorial_whose_verifier_forgets_the_residual_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: the same page with the bug that it warns of."""
    wrong = tmp_path / "tutorial.md"
    text = PAGE.read_text(encoding="utf-8").replace("target = residual(target, draft)", "pass")
    wrong.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    failures, _ = doctest.testfile(str(wrong), module_relative=False, encoding="utf-8", report=False)
    assert failures > 2
