"""Panels in rows share the names of their axes, and nothing that is written overlaps another panel or is cut."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from proofs_tests.render.written_texts import drawn, faults
from spec_math.render import figure
from spec_math.result import Curve, Panel, Picture

BUDGETS = (4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
TICKS = tuple(f"{n:g}" for n in BUDGETS)


def panel(number: int, top: float = 9.0, lines: int = 3) -> Panel:
    curves = tuple(
        Curve(f"a method of kind {number} with a long name, {line}", BUDGETS, tuple(top / (line + 2) for _ in BUDGETS))
        for line in range(lines)
    )
    title = f"trees of kind {number} without replacement, temperature 0.75"
    limits = (0.9, top)
    return Panel(curves, "verified nodes a call", "tokens per target call", title, False, True, False, TICKS, limits)


def rows(across: int, kinds: int = 7) -> Picture:
    """Kinds of drafts down, temperatures across, each with its own limits."""
    panels = tuple(panel(kind, 3.0 + 10 * heat) for kind in range(kinds) for heat in range(across))
    return Picture("p", "Tokens per call under a node budget: source code", "", panels, across)


def changed(picture: Picture, **options: Any) -> Picture:
    return replace(picture, panels=tuple(replace(one, **options) for one in picture.panels))  # type: ignore[union-attr]


TURNED = {"log_x": False, "ticks": ("byte pairs", "words", "letters", "a long name of a tick", "e", "f", "g")}
POWERS = {"curves": (Curve("a", (1.0, 2.0), (1e-7, 4e-7)), Curve("b", (1.0, 2.0), (2e-7, 3e-7))), "limits": None}
PICTURES = {
    **{f"{across} across": rows(across) for across in (1, 2, 3, 4)},
    "one row": rows(3, 1),
    "one panel": rows(1, 1),
    "the last row has one": Picture("p", "P", "", tuple(panel(n) for n in range(5)), 2),
    "a long title": replace(rows(2, 2), title="words that explain the whole picture " * 9),
    "long names": changed(rows(3, 3), title="words of a panel " * 9),
    "without names": changed(rows(3, 3), title="", x="", y=""),
    "many lines": Picture("p", "P", "", tuple(panel(n, lines=9) for n in range(6)), 2),
    "turned ticks": changed(rows(3, 3), **TURNED),
    "logarithms": changed(rows(3, 3), log_y=True),
    "powers": changed(rows(3, 3), **POWERS),
}


@pytest.mark.parametrize("name", PICTURES)
def test_nothing_that_is_written_overlaps_another_panel_or_is_cut(name: str) -> None:
    assert faults(PICTURES[name]) == []


def test_a_picture_without_room_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: in a figure that is too low for them, something overlaps or is cut."""
    monkeypatch.setattr(figure, "ROW", 0.5)
    assert faults(rows(3)) != []


def test_names_are_shared_and_each_scale_of_its_own_keeps_its_ticks() -> None:
    axes = drawn(rows(3)).axes
    assert [one.get_ylabel() != "" for one in axes] == [place % 3 == 0 for place in range(21)]
    assert [one.get_xlabel() != "" for one in axes] == [place >= 18 for place in range(21)]
    assert [ticks(one.xaxis) for one in axes] == [list(TICKS) if place >= 18 else [] for place in range(21)]
    assert len({one.get_xlim() for one in axes}) == 1
    assert all(ticks(one.yaxis) for one in axes), "the temperatures have limits of their own"
    alike = drawn(Picture("p", "P", "", tuple(panel(n) for n in range(5)), 2)).axes
    assert [bool(ticks(one.yaxis)) for one in alike] == [True, False, True, False, True]
    assert [bool(ticks(one.xaxis)) for one in alike] == [False, False, False, True, True]


def test_what_panels_do_not_share_stands_at_each() -> None:
    apart = tuple(replace(panel(n), x=f"x of {n}", y=f"y of {n}") for n in range(4))
    axes = drawn(Picture("p", "P", "", apart, 2)).axes
    assert [(one.get_xlabel(), one.get_ylabel()) for one in axes] == [(f"x of {n}", f"y of {n}") for n in range(4)]
    assert all(ticks(one.xaxis) == list(TICKS) for one in axes)
    free = drawn(Picture("p", "P", "", tuple(replace(panel(n), limits=None) for n in range(4)), 2)).axes
    assert all(ticks(one.yaxis) for one in free)


def ticks(axis: Any) -> list[str]:
    return [label.get_text() for label in axis.get_majorticklabels() if label.get_visible() and label.get_text()]
