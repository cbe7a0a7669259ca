"""SpecVocab's Figure 4 as the report draws it: the points of the library, on the embedded default."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from examples.gallery.specvocab_figure_4 import KS, RANKS, drawn
from examples.gallery.specvocab_figure_4 import points as computed
from spec_math import overlap
from spec_math.drafting import head_cost
from spec_math.render.figure import svg_of
from spec_math.studies.positions.stream import default_positions

POSITIONS = 16


@cache
def points():
    return computed(POSITIONS)


def test_a_line_a_rank_and_a_point_a_k():
    assert [(point.share * POSITIONS, point.k) for point in points()] == [(rank, k) for rank in RANKS for k in KS]
    size = default_positions(1).size
    for point in points():
        rank = int(point.share * POSITIONS)
        wanted = head_cost.speculative(size, POSITIONS, rank, point.k), head_cost.full(size, POSITIONS)
        assert point.cost == Fraction(*wanted)


def test_nothing_accepts_more_than_the_mass_of_its_candidates_nor_than_the_whole_draft_can():
    assert all(point.acceptance <= point.covered <= 1 + 2.0**-36 for point in points())
    batch = next(default_positions(POSITIONS).batches(POSITIONS))
    whole = float(np.mean(overlap(batch.targets, batch.drafts)))
    # Seen here, not proved: with half of the words as candidates the head, which is exact at these positions (as many
    # dimensions as positions), accepts nearly what the draft does.
    last = next(point for point in points() if point.share == 1 and point.k == max(KS))
    assert abs(last.acceptance - whole) < 0.05


def test_the_picture_shows_the_points():
    left, right = drawn(points(), POSITIONS).panels
    for panel in (left, right):
        for curve, rank in zip(panel.curves, RANKS, strict=False):
            assert curve.y == tuple(float(p.acceptance) for p in points() if p.share * POSITIONS == rank)
    assert svg_of(drawn(points(), POSITIONS)) != svg_of(drawn(points()[: len(KS)], POSITIONS))
