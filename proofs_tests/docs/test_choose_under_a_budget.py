"""The page that leads from own arrays and latencies to the advice runs as it is written, and prints what it shows."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from proofs_tests.docs.book import DOCS, commands, typed

PAGE = DOCS / "how_to" / "choose_under_a_budget.md"


def without_ends(text: str) -> str:
    """A text in one line, without the ends of its intervals."""
    return " ".join(re.sub(r"\(\S+ to \S+\)", "", " ".join(text.split())).split())


def test_the_page_leads_to_the_sentence_that_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    failures, examples = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert (failures, examples > 10) == (0, True)
    first, weighted = (typed(command, tmp_path) for command in commands(PAGE))
    assert (first.exit_code, weighted.exit_code) == (0, 0), first.output + weighted.output
    (quote,) = re.findall(r"^> Take .*?\n\n", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    advice = without_ends(quote.replace("> ", ""))
    assert without_ends(first.output).endswith(advice)
    assert max(map(len, first.output.splitlines())) <= 80
    assert "effective positions of" in " ".join(weighted.output.split())
    # The control: with a step of 18 ms for four chains another answer is right.
    lines = (tmp_path / "latencies.csv").read_text("utf-8").replace("1.3ms,", "18ms,")
    assert (tmp_path / "latencies.csv").write_text(lines, encoding="utf-8")
    assert advice not in without_ends(typed(commands(PAGE)[0], tmp_path).output)
