"""The ratio order: the stable sort by t/d, exact on Fractions, and on floats for masses down to denormals."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proofs_tests.strategies import pairs
from proofs_tests.token_level.float_laws import KINDS, as_exact, float_pair, softmax
from spec_math import exact
from spec_math.arrays import as_laws
from spec_math.token_level.optimum.ratio_order import by_exact_ratio, by_ratio, ratio_order, running_sums

UNIT = Fraction(1, 2**53)
MASSES = st.one_of(
    st.floats(0, 1, allow_subnormal=True),
    st.sampled_from([0.0, 5e-324, 1e-310, 2.2250738585072014e-308, 1e-300, 1.0, 1 - 2.0**-53, 0.25]),
)


def sorted_by_fraction(target, draft):
    """The definition: tokens with d > 0, ratios compared as Fractions, ties by index."""
    tokens = [token for token in range(len(draft)) if draft[token] > 0]
    return sorted(tokens, key=lambda token: Fraction(target[token]) / Fraction(draft[token]))


@given(pairs(6))
def test_exact_order_is_the_stable_sort_by_ratio(pair):
    order = ratio_order(*pair)
    assert order.tokens.tolist() == sorted_by_fraction(*pair)


@given(pairs(6))
def test_prefix_masses_are_sums_from_both_ends(pair):
    target, draft = pair
    order = ratio_order(target, draft)
    for i in range(len(order) + 1):
        below = set(order.tokens[:i].tolist())
        above = [token for token in range(len(target)) if token not in below]
        assert order.target_below[i] == sum(target[token] for token in below)
        assert order.draft_below[i] == sum(draft[token] for token in below)
        assert order.target_above[i] == sum(target[token] for token in above)
        assert order.draft_above[i] == sum(draft[token] for token in above)
    arrays = (order.target, order.draft, order.target_below, order.draft_below, order.target_above, order.draft_above)
    assert all(type(mass) is Fraction for array in arrays for mass in array)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2**60)), min_size=1, max_size=8))
def test_whole_numbers_that_round_to_one_ratio_are_sorted_exactly(triples):
    target = np.array([a * 2**60 + small for a, _, small in triples], dtype=object)
    draft = np.array([b * 2**60 + (small if b else 0) for _, b, small in triples], dtype=object)
    assert by_exact_ratio(target, draft).tolist() == sorted_by_fraction(target, draft)


def test_float_keys_alone_do_not_sort_whole_numbers():
    """Control: the two ratios are one float, and a stable sort of floats leaves them in the wrong order."""
    target, draft = np.array([2**60 + 1, 2**60], dtype=object), np.array([2**60, 2**60], dtype=object)
    assert np.argsort((target / draft).astype(float), kind="stable").tolist() == [0, 1]
    assert by_exact_ratio(target, draft).tolist() == [1, 0] == sorted_by_fraction(target, draft)


@given(st.lists(st.tuples(MASSES, MASSES), min_size=1, max_size=12))
@example([(0.5, 1e-310), (0.5, 5e-324), (1.0, 5e-324)])
@example([(5e-324, 1.0), (1e-310, 1.0), (0.0, 1.0), (5e-324, 0.75)])
def test_float_order_ascends_in_the_exact_ratio_up_to_one_rounding_each(masses):
    target, draft = (np.array(column) for column in zip(*masses, strict=True))
    tokens = by_ratio(target, draft).tolist()
    assert sorted(tokens) == [token for token in range(len(draft)) if draft[token] > 0]
    ratio = {token: Fraction(target[token]) / Fraction(draft[token]) for token in tokens}
    for first, second in pairwise(tokens):
        # Each key is its ratio rounded once: r_first (1 − u) ≤ key ≤ key' ≤ r_second (1 + u).
        assert ratio[first] * (1 - UNIT) <= ratio[second] * (1 + UNIT)
        assert ratio[first] != ratio[second] or first < second


def test_ratios_of_denormals_need_more_than_the_float_quotient():
    """Control: the quotients overflow to one key, or underflow to one, and a sort of them ties what is not tied."""
    for target, draft in (([1.0, 0.25], [5e-324, 1e-323]), ([5e-324, 5e-324], [0.75, 1.0])):
        t, d = np.array(target), np.array(draft)
        with np.errstate(over="ignore", under="ignore"):
            assert np.argsort(t / d, kind="stable").tolist() == [0, 1]
        assert by_ratio(t, d).tolist() == [1, 0] == sorted_by_fraction(target, draft)


@pytest.mark.parametrize("kind", KINDS)
def test_float_order_at_full_vocabulary_is_numpys_stable_sort(kind):
    target, draft = as_laws(*float_pair(kind, 100_003))
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        ratios = target / draft
    kept = np.flatnonzero(draft > 0)
    if kind == "denormal":  # quotients that NumPy can hold
        normal = (target == 0) | ((ratios > 1e-300) & (ratios < 1e300))
        kept = kept[normal[kept]]
    tokens = by_ratio(target, draft)
    assert tokens[np.isin(tokens, kept)].tolist() == kept[np.argsort(ratios[kept], kind="stable")].tolist()


def test_equal_and_one_bit_apart_ratios_at_full_vocabulary():
    size = 151_936
    uniform = np.full(size, 1 / size)
    assert (by_ratio(uniform, uniform) == np.arange(size)).all()
    target = uniform * (1 + 2.0**-52 * (np.arange(size) % 2))
    assert (by_ratio(target, uniform) == np.argsort(target / uniform, kind="stable")).all()
    assert by_ratio(np.zeros(3), np.zeros(3)).tolist() == []


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "denormal"])
def test_float_masses_and_sums_are_within_six_units(kind):
    target, draft = as_laws(*float_pair(kind, 700))
    order = ratio_order(target, draft)
    t, d = as_exact(target), as_exact(draft)
    tokens = order.tokens
    below_t, below_d = running(t[tokens]), running(d[tokens])
    for found, true in (
        (order.target, t[tokens]),
        (order.draft, d[tokens]),
        (order.target_below, below_t),
        (order.draft_below, below_d),
        (order.target_above, 1 - below_t),
        (order.draft_above, 1 - below_d),
    ):
        # First order; the terms of second order are below 700·2^-106.
        bound = (6 + Fraction(1, 1000)) * UNIT
        assert all(abs(Fraction(x) - y) <= bound * y for x, y in zip(found.tolist(), true, strict=True))


def test_tails_as_one_minus_the_sum_miss_that_bound():
    """Control: 1 − P of a peaked law has no correct digit in the last tails."""
    target, draft = float_pair("peaked", 700)
    order = ratio_order(target, draft)
    true = 1 - running(as_exact(draft)[order.tokens])
    naive = 1 - np.concatenate([[0], np.cumsum(order.draft)])
    assert any(abs(Fraction(x) - y) > y / 2 for x, y in zip(naive.tolist(), true, strict=True) if y > 0)


@given(st.lists(st.floats(0, 1e300, allow_subnormal=False), max_size=30))
def test_running_sums_are_within_two_units(values):
    sums = running_sums(np.array(values, dtype=float))
    true = running([Fraction(value) for value in values])
    bound = (2 + Fraction(1, 1000)) * UNIT
    assert all(abs(Fraction(x) - y) <= bound * y for x, y in zip(sums.tolist(), true, strict=True))


def test_the_smallest_vocabularies():
    order = ratio_order(exact([1]), exact([1]))
    assert (order.tokens.tolist(), order.draft_below.tolist(), order.target_above.tolist()) == ([0], [0, 1], [1, 0])
    order = ratio_order(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    assert (order.tokens.tolist(), order.target_below.tolist()) == ([1], [0.0, 0.0])
    assert order.target_above.tolist() == [1.0, 1.0]


def test_laws_that_are_not_contiguous_sort_alike():
    both = np.stack(float_pair("softmax", 50), axis=1)
    assert not both[:, 0].flags.c_contiguous
    strided, plain = ratio_order(both[:, 0], both[:, 1]), ratio_order(*float_pair("softmax", 50))
    assert strided.tokens.tolist() == plain.tokens.tolist()
    assert strided.draft_below.tolist() == plain.draft_below.tolist()


def test_scaling_a_float_law_by_a_power_of_two_changes_nothing():
    """Also where the draft never draws some tokens, whose mass is above every sum."""
    for never in (0, 3):
        target, draft = softmax(np.arange(9.0)), softmax(-np.arange(9.0))
        draft[:never] = 0
        scaled, plain = ratio_order(target / 4, draft * 8), ratio_order(target, draft)
        for name in ("target", "draft", "target_below", "draft_below", "target_above", "draft_above"):
            assert getattr(scaled, name).tolist() == getattr(plain, name).tolist()


def running(masses):
    """The exact sums of the first i masses."""
    return np.cumsum(np.array([Fraction(0), *masses], dtype=object))
