"""SpecVocab's Figure 4 on the embedded default: acceptance and cost against the candidates k, for several d'/d.

python examples/gallery/specvocab_figure_4.py [FOLDER]
"""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

from spec_math.files.whole import check_writable, write_whole
from spec_math.papers.speculative_vocabulary import Point, factorised, figure_4
from spec_math.render.figure import pdf_of, svg_of
from spec_math.result import Curve, Panel, Picture
from spec_math.studies.positions.stream import default_positions

DIMENSION, RANKS, KS = 64, (2, 4, 8, 16), (16, 64, 256, 1024, 2048)
"""The head's dimension, the ranks d' and the candidates k that are drawn."""


def points(number: int = DIMENSION) -> list[Point]:
    """Compute the points on so many held-out positions: a head from the singular values of the draft's laws there.

    The head has at most as many dimensions as there are positions.

    >>> len(points(16)) == len(RANKS) * len(KS)
    True
    """
    batch = next(default_positions(number).batches(number))
    targets, drafts = batch.targets.copy(), batch.drafts.copy()
    hidden, head = factorised(np.log(drafts), min(DIMENSION, len(drafts)))
    return figure_4(targets, hidden, head, RANKS, KS)


def picture(number: int = DIMENSION) -> Picture:
    """Return the figure on so many held-out positions, with what to see in it.

    >>> picture(16).name
    'specvocab_figure_4'
    """
    return drawn(points(number), number)


def drawn(found: list[Point], number: int) -> Picture:
    """Return the points as a picture: a line a rank, acceptance against k and against cost.

    >>> len(drawn([Point(1, Fraction(1, 2), 0.5, 0.75, Fraction(1, 4))], 16).panels)
    2
    """
    shares: list[Fraction] = list(dict.fromkeys(point.share for point in found))
    left: list[Curve] = []
    right: list[Curve] = []
    for share in shares:
        row = [point for point in found if point.share == share]
        values = tuple(float(point.acceptance) for point in row)
        left.append(Curve(f"d'/d = {share}", tuple(float(point.k) for point in row), values))
        right.append(Curve(f"d'/d = {share}", tuple(float(point.cost) for point in row), values))
    covered = [point for point in found if point.share == shares[-1]]
    bound = tuple(float(point.k) for point in covered), tuple(float(point.covered) for point in covered)
    left.append(Curve(f"target mass on the candidates, d'/d = {shares[-1]}", *bound, style="guide"))
    least = min(found, key=lambda point: point.cost)
    ks = tuple(str(k) for k in dict.fromkeys(point.k for point in found))
    return Picture(
        "specvocab_figure_4",
        "SpecVocab, Figure 4: candidates and the rank of the ranking",
        f"The default draft's log-probabilities at {number} positions, factorised by singular values into a head of "
        f"{min(DIMENSION, number)} dimensions: what drafting from the k candidates of a ranking of rank d' accepts, "
        "and what it costs in multiplications of a full head, W_down included (the least here is "
        f"{float(least.cost):.3f}). No draft from the candidates exceeds the target's mass on them. The paper draws "
        "acceptance length and throughput of its own models.",
        (
            Panel(tuple(left), "k, candidates", "acceptance", log_x=True, ticks=ks),
            Panel(tuple(right), "cost of the head, of the full one", "acceptance"),
        ),
    )


def main() -> None:
    """Draw the figure and check that nothing accepts more than the mass of its candidates."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out/gallery")
    check_writable(folder)
    found = points()
    shown = drawn(found, DIMENSION)
    print(write_whole(folder / f"{shown.name}.svg", svg_of(shown)), shown.caption)
    print(write_whole(folder / f"{shown.name}.pdf", pdf_of(shown)))
    if any(point.acceptance > point.covered + 2.0**-36 for point in found):
        sys.exit("a draft from the candidates accepts more than the target's mass on them")
    print("checked: no draft from the candidates accepts more than the target's mass on them")


if __name__ == "__main__":
    main()
