"""The joint law of races on one noise, against an integral over one ratio, against sampling, and against memory."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.pathwise.two_races import two_races
from proofs_tests.strategies import pairs
from spec_math.arrays import exact
from spec_math.audit import explore
from spec_math.pathwise.races import joint

F = Fraction
rates = st.lists(st.integers(0, 5).map(Fraction), min_size=3, max_size=3).filter(any)


@given(pairs())
def test_two_races_are_one_integral_over_a_ratio(pair: Any) -> None:
    q, r = (list(law) for law in pair)
    places = range(len(q))
    assert all(joint([q, r], [x, y]) == two_races(q, r, x, y) for x in places for y in places)
    assert all(joint([q, q], [x, y]) == (q[x] if x == y else 0) for x in places for y in places)


@settings(max_examples=30)
@given(st.lists(rates, min_size=1, max_size=4))
def test_races_without_the_last_one_are_its_margin(given_rates: Any) -> None:
    """So by induction all chances sum to 1, and each race is won in proportion to its rates."""
    *earlier, _ = given_rates
    for winners in product(range(3), repeat=len(earlier)):
        total = sum(joint(given_rates, [*winners, y]) for y in range(3))
        assert total == (joint(earlier, winners) if earlier else 1)


@pytest.mark.parametrize("races", [2, 3, 4])
def test_the_joint_law_is_met_by_sampling(races: int) -> None:
    """100,000 seeded draws; 6 sigma of the worst cell is 6·sqrt(1/4/n) < .0095."""
    law = exact([["1/2", "1/3", "1/6"], ["1/6", "1/6", "2/3"], ["0", "3/4", "1/4"], ["2/5", "2/5", "1/5"]])[:races]
    noise = np.random.default_rng(0).exponential(size=(100_000, 3))
    with np.errstate(divide="ignore"):
        winners = np.stack([(noise / row.astype(float)).argmin(1) for row in law], axis=1)
    for cell in product(range(3), repeat=races):
        share = float(np.mean((winners == cell).all(axis=1)))
        assert abs(share - float(joint([list(row) for row in law], cell))) < 0.0095


def test_the_next_to_ring_among_those_left_is_drawn_in_proportion() -> None:
    """Exponentials have no memory: races among those left draw without replacement, four of five here."""
    weights = [F(n) for n in (1, 2, 3, 4, 5)]
    for order in list(permutations(range(5), 4))[::17]:
        laws, chance, left = [], F(1), set(range(5))
        for x in order:
            laws.append([weights[i] if i in left else F(0) for i in range(5)])
            chance *= weights[x] / sum(weights[i] for i in left)
            left.remove(x)
        assert joint(laws, order) == chance


def test_explored_races_on_one_noise_have_their_joint_law() -> None:
    rows = exact([["1/4", "3/4"], ["1/2", "1/2"], ["3/4", "1/4"]])

    def raced() -> tuple[int, ...]:
        noise = np.random.default_rng().exponential(size=2)
        return tuple(int(np.argmin(noise / row)) for row in rows)

    laws = [list(row) for row in rows]
    wanted = {cell: joint(laws, cell) for cell in product(range(2), repeat=3)}
    assert explore(raced) == {cell: mass for cell, mass in wanted.items() if mass}


def test_a_race_remembers_those_that_its_clocks_met_through_others() -> None:
    """a beats b, then b races c, then c races d: the first race says something of the last."""

    def chain() -> tuple[int, ...]:
        noise = np.random.default_rng().exponential(size=4)
        return tuple(int(noise[place : place + 2].argmin()) for place in range(3))

    # Every order of four equal clocks is as likely.
    wanted: dict[tuple[int, ...], Fraction] = {}
    for ring in permutations(range(4)):
        seen = tuple(int(ring[i] > ring[i + 1]) for i in range(3))
        wanted[seen] = wanted.get(seen, F(0)) + F(1, 24)
    assert explore(chain) == wanted
    # Without memory beyond the last race, (0, 0, 0) would have 1/2 · 1/3 · 1/3.
    assert wanted[0, 0, 0] == F(1, 24) != F(1, 18)


def test_every_pair_of_races_is_a_margin_of_all() -> None:
    laws = [[F(1), F(2), F(3)], [F(3), F(1), F(1)], [F(1), F(1), F(5)]]
    for a, b in combinations(range(3), 2):
        for x, y in product(range(3), repeat=2):
            total = sum(joint(laws, cell) for cell in product(range(3), repeat=3) if (cell[a], cell[b]) == (x, y))
            assert total == two_races(laws[a], laws[b], x, y)
