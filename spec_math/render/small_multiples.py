"""Small multiples: panels in rows that share the names of their axes, placed in inches.

What is written around the panels is measured once, text by text; a solver of the layout would measure all of it twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from textwrap import fill
from typing import Any, NamedTuple

from spec_math.result import Panel

PANEL, ALONE = 1.7, 2.6
"""Inches of a panel's height, in rows and in a single one; more where the name of its axis of y is longer."""

INCH = 72.0
"""Points."""

UPRIGHT, SLANT = 5, 0.5**0.5
"""As many named ticks stand upright; more are turned, and as high as wide."""

NAME, TICKS, TURNED, TITLE, LEGEND = 10.0, 10.0, 7.0, 9.0, 8.0
"""The sizes of the fonts, in points."""

LINE = 1.25
"""What a line of text takes, in sizes of its font."""

TICK, AIR = 7.0, 6.0
"""Points from an axis to the names of its ticks, and between one thing and the next."""

HANDLE, PAD, APART, COLUMNS = 4.0, 0.8, 2.0, 3
"""In a legend: what a handle takes, how far its label and the next column are, in sizes of the font; most columns."""


class Drawn(NamedTuple):
    """A panel with the axes that it is drawn in and the text of its title."""

    panel: Panel
    axes: Any
    title: Any


class Around(NamedTuple):
    """Points that are kept free around the panels, in the order of a page.

    `head` above all, `title` above each row, `below` under each row but the last, `last` under that, `foot` under all
    for the legend; `first` left of the first panel of a row, `left` of each further one, `right` of each.
    """

    head: float
    title: float
    below: float
    last: float
    foot: float
    first: float
    left: float
    right: float


@lru_cache(4096)
def width_of(text: str, size: float) -> float:
    r"""Return how many points the longest line of a text takes in a font of this size."""
    from matplotlib.cbook import is_math_text
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size)
    lines = text.split("\n")
    return max(text_to_path.get_text_width_height_descent(line, font, is_math_text(line))[0] for line in lines)


def wrapped(text: str, size: float, points: float) -> str:
    """Return a text in lines of at most so many points, where its words allow it."""
    for letters in range(90, 0, -2):
        found = fill(text, letters, break_long_words=False)
        if width_of(found, size) <= points:
            return found
    return fill(text, 1, break_long_words=False)


def columns_of(labels: Sequence[str], points: float) -> int:
    """Return in how many columns the labels of a legend stand, which is as wide as `points` at most."""
    for columns in range(min(COLUMNS, len(labels)), 1, -1):
        each, longer = divmod(len(labels), columns)
        ends = [0, *(each * (place + 1) + min(place + 1, longer) for place in range(columns))]
        words = sum(max(width_of(label, LEGEND) for label in labels[start:end]) for start, end in pairwise(ends))
        if words + LEGEND * ((HANDLE + PAD) * columns + APART * (columns - 1) + 2) <= points:
            return columns
    return 1


def height_of_legend(rows: int) -> float:
    """Return how many points a legend of so many rows takes at most."""
    return 2 * AIR + LEGEND + rows * LEGEND * 1.6


def ruled(panels: Sequence[Panel], across: int) -> list[bool]:
    """Say of each panel whether lines alone stand at its x, whose ticks and names stand under a panel below it."""
    shared = _same_x(panels) and bool(panels[0].ticks)
    return [shared and place + across < len(panels) for place in range(len(panels))]


def share(drawn: Sequence[Drawn], across: int) -> None:
    """Name what panels share once: y at the first of a row, x and its ticks at the last of a column.

    Panels share x where its name and ticks are the same in all, and then its limits; a row shares the ticks of y where
    its panels have the same limits.
    """
    same_x, same_y = _same_x([one.panel for one in drawn]), _same_y(drawn)
    low = min((one.axes.get_xlim()[0] for one in drawn), default=0.0)
    high = max((one.axes.get_xlim()[1] for one in drawn), default=1.0)
    for number, one in enumerate(drawn):
        if same_x:
            one.axes.set_xlim(low, high)
        if same_x and number + across < len(drawn):
            one.axes.set_xlabel("")
            one.axes.tick_params(axis="x", labelbottom=False)
        if same_y and number % across:
            one.axes.set_ylabel("")
        if not _has_ticks_of_y(drawn, number, across):
            one.axes.tick_params(axis="y", labelleft=False)


def place(figure: Any, drawn: Sequence[Drawn], across: int, heading: str, foot: float) -> None:
    """Place panels in rows under a heading, in a figure as high as they need, with `foot` points for the legend."""
    width, rows = figure.get_figwidth() * INCH, -(-len(drawn) // across)
    high = max((PANEL if rows > 1 else ALONE) * INCH, *(width_of(one.panel.y, NAME) for one in drawn))
    # Which ticks a panel has hangs on its height: each is as high as the figure until it stands in its place.
    figure.set_figheight(high / INCH)
    share(drawn, across)
    heading = wrapped(heading, TITLE, width - 2 * AIR)
    kept = around(drawn, across, width, heading)._replace(foot=foot)
    wide = _width_of_panels(kept, across, width)
    step = high + kept.title + kept.below
    tall = kept.head + rows * step - kept.below + kept.last + kept.foot
    figure.set_figheight(tall / INCH)
    for number, one in enumerate(drawn):
        row, column = divmod(number, across)
        left = kept.first + column * (wide + kept.right + kept.left)
        top = kept.head + kept.title + row * step
        one.axes.set_position((left / width, 1 - (top + high) / tall, wide / width, high / tall))
    figure.suptitle(heading, fontsize=TITLE, y=1 - AIR / tall, verticalalignment="top")


def around(drawn: Sequence[Drawn], across: int, width: float, heading: str) -> Around:
    """Return what is kept free in a picture of so many points' width; the titles of the panels are wrapped to fit.

    The axes have their limits and their height.
    """
    ticks = [_width_of_ticks(one.axes) if _has_ticks_of_y(drawn, at, across) else 0.0 for at, one in enumerate(drawn)]
    further = max((far for at, far in enumerate(ticks) if at % across), default=0.0)
    name = _lines(1, NAME) if any(one.panel.y for one in drawn) else 0.0
    under = max((_under(one.panel) for one in drawn), default=0.0)
    beyond = [_beyond(one.panel) for one in drawn]
    before, behind = (max((ends[side] for ends in beyond), default=0.0) for side in (0, 1))
    kept = Around(
        head=AIR + (_lines(1 + heading.count("\n"), TITLE) if heading else 0.0),
        title=0.0,
        below=AIR + (TICKS if _same_x([one.panel for one in drawn]) else under),
        last=AIR + under,
        foot=0.0,
        first=AIR + max(before, name + TICK + max(ticks[::across], default=0.0)),
        left=max(before, (0.0 if _same_y(drawn) else AIR + name) + (TICK + further if further else 0.0)),
        right=AIR + max(AIR, behind),
    )
    for one in drawn:
        one.title.set_text(wrapped(one.panel.title, TITLE, _width_of_panels(kept, across, width)))
    most = max((1 + one.title.get_text().count("\n") for one in drawn if one.panel.title), default=0)
    power = any(one.axes.yaxis.get_major_formatter().get_offset() for one in drawn)
    return kept._replace(title=_lines(most, TITLE) + (_lines(1, TICKS) if power else 0.0))


def _same_x(panels: Sequence[Panel]) -> bool:
    return len({(panel.x, panel.ticks, panel.log_x, panel.bars) for panel in panels}) == 1


def _same_y(drawn: Sequence[Drawn]) -> bool:
    return len({one.panel.y for one in drawn}) == 1


def _has_ticks_of_y(drawn: Sequence[Drawn], number: int, across: int) -> bool:
    """Say whether the ticks of y of a panel have names: in the first of a row, and in all where their limits differ."""
    start = number - number % across
    row = [one.panel for one in drawn[start : start + across]]
    shared = row[0].limits is not None and len({(panel.limits, panel.log_y) for panel in row}) == 1
    return number == start or not shared


def _width_of_panels(kept: Around, across: int, width: float) -> float:
    return (width - kept.first - (across - 1) * kept.left - across * kept.right) / across


def _width_of_ticks(axes: Any) -> float:
    axis = axes.yaxis
    major = axis.get_major_formatter().format_ticks(axis.get_majorticklocs())
    minor = axis.get_minor_formatter().format_ticks(axis.get_minorticklocs())
    return max((width_of(label, TICKS) for label in (*major, *minor)), default=0.0)


def _lines(number: int, size: float) -> float:
    """Return what lines of a text take, with air on one side; nothing for none."""
    return AIR + number * size * LINE if number else 0.0


def _beyond(panel: Panel) -> tuple[float, float]:
    """Return how far the names of the ticks of x may stand out on the left and on the right."""
    if panel.log_x or len(panel.ticks) <= UPRIGHT:
        half = max((width_of(tick, TICKS) for tick in panel.ticks), default=0.0) / 2
        return half, half
    return max(width_of(tick, TURNED) for tick in panel.ticks) * SLANT, 0.0


def _under(panel: Panel) -> float:
    """Return what the names of the ticks and of x take; more than UPRIGHT names are turned by half a right angle."""
    widest = max((width_of(tick, TURNED) for tick in panel.ticks), default=0.0)
    ticks = TICKS * LINE if panel.log_x or len(panel.ticks) <= UPRIGHT else (widest + TURNED * LINE) * SLANT
    return TICK + ticks + (_lines(1, NAME) if panel.x else 0.0)
