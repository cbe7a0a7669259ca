"""The pictures of a result, drawn with matplotlib as SVG and PDF: the same numbers draw the same bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from colorsys import hsv_to_rgb
from dataclasses import replace
from functools import lru_cache
from textwrap import fill
from typing import Any, NamedTuple

from spec_math.result import Curve, Panel, Picture, Tree

APART = 0.045
"""How far curves stand from each other that stand apart: of an octave where x is a logarithm, else of 1."""

NARROWEST = 6.4
"""Inches of a picture of rows at least, which a legend needs."""

HEIGHT, ROW = 4.8, 2.0
"""Inches of a picture of one row, and of each row of small panels."""

UPRIGHT = 5
"""As many named ticks stand upright; more are turned."""

TITLE, LEGEND, COLUMNS = 9.0, 8.0, 3
"""The sizes of two fonts in points, and the most columns of a legend."""

GRID: dict[str, Any] = {"color": "0.9", "linewidth": 0.6, "zorder": 0.5}

LONG = re.compile(r"(?<!scale\()(?<!\d)(\d+\.\d\d)\d+")
"""Digits of SVG text that nobody sees; glyphs are scaled by small numbers, which stay whole."""

BARS = 0.84
"""The width of a group of bars, of 1."""


@lru_cache(64)
def svg_of(picture: Picture) -> str:
    """Draw a picture as SVG text: once, for the page that holds it and for the file of its own."""
    return svg(_figure(picture))


def pdf_of(picture: Picture) -> bytes:
    """Draw a picture as PDF for a paper, without its title, which the caption there says, and with its fonts inside."""
    import matplotlib as mpl

    stream = io.BytesIO()
    with mpl.rc_context({"pdf.fonttype": 42}):
        _figure(replace(picture, title="")).savefig(stream, format="pdf", metadata={"CreationDate": None})
    return stream.getvalue()


def _figure(picture: Picture) -> Any:
    if isinstance(picture.panels, Tree):
        return _tree(picture.panels, picture.title)
    return _drawn(picture.panels, picture)


def _drawn(drawn: tuple[Panel, ...], picture: Picture) -> Any:
    """Return matplotlib's figure of panels: side by side, or in rows of `picture.across` that share names of axes."""
    across, beside = picture.across or len(drawn), len(drawn) == 1 and not picture.across
    bars = not picture.across and any(panel.bars for panel in drawn)
    wide = sum(max(1.0, 0.25 * len(panel.curves) * len(panel.ticks) / 5) if bars else 1.0 for panel in drawn[:across])
    width = 8.2 if beside else min(14.0, max(NARROWEST * bool(picture.across), 4.4 * wide))
    labels = dict.fromkeys(one.label for panel in drawn for one in panel.curves)
    longest = max((1, *map(len, labels)))
    columns = 1 if beside else min(len(labels), COLUMNS, max(1, round(width * 10 / longest)))
    height = HEIGHT
    if picture.across:
        height = 1.0 + ROW * -(-len(drawn) // across) + LEGEND * 1.6 / 72 * -(-len(labels) // max(1, columns))
    figure, axes = panels(len(drawn), width, height, across)
    known: dict[tuple[str, int], Look] = {}
    for place, (panel, own) in enumerate(zip(drawn, axes, strict=True)):
        _panel(panel, own, looks_of(panel, known), (place == 0, fill(panel.title, 60 if across < 3 else 40)))
    if picture.across:
        _share(drawn, axes, across)
    found: dict[str, Any] = {}
    for own in axes:
        for handle, label in zip(*own.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if len(found) > 1:
        where = "outside right center" if beside else "outside lower center"
        style: dict[str, Any] = {"fontsize": LEGEND, "frameon": False, "handlelength": 4.0}
        figure.legend(found.values(), found.keys(), loc=where, ncols=columns, **style)
    figure.suptitle(fill(picture.title, 90 if width > 7 else 70), fontsize=TITLE)
    return figure


def _share(drawn: tuple[Panel, ...], axes: Sequence[Any], across: int) -> None:
    """Name what panels share once: y at the first of a row, x and its ticks at the last of a column."""
    same_x = len({(panel.x, panel.ticks, panel.log_x, panel.bars) for panel in drawn}) == 1
    same_y = len({panel.y for panel in drawn}) == 1
    ends = [one.get_xlim() for one in axes]
    for place, one in enumerate(axes):
        row = drawn[place - place % across : place - place % across + across]
        if same_x:
            one.set_xlim(min(low for low, _ in ends), max(high for _, high in ends))
            if place + across < len(drawn):
                one.set_xlabel("")
                one.tick_params(axis="x", labelbottom=False)
        if place % across and same_y:
            one.set_ylabel("")
        if place % across and row[0].limits is not None and len({(panel.limits, panel.log_y) for panel in row}) == 1:
            one.tick_params(axis="y", labelleft=False)


def curves(lines: Mapping[str, tuple[Sequence[float], Sequence[float]]], x: str, y: str, title: str) -> str:
    """Draw named curves (xs, ys) as SVG text."""
    drawn = tuple(Curve(name, tuple(map(float, xs)), tuple(map(float, ys))) for name, (xs, ys) in lines.items())
    return svg_of(Picture("curves", title, "", (Panel(drawn, x, y),)))


def panels(number: int, width: float, height: float, across: int = 0) -> tuple[Any, list[Any]]:
    """Return a figure with so many panels, side by side or so many across, in the style of all pictures."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    across = across or number
    shape = -(-number // across), across
    return figure, [_styled(figure.add_subplot(*shape, place + 1)) for place in range(number)]


def _styled(axes: Any) -> Any:
    axes.grid(**GRID)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return axes


def svg(figure: Any) -> str:
    """Return a figure as SVG text, without a date, with fixed ids and places to a hundredth of a point."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    stream = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "spec_math", "svg.fonttype": "path"}):
        FigureCanvasSVG(figure).print_svg(stream, metadata={"Date": None, "Creator": None})
    return LONG.sub(r"\1", stream.getvalue())


def _panel(panel: Panel, axes: Any, looks: list[Look], first: tuple[bool, str]) -> None:
    """Draw a panel under its title; above the ceiling of the first one it is grey."""
    shaded, title = first
    (_bars if panel.bars else _lines)(panel, axes, looks)
    axes.set_ylabel(panel.y)
    axes.set_xlabel(panel.x)
    axes.set_title(title, fontsize=TITLE, loc="left")
    if panel.log_y:
        axes.set_yscale("log")
    if panel.limits is not None:
        axes.set_ylim(*panel.limits)
    for one in (one for one in panel.curves if shaded and one.style == "ceiling"):
        axes.fill_between(one.x, one.y, axes.get_ylim()[1], color="0.93", zorder=0)
    if panel.log_x:
        axes.set_xscale("log", base=2)
        axes.minorticks_off()
        axes.set_xticks([float(tick) for tick in panel.ticks], panel.ticks)
    elif panel.ticks:
        turned = {"rotation": 45, "ha": "right", "fontsize": 7} if len(panel.ticks) > UPRIGHT else {}
        axes.set_xticks(range(len(panel.ticks)), panel.ticks, **turned)


def _lines(panel: Panel, axes: Any, looks: list[Look]) -> None:
    moved = iter(_places(panel))
    for one, own in zip(panel.curves, looks, strict=True):
        if one.style in ("bound", "ceiling", "guide"):
            width = 1.0 if one.style == "guide" else 2.2
            axes.plot(one.x, one.y, color=own.colour, linewidth=width, linestyle=own.dash, label=one.label, zorder=3)
            continue
        style: dict[str, Any] = {"color": own.colour, "marker": own.marker, "markersize": 4, "linewidth": 1.2}
        style["linestyle"] = own.dash if one.style == "line" else "none"
        if len(one.x) > 60:
            del style["marker"]
        axes.errorbar(_beside(one, next(moved), panel.log_x), one.y, yerr=_reach(one), label=one.label, **style)


def _places(panel: Panel) -> list[float]:
    """Return how far each line stands from its x, the middle one at it; 0 unless the panel's curves stand apart."""
    lines = sum(one.style in ("line", "points") for one in panel.curves)
    return [APART * panel.apart * (place - (lines - 1) / 2) for place in range(lines)]


def _beside(one: Curve, far: float, log_x: bool) -> list[float]:
    return [x * 2**far if log_x else x + far for x in one.x]


def _bars(panel: Panel, axes: Any, looks: list[Look]) -> None:
    bars = [(one, own) for one, own in zip(panel.curves, looks, strict=True) if one.style != "guide"]
    width = BARS / max(1, len(bars))
    for place, (one, own) in enumerate(bars):
        xs = [x + (place - (len(bars) - 1) / 2) * width for x in one.x]
        error = {"linewidth": 0.8, "ecolor": "0.25"}
        axes.bar(xs, one.y, yerr=_reach(one), width=width, color=own.colour, label=one.label, error_kw=error)
    for one in (one for one in panel.curves if one.style == "guide"):
        axes.axhline(one.y[0], color="0.35", linewidth=0.9, linestyle=":", label=one.label)
    axes.set_xlim(-0.5, max(1, len(panel.ticks)) - 0.5)


def _reach(one: Curve) -> Any:
    if not one.low:
        return None
    below = [max(0.0, y - low) for y, low in zip(one.y, one.low, strict=True)]
    return [below, [max(0.0, high - y) for y, high in zip(one.y, one.high, strict=True)]]


def _tree(tree: Tree, title: str) -> Any:
    depth = [0] * len(tree.nodes)
    for place, node in enumerate(tree.nodes):
        depth[place] = 0 if node.parent is None else depth[node.parent] + 1
    height = _heights(tree)
    leaves = sum(node.leaf for node in tree.nodes)
    step = 1 + 0.12 * max((len(node.label) for node in tree.nodes if node.parent is not None), default=1)
    figure, (axes,) = panels(1, 1.6 + 0.75 * step * max(depth), 0.9 + 0.28 * leaves)
    for place, node in enumerate(tree.nodes):
        x, y = depth[place] * step, height[place]
        if node.parent is not None:
            axes.plot([x - step, x - step / 2, x], [height[node.parent], y, y], color="0.6", linewidth=0.9, zorder=1)
        axes.text(
            x,
            y,
            f"{node.label}  ✓" if node.leaf else node.label,
            ha="left" if node.leaf else "center",
            va="center",
            fontsize=8,
            color=COLOURS[0] if node.leaf else "black",
            bbox={"boxstyle": "round,pad=0.18", "facecolor": "white", "edgecolor": "0.75", "linewidth": 0.6},
            zorder=2,
        )
    axes.set_xlim(-0.5 * step, (max(depth) + 0.9) * step)
    axes.set_ylim(leaves - 0.4, -0.6)
    axes.set_axis_off()
    axes.set_title(title, fontsize=TITLE, loc="left")
    return figure


def _heights(tree: Tree) -> list[float]:
    """Return how far from the top each node stands: leaves in their order, others between their outermost children."""
    found = [0.0] * len(tree.nodes)
    for number, place in enumerate(place for place, node in enumerate(tree.nodes) if node.leaf):
        found[place] = float(number)
    for place in reversed(range(len(tree.nodes))):
        below = [found[other] for other, node in enumerate(tree.nodes) if node.parent == place]
        if below:
            found[place] = (min(below) + max(below)) / 2
    return found


# Okabe and Ito's colours without the yellow, which is lost on white; they are told apart by colour-blind readers.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#8C510A", "#999999", "#6A3D9A")
MARKERS = "osD^vP*Xdh<>p8"
DASHES: tuple[Any, ...] = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))
BOUNDS: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (9, 3)), (0, (1, 4)), (0, (3, 1, 1, 1)))
"""The dashes of what nothing exceeds, one a label."""

GOLDEN = 0.618033988749895


class Look(NamedTuple):
    """The look of a line, told apart from the others of its panel."""

    colour: str
    marker: str
    dash: Any


def look(place: int) -> Look:
    """Return the look of the line at a place: no two of the first 126 share colour, marker and dash, nor a colour."""
    colour = COLOURS[place] if place < len(COLOURS) else _further(place)
    return Look(colour, MARKERS[place % len(MARKERS)], DASHES[place // len(COLOURS) % len(DASHES)])


def _further(place: int) -> str:
    """Return a colour beyond the list: hues by the golden ratio never come back, darkness goes in turns."""
    shade = hsv_to_rgb((place * GOLDEN) % 1.0, 0.85 if place % 2 else 0.6, 0.75 if place % 3 else 0.5)
    return "#" + "".join(f"{round(255 * part):02X}" for part in shade)


def looks_of(panel: Panel, known: dict[tuple[str, int], Look]) -> list[Look]:
    """Return the look of each curve: by its place in the picture, and one in all panels where it stands in several.

    Bounds are black; `known` holds them under −1.
    """
    seen: dict[str, int] = {}
    found: list[Look] = []
    for one in panel.curves:
        key = one.label, seen.get(one.label, 0)
        seen[one.label] = key[1] + 1
        if one.style in ("bound", "ceiling"):
            bounds = [known[other] for other in known if other[1] < 0]
            known.setdefault((one.label, -1), Look("black", "", BOUNDS[len(bounds) % len(BOUNDS)]))
            found.append(known[one.label, -1])
        elif one.style == "guide":
            found.append(Look("0.35", "", ":"))
        else:
            known.setdefault(key, look(sum(place >= 0 for _, place in known)))
            found.append(known[key])
    return found
