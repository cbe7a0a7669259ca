"""Pictures: every line has a look of its own, beyond ten too, and all that a result holds is drawn."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from proofs_tests.render.results_strategies import TREE
from spec_math.render import figure
from spec_math.render.figure import BOUNDS, Look, look, looks_of
from spec_math.result import Curve, Panel, Picture

svg_of: Any = figure.svg_of.__wrapped__
"""Drawn anew each time."""


def picture(number: int, **options: object) -> Picture:
    lines = tuple(Curve(f"line {i}", (1.0, 2.0, 4.0), (0.1 * i, 0.2, 0.3)) for i in range(number))
    return Picture("p", "P", "C", (Panel(lines, "k", "acceptance", log_x=True, ticks=("1", "2", "4"), **options),))  # type: ignore[arg-type]


def test_every_line_has_its_own_look_beyond_ten() -> None:
    looks = [look(place) for place in range(126)]
    assert len({(found.marker, str(found.dash)) for found in looks[:45]}) == 45
    assert len({found.colour for found in looks}) == 126


def test_the_same_numbers_draw_the_same_bytes_and_others_do_not() -> None:
    assert svg_of(picture(12)) == svg_of(picture(12)) != svg_of(picture(13))


def test_every_line_is_drawn_in_its_colour() -> None:
    drawn = svg_of(picture(14))
    for place in range(14):
        assert look(place).colour.lower() in drawn.lower()


def test_intervals_bounds_bars_and_trees_change_the_picture() -> None:
    def drawn(*curves: Curve, **options: object) -> str:
        return svg_of(Picture("p", "P", "C", (Panel(curves, "x", "y", **options),)))  # type: ignore[arg-type]

    points = (0.0, 1.0), (0.25, 0.5)
    pictures = [
        drawn(Curve("a", *points)),
        drawn(Curve("a", *points, low=(0.0, 0.4), high=(0.3, 0.6))),
        drawn(Curve("a", *points, style="points")),
        drawn(Curve("a", *points, style="bound")),
        drawn(Curve("a", *points, style="ceiling")),
        drawn(Curve("a", *points, style="guide")),
        drawn(Curve("a", *points), bars=True, ticks=("A", "B")),
        drawn(Curve("a", *points), limits=(0.0, 1.0)),
        svg_of(Picture("p", "P", "C", TREE)),
    ]
    assert len(set(pictures)) == len(pictures)


def test_a_tree_stands_its_leaves_in_order_and_parents_between_their_children() -> None:
    # start: a (b) and ab: the leaves b, ab at 0 and 1; a above b; start half way between a and ab.
    assert figure._heights(TREE) == [0.5, 0.0, 0.0, 1.0]


def test_a_label_has_one_look_in_all_panels_and_others_have_others() -> None:
    def panel(*labels: str, style: str = "line") -> Panel:
        return Panel(tuple(Curve(label, (0.0,), (1.0,), style=style) for label in labels), "x", "y")  # type: ignore[arg-type]

    known: dict[tuple[str, int], Look] = {}
    first, second = looks_of(panel("a", "b", "a"), known), looks_of(panel("b", "c"), known)
    assert len(set(first)) == 3, "two curves of one name are two lines"
    assert second[0] == first[1]
    assert second[1] not in first
    bounds = looks_of(panel("i.i.d.", "without replacement", style="bound"), known)
    assert {bound.colour for bound in bounds} == {"black"}
    assert bounds[0].dash != bounds[1].dash


def test_panels_stand_in_rows_and_curves_apart() -> None:
    """Four panels, two in a row, are drawn otherwise than in one row; apart, a point stands beside its x."""
    lines = tuple(Curve(name, (4.0, 8.0), (1.0, 2.0), (0.5, 1.5), (1.5, 2.5)) for name in "abc")
    panel = Panel(lines, "x", "y", log_x=True, ticks=("4", "8"))
    apart = Panel(lines, "x", "y", log_x=True, ticks=("4", "8"), apart=True)
    one, two = (svg_of(Picture("p", "P", "C", (panel,) * 4, across)) for across in (0, 2))
    assert one != two
    assert svg_of(Picture("p", "P", "C", (apart,))) != svg_of(Picture("p", "P", "C", (panel,)))
    assert figure._places(panel) == [0.0, 0.0, 0.0]
    left, middle, right = figure._places(apart)
    assert left == -right < middle == 0
    assert figure._beside(lines[0], right, log_x=True) == [4 * 2**right, 8 * 2**right]
    assert figure._beside(lines[0], right, log_x=False) == [4 + right, 8 + right]


def test_bounds_have_a_dash_a_label_and_keep_it() -> None:
    known: dict[tuple[str, int], Look] = {}
    labels = [f"bound {place}" for place in range(len(BOUNDS))]
    panels = [Panel((Curve(label, (0.0,), (1.0,), style="bound"),), "x", "y") for label in labels]
    dashes = [looks_of(panel, known)[0].dash for panel in panels]
    assert dashes == list(BOUNDS)
    assert [looks_of(panel, known)[0].dash for panel in panels] == dashes


def test_a_picture_for_a_paper_is_the_same_bytes_with_its_fonts_inside_and_without_its_title() -> None:
    drawn = picture(3)
    text = figure.pdf_of(drawn)
    assert text == figure.pdf_of(drawn) != figure.pdf_of(picture(4))
    assert text.startswith(b"%PDF-")
    assert (b"/FontFile2" in text, b"/Type3" in text) == (True, False)
    assert figure.pdf_of(replace(drawn, title="Another title")) == text
    assert figure.pdf_of(Picture("p", "P", "C", TREE)).startswith(b"%PDF-")


def test_places_have_two_digits_and_scales_of_glyphs_all() -> None:
    drawn = svg_of(picture(3))
    assert re.search(r"(?<!scale\()(?<!\d)\d+\.\d{3}", drawn) is None
    assert "scale(0.015625)" in drawn
