"""The page on architecture is the code's: its floors are those that hold, from the ground up, with what they import."""

from __future__ import annotations

import ast
from pathlib import Path

from proofs_tests.docs.book import DOCS, ROOT, code
from proofs_tests.floors import FLOORS, imported

PAGE = DOCS / "architecture.md"
LIBRARY = ROOT / "spec_math"


def written(text: str) -> list[tuple[set[str], set[str]]]:
    """The floors of the page and the packages that each is said to import."""
    rows = [row.strip("|").split("|") for row in text.partition("## Floors")[2].splitlines() if row.startswith("| `")]
    return [({*code(cells[0])}, {*code(cells[2])}) for cells in rows if len(cells) == 3][: len(FLOORS)]


def imports_of(package: Path) -> set[str]:
    """The other packages of the library that the files of one import."""
    found: set[str] = set()
    for path in package.rglob("*.py"):
        for _, name in imported(ast.parse(path.read_text(encoding="utf-8"))):
            parts = name.split(".")
            if parts[0] == "spec_math" and len(parts) > 1 and (LIBRARY / parts[1]).is_dir():
                found.add(parts[1])
    return found - {package.name}


def found() -> list[tuple[set[str], set[str]]]:
    """The floors that the test of the structure holds, and what their packages import."""
    packages = [[LIBRARY / name for name in floor if (LIBRARY / name).is_dir()] for floor in FLOORS]
    return [(floor, set[str]().union(*map(imports_of, held))) for floor, held in zip(FLOORS, packages, strict=True)]


def test_the_floors_of_the_page_are_those_of_the_code() -> None:
    assert written(PAGE.read_text(encoding="utf-8")) == found()


def test_a_floor_that_is_missing_or_imports_another_is_found() -> None:
    """The control."""
    text = PAGE.read_text(encoding="utf-8")
    assert written(text.replace("| `drafting` |", "| `draft` |")) != found()
    assert written(text.replace("`block_level`, `drafting` |", "`drafting` |")) != found()
