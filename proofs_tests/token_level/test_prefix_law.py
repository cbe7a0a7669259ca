"""The law of prefixes against enumeration, its convexity for both ways to draft, and floats within derived bounds."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.strategies import laws as random_laws
from proofs_tests.strategies import pairs
from proofs_tests.token_level.float_laws import as_exact, both_orders, largest_relative_error
from spec_math import exact, law
from spec_math.scheme import draw_independent
from spec_math.token_level import without_replacement as successive
from spec_math.token_level.optimum import prefix_law
from spec_math.token_level.optimum.ratio_order import ratio_order

UNIT = Fraction(1, 2**53)
WAYS = {"independent": draw_independent, "without_replacement": successive.draw}
HARD = ("softmax", "peaked", "very peaked", "equal", "top 50", "float32")


def enumerated(way, draft, k):
    """The law of the SET of drafts, by walking every path of the program that draws them."""
    return law(lambda coin: frozenset(WAYS[way](coin, draft, k)))


def chance_inside(sets, tokens):
    return sum((mass for drawn, mass in sets.items() if drawn <= set(tokens)), Fraction(0))


@pytest.mark.parametrize("way", WAYS)
@given(pairs(5), st.integers(1, 4))
@settings(max_examples=50)
def test_prefix_law_equals_the_enumerated_law_of_drafts(way, pair, k):
    target, draft = pair
    order = ratio_order(target, draft)
    prefixes = getattr(prefix_law, way)(order, k)
    sets = enumerated(way, draft, k)
    for i in range(len(order) + 1):
        assert prefixes.inside[i] == chance_inside(sets, order.tokens[:i].tolist())
        assert prefixes.inside[i] + prefixes.outside[i] == 1
    for i, slope in enumerate(prefixes.slopes):
        assert slope * order.draft[i] == prefixes.inside[i + 1] - prefixes.inside[i]
    arrays = (prefixes.inside, prefixes.outside, prefixes.slopes)
    assert all(type(value) is Fraction for array in arrays for value in array)


def violations_of_the_exchange(sets, draft):
    """The cases of (g(B+y) − g(B))/d_y > (g(B+y+z) − g(B+y))/d_z: y gains more than z does after it."""
    size = len(draft)
    inside = [chance_inside(sets, [x for x in range(size) if bits >> x & 1]) for bits in range(2**size)]
    found = []
    for bits, y, z in product(range(2**size), range(size), range(size)):
        if y != z and not bits >> y & 1 and not bits >> z & 1 and draft[y] > 0 and draft[z] > 0:
            with_y = bits | 1 << y
            first = (inside[with_y] - inside[bits]) / draft[y]
            if first > (inside[with_y | 1 << z] - inside[with_y]) / draft[z]:
                found.append((bits, y, z))
    return found


@pytest.mark.parametrize("way", WAYS)
@given(random_laws(5), st.integers(1, 4))
@settings(max_examples=30)
def test_exchange_inequality(way, draft, k):
    assert violations_of_the_exchange(enumerated(way, draft, k), draft) == []


def test_exchange_inequality_fails_for_drafts_of_two_laws():
    """Control: with two different drafters the order by mass is no order of gains, and the prefix rule fails too."""
    first, second = exact(["8/10", "1/10", 0, "1/10"]), exact(["1/10", 0, "1/10", "8/10"])
    sets = law(lambda coin: frozenset((coin.draw(first), coin.draw(second))))
    assert (0b0001, 2, 1) in violations_of_the_exchange(sets, (first + second) / 2)


@pytest.mark.parametrize("way", WAYS)
@given(pairs(5), st.integers(1, 4))
@settings(max_examples=50)
def test_prefix_law_is_convex_in_the_draft_mass(way, pair, k):
    slopes = getattr(prefix_law, way)(ratio_order(*pair), k).slopes
    assert all(first <= second for first, second in pairwise(slopes))


@given(pairs(6), st.integers(1, 4))
@settings(max_examples=50)
def test_without_replacement_is_never_likelier_to_stay_inside(pair, k):
    order = ratio_order(*pair)
    without, independent = prefix_law.without_replacement(order, k), prefix_law.independent(order, k)
    if k <= len(order):
        assert all(first <= second for first, second in zip(without.inside, independent.inside, strict=True))


@given(pairs(5), st.integers(1, 8))
def test_drafts_without_replacement_are_the_whole_support_where_k_reaches_it(pair, k):
    order = ratio_order(*pair)
    if k >= len(order):
        inside = prefix_law.without_replacement(order, k).inside.tolist()
        assert inside == ([0] * len(order) + [1] if k > 1 or len(order) == 1 else order.draft_below.tolist())


@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize("k", [1, 2, 3, 8, 40])
def test_independent_floats_are_within_ten_k_units(kind, k):
    floats, exacts = both_orders(kind, 300)
    found, true = prefix_law.independent(floats, k), prefix_law.independent(exacts, k)
    # To first order: each P within 6 units, P^k within 6k + 4; 1 − P^k and the slopes within 8k + 8.
    bound = (10 * k + 12) * UNIT
    for ours, theirs in ((found.inside, true.inside), (found.outside, true.outside), (found.slopes, true.slopes)):
        assert largest_relative_error(ours, theirs) <= bound


@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize("size", [3, 5, 120])
def test_two_drafts_without_replacement_in_floats_are_within_thirty_units(kind, size):
    floats, exacts = both_orders(kind, size)
    found, true = prefix_law.without_replacement(floats, 2), prefix_law.without_replacement(exacts, 2)
    # A mass 4 units, a tail 6, 1 − d as a sum of two tails 7: their quotient 12, its sums 14, times a tail and plus the
    # heaviest token's part 23; gains 21, their sums 23, slopes 26.
    bound = 30 * UNIT
    for ours, theirs in ((found.inside, true.inside), (found.outside, true.outside), (found.slopes, true.slopes)):
        assert largest_relative_error(ours, theirs) <= bound


def test_slopes_by_differences_miss_that_bound():
    """Control: the difference of two cumulative sums over a small mass is mostly rounding."""
    floats, exacts = both_orders("peaked", 120)
    true = prefix_law.without_replacement(exacts, 2).slopes
    naive = np.diff(prefix_law.without_replacement(floats, 2).inside) / floats.draft
    assert largest_relative_error(naive, true) > 10**6 * 30 * UNIT


def test_one_minus_the_draft_mass_misses_that_bound():
    """Control: 1 − d of a token that has nearly all mass."""
    draft = np.array([1.0, 3e-20, 1e-20])
    order = ratio_order(np.array([0.0, 0.5, 0.5]), draft)
    exacts = ratio_order(exact([0, "1/2", "1/2"]), as_exact(draft))
    true = prefix_law.without_replacement(exacts, 2).outside
    assert largest_relative_error(prefix_law.without_replacement(order, 2).outside, true) <= 30 * UNIT
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.cumsum(order.draft / (1 - order.draft))
        naive = order.draft_above * (1 + np.concatenate([[0], odds]))
    assert not np.isfinite(naive).all()


def test_as_many_terms_as_are_allowed_are_summed(monkeypatch):
    """Sets of 0, 1 and 2 of four tokens: 4 + 16 + 6 terms."""
    order = ratio_order(*[exact(["1/8", "1/8", "1/4", "1/2"])] * 2)
    monkeypatch.setattr(prefix_law, "TERMS", 26)
    assert prefix_law.without_replacement(order, 3).inside[-1] == 1
    monkeypatch.setattr(prefix_law, "TERMS", 25)
    with pytest.raises(ValueError, match="needs about 26 terms, more than 25"):
        prefix_law.without_replacement(order, 3)


def test_too_many_sets_are_refused():
    draft = exact([Fraction(1, 60)] * 60)
    with pytest.raises(ValueError, match="n = 60, k = 7 needs about 409175740 terms, more than 1000000: use"):
        prefix_law.without_replacement(ratio_order(draft, draft), 7)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("k", "error"), [(0, ValueError), (True, TypeError), (2.0, TypeError)])
def test_a_number_of_drafts_is_a_count(way, k, error):
    order = ratio_order(exact(["1/2", "1/2"]), exact(["1/2", "1/2"]))
    with pytest.raises(error, match="k must be"):
        getattr(prefix_law, way)(order, k)


def test_mixed_powers_are_the_divided_difference():
    for k in range(1, 20):
        low, high = exact(["1/3"]), exact(["3/5"])
        assert prefix_law.mixed_powers(low, high, k)[0] == (high[0] ** k - low[0] ** k) / (high[0] - low[0])
        assert prefix_law.mixed_powers(high, high, k)[0] == k * high[0] ** (k - 1)


def test_floats_are_the_whole_support_too_where_k_reaches_it():
    order = ratio_order(np.array([0.25, 0.25, 0.5]), np.array([0.5, 0.25, 0.25]))
    for k in (3, 4):
        found = prefix_law.without_replacement(order, k)
        assert (found.inside.tolist(), found.outside.tolist()) == ([0, 0, 0, 1], [1, 1, 1, 0])
        assert found.slopes.tolist() == [0, 0, 1 / order.draft[-1]]


@pytest.mark.parametrize("k", [2, 3, 4])
def test_fewer_bounds_the_chance_that_fewer_than_k_tokens_have_rung(k):
    """Light tokens alone, against the sum over tokens one by one: never below it, and above it by 3 % at most."""
    draft, time = np.full(50, 1 / 50), 1.25
    rung = np.zeros(k)
    rung[0] = 1.0
    for mass in draft:
        q = -np.expm1(-mass * time)
        rung[1:] = (1 - q) * rung[1:] + q * rung[:-1]
        rung[0] *= 1 - q
    bound = prefix_law.fewer(draft, k, time)
    assert rung.sum() <= bound <= 1.03 * rung.sum()
