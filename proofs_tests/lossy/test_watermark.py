"""Watermarks: what a key costs of the acceptance, and that no key keeps both on three tokens."""

from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from proofs_tests.lossy.budget_oracle import instances
from spec_math import exact
from spec_math.arrays import as_laws
from spec_math.distribution import overlap, total_variation
from spec_math.papers import watermark

HALVES = [exact(["1/2", "1/2", 0]), exact([0, "1/2", "1/2"]), exact(["1/2", 0, "1/2"])]
PAIRS = [(0, 1), (1, 2), (0, 2)]


def tilted(target: Any, draft: Any, tilt: Any) -> tuple[watermark.Key, ...]:
    """Return 2^V keys, one for each set of favoured tokens: their masses are raised and the others lowered, evenly."""
    strength = Fraction(tilt)
    t, d = as_laws(target, draft)
    size = len(t)
    found: list[watermark.Key] = []
    for number in range(2**size):
        favoured = np.array([Fraction(number >> token & 1) for token in range(size)], dtype=object)
        pair = (p * (1 + strength * (favoured - (p * favoured).sum())) for p in (t, d))
        found.append(watermark.Key(Fraction(1, 2**size), *pair))
    return tuple(found)


def exponential_race(target: Any, draft: Any) -> Any:
    """Return P(both laws choose one token) where they share exponentials: Σ_x 1/Σ_y max(t_y/t_x, d_y/d_x)."""
    t, d = as_laws(target, draft)
    total = t[0] * 0
    for x in range(len(t)):
        if t[x] > 0 and d[x] > 0:
            total = total + 1 / np.maximum(t / t[x], d / d[x]).sum()
    return total


def cases(size=None):
    return [(exact(t), exact(d)) for t, d, _ in instances(97, 120) if size is None or len(t) == size]


def keys_of(t, d):
    return [watermark.shared_uniform(t, d), tilted(t, d, "1/2"), tilted(t, d, 1)]


def test_a_key_is_unbiased_and_costs_acceptance():
    """E Σ min(t_ζ, d_ζ) ≤ Σ min(t, d): min is concave. A test against the laws themselves keeps all of it."""
    cost = 0
    for t, d in cases():
        for keys in keys_of(t, d):
            assert sum(key.mass for key in keys) == 1
            strong, quick = watermark.kept_strength(t, d, keys), watermark.kept_efficiency(t, d, keys)
            assert strong.acceptance <= quick.acceptance == overlap(t, d)
            cost += strong.acceptance < quick.acceptance
            for found in (strong, quick):
                average = sum((k.mass * law for k, law in zip(keys, found.laws, strict=True)), t * 0)
                assert average.tolist() == t.tolist()
    assert cost > 40


def test_a_biased_key_is_refused():
    """Control."""
    one = watermark.Key(Fraction(1), exact([1, 0]), exact(["1/2", "1/2"]))
    with pytest.raises(ValueError, match="the keys are biased: under them the target averages to"):
        watermark.kept_strength(["1/4", "3/4"], ["1/2", "1/2"], [one])


def test_the_trade_off_is_a_curve_between_the_two():
    """The acceptance is a straight line in the mixing, the strength below the straight line between its ends."""
    t, d = exact(["1/5", "3/10", "1/2"]), exact(["1/2", "3/10", "1/5"])
    keys = watermark.shared_uniform(t, d)
    found = [watermark.between(t, d, keys, Fraction(i, 4)) for i in range(5)]
    accepted = [point.acceptance for point in found]
    assert [b - a for a, b in pairwise(accepted)] == [(accepted[4] - accepted[0]) / 4] * 4
    assert accepted[0] == overlap(t, d) > accepted[4]
    low, high = found[0].strength, found[4].strength
    assert high.low > low.high  # the strongest is stronger
    for i in (1, 2, 3):
        assert found[i].strength.high < (low.low * (4 - i) + high.low * i) / 4


def test_on_two_tokens_one_shared_uniform_keeps_both():
    """Theorem of the paper's exception: with two tokens quantiles couple every pair of laws maximally."""
    for t, d in cases(size=2):
        keys = watermark.shared_uniform(t, d)
        assert watermark.kept_strength(t, d, keys).acceptance == overlap(t, d)
    losing = 0
    for t, d in cases(size=3):
        found = watermark.kept_strength(t, d, watermark.shared_uniform(t, d))
        losing += found.acceptance < overlap(t, d)
    assert losing > 5


def test_no_key_that_decides_the_token_keeps_both_on_three_tokens():
    """The no-go, by listing: whatever tokens a key gives to the three laws, at most one of the three pairs agrees."""
    supports = [[token for token in range(3) if law[token]] for law in HALVES]
    agreeing = [sum(choice[i] == choice[j] for i, j in PAIRS) for choice in product(*supports)]
    assert max(agreeing) == 1
    wanted = sum(overlap(HALVES[i], HALVES[j]) for i, j in PAIRS)
    assert wanted == Fraction(3, 2) > max(agreeing)


def test_shared_exponentials_reach_the_most_that_all_three_pairs_can_have():
    """1/3 for each pair, 1 in all: no key that decides the token has more on average over the three."""
    found = [exponential_race(HALVES[i], HALVES[j]) for i, j in PAIRS]
    assert found == [Fraction(1, 3)] * 3
    uniforms = [
        watermark.kept_strength(HALVES[i], HALVES[j], watermark.shared_uniform(HALVES[i], HALVES[j])).acceptance
        for i, j in PAIRS
    ]
    assert sum(uniforms) <= 1


def test_an_exponential_race_lies_between_its_bounds():
    for t, d in cases():
        apart = total_variation(t, d)
        assert (1 - apart) / (1 + apart) <= exponential_race(t, d) <= overlap(t, d)
    assert exponential_race(["1/4", "3/4"], ["1/4", "3/4"]) == 1


def test_a_race_by_integration_has_that_probability():
    """By the integral over E_x of P(no other token is earlier in either race), by quadrature."""
    from math import exp

    t, d = [0.2, 0.3, 0.5], [0.5, 0.3, 0.2]
    total, steps = 0.0, 20000
    for x in range(3):
        rate = sum(max(t[y] / t[x], d[y] / d[x]) for y in range(3))
        total += sum(exp(-rate * (i + 0.5) * 40 / steps) for i in range(steps)) * 40 / steps
    # The midpoint rule with steps of 1/500 on smooth exponentials of rates below 10.
    assert abs(total - float(exponential_race(t, d))) < 1e-4


def test_a_key_for_everything_keeps_everything_for_one_pair():
    """The way out of 2602.01428: the draft, the test and the residual all follow the key."""
    for t, d in cases(size=3):
        found = watermark.fully_keyed(t, d)
        strongest = watermark.kept_strength(t, d, watermark.shared_uniform(t, d))
        assert found.acceptance == overlap(t, d) >= strongest.acceptance
        # Both strengths are the target's entropy: two intervals around one number.
        assert found.strength.low <= strongest.strength.high
        assert strongest.strength.low <= found.strength.high


def test_options_are_checked():
    with pytest.raises(ValueError, match=r"mixing must lie in \[0, 1\]; got -1"):
        watermark.between(["1/4", "3/4"], ["1/2", "1/2"], (), -1)
    with pytest.raises(ValueError, match="keys are listed for exact distributions of one position"):
        watermark.shared_uniform([0.25, 0.75], [0.5, 0.5])
