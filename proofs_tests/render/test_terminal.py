"""Tables fit any width: no number is cut, every name can be read, and what does not fit follows below."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from proofs_tests.render.results_strategies import results
from spec_math import SCHEMES
from spec_math.mean import Mean
from spec_math.render.data import shown
from spec_math.render.terminal import show
from spec_math.result import Column, Note, Result, Row, Table

KS = (1, 2, 3, 4, 6, 8, 12, 16)


def printed(result: Result, width: int = 80, **options: object) -> str:
    console = Console(file=io.StringIO(), width=width, **options)  # type: ignore[arg-type]
    show(result, console)
    return console.file.getvalue()  # type: ignore[attr-defined]


def of_schemes() -> Result:
    columns = (Column("scheme"), *(Column(f"k = {k}", "mean") for k in KS), Column("verdict"))
    rows = tuple(
        Row((scheme.name, *(Mean(0.5 + k / 40, 0.0123, 40) for k in KS), "not judged on these laws"))
        for scheme in SCHEMES
    )
    return Result("comparison", "Acceptance", "Take the optimal plan.", (Table("lines", "All schemes", columns, rows),))


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_name_and_no_number_is_cut(width: int) -> None:
    said = printed(of_schemes(), width)
    assert max(map(len, said.splitlines())) <= width
    assert "…" not in said
    for scheme in SCHEMES:
        for word in scheme.name.split():
            assert word in said.split()
        first = " ".join(scheme.name.split()[:2])
        assert first in said, "the first two words of a name stand side by side"
    for k in KS:
        assert said.count(f"k = {k}\n") + len(re.findall(rf"k = {k}\s", said)) >= 1
        assert said.count(shown(Mean(0.5 + k / 40, 0.0123, 40), Column("a", "mean"))) == len(SCHEMES)


@given(result=results(), width=st.sampled_from([40, 80, 140]))
@settings(max_examples=60)
def test_any_result_is_printed_and_ends_with_its_finding(result: Result, width: int) -> None:
    said = printed(result, width)
    assert " ".join(said.split()).endswith(" ".join(result.finding.split()))


def test_colours_stand_only_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    lossy = Result("a", "A", "It is lossy.", exit_code=1)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in printed(lossy, force_terminal=True, color_system="standard")
    assert "\x1b[" not in printed(lossy)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "31m" not in printed(lossy, force_terminal=True, color_system="standard")


def test_rows_without_a_value_are_left_out() -> None:
    columns = (Column("scheme"), Column("k = 1", "mean"))
    rows = (Row(("A", Mean(0.5, 0.0, 0))), Row(("mine", None)))
    result = Result("a", "A", "Done.", (Table("t", "T", columns, rows),))
    assert "mine" not in printed(result)
    assert "0.5000" in printed(result)


def test_text_that_looks_like_markup_is_printed_as_it_is() -> None:
    columns = (Column("name [red]x[/red]"),)
    table = Table("t", "[bold]T", columns, (Row(("[/dim] a",)),))
    said = printed(Result("a", "[b]A", "[x] done", (table,), notes=(Note("[y]", "[z]"),)))
    for text in ("[bold]T", "[red]x[/red]", "[/dim] a", "[b]A", "[x] done", "[z]: [y]"):
        assert text in said
