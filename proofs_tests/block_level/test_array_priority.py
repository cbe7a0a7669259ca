"""Nodes of chain priorities as arrays are those of one node: cuts, winners, heights, pools; masses in any unit."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

from spec_math.arrays import Array, exact, proportional_to
from spec_math.block_level import priority_law
from spec_math.block_level.batch import ratio_cells
from spec_math.block_level.batch.decide_priorities import Pieces, cut, everywhere, winner
from spec_math.block_level.batch.ratio_cells import (
    Cells,
    CellsOf,
    by_ratio,
    deaths,
    density,
    prefixes,
    rounded,
    selection_heights,
)
from spec_math.block_level.priority_law import PriorityLaw, node_selection
from spec_math.token_level.optimum.pools import knot_mixture, nested
from spec_math.token_level.optimum.ratio_order import ratio_order

MOST = 4
SEEDS = range(12)


def rows_of(make: Any, many: int = 3) -> Array:
    return np.stack([make() for _ in range(many)])


def quantiles(random: Random, size: int) -> Array:
    """Ends from 0 to 1 of so many stretches, some of them empty."""
    inner = sorted(Fraction(random.randrange(13), 12) for _ in range(size - 1))
    return exact([0, *inner, 1])


def pieces(random: Random, size: int, many: int = 3) -> Pieces:
    """Laws of so many pieces from 0 to 1, some without mass or width; the masses of a row sum to 1, 2 or 3."""

    def masses() -> Array:
        weights = [random.randrange(3) for _ in range(size)]
        weights[random.randrange(size)] += 1
        return proportional_to(weights) * random.randint(1, 3)

    def fitting(edges: Array, row: Array) -> Array:
        # What has no width has no mass.
        return np.where(edges[1:] > edges[:-1], row, row * 0)

    while True:
        edges, made = rows_of(lambda: quantiles(random, size), many), rows_of(masses, many)
        made = np.stack([fitting(*row) for row in zip(edges, made, strict=True)])
        if (made.sum(1) > 0).all():
            return Pieces(edges, made)


def one_law(edges: Array, masses: Array) -> PriorityLaw:
    """The same law with masses above 0 alone, of sum 1."""
    there = masses > 0
    return PriorityLaw(proportional_to(masses[there]), edges[:-1][there], edges[1:][there])


def share_below(edges: Array, masses: Array, place: Fraction) -> Fraction:
    """P(U < place), by adding up the parts of the pieces."""
    total = Fraction(0)
    for low, high, mass in zip(edges[:-1], edges[1:], masses, strict=True):
        if mass and low < place:
            total += mass * (min(high, place) - low) / (high - low)
    return total / sum(masses)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cut_law_has_the_places_and_slopes_of_one_law(seed: int) -> None:
    random = Random(seed)
    law, sizes = pieces(random, random.randint(1, 4)), np.array([1, 2, MOST])
    ends = rows_of(lambda: quantiles(random, 3))
    found = cut(law, ends)
    slopes, powers = found.slopes(sizes, MOST), law.mean_power(sizes, MOST)
    for row, k in enumerate(sizes.tolist()):
        alone = one_law(law.edges[row], law.masses[row])
        assert powers[row] == alone.mean_power(k) * sum(law.masses[row])
        wide = ends[row, 1:] > ends[row, :-1]
        assert slopes[row][wide].tolist() == alone.slopes(ends[row, 1:][wide], k).tolist()
        below = [share_below(law.edges[row], law.masses[row], place) for place in found.places[row]]
        assert below == ends[row].tolist()
        assert found.widths[row].sum() == 1
        assert [found.widths[row][found.cell[row] == cell].sum() for cell in range(3)] == np.diff(ends[row]).tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_density_over_quantiles_gives_the_law_of_that_density(seed: int) -> None:
    random = Random(seed)
    law, ends = pieces(random, random.randint(1, 4)), rows_of(lambda: quantiles(random, 3))
    weights = rows_of(lambda: exact([random.randint(1, 4) for _ in range(3)]))
    found = cut(law, ends).given(weights)
    assert (found.masses.sum(1) == 1).all()
    for row in range(3):
        whole = (np.diff(ends[row]) * weights[row]).sum()
        for place in map(Fraction, ("1/7", "1/3", "1/2", "3/4", "1")):
            reached = share_below(law.edges[row], law.masses[row], place)
            parts = [max(min(reached, high) - low, Fraction(0)) for low, high in pairwise(ends[row])]
            wanted = sum(part * weight for part, weight in zip(parts, weights[row], strict=True)) / whole
            assert share_below(found.edges[row], found.masses[row], place) == wanted


def test_where_a_density_has_no_mass_the_law_that_was_cut_is_kept() -> None:
    law = everywhere(exact([1]))
    found = cut(law, exact([[0, "1/4", 1]])).given(exact([[0, 0]]))
    assert found.masses.tolist() == [[Fraction(1, 4), Fraction(3, 4), 0]]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_winner_among_those_there_is_that_of_the_laws_alone(seed: int) -> None:
    random = Random(seed)
    many = random.randint(1, 3)
    laws = [pieces(random, 3, many) for _ in range(2)]
    edges, masses = np.stack([law.edges for law in laws]), np.stack([proportional(law.masses) for law in laws])
    there = np.array([[random.random() < 2 / 3 for _ in range(many)] for _ in range(2)])
    chances = winner(edges, masses, there)
    for row in range(2):
        among = np.flatnonzero(there[row])
        wanted = exact([0] * many)
        if len(among):
            wanted[among] = priority_law.winner([one_law(edges[row, chain], masses[row, chain]) for chain in among])
        assert chances[row].tolist() == wanted.tolist()


def proportional(rows: Array) -> Array:
    return np.stack([proportional_to(row) for row in rows])


def node(random: Random, size: int = 4) -> tuple[Array, Array]:
    """Both laws of a node, as masses of any sum; the target may have mass where the draft has none."""
    draft = [random.randint(0, 3) for _ in range(size)]
    draft[random.randrange(size)] = random.randint(1, 4)
    target = [random.randint(0, 3) for _ in range(size)]
    target[random.randrange(size)] += 1
    return exact(target) * Fraction(random.randint(1, 3), 7), exact(draft) * Fraction(random.randint(1, 3), 5)


def in_one_unit(cells: Cells, unit: int) -> Cells:
    """The same cells, with all masses of the target and of the draft in other units; the keys stay."""
    return cells._replace(target=cells.target * unit, never=cells.never * unit, draft=cells.draft * (unit + 1))


@pytest.mark.parametrize(("cells_of", "seed"), [(by_ratio, seed) for seed in range(24)] + [(rounded, 0), (rounded, 1)])
def test_heights_deaths_and_densities_are_those_of_the_pools_of_one_node(cells_of: CellsOf, seed: int) -> None:
    """A cell without draft mass, between others or behind them, is in no order there."""
    random = Random(seed)
    k, weight = random.randint(2, MOST), Fraction(random.randint(1, 5), 5)
    cells = cells_of(*(np.stack(side) for side in zip(*(node(random) for _ in range(2)), strict=True)))
    priority = PriorityLaw(exact(["1/3", "2/3"]), exact([0, "1/2"]), exact(["1/4", 1]))
    law = Pieces(exact([[0, "1/4", "1/2", 1]] * 2), exact([["1/3", 0, "2/3"]] * 2))
    one, size = exact([1, 1]), np.array([k, k])
    slopes = cut(law, prefixes(cells.draft)).slopes(size, k) / law.mean_power(size, k)[:, None]
    inside = np.stack([exact([0, *accumulate(row)]) for row in slopes * cells.draft])
    unit = random.randint(1, 3)
    heights = selection_heights(in_one_unit(cells, unit), weight * one, inside)
    died = deaths(cells.draft * unit, heights, slopes)
    for row in range(2):
        order = ratio_order(
            np.append(cells.target[row], cells.never[row]), np.append(cells.draft[row], cells.never[:1] * 0)
        )
        there = order.tokens
        ratios, gains = node_selection(order, weight, priority, k)
        assert there.tolist() == np.flatnonzero(cells.draft[row] > 0).tolist()
        assert heights[row, there].tolist() == ratios.tolist()
        assert (slopes * cells.draft)[row, there].tolist() == gains.tolist()
        pools = knot_mixture(order.draft, ratios, gains)
        for place, cell in enumerate(there):
            wanted = exact([0] * len(there))
            for share, low, high in zip(*nested(pools, place), strict=True):
                wanted[low:high] += share / order.draft[low:high].sum()
            found = density(cells.draft, died, np.array([cell] * 2))
            assert found[row, there].tolist() == wanted.tolist()


def test_ratios_are_multiplied_by_the_factor() -> None:
    target, draft, factor = np.array([[0.25, 0.75]]), np.array([[0.5, 0.5]]), np.array([[0.75]])
    assert ratio_cells._ratio(target, draft, factor, 31.0).tolist() == [[0.375, 1.125]]
    assert ratio_cells._ratio(exact(target), exact(draft), exact(factor), 31).tolist() == [[0.375, 1.125]]
