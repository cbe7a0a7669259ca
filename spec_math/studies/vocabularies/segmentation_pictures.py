"""Segmentations as pictures: the tree of one text, and all tokens of a vocabulary (Timor et al., Figures 1 to 3)."""

from __future__ import annotations

from collections import Counter
from math import log10

from spec_math.language import Vocabulary
from spec_math.result import Curve, Node, Panel, Picture, Tree
from spec_math.string_level import segmentation
from spec_math.studies.vocabularies.segmentation_counts import Counts

BINS = 10
"""Bins of the histogram a power of ten."""


def tree(text: str | bytes, vocabulary: Vocabulary, title: str) -> Picture:
    """Return the segmentations of a text as a tree; each leaf is one of them.

    Raises:
        ValueError: the text has no segmentation, or too many to list. Source: Timor et al., Figure 1.

    >>> [node.label for node in tree("ab", Vocabulary(["a", "b", "ab"]), "ab").panels.nodes]
    ['start', 'a', 'b', 'ab']
    """
    leaves = segmentation.list(text, vocabulary)
    if not leaves:
        raise ValueError(f"{text!r} has no segmentation to draw")
    places: dict[tuple[int, ...], int] = {(): 0}
    nodes = [Node("start", None, False)]
    for leaf in leaves:
        for depth in range(1, len(leaf) + 1):
            if leaf[:depth] not in places:
                places[leaf[:depth]] = len(nodes)
                nodes.append(Node(_shown(vocabulary[leaf[depth - 1]]), places[leaf[: depth - 1]], leaf[:depth] == leaf))
    return Picture(
        "tree",
        title,
        "Each leaf is one sequence of draft tokens that spells the text, as in Figure 1 of Timor et al.; to know ψ a "
        "drafter has to be asked at every inner node.",
        Tree(tuple(nodes)),
    )


def by_length(found: Counts, title: str) -> Picture:
    """Return the number of segmentations against the length: least, quartiles, median, most, and 2^(m−1) for m bytes.

    A length of which only some tokens are meant is drawn apart, as it is not determined. Source: Figure 2.

    >>> [curve.label for curve in by_length(Counts({1: [1, 1], 2: [2]}), "t").panels[0].curves]
    ['median, least to most', 'quartiles', 'all: 2^(m − 1)']
    """
    tied = max(found.by_length) if found.kept is not None else None
    lengths = {size: row for size, row in found.by_length.items() if size != tied}
    curves = [_spread("median, least to most", lengths, 4), _spread("quartiles", lengths, 2)]
    if tied is not None:
        label = (
            f"{tied} bytes: which {found.kept:,} of these {len(found.by_length[tied]):,} are meant is not determined"
        )
        curves.append(_spread(label, {tied: found.by_length[tied]}, 4))
    ends = float(min(found.by_length)), float(max(found.by_length))
    curves.append(Curve("all: 2^(m − 1)", ends, tuple((m - 1) * log10(2) for m in ends), style="guide"))
    return Picture(
        "lengths",
        title,
        "Longer tokens have more segmentations (Timor et al., Figure 2); the dotted line is the most there can be.",
        (Panel(tuple(curves), "bytes of the token", "segmentations, powers of ten"),),
    )


def histogram(found: Counts, title: str) -> Picture:
    """Return how many tokens have how many segmentations; those of a tied length are a line of their own.

    The paper's kernel density is left out: its bandwidth is not stated. Source: Figure 3.

    >>> histogram(Counts({1: [1, 1], 2: [2]}), "t").panels[0].curves[0].y
    (2.0, 1.0)
    """
    rows = list(found.by_length.values())
    settled = [value for row in (rows if found.kept is None else rows[:-1]) for value in row]
    curves = [_binned("determined", settled)]
    if found.kept is not None:
        curves.append(_binned(f"the {len(rows[-1]):,} tied ones, of which {found.kept:,} are meant", rows[-1]))
    return Picture(
        "histogram",
        title,
        "How many tokens have how many segmentations (Timor et al., Figure 3), in bins of a tenth of a power of ten.",
        (Panel(tuple(curves), "segmentations, powers of ten", "tokens", log_y=True),),
    )


def _spread(label: str, lengths: dict[int, list[int]], share: int) -> Curve:
    """Return medians with the range of all (share 4) or of the quartiles (share 2), as powers of ten."""

    def quantile(quarter: int) -> tuple[float, ...]:
        return tuple(_log10(row[(len(row) - 1) * quarter // 4]) for row in lengths.values())

    low, high = (0, 4) if share == 4 else (1, 3)
    return Curve(label, tuple(map(float, lengths)), quantile(2), quantile(low), quantile(high), "points")


def _binned(label: str, values: list[int]) -> Curve:
    held = Counter(int(_log10(value) * BINS) for value in values)
    return Curve(label, tuple((b + 0.5) / BINS for b in sorted(held)), tuple(float(held[b]) for b in sorted(held)))


def _log10(value: int) -> float:
    """Return the logarithm of a whole number of any size."""
    return log10(value) if value > 0 else 0.0


def _shown(spelled: bytes) -> str:
    return spelled.decode(errors="backslashreplace").replace(" ", "␣").replace("\n", "⏎").replace("$", r"\$")
