"""Each machine-checked theorem is named where it belongs, and each name is a theorem: pages, paper map, `--list`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proofs_tests.docs.book import DOCS, rows
from proofs_tests.formal.check import theorems
from proofs_tests.formal.facts import FACTS
from proofs_tests.formal.page import PAGE, sources
from spec_math.cli import app
from spec_math.symbolic import THEOREMS

SAID = "achine-checked for every vocabulary"
LINKED = r"\[\w+\.v\]\(\.\./\.\./proofs_tests/formal/\w+\.v\)"
NAMED = re.compile(rf"\[Theorem (\d+)\]\(formal\.md#theorem-\1-[\w-]+\)((?:, {LINKED})+)")
FILE = re.compile(r"\[(\w+)\.v\]\(\.\./\.\./proofs_tests/formal/\1\.v\)")
ROW = re.compile(r"\[machine-checked for every vocabulary\]\(\.\./\.\./proofs_tests/formal/(\w+)\.v\)")


def read(page: Path) -> str:
    """The words of a page, in one line."""
    return " ".join(page.read_text(encoding="utf-8").replace("\n> ", "\n").split())


def names(text: str) -> set[tuple[int, str]]:
    """(number of a theorem, its file) of each that a text links, as in [Theorem 1](…), [position.v](…)."""
    return {(int(number), file) for number, files in NAMED.findall(text) for file in FILE.findall(files)}


def named_on_pages() -> set[tuple[str, int, str]]:
    """(page, number of a theorem, its file) of every page that says so."""
    pages = [page for page in sorted((DOCS / "theorems").glob("*.md")) if page != PAGE]
    found = {(page.stem, *name) for page in pages for name in names(read(page))}
    assert {page.stem for page in pages if SAID in read(page)} == {page for page, _, _ in found}
    return found


def test_every_theorem_is_named_and_every_name_is_a_theorem() -> None:
    there = {(file, name) for file, source in sources().items() for name in theorems(source)}
    assert there == {(fact.file, name) for fact in FACTS for name in fact.theorems}


def test_each_theorem_page_names_the_files_of_its_theorems() -> None:
    assert named_on_pages() == {(page, fact.number, fact.file) for fact in FACTS for page in fact.pages}


def test_the_paper_map_names_the_files_of_its_rows() -> None:
    pages = sorted((DOCS / "paper_map").glob("*.md"))
    found = {(page.stem, row[0], file) for page in pages for row in rows(page) for file in ROW.findall(row[1])}
    assert found == {(*row, fact.file) for fact in FACTS for row in fact.rows}
    assert sum(page.read_text(encoding="utf-8").count(SAID) for page in pages) == len(found)


def test_the_page_has_a_section_for_each_theorem() -> None:
    sections = re.findall(r"^### Theorem (\d+): .*?(?=^##)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert list(map(int, sections)) == sorted({fact.number for fact in FACTS})
    parts = re.split(r"^### Theorem ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    shown = {
        (int(part.partition(":")[0]), file)
        for part in parts
        for file in re.findall(r"^\(\* (\w+)\.v \*\)$", part, re.MULTILINE)
    }
    assert shown == {(fact.number, fact.file) for fact in FACTS}


def test_the_table_of_the_page_lists_each_file() -> None:
    listed = [(re.match(r"\[(\d+)\]\(#theorem-\1-", row[0]), row[-1]) for row in rows(PAGE)]
    found = {(int(number[1]), file) for number, files in listed if number for file in re.findall(r"`(\w+)\.v`", files)}
    assert found == {(fact.number, fact.file) for fact in FACTS}


def test_the_list_of_proofs_marks_theorems_that_exist(tmp_path: Path) -> None:
    every = {name for source in sources().values() for name in theorems(source)}
    marked = [theorem for theorem in THEOREMS if theorem.formal]
    assert {theorem.formal for theorem in marked} <= every
    assert all(theorem.name.endswith(": lossless") for theorem in marked)
    assert not any("ends the text" in theorem.scope for theorem in marked)
    listed = CliRunner().invoke(app, ["prove", "--list", "--out", str(tmp_path / "list.json")])
    assert "every vocabulary" in " ".join(listed.output.split())
    (table,) = json.loads((tmp_path / "list.json").read_text(encoding="utf-8"))["tables"]
    assert [row["rocq"] for row in table["rows"]] == [theorem.formal for theorem in THEOREMS]
    assert [row["every vocabulary"] for row in table["rows"]] == ["Rocq" * bool(t.formal) for t in THEOREMS]


@pytest.mark.parametrize(
    "said",
    [
        "[Theorem 1](formal.md#theorem-2-x), [position.v](../../proofs_tests/formal/position.v)",
        "[Theorem 1](formal.md#theorem-1-x), [position.v](../../proofs_tests/formal/cut.v)",
        "Theorem 1, [position.v](../../proofs_tests/formal/position.v)",
    ],
)
def test_a_name_that_leads_elsewhere_is_not_counted(said: str) -> None:
    """The control."""
    assert names(said) == set()
    right = "[Theorem 6](formal.md#theorem-6-the-cut), [cut.v](../../proofs_tests/formal/cut.v)"
    assert names(f"{right}, [a.v](../../proofs_tests/formal/a.v), b") == {(6, "cut"), (6, "a")}
