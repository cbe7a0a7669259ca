"""The pictures of a result, drawn with matplotlib as SVG text: the same numbers draw the same bytes."""

from __future__ import annotations

import gc
import io
from collections.abc import Generator, Mapping, Sequence
from colorsys import hsv_to_rgb
from contextlib import contextmanager
from textwrap import fill
from typing import Any, NamedTuple

from spec_math.result import Curve, Panel, Picture, Tree

# Okabe and Ito's colours without the yellow, which is lost on white; they are told apart by colour-blind readers.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#8C510A", "#999999", "#6A3D9A")
MARKERS = "osD^vP*Xdh<>p8"
DASHES: tuple[Any, ...] = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))
BOUNDS: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (9, 3)), (0, (1, 4)), (0, (3, 1, 1, 1)))
"""The dashes of what nothing exceeds, one a label."""

APART = 0.045
"""How far curves stand from each other that stand apart: of an octave where x is a logarithm, else of 1."""

UPRIGHT = 5
"""As many named ticks stand upright; more are turned."""

GOLDEN = 0.618033988749895
BELOW = 21 / 72
"""Inches from the axis down to its name where the names of its ticks stand upright: told, it need not be measured."""

BARS = 0.84
"""The width of a group of bars, of 1."""


class Look(NamedTuple):
    """How a line is told apart from the others of its panel."""

    colour: str
    marker: str
    dash: Any


def look(place: int) -> Look:
    """Return the look of the line at a place: no two of the first 126 share colour, marker and dash, nor a colour.

    >>> look(0).colour, look(10).marker, len({look(place).colour for place in range(126)})
    ('#0072B2', '<', 126)
    """
    colour = COLOURS[place] if place < len(COLOURS) else _further(place)
    return Look(colour, MARKERS[place % len(MARKERS)], DASHES[place // len(COLOURS) % len(DASHES)])


def _further(place: int) -> str:
    """Return a colour beyond the list: hues by the golden ratio never come back, darkness goes in turns."""
    shade = hsv_to_rgb((place * GOLDEN) % 1.0, 0.85 if place % 2 else 0.6, 0.75 if place % 3 else 0.5)
    return "#" + "".join(f"{round(255 * part):02X}" for part in shade)


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


@_uncollected()
def svg_of(picture: Picture) -> str:
    """Draw a picture as SVG text.

    >>> "<svg" in svg_of(Picture("p", "P", "", (Panel((Curve("a", (0.0, 1.0), (0.5, 0.75)),), "k", "acceptance"),)))
    True
    """
    if isinstance(picture.panels, Tree):
        return _tree(picture.panels, picture.title)
    bars = any(panel.bars for panel in picture.panels)
    across = sum(max(1.0, 0.25 * len(panel.curves) * len(panel.ticks) / 5) if bars else 1.0 for panel in picture.panels)
    alone = len(picture.panels) == 1
    rows = -(-len(picture.panels) // picture.across) if picture.across else 1
    width = 8.2 if alone else 4.4 * (picture.across or across)
    figure, axes = panels(len(picture.panels), min(14.0, width), 2.5 * rows + 2.3, picture.across)
    known: dict[tuple[str, int], Look] = {}
    for place, (panel, drawn) in enumerate(zip(picture.panels, axes, strict=True)):
        _panel(panel, drawn, _looks(panel, known), shaded=not place)
    _legend(figure, axes, picture.panels)
    figure.suptitle(fill(picture.title, 90), fontsize=9)
    return svg(figure)


def curves(lines: Mapping[str, tuple[Sequence[float], Sequence[float]]], x: str, y: str, title: str) -> str:
    """Draw named curves (xs, ys) as SVG text.

    >>> "<svg" in curves({"a": ([0, 1], [0, 1])}, "x", "y", "t")
    True
    """
    drawn = tuple(Curve(name, tuple(map(float, xs)), tuple(map(float, ys))) for name, (xs, ys) in lines.items())
    return svg_of(Picture("curves", title, "", (Panel(drawn, x, y),)))


def panels(number: int, width: float, height: float, across: int = 0) -> tuple[Any, list[Any]]:
    """Return a figure with so many panels, all side by side or `across` in a row, in the style of all pictures.

    >>> len(panels(2, 8.0, 4.0)[1])
    2
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    across = across or number
    grid: list[Any] = list(figure.subplots(-(-number // across), across, squeeze=False).flat)
    axes = grid[:number]
    for empty in grid[number:]:
        empty.set_axis_off()
    for panel in axes:
        panel.grid(color="0.9", linewidth=0.6)
        panel.set_axisbelow(True)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    return figure, axes


def svg(figure: Any) -> str:
    """Return a figure as SVG text, without a date and with fixed ids: the same numbers draw the same bytes.

    >>> "</svg>" in svg(panels(1, 2.0, 2.0)[0])
    True
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    stream = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "spec_math", "svg.fonttype": "path"}):
        FigureCanvasSVG(figure).print_svg(stream, metadata={"Date": None, "Creator": None})
    return stream.getvalue()


def _looks(panel: Panel, known: dict[tuple[str, int], Look]) -> list[Look]:
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


def _panel(panel: Panel, axes: Any, looks: list[Look], shaded: bool) -> None:
    (_bars if panel.bars else _lines)(panel, axes, looks)
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    # A place that is not told is looked for, among all ticks, each time that a panel is measured or drawn.
    axes.set_title(fill(panel.title, 60), fontsize=9, loc="left", y=None if _in_powers(panel) else 1.0)
    if panel.log_x or len(panel.ticks) <= UPRIGHT:
        _name_below(axes)
    if panel.log_y:
        axes.set_yscale("log")
    if panel.log_x:
        axes.set_xscale("log", base=2)
        axes.set_xticks([float(tick) for tick in panel.ticks], panel.ticks)
    elif panel.ticks:
        turned = {"rotation": 45, "ha": "right", "fontsize": 7} if len(panel.ticks) > UPRIGHT else {}
        axes.set_xticks(range(len(panel.ticks)), panel.ticks, **turned)
    if panel.limits is not None:
        axes.set_ylim(*panel.limits)
    if not shaded:
        return
    for one in (one for one in panel.curves if one.style == "ceiling"):
        axes.fill_between(one.x, one.y, axes.get_ylim()[1], color="0.93", zorder=0)


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


def _legend(figure: Any, axes: Sequence[Any], drawn: Sequence[Panel]) -> None:
    """Give all panels one legend, each label once in the order of its first curve; none for a single line."""
    found: dict[str, Any] = {}
    for panel in axes:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if len(found) > 1:
        columns = 1 if len(drawn) == 1 else min(len(found), 3)
        where = "outside right center" if len(drawn) == 1 else "outside lower center"
        figure.legend(found.values(), found.keys(), fontsize=8, loc=where, ncols=columns, frameon=False, handlelength=4)


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
    axes.set_title(title, fontsize=9, loc="left")
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
