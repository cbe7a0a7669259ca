"""What public code of lossy rules computes in the place of what its papers say, with exact instances."""

from __future__ import annotations

from fractions import Fraction

from spec_math import exact
from spec_math.lossy.distances import divergence
from spec_math.lossy.logarithm import log


def exchanged(t, d):
    """As the code has it: half of KL(m‖t) and half of KL(m‖d), m the mean of both laws."""
    middle = (t + d) / 2
    return (divergence(middle, t) + divergence(middle, d)).times(Fraction(1, 2))


def jensen_shannon(t, d):
    middle = (t + d) / 2
    return (divergence(t, middle) + divergence(d, middle)).times(Fraction(1, 2))


def test_the_js_divergence_of_fuzzy_decoding_is_another_one() -> None:
    """Jensen-Shannon is at most ln 2; with both arguments exchanged it grows without bound."""
    t, d = exact(["1/4", "3/4"]), exact(["1/2", "1/2"])
    assert exchanged(t, d).low > jensen_shannon(t, d).high
    rare = Fraction(1, 10**9)
    far = exchanged(exact([rare, 1 - rare]), exact([1 - rare, rare]))
    assert far.low > 9
    assert jensen_shannon(exact([1, 0]), exact([0, 1])).high <= log(2).high


def test_medusas_entropy_is_too_small_for_large_vocabularies() -> None:
    """The code takes −Σ t ln(t + 10^-5): of 100,000 equal tokens exp(−H) is twice what it should be."""
    mass, shift, alpha = Fraction(1, 100_000), Fraction(1, 100_000), Fraction(3, 4)
    printed, computed = alpha * mass, alpha * (mass + shift)  # δ·exp(−H), H = −ln t and −ln(t + 10^-5)
    assert printed < mass < computed
