"""The page of a newcomer's first day: fifteen tasks, each at most ten lines, all of which run as they stand."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from proofs_tests.docs.book import DOCS, commands, typed

PAGE = DOCS / "first_day.md"
EXIT_CODES = {"compare": 0, "audit": 1, "prove": 0}


def tasks(text: str) -> list[str]:
    """The text of each task, its title first."""
    return re.split(r"^## (?=\d+\. )", text, flags=re.MULTILINE)[1:]


def written(task: str) -> list[str]:
    """The lines that a reader types."""
    return [line for line in task.splitlines() if re.match(r">>> |\.\.\. |\$ ", line)]


def test_there_are_fifteen_tasks_of_at_most_ten_lines() -> None:
    found = tasks(PAGE.read_text(encoding="utf-8"))
    assert [int(task.split(".")[0]) for task in found] == list(range(1, 16))
    assert all(1 <= len(written(task)) <= 10 for task in found)


def test_every_task_runs_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    failures, examples = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert (failures, examples > 40) == (0, True)
    assert [command.split()[0] for command in commands(PAGE)] == list(EXIT_CODES)
    for command in commands(PAGE):
        ran = typed(command, tmp_path)
        assert ran.exit_code == EXIT_CODES[command.split()[0]], ran.output


def test_a_task_that_is_too_long_or_missing_is_found() -> None:
    """The control."""
    text = PAGE.read_text(encoding="utf-8")
    assert len(tasks(text.replace("## 3. ", "### 3. "))) == 14
    assert max(len(written(task)) for task in tasks(text.replace(">>> ", ">>> 1\n>>> 2\n>>> 3\n>>> "))) > 10
