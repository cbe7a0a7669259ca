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
from spec_math.render.terminal import MOST, show
from spec_math.result import Column, Note, Result, Row, Table

KS = (1, 2, 3, 4, 6, 8, 12, 16)


def printed(result: Result, width: int = 80, most: int | None = None, **options: object) -> str:
    console = Console(file=io.StringIO(), width=width, **options)  # type: ignore[arg-type]
    show(result, console, most)
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
def test_any_result_begins_with_its_finding_and_ends_with_the_first_line_of_it(result: Result, width: int) -> None:
    for most in (None, MOST):
        said = " ".join(printed(result, width, most).split())
        assert said.startswith(" ".join(result.finding.split()))
        assert said.endswith(" ".join(result.finding.partition("\n")[0].split()))


def large(groups: int = 6, rows: int = 20, notes: int = 12) -> Result:
    """As wide and as long as the frontier: groups of methods, five budgets with intervals, notes of three lines."""
    columns = Column("method"), *(Column(f"{n} nodes", "mean") for n in (4, 8, 16, 32, 64)), Column("how")
    lines = tuple(
        Row(
            (f"method {row}, distinct first tokens", *(Mean(2.5, 0.3, 9, 1.9, 3.1, 0.99),) * 5, "Monte Carlo"),
            "",
            f"g{g}",
        )
        for g in range(groups)
        for row in range(rows)
    )
    tables = Table("f", "Frontier", columns, lines), Table("b", "Bounds", columns, lines)
    return Result("f", "F", "Take it. " * 12, tables, (), tuple(Note(f"{n} " + "word " * 40) for n in range(notes)))


@pytest.mark.parametrize("width", [60, 80, 140])
@pytest.mark.parametrize("size", [(6, 20, 12), (1, 200, 3), (40, 3, 0), (1, 3, 40), (2, 2, 1)])
def test_a_large_result_has_at_most_40_lines_and_says_what_is_left_out(size: tuple[int, int, int], width: int) -> None:
    result = large(*size)
    said, whole = printed(result, width, MOST), printed(result, width)
    assert len(said.splitlines()) <= MOST
    assert max(map(len, said.splitlines())) <= width
    if len(whole.splitlines()) > MOST:
        told = " ".join(said.partition("Left out here: ")[2].split())
        assert "--all shows everything." in told
        groups, rows, notes = size
        shown_rows = len(re.findall(r"^method \d+", said, re.MULTILINE))
        if width == 140 and "the table" in told:  # one line a row, one table
            assert f"{groups * rows - shown_rows} rows" in told
        left = notes - len(re.findall(r"^\d+ word", said, re.MULTILINE))
        assert f"{left} note" in told if left else "note" not in told
    else:
        assert said == whole


def test_where_nothing_is_left_out_nothing_is_said_of_it() -> None:
    """A finding alone may be longer than all that is to be shown."""
    finding = "\n".join(f"line {n}" for n in range(2 * MOST))
    assert "Left out here" not in printed(Result("f", "F", finding), 80, MOST)
    assert "Left out here: 1 note." in printed(Result("f", "F", finding, (), (), (Note("word"),)), 80, MOST)


def test_wrong_rows_are_shown_before_others() -> None:
    rows = tuple(Row((f"scheme {n}", n), "wrong" if n == 77 else "") for n in range(100))
    said = printed(
        Result("r", "R", "One is lossy.", (Table("t", "T", (Column("a"), Column("b", "count")), rows),)), 80, MOST
    )
    assert "scheme 77" in said
    assert "scheme 76" not in said


def test_words_that_are_the_same_in_every_row_are_said_once() -> None:
    columns = Column("scheme"), Column("how"), Column("k", "count")
    rows = [Row((name, "Monte Carlo", 2)) for name in "abc"]
    said = printed(Result("r", "R", "f", (Table("t", "T", columns, tuple(rows)),)))
    assert said.count("Monte Carlo") == 1
    assert "The same in every row: how Monte Carlo." in said
    # The control: in one row it is another, and stands in every row.
    rows[1] = Row(("b", "exact", 2))
    said = printed(Result("r", "R", "f", (Table("t", "T", columns, tuple(rows)),)))
    assert said.count("Monte Carlo") == 2


def test_cells_of_few_words_are_not_broken() -> None:
    columns = Column("theorem"), Column("on"), *(Column(name, "count") for name in ("regions", "impossible", "tried"))
    rows = tuple(
        Row((f"recursive rejection without replacement: {n}", f"{n} tokens, 2 drafts", 1, 2, 3)) for n in range(3)
    )
    said = printed(Result("r", "R", "f", (Table("t", "T", columns, rows),)))
    assert [f"{n} tokens, 2 drafts " in said for n in range(3)] == [True] * 3


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
