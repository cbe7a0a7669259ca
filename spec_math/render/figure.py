"""The pictures of a result, drawn with matplotlib as SVG text: the same numbers draw the same bytes."""

from __future__ import annotations

import gc
import io
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from textwrap import fill
from typing import Any

from spec_math.render import small_multiples
from spec_math.render.look import COLOURS, Look, looks_of
from spec_math.render.small_multiples import LEGEND, TITLE, TURNED, UPRIGHT
from spec_math.result import Curve, Panel, Picture, Tree

APART = 0.045
"""How far curves stand from each other that stand apart: of an octave where x is a logarithm, else of 1."""

BELOW = 21 / 72
"""Inches from the axis down to its name where the names of its ticks stand upright: told, it need not be measured."""

NARROWEST = 6.4
"""Inches of a picture of rows at least, which a legend needs."""

GRID: dict[str, Any] = {"color": "0.9", "linewidth": 0.6, "zorder": 0.5}

BARS = 0.84
"""The width of a group of bars, of 1."""


@contextmanager
def _uncollected() -> Generator[None]:
    """Look for no cycles meanwhile: nearly all of the many objects of a picture live until it is drawn."""
    held = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if held:
            gc.enable()


@lru_cache(64)
@_uncollected()
def svg_of(picture: Picture) -> str:
    """Draw a picture as SVG text: once, for the page that holds it and for the file of its own."""
    if isinstance(picture.panels, Tree):
        return _tree(picture.panels, picture.title)
    return svg((_in_rows if picture.across else _side_by_side)(picture.panels, picture))


def _side_by_side(drawn: tuple[Panel, ...], picture: Picture) -> Any:
    bars = any(panel.bars for panel in drawn)
    across = sum(max(1.0, 0.25 * len(panel.curves) * len(panel.ticks) / 5) if bars else 1.0 for panel in drawn)
    alone = len(drawn) == 1
    figure, axes = panels(len(drawn), min(14.0, 8.2 if alone else 4.4 * across), 4.8)
    _ = _draw(drawn, axes, [False] * len(drawn))
    found = _labelled(axes)
    if len(found) > 1:
        columns = 1 if alone else min(len(found), small_multiples.COLUMNS)
        _legend(figure, found, "outside right center" if alone else "outside lower center", columns)
    figure.suptitle(fill(picture.title, 90), fontsize=TITLE)
    return figure


def _in_rows(drawn: tuple[Panel, ...], picture: Picture) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(min(14.0, max(NARROWEST, 4.4 * picture.across)), small_multiples.PANEL))
    axes = [_styled(figure.add_axes((0.0, 0.0, 1.0, 1.0))) for _ in drawn]
    titles = _draw(drawn, axes, small_multiples.ruled(drawn, picture.across))
    found, foot = _labelled(axes), 0.0
    if len(found) > 1:
        columns = small_multiples.columns_of(list(found), figure.get_figwidth() * small_multiples.INCH)
        _legend(figure, found, "lower center", columns)
        foot = small_multiples.height_of_legend(-(-len(found) // columns))
    rows = [small_multiples.Drawn(*one) for one in zip(drawn, axes, titles, strict=True)]
    small_multiples.place(figure, rows, picture.across, picture.title, foot)
    return figure


def _draw(drawn: Sequence[Panel], axes: Sequence[Any], ruled: Sequence[bool]) -> list[Any]:
    """Draw each panel in its axes, with lines for ticks of x where it is ruled; return the texts of their titles."""
    known: dict[tuple[str, int], Look] = {}
    titles: list[Any] = []
    for place, (panel, own, lines) in enumerate(zip(drawn, axes, ruled, strict=True)):
        titles.append(_panel(panel, own, looks_of(panel, known), shaded=not place))
        (_rule if lines else _ticks)(panel, own)
    return titles


def curves(lines: Mapping[str, tuple[Sequence[float], Sequence[float]]], x: str, y: str, title: str) -> str:
    """Draw named curves (xs, ys) as SVG text."""
    drawn = tuple(Curve(name, tuple(map(float, xs)), tuple(map(float, ys))) for name, (xs, ys) in lines.items())
    return svg_of(Picture("curves", title, "", (Panel(drawn, x, y),)))


def panels(number: int, width: float, height: float) -> tuple[Any, list[Any]]:
    """Return a figure with so many panels side by side, in the style of all pictures."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, [_styled(axes) for axes in figure.subplots(1, number, squeeze=False).flat]


def _styled(axes: Any) -> Any:
    axes.grid(**GRID)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return axes


def svg(figure: Any) -> str:
    """Return a figure as SVG text, without a date and with fixed ids: the same numbers draw the same bytes."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    stream = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "spec_math", "svg.fonttype": "path"}):
        FigureCanvasSVG(figure).print_svg(stream, metadata={"Date": None, "Creator": None})
    return stream.getvalue()


def _panel(panel: Panel, axes: Any, looks: list[Look], shaded: bool) -> Any:
    (_bars if panel.bars else _lines)(panel, axes, looks)
    axes.set_ylabel(panel.y)
    # A place that is not told is looked for, among all ticks, each time that a panel is measured or drawn.
    title = axes.set_title(fill(panel.title, 60), fontsize=TITLE, loc="left", y=None if _in_powers(panel) else 1.0)
    if panel.log_y:
        axes.set_yscale("log")
    if panel.limits is not None:
        axes.set_ylim(*panel.limits)
    for one in (one for one in panel.curves if shaded and one.style == "ceiling"):
        axes.fill_between(one.x, one.y, axes.get_ylim()[1], color="0.93", zorder=0)
    return title


def _ticks(panel: Panel, axes: Any) -> None:
    axes.set_xlabel(panel.x)
    if panel.log_x or len(panel.ticks) <= UPRIGHT:
        _name_below(axes)
    if panel.log_x:
        axes.set_xscale("log", base=2)
        axes.set_xticks([float(tick) for tick in panel.ticks], panel.ticks)
    elif panel.ticks:
        turned = {"rotation": 45, "ha": "right", "fontsize": TURNED} if len(panel.ticks) > UPRIGHT else {}
        axes.set_xticks(range(len(panel.ticks)), panel.ticks, **turned)


def _rule(panel: Panel, axes: Any) -> None:
    """Draw the grid at x as one line: a tick is five objects, most of them hidden."""
    from matplotlib.lines import Line2D

    if panel.log_x:
        axes.set_xscale("log", base=2)
    axes.set_xticks([])
    places = [float(tick) for tick in panel.ticks] if panel.log_x else [float(at) for at in range(len(panel.ticks))]
    xs = [x for at in places for x in (at, at, float("nan"))]
    grid = Line2D(xs, [0.0, 1.0, 0.0] * len(places), transform=axes.get_xaxis_transform(), **GRID)
    axes.add_artist(grid)


def _in_powers(panel: Panel) -> bool:
    """Say whether a power of ten may stand above the axis of y, where the title makes room for it."""
    far = max((abs(y) for one in panel.curves for y in (*one.y, *one.low, *one.high)), default=1.0)
    return not 1e-3 <= far <= 1e5


def _name_below(axes: Any) -> None:
    from matplotlib.transforms import ScaledTranslation

    down = ScaledTranslation(0, -BELOW, axes.figure.dpi_scale_trans)
    axes.xaxis.set_label_coords(0.5, 0, transform=axes.transAxes + down)


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


def _labelled(axes: Sequence[Any]) -> dict[str, Any]:
    """Return what stands in the legend of all panels, each label once in the order of its first curve."""
    found: dict[str, Any] = {}
    for panel in axes:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return found


def _legend(figure: Any, found: Mapping[str, Any], where: str, columns: int) -> None:
    length = small_multiples.HANDLE
    figure.legend(
        found.values(), found.keys(), fontsize=LEGEND, loc=where, ncols=columns, frameon=False, handlelength=length
    )


def _tree(tree: Tree, title: str) -> str:
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
    return svg(figure)


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
