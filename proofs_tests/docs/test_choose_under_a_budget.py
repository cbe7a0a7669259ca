"""The page that leads from own arrays and latencies to the advice runs as it is written, and prints what it shows."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from proofs_tests.docs.book import DOCS, commands, typed

PAGE = DOCS / "how_to" / "choose_under_a_budget.md"


def test_the_page_leads_to_the_sentence_that_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    failures, examples = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert (failures, examples > 10) == (0, True)
    first, weighted = (typed(command, tmp_path) for command in commands(PAGE))
    assert (first.exit_code, weighted.exit_code) == (0, 0), first.output + weighted.output
    shown = " ".join(
        line.removeprefix("> ") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("> Take")
    )
    assert shown.split(":")[0] in " ".join(first.output.split())
    quoted = " ".join(line[2:] for line in PAGE.read_text("utf-8").splitlines() if line.startswith("> ")).split(" > ")[
        0
    ]
    advice = quoted[: quoted.index("0.915).") + 7]
    assert advice in " ".join(first.output.split())
    assert max(map(len, first.output.splitlines())) <= 80
    assert "effective positions of" in " ".join(weighted.output.split())
    # The control: with a draft step of 18 ms for four chains another answer is right.
    assert (tmp_path / "latencies.csv").write_text((tmp_path / "latencies.csv").read_text().replace("1.3ms,", "18ms,"))
    assert advice not in " ".join(typed(commands(PAGE)[0], tmp_path).output.split())
