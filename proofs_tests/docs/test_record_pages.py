"""Each scheme and method says on which pages of the book it stands: they are there, its theorem first."""

from __future__ import annotations

from typing import Any

import pytest

from proofs_tests.docs.book import DOCS
from proofs_tests.every_method import EVERY_METHOD
from spec_math import SCHEMES, string_level

RECORDS = (*SCHEMES, *EVERY_METHOD, *string_level.METHODS)


def missing(pages: tuple[str, ...]) -> list[str]:
    """The pages that are not there."""
    return [page for page in pages if not (DOCS / f"{page}.md").is_file()]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_each_page_is_there_and_the_first_is_a_theorem(record: Any) -> None:
    assert record.pages
    assert missing(record.pages) == []
    assert record.pages[0].startswith("theorems/")


def test_no_verifier_has_a_theorem_page_that_no_record_names() -> None:
    """Of the modules that the records of one position are made of: each page of a scheme's name is named."""
    named = {page for record in RECORDS for page in record.pages}
    stems = {scheme.acceptance.__module__.rpartition(".")[2] for scheme in SCHEMES} - {"optimal"}
    assert {f"theorems/{stem}" for stem in stems} <= named


def test_a_page_that_is_not_there_is_found() -> None:
    assert missing(("theorems/single", "theorems/nowhere")) == ["theorems/nowhere"]
