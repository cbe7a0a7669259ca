"""The race of clocks in floats: within its derived bound of exact recursions, closed forms and binomials."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from proofs_tests.token_level.float_laws import as_exact, both_orders, float_pair, largest_error
from spec_math import exact
from spec_math.arrays import as_laws
from spec_math.token_level.optimum import prefix_law
from spec_math.token_level.optimum.ratio_order import ratio_order

UNIT = Fraction(1, 2**53)
HARD = ("softmax", "peaked", "very peaked", "equal", "top 50", "float32")


def clock_bound(order, k, gains=False):
    """The bound that `prefix_law` derives: rounding, quadrature and tail."""
    blocks = prefix_law.grid(order.draft, k)[2]
    quadrature = (23 * Fraction(1336, 1000) ** (k - 1) + 11) / 16**16
    rounding = (20 + 2 * blocks) * (len(order) + 1) * UNIT
    return (k * (rounding + blocks * quadrature) if gains else rounding + quadrature) + Fraction(1, 2**60)


@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize(("size", "k"), [(4, 3), (6, 4), (9, 3), (9, 5), (8, 7), (25, 3)])
def test_three_and_more_drafts_without_replacement_in_floats_are_within_the_clocks_bound(kind, size, k):
    floats, exacts = both_orders(kind, size)
    found, true = prefix_law.without_replacement(floats, k), prefix_law.without_replacement(exacts, k)
    assert largest_error(found.outside, true.outside) <= clock_bound(floats, k)
    # `inside` sums the gains; their integrands sum to that of g, so that the bound is that of one gain.
    bound = clock_bound(floats, k, gains=True)
    assert largest_error(found.inside, true.inside) <= bound
    assert largest_error(found.slopes * floats.draft, true.slopes * exacts.draft) <= bound


@pytest.mark.parametrize("kind", HARD)
def test_clocks_agree_with_the_closed_form_for_two_drafts(kind):
    order = ratio_order(*as_laws(*float_pair(kind, 1_000)))
    (closed,) = prefix_law.outsides_without_replacement(order, (2,))
    outside = prefix_law.outsides(order.draft, order.draft_above, (2,))[0]
    assert np.abs(outside - closed).max() <= clock_bound(order, 2) + 30 * UNIT
    by_gains = np.cumsum(prefix_law.gains(order.draft, order.draft_above, 2))
    assert np.abs(1 - by_gains - closed[1:]).max() <= clock_bound(order, 2, gains=True) + 1_030 * UNIT


def test_clocks_agree_with_the_sum_over_pairs_for_three_drafts():
    """1 − g = c·(1 + Σ_a d_a/(1 − d_a)·(1 + Σ_{b≠a} d_b/(1 − d_a − d_b))), V² terms, at V = 1000."""
    order = ratio_order(*float_pair("softmax", 1_000))
    d = order.draft.astype(np.longdouble)
    found = prefix_law.outsides(order.draft, order.draft_above, (3,))[0]
    # No mass exceeds 1/20, so that the differences lose nothing; sums of 1000 terms, three roundings each.
    slack = 5_000 * float(np.finfo(np.longdouble).eps) + 20 * float(UNIT)
    assert d.max() < 1 / 20
    for i in (1, 10, 200, 900, 999):
        second = d[None, :i] / (d.sum() - d[:i, None] - d[None, :i])
        np.fill_diagonal(second, 0)
        true = order.draft_above[i] * (1 + (d[:i] / (d.sum() - d[:i]) * (1 + second.sum(axis=1))).sum())
        assert abs(found[i] - true) <= float(clock_bound(order, 3)) + slack


def test_masses_too_small_to_be_told_from_zero_still_ring_in_their_turn():
    """P(S ⊆ H) for masses 1, 10^-310, 10^-315, 3·10^-320: each clock is slower than the last by 10^5 or more."""
    draft = np.array([1.0, 1e-310, 1e-315, 3e-320])
    exacts = ratio_order(exact([0, "1/8", "1/4", "5/8"]), as_exact(draft))
    floats = ratio_order(np.array([0.0, 0.125, 0.25, 0.625]), draft)
    assert floats.tokens.tolist() == exacts.tokens.tolist()
    for k in (2, 3):
        true = prefix_law.without_replacement(exacts, k)
        found = prefix_law.without_replacement(floats, k)
        assert largest_error(found.outside, true.outside) <= clock_bound(floats, 3)
        assert largest_error(found.inside, true.inside) <= clock_bound(floats, 3, gains=True)


@pytest.mark.parametrize(("size", "k"), [(50, 8), (200, 21), (200, 64), (1000, 48)])
def test_clocks_of_the_uniform_draft_agree_with_binomials(size, k):
    """A uniform draft without replacement is a uniform set: g_i = C(i, k)/C(V, k), exactly."""
    order = ratio_order(np.full(size, 1 / size), np.full(size, 1 / size))
    found = prefix_law.without_replacement(order, k)
    true = [Fraction(comb(i, k), comb(size, k)) for i in range(size + 1)]
    assert largest_error(1 - found.outside, true) <= clock_bound(order, k) + UNIT
    assert largest_error(found.inside, true) <= clock_bound(order, k, gains=True)


def test_more_drafts_than_the_clocks_bound_covers_are_refused():
    order = ratio_order(np.full(70, 1 / 70), np.full(70, 1 / 70))
    with pytest.raises(ValueError, match=r"k <= 64, where their error bound reaches 1\.1e-10; got k = 65 of 70 tokens"):
        prefix_law.without_replacement(order, 65)
    assert prefix_law.without_replacement(order, 70).inside.tolist() == [0.0] * 70 + [1.0]
