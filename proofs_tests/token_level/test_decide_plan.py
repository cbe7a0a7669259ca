"""The curves of the optimal plan on a batch are those of each pair of laws alone, and the edges those of its hull."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from spec_math.arrays import exact, proportional_to
from spec_math.token_level.batch.plan import Curves, edge, ratios, selection
from spec_math.token_level.optimum import prefix_law
from spec_math.token_level.optimum.pools import selection_ratios
from spec_math.token_level.optimum.ratio_order import ratio_order

SIZE, MOST = 5, 4


def masses(random: Random) -> tuple[list[int], list[int]]:
    """Weights of a target and of a draft that has no mass on some tokens; ties are frequent."""
    draft = [random.choice([0, 1, 1, 2, 4]) for _ in range(SIZE)]
    target = [random.choice([0, 1, 2, 2, 4]) for _ in range(SIZE)]
    draft[random.randrange(SIZE)], target[random.randrange(SIZE)] = 1, 1
    return target, draft


def batch(seed: int, rows: int = 6) -> tuple[Any, Any, Any]:
    """Masses of targets and drafts, in units of their own, and how many drafts each request has."""
    random = Random(seed)
    pairs = [masses(random) for _ in range(rows)]
    targets, drafts = (
        np.stack([exact(side) / 2 ** random.randrange(4) for side in sides]) for sides in zip(*pairs, strict=True)
    )
    return targets, drafts, np.array([random.randint(1, MOST) for _ in range(rows)])


def of_one(target: Any, draft: Any, k: int) -> tuple[list[int], list[Fraction], list[Fraction]]:
    """The tokens in order, c/d of those that can be drafted, and the draft masses of their prefixes."""
    order = ratio_order(proportional_to(target), proportional_to(draft))
    never = [token for token in range(SIZE) if draft[token] == 0]
    return (
        [*order.tokens.tolist(), *never],
        list(selection_ratios(order, prefix_law.independent(order, k).inside)),
        list(order.draft_below),
    )


@pytest.mark.parametrize("seed", range(8))
def test_curves_of_a_batch_are_those_of_each_pair_alone(seed: int) -> None:
    targets, drafts, sizes = batch(seed)
    found = selection(ratios(targets, drafts), targets, drafts, sizes, MOST)
    for row, k in enumerate(sizes.tolist()):
        tokens, heights, below = of_one(targets[row], drafts[row], k)
        many = len(heights)
        assert found.tokens[row].tolist() == tokens
        assert found.drafted[row] == many
        assert found.place[row].tolist() == below + [1] * (SIZE - many)
        assert found.inside[row].tolist() == [share**k for share in found.place[row]]
        draft = np.diff(below)
        assert found.selected[row].tolist() == [0, *np.cumsum(heights * draft), *[1] * (SIZE - many)]
        own = (targets[row] / sum(targets[row]))[tokens[:many]] / draft
        low, high = found.low[row], found.high[row]
        assert [min(max(ratio, low), high) for ratio in own] == heights


@pytest.mark.parametrize("seed", range(8))
def test_curves_of_a_narrow_type_are_the_exact_ones_to_roundings_of_float64(seed: int) -> None:
    """Masses are whole numbers over powers of two, exact in any type; what is made of them takes a few steps."""
    targets, drafts, sizes = batch(seed)
    wanted = selection(ratios(targets, drafts), targets, drafts, sizes, MOST)
    for kind in (np.float32, np.float64):
        rows = targets.astype(kind), drafts.astype(kind)
        found = selection(ratios(*rows), *rows, sizes, MOST)
        for name in ("place", "inside", "selected", "low", "high"):
            assert np.abs(getattr(found, name) - getattr(wanted, name).astype(float)).max() < 2.0**-45, name


def hull(points: list[tuple[Fraction, Fraction]], place: int) -> tuple[int, int]:
    """The ends of the edge of the lower hull above `place`: the widest pair below whose line nothing lies."""
    best = place, place + 1
    for start in range(place + 1):
        for stop in range(place + 1, len(points)):
            (x, y), (right, top) = points[start], points[stop]
            if all((b - y) * (right - x) >= (top - y) * (a - x) for a, b in points):
                best = min(best[0], start), max(best[1], stop)
    return best


@pytest.mark.parametrize("seed", range(8))
def test_the_edge_above_a_place_is_that_of_the_hull(seed: int) -> None:
    targets, drafts, sizes = batch(seed)
    curves: Curves = selection(ratios(targets, drafts), targets, drafts, sizes, MOST)
    random = Random(seed)
    place = np.array([random.randrange(many) for many in curves.drafted.tolist()])
    u = exact([Fraction(random.randint(0, 8), 9) for _ in place])
    low, high = edge(curves, u, place)
    for row, many in enumerate(curves.drafted.tolist()):
        heights = curves.selected[row] - u[row] * curves.inside[row]
        points = list(zip(curves.place[row][: many + 1], heights[: many + 1], strict=True))
        assert (low[row], high[row]) == hull(points, int(place[row]))
