"""The parts of the report on the embedded default: none is left out; the costly one stands in large reports alone."""

from __future__ import annotations

from typing import Any

import pytest

from proofs_tests.render.page_words import words
from spec_math.render.data import as_json
from spec_math.render.html import front, page
from spec_math.render.playground import fragment
from spec_math.result import Result
from spec_math.studies import overview
from spec_math.studies.arguments import no_progress

PARTS = ("frontier", "blocks", "one_position", "vocabularies", "lossy")
MOST_WORDS, MOST_BYTES = 3_000, 600_000


@pytest.mark.parametrize(("positions", "left_out"), [(overview.FRONTIER_FROM, set[str]()), (20, {"frontier"})])
def test_every_part_stands_in_the_report(positions: int, left_out: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PARTS:

        def part(*_: Any, name: str = name) -> Result:
            return Result(name, name, f"The part on {name}.")

        monkeypatch.setattr(overview, name, part)
    found = overview.results(overview.ReportRequest(positions=positions), no_progress)
    assert [one.name for one in found] == [name for name in PARTS if name not in left_out]


def test_the_parts_are_all_that_there_are() -> None:
    """The control: a part that is written and stands nowhere is seen."""
    takes_positions = {
        name
        for name, held in vars(overview).items()
        if getattr(held, "__module__", "") == overview.__name__ and "positions" in getattr(held, "__annotations__", {})
    }
    assert takes_positions - {"ReportRequest"} == set(PARTS)


def test_parts_begin_with_the_longest_and_none_is_left_out() -> None:
    assert set(overview.LONGEST_FIRST) == set(overview.PARTS) == set(PARTS)
    assert all(callable(vars(overview)[name]) for name in overview.PARTS)


def test_two_processes_compute_what_one_does() -> None:
    asked = overview.ReportRequest(positions=overview.FRONTIER_FROM, seed=3)
    alone, together = (overview.results(asked, no_progress, at_once) for at_once in (1, 2))
    assert [one.name for one in alone] == [one.name for one in together]
    assert [as_json(one) for one in alone] == [as_json(one) for one in together]
    # The first page of these parts, with the playground: as large as that of any number of positions.
    first = front(alone, "The report", [f"{one.name}.html" for one in alone], fragment())
    assert 300 < words(first) <= MOST_WORDS
    assert len(first.encode()) <= MOST_BYTES
    # The control: pages of the parts, which it leads to, are too much for one.
    whole = "".join(map(page, alone))
    assert words(whole) > MOST_WORDS
    assert len(whole.encode()) > MOST_BYTES
