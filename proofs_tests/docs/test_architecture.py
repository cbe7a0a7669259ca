"""The picture on the page of the architecture is the code's: its floors are those that hold, from the ground up."""

from __future__ import annotations

from proofs_tests.docs.book import DOCS
from proofs_tests.floors import FLOORS

PAGE = DOCS / "architecture.md"


def pictured(text: str) -> list[set[str]]:
    """The floors of the page, a line each."""
    picture = text.partition("## Floors")[2].split("```")[1]
    return [set(line.split(", ")) for line in picture.strip().splitlines()]


def test_the_floors_of_the_page_are_those_of_the_code() -> None:
    assert pictured(PAGE.read_text(encoding="utf-8")) == FLOORS


def test_a_floor_that_is_missing_is_found() -> None:
    """The control."""
    assert pictured(PAGE.read_text(encoding="utf-8").replace("drafting\n", "")) != FLOORS
