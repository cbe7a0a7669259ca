"""SpecVocab's Figure 4 on the embedded default: a head by singular values, acceptance and cost against k and d'/d."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from spec_math import overlap
from spec_math.papers import speculative_vocabulary
from spec_math.studies.positions.stream import default_positions

D, RANKS, KS = 64, (4, 8, 64), (16, 256, 1024)


@cache
def default():
    """The default's laws at 96 held-out positions, and the draft's as hidden states and a head."""
    batch = next(default_positions(96).batches(96))
    target, draft = batch.targets.copy(), batch.drafts.copy()
    return target, draft, *speculative_vocabulary.factorised(np.log(draft), D)


@cache
def points():
    target, _, hidden, head = default()
    return {(point.share, point.k): point for point in speculative_vocabulary.figure_4(target, hidden, head, RANKS, KS)}


def test_the_head_is_the_best_fit_of_its_dimension():
    _, draft, hidden, head = default()
    logits = np.log(draft)
    centred = logits - logits.mean(axis=1, keepdims=True)
    # Eckart and Young: the squares left out are those of the singular values left out.
    left_out = np.linalg.svd(centred, compute_uv=False)[D:]
    missed = ((centred - hidden @ head.T) ** 2).sum()
    # Sums of n·V squares of numbers below 32, each a difference with relative error V·2^-53 at most.
    assert abs(missed - (left_out**2).sum()) <= centred.size * 32**2 * centred.shape[1] * 2.0**-53
    assert np.abs(centred).max() < 32


def test_a_ranking_of_full_rank_on_the_whole_vocabulary_is_the_full_head():
    target, _, hidden, head = default()
    (whole,) = speculative_vocabulary.figure_4(target, hidden, head, [D], [head.shape[0]])
    logits = hidden @ head.T
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    wanted = overlap(target, weights / weights.sum(axis=1, keepdims=True)).mean()
    # Logits below 32 that are sums of D products, twice; sums of V masses below 1.
    assert abs(whole.acceptance - wanted) <= (4 * D * 32 + 8 * head.shape[0]) * 2.0**-52
    assert whole.cost == 1 + Fraction(D * D + head.shape[0] * D, head.shape[0] * D)


def test_no_subset_accepts_more_than_the_target_mass_on_it():
    assert all(point.acceptance <= point.covered for point in points().values())


def test_more_candidates_cover_more_and_cost_more():
    for share in {share for share, _ in points()}:
        row = [points()[share, k] for k in KS]
        assert [point.covered for point in row] == sorted(point.covered for point in row)
        assert [point.cost for point in row] == sorted(point.cost for point in row)


def test_a_higher_rank_ranks_better_at_these_positions():
    # Seen here, not proved: the ranking of full rank is the head's own order.
    for k in KS:
        covered = [points()[Fraction(rank, D), k].covered for rank in RANKS]
        assert covered == sorted(covered)


def test_wrong_heads_are_named():
    with pytest.raises(ValueError, match=r"must not exceed min\(n, V\) = 1; got 2"):
        speculative_vocabulary.factorised([[0.0, -1.0]], 2)
    with pytest.raises(ValueError, match="must be finite"):
        speculative_vocabulary.factorised([[0.0, -np.inf]], 1)
    with pytest.raises(ValueError, match="must not exceed the head's dimension d = 2; got 3"):
        speculative_vocabulary.truncated(np.eye(2), 3)
