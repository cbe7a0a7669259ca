"""Pictures of comparisons, drawn with matplotlib as SVG text."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from spec_math.report.lines import Comparison, Line

# Okabe and Ito's colours, told apart by colour-blind readers; dashes tell lines apart in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#8C510A", "#999999", "#F0E442", "#6A3D9A")
MARKERS = "osD^vP*Xdh"


def membership_against_k(result: Comparison) -> str:
    """Draw membership against k, a line a scheme, with the optimum as the envelope that none can cross.

    >>> import numpy as np
    >>> from spec_math import SCHEMES
    >>> from spec_math.report.comparison import compare
    >>> from spec_math.report.positions import from_rows
    >>> half = lambda start, stop: np.full((stop - start, 2), 0.5)
    >>> result = compare(from_rows(half, half, (3, 2)), SCHEMES[:1], (1,), lambda done: None)
    >>> membership_against_k(result) == membership_against_k(result)
    True
    """
    figure, axes = _figure(8.2, 4.8)
    for number, line in enumerate(result.lines):
        _draw(axes, line, COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)])
    for number, line in enumerate(result.optima):
        dash = ("-", ":", "-.", "--")[number % 4]
        ks = sorted(k for k, tally in line.membership.items() if tally.count)
        values = [line.membership[k].mean for k in ks]
        axes.plot(ks, values, color="black", linewidth=2.2, linestyle=dash, label=line.name, zorder=3)
    envelope = result.optima[0].membership
    if envelope:
        ks = sorted(envelope)
        axes.fill_between(ks, [envelope[k].mean for k in ks], 1.0, color="0.93", zorder=0)
    _zoom(axes, result)
    axes.set_xscale("log", base=2)
    axes.set_xticks(result.ks, [str(k) for k in result.ks])
    axes.set_xlabel("k, drafts for one position")
    axes.set_ylabel("membership: P(emitted token is a draft)")
    axes.set_title(fill(result.source, 72), fontsize=8, loc="left")
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return svg(figure)


def sweep(temperatures: Sequence[float], results: Sequence[Comparison], k: int) -> str:
    """Draw membership against the draft's temperature for one k, each scheme's maximum marked.

    >>> import numpy as np
    >>> from spec_math import SCHEMES
    >>> from spec_math.report.comparison import compare
    >>> from spec_math.report.positions import from_rows
    >>> half = lambda start, stop: np.full((stop - start, 2), 0.5)
    >>> result = compare(from_rows(half, half, (3, 2)), SCHEMES[:1], (1,), lambda done: None)
    >>> sweep([0.5, 1.0], [result, result], 1).startswith("<?xml")
    True
    """
    figure, axes = _figure(8.2, 4.8)
    for number, line in enumerate([*results[0].lines, results[0].optima[0]]):
        if k not in line.membership:
            continue
        values = [[*result.lines, result.optima[0]][number].membership[k].mean for result in results]
        colour = "black" if line.scheme is None else COLOURS[number % len(COLOURS)]
        axes.plot(temperatures, values, color=colour, label=line.name, linewidth=1.3)
        best = max(range(len(values)), key=values.__getitem__)
        axes.plot([temperatures[best]], [values[best]], marker="o", color=colour, markersize=6)
    axes.set_xlabel("temperature of the draft")
    axes.set_ylabel(f"membership at k = {k}")
    axes.set_title(fill(results[0].source, 72), fontsize=8, loc="left")
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return svg(figure)


def curves(lines: Mapping[str, tuple[Sequence[float], Sequence[float]]], x: str, y: str, title: str) -> str:
    """Draw named curves (xs, ys): the figures of the papers.

    >>> curves({"a": ([0, 1], [0, 1])}, "x", "y", "t").startswith("<?xml")
    True
    """
    figure, axes = _figure(5.4, 3.6)
    for number, (name, (xs, ys)) in enumerate(lines.items()):
        marker = MARKERS[number % len(MARKERS)]
        axes.plot(xs, ys, color=COLOURS[number % len(COLOURS)], label=name, marker=marker, markersize=3, linewidth=1.2)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, fontsize=9)
    axes.legend(fontsize=7)
    return svg(figure)


def bars(values: Mapping[str, float], x: str, title: str) -> str:
    """Draw named shares between 0 and 1 as horizontal bars.

    >>> bars({"a": 0.5}, "x", "t").startswith("<?xml")
    True
    """
    figure, axes = _figure(6.4, 0.6 + 0.45 * len(values))
    axes.set_axisbelow(True)
    axes.barh(list(values), list(values.values()), color=COLOURS[0])
    axes.invert_yaxis()
    axes.set_xlim(0.0, 1.0)
    axes.set_xlabel(x)
    axes.set_title(title, fontsize=9, loc="left")
    return svg(figure)


def _zoom(axes: Any, result: Comparison) -> None:
    """Let the schemes of several drafts fill the picture; those far below keep their value in the legend."""
    several = [t.mean for line in result.lines if len(line.membership) > 1 for t in line.membership.values() if t.count]
    if several:
        axes.set_ylim(max(0.0, min(several) - 0.04), 1.0)


def _draw(axes: Any, line: Line, colour: str, marker: str) -> None:
    ks = sorted(k for k, tally in line.membership.items() if tally.count)
    if not ks:
        return
    values, errors = [line.membership[k].mean for k in ks], [2 * (line.membership[k].error or 0.0) for k in ks]
    label = line.name if len(line.membership) > 1 else f"{line.name} ({values[0]:.3f})"
    axes.errorbar(ks, values, yerr=errors, color=colour, marker=marker, markersize=4, linewidth=1.2, label=label)


def panels(number: int, width: float, height: float) -> tuple[Figure, list[Any]]:
    """Return a figure with so many panels side by side, in the style of all pictures.

    >>> len(panels(2, 8.0, 4.0)[1])
    2
    """
    figure = Figure(figsize=(width, height), layout="constrained")
    axes: list[Any] = list(figure.subplots(1, number, squeeze=False)[0])
    for panel in axes:
        panel.grid(color="0.9", linewidth=0.6)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    return figure, axes


def svg(figure: Figure) -> str:
    """Return a figure as SVG text, without a date and with fixed ids: the same numbers draw the same bytes.

    >>> svg(panels(1, 2.0, 2.0)[0]).startswith("<?xml")
    True
    """
    stream = io.StringIO()
    with _fixed_ids():
        FigureCanvasSVG(figure).print_svg(stream, metadata={"Date": None, "Creator": None})
    return stream.getvalue()


def _figure(width: float, height: float) -> tuple[Figure, Any]:
    figure, (axes,) = panels(1, width, height)
    return figure, axes


def _fixed_ids() -> Any:
    import matplotlib as mpl

    return mpl.rc_context({"svg.hashsalt": "spec_math", "svg.fonttype": "path"})
