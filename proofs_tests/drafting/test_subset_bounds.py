"""The best part of the vocabulary to draft from: bounds by brute force, and greedy labelled as such."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.strategies import dyadic_pairs, pairs
from proofs_tests.tokenized_models import weighed
from spec_math import overlap
from spec_math.arrays import exact, proportional_to
from spec_math.papers import reduced_vocabulary


def accepted(target, draft, kept):
    """Σ_K min(t, d/d(K)) by a loop; 0 where the draft has no mass on K."""
    mass = sum((draft[token] for token in kept), Fraction(0))
    return sum((min(target[token], draft[token] / mass) for token in kept), Fraction(0)) if mass else Fraction(0)


@given(pairs(), st.data())
def test_enumeration_finds_the_best_subset(pair, data):
    target, draft = pair
    k = data.draw(st.integers(1, len(target)))
    found = reduced_vocabulary.best(target, draft, k)
    values = {kept: accepted(target, draft, kept) for kept in combinations(range(len(target)), k)}
    assert found.method == "enumeration"
    assert (values[found.kept], found.acceptance) == (max(values.values()),) * 2
    assert found.acceptance <= found.bound


@given(pairs(), st.data())
def test_no_draft_law_on_k_tokens_exceeds_the_free_bound_and_one_attains_it(pair, data):
    target, _ = pair
    k = data.draw(st.integers(1, len(target)))
    bound = reduced_vocabulary.free(target, k)
    assert bound == max(sum(target[token] for token in kept) for kept in combinations(range(len(target)), k))
    kept = sorted(range(len(target)), key=lambda token: -target[token])[:k]
    assert overlap(target, reduced_vocabulary.draft_law(target, kept)) == bound
    # Any other law on any k tokens stays below: Σ_K min(t, d_K) ≤ t(K).
    kept = data.draw(st.lists(st.integers(0, len(target) - 1), min_size=k, max_size=k, unique=True))
    weights = data.draw(st.lists(st.integers(0, 3), min_size=k, max_size=k).filter(any))
    law = np.full(len(target), Fraction(0), dtype=object)
    law[kept] = proportional_to(weights)
    assert overlap(target, law) <= bound


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_greedy_takes_the_token_that_leaves_most(seed):
    random = Random(seed)
    size = random.randint(1, 7)
    target, draft, k = weighed(random, size), weighed(random, size), random.randint(1, size)
    kept = []
    while len(kept) < k and any(draft[token] > 0 for token in range(len(target)) if token not in kept):
        open_ = [token for token in range(len(target)) if token not in kept and draft[token] > 0]
        kept.append(max(open_, key=lambda token: (accepted(target, draft, [*kept, token]), -token)))
    kept += [token for token in range(len(target)) if token not in kept][: k - len(kept)]
    assert reduced_vocabulary.greedily(target, draft, k) == tuple(sorted(kept))


def test_greedy_can_miss_the_best_subset():
    # Control for the label. Alone, token 0 accepts its 2/5, the most. Beside it another token is drafted with 1/9 only;
    # tokens 1 and 2 together are drafted with 1/2 each, and accept all of their 3/10.
    target, draft = exact(["2/5", "3/10", "3/10"]), exact(["8/10", "1/10", "1/10"])
    best = reduced_vocabulary.best(target, draft, 2)
    greedy = reduced_vocabulary.greedily(target, draft, 2)
    assert (best.kept, best.acceptance) == ((1, 2), Fraction(6, 10))
    assert greedy == (0, 1)
    assert accepted(target, draft, greedy) == Fraction(2, 5) + Fraction(1, 9)


def test_large_vocabularies_are_labelled_greedy():
    target, draft = proportional_to(list(range(1, 18))), proportional_to(list(range(17, 0, -1)))
    found = reduced_vocabulary.best(target, draft, 3)
    assert found.method == "greedy"
    assert found.acceptance == accepted(target, draft, found.kept) <= found.bound == Fraction(48, 153)


@given(dyadic_pairs(), st.data())
def test_floats_choose_a_subset_as_good_up_to_rounding(pair, data):
    target, draft = pair
    k = data.draw(st.integers(1, len(target)))
    found = reduced_vocabulary.best(target.astype(float), draft.astype(float), k)
    best = reduced_vocabulary.best(target, draft, k)
    # A value is a sum of at most 4 quotients of exact masses by a sum of at most 4: 9 roundings, each of 2^-53 of 1.
    assert abs(Fraction(float(found.acceptance)) - accepted(target, draft, found.kept)) <= 9 * Fraction(1, 2**53)
    assert best.acceptance - accepted(target, draft, found.kept) <= 18 * Fraction(1, 2**53)


def test_wrong_sizes_are_named():
    with pytest.raises(ValueError, match="k = 3, V = 2"):
        reduced_vocabulary.best(["1/2", "1/2"], ["1/2", "1/2"], 3)
    with pytest.raises(TypeError, match="k must be a whole number"):
        reduced_vocabulary.free(["1/2", "1/2"], 1.0)
