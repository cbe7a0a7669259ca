"""Segmentations drawn: the tree of one text, and all tokens of a vocabulary (Timor et al., Figures 1, 2 and 3)."""

from __future__ import annotations

from math import log10

import numpy as np

from spec_math.language import Vocabulary
from spec_math.report.pictures import COLOURS, panels, svg
from spec_math.report.vocabularies.segmentation_figures import Counts
from spec_math.string_level import segmentation

Node = tuple[int, ...]
"""A beginning of a segmentation: the tokens so far."""


def tree(text: str | bytes, vocabulary: Vocabulary, title: str) -> str:
    """Draw the segmentations of a text as a tree that grows to the right; each leaf, marked ✓, is one of them.

    Raises:
        ValueError: the text has no segmentation, or too many to list. Source: Timor et al., Figure 1.

    >>> tree("ab", Vocabulary(["a", "b", "ab"]), "ab").startswith("<?xml")
    True
    """
    leaves = segmentation.list(text, vocabulary)
    if not leaves:
        raise ValueError(f"{text!r} has no segmentation to draw")
    height: dict[Node, float] = {leaf: float(place) for place, leaf in enumerate(leaves)}
    inner = sorted({leaf[:depth] for leaf in leaves for depth in range(len(leaf))}, key=len, reverse=True)
    for node in inner:
        below = [y for other, y in height.items() if len(other) == len(node) + 1 and other[:-1] == node]
        height[node] = (min(below) + max(below)) / 2
    deepest = max(map(len, leaves))
    widest = max((len(_shown(vocabulary[token])) for leaf in leaves for token in leaf), default=1)
    step = 1 + 0.12 * widest
    figure, (axes,) = panels(1, 1.6 + 0.75 * step * deepest, 0.9 + 0.28 * len(leaves))
    for node, y in height.items():
        if node:
            parent = height[node[:-1]]
            start, end = (len(node) - 1) * step, len(node) * step
            axes.plot([start, (start + end) / 2, end], [parent, y, y], color="0.6", linewidth=0.9, zorder=1)
    for node, y in height.items():
        leaf = node in set(leaves)
        label = _shown(vocabulary[node[-1]]) if node else "start"
        axes.text(
            len(node) * step,
            y,
            f"{label}  ✓" if leaf else label,
            ha="left" if leaf else "center",
            va="center",
            fontsize=8,
            color=COLOURS[0] if leaf else "black",
            bbox={"boxstyle": "round,pad=0.18", "facecolor": "white", "edgecolor": "0.75", "linewidth": 0.6},
            zorder=2,
        )
    axes.set_xlim(-0.5 * step, (deepest + 0.9) * step)
    axes.set_ylim(len(leaves) - 0.4, -0.6)
    axes.set_axis_off()
    axes.set_title(title, fontsize=9, loc="left")
    return svg(figure)


def by_length(found: Counts, title: str) -> str:
    """Draw the number of segmentations against the length: least to most, quartiles, median, and 2^(m−1) for m bytes.

    A length of which only some tokens are meant is drawn apart, as it is not determined. Source: Figure 2.

    >>> by_length(Counts({1: [1, 1], 2: [2]}), "t").startswith("<?xml")
    True
    """
    figure, (axes,) = panels(1, 7.4, 4.2)
    tied = max(found.by_length) if found.kept is not None else None
    for length, row in found.by_length.items():
        colour = COLOURS[1] if length == tied else COLOURS[0]
        shown = {name: _log10(row[(len(row) - 1) * share // 4]) for name, share in zip("abcde", range(5), strict=True)}
        axes.plot([length, length], [shown["a"], shown["e"]], color=colour, linewidth=0.9, zorder=1)
        axes.plot([length, length], [shown["b"], shown["d"]], color=colour, linewidth=3.5, alpha=0.55, zorder=2)
        axes.plot([length], [shown["c"]], color=colour, marker="o", markersize=3.5, zorder=3)
    lengths = np.array([min(found.by_length), max(found.by_length)])
    axes.plot(lengths, (lengths - 1) * log10(2), color="0.5", linestyle=":", label="all: $2^{m-1}$", zorder=0)
    if tied is not None:
        kept, size = found.kept, len(found.by_length[tied])
        label = f"{tied} bytes: which {kept:,} of these {size:,} are meant is not determined"
        axes.plot([], [], color=COLOURS[1], marker="o", linewidth=0.9, markersize=3.5, label=label)
    axes.set_xlabel("bytes of the token")
    _powers(axes.yaxis, max(_log10(row[-1]) for row in found.by_length.values()))
    axes.set_ylabel("segmentations: least, quartiles, median, most")
    axes.set_title(title, fontsize=9, loc="left")
    axes.legend(fontsize=7, loc="upper left")
    return svg(figure)


def histogram(found: Counts, title: str) -> str:
    """Draw how many tokens have how many segmentations; the tied length is drawn apart on top. Source: Figure 3.

    The paper's kernel density is left out: its bandwidth is not stated.

    >>> histogram(Counts({1: [1, 1], 2: [2]}), "t").startswith("<?xml")
    True
    """
    figure, (axes,) = panels(1, 7.4, 3.8)
    rows = list(found.by_length.values())
    settled = [value for row in (rows if found.kept is None else rows[:-1]) for value in row]
    tied = [] if found.kept is None else rows[-1]
    most = max(_log10(row[-1]) for row in rows)
    edges = np.arange(0, most + 0.2, 0.1)
    groups, colours, labels = [[_log10(value) for value in settled]], [COLOURS[0]], ["determined"]
    if tied:
        groups, colours = [*groups, [_log10(value) for value in tied]], [*colours, COLOURS[1]]
        labels.append(f"the {len(tied):,} tied ones, of which {found.kept:,} are meant")
    axes.set_axisbelow(True)
    axes.hist(groups, bins=edges, stacked=True, color=colours, label=labels)
    axes.set_yscale("log")
    axes.set_ylabel("tokens")
    axes.set_xlabel("segmentations")
    _powers(axes.xaxis, most)
    axes.set_title(title, fontsize=9, loc="left")
    if tied:
        axes.legend(fontsize=7)
    return svg(figure)


def _log10(value: int) -> float:
    """Return the logarithm of a whole number of any size."""
    return log10(value) if value > 0 else 0.0


def _powers(axis: object, most: float) -> None:
    """Label an axis of logarithms with powers of ten, about six of them."""
    step = max(1, round(most / 6))
    ticks = list(range(0, int(most) + step + 1, step))
    axis.set_ticks(ticks, [f"$10^{{{tick}}}$" for tick in ticks])  # type: ignore[attr-defined]


def _shown(spelled: bytes) -> str:
    return spelled.decode(errors="backslashreplace").replace(" ", "␣").replace("\n", "⏎").replace("$", r"\$")
