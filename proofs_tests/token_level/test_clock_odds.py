"""The race in odds: each gain and each prefix within its derived relative bound of exact recursions over drawn sets."""

from fractions import Fraction
from math import exp, factorial

import numpy as np
import pytest

from spec_math import exact
from spec_math.token_level import clock_octaves, clock_odds, prefix_law
from spec_math.token_level.ratio_order import ratio_order

TAIL = Fraction(clock_odds.TAIL)


def dyadic(size, seed, peak=0.0):
    """A draft of masses in units of 2^-30, whose float sums are exact; the last token holds at least the peak."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(size, 0.5)) * (1 - peak)
    weights[-1] += peak
    whole = np.maximum(1, np.floor(weights * 2**30)).astype(int)
    whole[-1] += 2**30 - whole.sum()
    return whole


def laws(whole, k):
    """The law of prefixes in Fractions, and the arrays that the clocks take, in one order."""
    fractions = exact([Fraction(int(mass), 2**30) for mass in whole])
    target = exact([Fraction(i + 1, 1) for i in range(len(whole))])
    order = ratio_order(fractions * target / (fractions * target).sum(), fractions)
    draft = np.array([float(mass) for mass in order.draft])
    return order, draft, np.array([float(mass) for mass in order.draft_above]), prefix_law.without_replacement(order, k)


def misses(draft, above, k, true, grid):
    """The largest error of a gain and of a prefix, each over what it is allowed."""
    gains = clock_odds.gains(draft, k, *grid)
    found = clock_odds.outsides(draft, above, np.array([k]), *grid)[0]
    allowed = Fraction(clock_odds.rounding(len(draft), k, grid[1].sum() * (1 + 2.0**-40)))
    worst = Fraction(0)
    for value, wanted in (
        *zip(gains, true.inside[1:] - true.inside[:-1], strict=True),
        *zip(found, true.outside, strict=True),
    ):
        worst = max(worst, abs(Fraction(float(value)) - wanted) / (allowed * wanted + TAIL))
    return worst


@pytest.mark.parametrize("peak", [0.0, 0.5])
@pytest.mark.parametrize(("size", "k"), [(4, 2), (5, 3), (9, 4), (12, 3), (10, 6)])
def test_gains_and_prefixes_are_within_the_relative_bound(size, k, peak):
    for seed in range(3):
        order, draft, above, true = laws(dyadic(size, seed, peak), k)
        assert order.tokens.tolist() == list(range(size))
        grid = clock_odds.grid(draft, k) or clock_odds.quadrature(clock_odds.LONGEST)
        if clock_odds.fewer(draft, k, clock_odds.LONGEST) < clock_odds.TAIL:
            assert misses(draft, above, k, true, grid) <= 1


def test_too_few_nodes_or_too_short_a_time_are_rejected():
    """Controls: three quarters of the nodes, and half of the time, miss the bound."""
    _, draft, above, true = laws(dyadic(9, 0), 4)
    nodes, weights = clock_odds.grid(draft, 4)
    assert misses(draft, above, 4, true, (nodes, weights)) <= 1
    points, widths = np.polynomial.legendre.leggauss(len(nodes) * 3 // 4 // 4 * 4)
    time = weights.sum()
    assert misses(draft, above, 4, true, (time * (points + 1) / 2, time * widths / 2)) > 1
    assert misses(draft, above, 4, true, (nodes / 2, weights / 2)) > 1


def test_the_time_is_the_first_of_its_steps_at_which_the_tail_is_small():
    """The tail of a Poisson process by exact terms t^j/j!; control: a step less is too early."""

    def fewer(k, time):
        return float(sum(Fraction(time) ** j / factorial(j) for j in range(k))) * exp(-time)

    for k in (1, 2, 4, 17, 64):
        time = clock_odds.poisson_time(k)
        assert fewer(k, time) < clock_odds.TAIL <= fewer(k, time / 2**0.25)


def test_the_number_of_nodes_is_the_least_that_the_bound_allows():
    for time in (32.0, 64.0, 512.0):
        number = len(clock_odds.quadrature(time)[0])
        assert clock_odds._missed(time, number) < clock_odds._MISSED <= clock_odds._missed(time, number - 4)


@pytest.mark.parametrize("k", [3, 8])
def test_both_ways_agree_on_a_large_vocabulary(k):
    rng = np.random.default_rng(k)
    weights = np.exp(3 * rng.standard_normal(3_000))
    order = ratio_order(weights / weights.sum(), np.full(3_000, 1 / 3_000))
    above, blocks = order.draft_above, clock_octaves.grid(order.draft, k)[2]
    nodes, grid_weights = clock_odds.grid(order.draft, k)
    # What `clock_octaves` derives for a gain, and the relative bound of the other, on gains of at most 1.
    bound = (k * (20 + 2 * blocks) * 3_001 + 30) * 2.0**-53 + k * blocks * (23 * 1.336 ** (k - 1) + 11) / 16**16
    bound += clock_odds.rounding(3_000, k, grid_weights.sum())
    octaves = clock_octaves.gains(order.draft, above, k)
    assert np.abs(clock_odds.gains(order.draft, k, nodes, grid_weights) - octaves).max() <= bound
    prefixes = clock_octaves.outsides(order.draft, above, [2, k])
    assert (
        np.abs(clock_odds.outsides(order.draft, above, np.array([2, k]), nodes, grid_weights) - prefixes).max() <= bound
    )


def test_a_race_that_is_long_is_left_to_the_octaves():
    """Control of the choice: nearly all mass on one token, so that the second of two rings after the time 512."""
    assert clock_odds.grid(np.array([1 - 2.0**-10, 2.0**-11, 2.0**-11]), 2) is None
