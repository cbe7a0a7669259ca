"""What a check of drafts without replacement asks of clocks: by sums of powers, against exact walks over drawn sets."""

import dataclasses
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from proofs_tests.token_level.float_laws import softmax
from spec_math.token_level.optimum import pool_lemma
from spec_math.token_level.optimum.pool_lemma import moments
from spec_math.token_level.optimum.ratio_order import ratio_order


def inside(heavy, light, number, draws, free):
    """P(all draws fall among some heavy tokens and `free` of `number` light ones of one mass), by recursion."""
    listed = [Fraction(mass) for mass in heavy]

    @cache
    def chance(gone, taken, left):
        if left == 0:
            return Fraction(1)
        rest = sum(mass for at, (mass, _) in enumerate(all_heavy) if not gone >> at & 1) + light * (number - taken)
        found = light * (free - taken) * chance(gone, taken + 1, left - 1) if taken < free else Fraction(0)
        for at, (mass, among) in enumerate(all_heavy):
            if among and not gone >> at & 1:
                found += mass * chance(gone | 1 << at, taken, left - 1)
        return found / rest

    all_heavy = [(mass, True) for mass in listed]
    return chance(0, 0, draws)


def race_of(heavy, number, k):
    """Heavy tokens first, then `number` light ones of one mass, which is a power of two."""
    light = (1 - sum(map(Fraction, heavy))) / number
    draft = np.array([*heavy, *[float(light)] * number])
    assert sum(Fraction(mass) for mass in draft.tolist()) == 1
    return light, moments(draft, k)


LAWS = [((), 1024, 8), ((0.25, 0.125, 0.125), 512, 8), ((0.5, 0.25, 0.1875), 1024, 5), ((1 - 2.0**-8,), 256, 4)]


@pytest.mark.parametrize(("heavy", "number", "k"), LAWS)
def test_a_prefix_without_some_tokens_is_within_the_bound_of_the_exact_walk(heavy, number, k):
    light, race = race_of(heavy, number, k)
    assert race is not None
    seen = set()
    for free in (0, number // 3, number - 70, number):
        for gone_heavy in (0, len(heavy)):
            for gone_light in range(min(2, free) + 1):
                gone = (*range(gone_heavy), *range(len(heavy), len(heavy) + gone_light))
                draws = k - max(1, len(gone))
                if draws < 2:
                    continue
                high = len(heavy) + free
                true = 1 - inside(heavy[gone_heavy:], light, number - gone_light, draws, free - gone_light)
                found = race.outside(float(light * (number - free)), high, gone, draws)
                assert abs(Fraction(found) - true) <= race.rounding(draws)
                seen.add(0 < true < 1)
    assert seen == {True, False}


@pytest.mark.parametrize("width", [0.3, 3.0, 6.0])
def test_the_chance_to_keep_is_that_of_the_walk_over_the_vocabulary(width):
    rng = np.random.default_rng(int(10 * width))
    draft = softmax(width * rng.standard_normal(3_000))
    order, k = ratio_order(draft, draft[::-1] if width < 1 else draft), 6
    race = moments(order.draft, k)
    assert race is not None
    kept = 0
    for _ in range(6):
        low, high = sorted(rng.integers(0, 3_000, 2).tolist())
        if high - low < 10:
            continue
        y, z = sorted(rng.integers(low, high, 2).tolist(), key=lambda place: order.draft[place])
        before = tuple(place for place in rng.integers(0, high, 2).tolist() if place not in (y, z))
        before = tuple(dict.fromkeys(before))
        left = k - 1 - len(before)
        hit, _ = pool_lemma._reached(order, (*before, y), left, (low, high))
        walked = pool_lemma.keep(order, before, (y, z), left, (low, high))
        found = pool_lemma.keep(order, before, (y, z), left, (low, high), race)
        # The chance is flipped with a probability of at most `hit`; clocks of 3,000 tokens are within 2^-53 of 3n + 500
        # in odds, and by octaves within that of (20 + 2·last)·n with last ≤ 20.
        assert abs(found - walked) * hit <= 4 * (race.rounding(left) + 60 * 3_001 * 2.0**-53)
        kept += found > 0
    assert kept > 0


def test_a_token_that_is_not_taken_out_and_a_series_cut_short_are_rejected():
    """Controls: the same walk rejects a race that forgets a token that is gone, and one with three terms."""
    light, race = race_of((0.25, 0.125, 0.125), 512, 8)
    true = 1 - inside((0.125, 0.125), light, 511, 5, 99)
    outside = float(light * 412)
    assert abs(Fraction(race.outside(outside, 103, (0, 3), 5)) - true) <= race.rounding(5)
    assert abs(Fraction(race.outside(outside, 103, (0,), 5)) - true) > race.rounding(5)
    assert abs(Fraction(race.outside(outside, 103, (3,), 5)) - true) > race.rounding(5)
    short = dataclasses.replace(race, series=race.series[:, :4], sums=race.sums[:, :4].copy())
    assert abs(Fraction(short.outside(outside, 103, (0, 3), 5)) - true) > race.rounding(5)
    alike = dataclasses.replace(race, heavy=race.heavy[:0], rings=race.rings[:0])
    assert abs(Fraction(alike.outside(outside, 103, (0, 3), 5)) - true) > race.rounding(5)


def test_what_no_float_can_race_is_left_to_the_walk():
    assert moments(np.array([1.0, 1e-310, 1e-315, 3e-320, 1e-320]), 4) is None
    assert moments(np.full(100, 0.01), 17) is None
    assert moments(np.full(100, 0.01), 2) is None


@pytest.mark.parametrize(
    ("size", "k", "known"), [(6, 2, False), (6, 3, True), (3, 3, False), (100, 16, True), (100, 17, False)]
)
def test_moments_are_of_three_to_sixteen_drafts_and_of_more_tokens(size, k, known):
    assert (moments(np.full(size, 1 / size), k) is not None) == known
