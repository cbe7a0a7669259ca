"""SpecVocab's Figure 4 on the embedded default: acceptance and cost against the candidates k, for several d'/d."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from spec_math.drafting.low_rank import Point, factorised, figure_4
from spec_math.report.default import positions
from spec_math.report.page import Picture
from spec_math.report.pictures import COLOURS, MARKERS, panels, svg

DIMENSION, RANKS, KS = 64, (2, 4, 8, 16), (16, 64, 256, 1024, 2048)
"""The head's dimension, the ranks d' and the candidates k that are drawn."""


def points(number: int = DIMENSION) -> list[Point]:
    """Compute the points on so many held-out positions: a head from the singular values of the draft's laws there.

    The head has at most as many dimensions as there are positions.

    >>> len(points(16)) == len(RANKS) * len(KS)
    True
    """
    batch = next(positions(number).batches(number))
    targets, drafts = batch.targets.copy(), batch.drafts.copy()
    hidden, head = factorised(np.log(drafts), min(DIMENSION, len(drafts)))
    return figure_4(targets, hidden, head, RANKS, KS)


def picture(number: int = DIMENSION) -> Picture:
    """Return the figure on so many held-out positions, with what to see in it.

    >>> picture(16).title
    'SpecVocab, Figure 4: candidates and the rank of the ranking'
    """
    found = points(number)
    least = min(found, key=lambda point: point.cost)
    return Picture(
        "SpecVocab, Figure 4: candidates and the rank of the ranking",
        drawn(found),
        f"The default draft's log-probabilities at {number} positions, factorised by singular values into a head of "
        f"{min(DIMENSION, number)} dimensions: what drafting from the k candidates of a ranking of rank d' accepts, "
        "and what it costs in multiplications of a full head, W_down included (the least here is "
        f"{float(least.cost):.3f}). Dotted: the target's mass on the "
        "candidates, which no draft from them exceeds. The paper draws acceptance length and throughput of its own "
        "models.",
    )


def drawn(found: list[Point]) -> str:
    """Draw the points: a line a rank, acceptance against k and against cost.

    >>> drawn([Point(1, Fraction(1, 2), 0.5, 0.75, Fraction(1, 4))]).startswith("<?xml")
    True
    """
    figure, (left, right) = panels(2, 10.4, 4.0)
    shares: list[Fraction] = list(dict.fromkeys(point.share for point in found))
    for number, share in enumerate(shares):
        row = [point for point in found if point.share == share]
        colour = COLOURS[number % len(COLOURS)]
        style = {"color": colour, "marker": MARKERS[number % len(MARKERS)], "markersize": 4, "linewidth": 1.2}
        ks, values = [point.k for point in row], [point.acceptance for point in row]
        left.plot(ks, values, label=f"d'/d = {share}", **style)
        left.plot(ks, [point.covered for point in row], color=colour, linestyle=":", linewidth=1.0)
        right.plot([float(point.cost) for point in row], values, **style)
    left.set_xscale("log", base=2)
    left.set_xlabel("k, candidates")
    left.set_ylabel("acceptance; dotted: target mass on the candidates")
    right.set_xlabel("cost of the head, of the full one")
    right.set_ylabel("acceptance")
    right.axvline(1.0, color="0.5", linewidth=0.8, linestyle=":")
    left.legend(fontsize=8)
    return svg(figure)
