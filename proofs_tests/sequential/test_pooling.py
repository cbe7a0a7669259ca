"""Large vocabularies: pools settled before the draws keep the test valid, and the distances that verifiers make."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests import strategies
from proofs_tests.sequential.sequences import most_alarms
from spec_math.audit import (
    bank,
    contexts_test,
    identity_test,
    pooled_variation,
    pools,
    sample_size,
    sequential_sample_size,
    stopping_times,
)
from spec_math.distribution import total_variation

SIZE = 151_936


def softmax(logits: np.ndarray) -> np.ndarray:
    masses = np.exp(logits - logits.max())
    return masses / masses.sum()


RNG = np.random.default_rng(0)
LOGITS = 3 * RNG.standard_normal(SIZE)
TARGET, DRAFT = softmax(LOGITS), softmax(LOGITS + RNG.standard_normal(SIZE))
POOLS = pools(TARGET, DRAFT)


def test_pools_are_what_they_say() -> None:
    assert POOLS.shape == (SIZE,)
    assert sorted(set(POOLS.tolist())) == list(range(32))
    likeliest = np.argsort(-TARGET, kind="stable")[:16]
    assert POOLS[likeliest].tolist() == list(range(16))
    masses = np.bincount(POOLS, TARGET)[16:]
    # Pieces of equal mass, up to one token on either end.
    assert np.abs(masses - masses.mean()).max() <= np.delete(TARGET, likeliest).max()
    ratios = TARGET / DRAFT
    for low, high in zip(range(16, 31), range(17, 32), strict=True):
        assert ratios[low == POOLS].max() <= ratios[high == POOLS].min()


def test_pools_keep_the_distances_of_what_depends_on_the_ratio() -> None:
    """Of a ratio test's bugs, 99 hundredths of the total variation; control: pools by index keep not half of M7."""
    bugs = bank(TARGET, DRAFT)
    for name in ("M7", "M11", "M12", "M14", "M16", "M48"):
        whole = float(total_variation(TARGET, bugs[name]))
        assert pooled_variation(TARGET, bugs[name], POOLS) >= 0.99 * whole
    by_index = pooled_variation(TARGET, DRAFT, np.arange(SIZE) % 32)
    assert by_index < 0.5 * float(total_variation(TARGET, DRAFT))


@given(strategies.pairs(5), st.integers(2, 6))
@settings(max_examples=60, deadline=None)
def test_any_pair_has_pools_and_pooling_only_loses(pair: tuple[object, object], groups: int) -> None:
    target, draft = pair
    labels = pools(target, draft, groups)
    assert labels.min() >= 0
    assert labels.max() < groups
    assert pooled_variation(target, draft, labels) <= float(total_variation(target, draft)) + 2.0**-50


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_false_alarms_on_a_large_vocabulary_are_at_most_alpha(alpha: float) -> None:
    """2,000 nulls on 151,936 tokens, 500 draws each, a look at every one; the bank at full size beside the pools."""
    test = identity_test(TARGET, alpha, DRAFT, pools=POOLS)
    times = stopping_times(test, TARGET, 2_000, 500, np.random.default_rng(2))
    assert (times > 0).sum() <= most_alarms(2_000, alpha)


def test_a_bug_on_a_large_vocabulary_is_found_in_hundreds_of_draws() -> None:
    """M11 (total variation 0.16 here), by the bank; and a law in no bank, by the pools within what was planned."""
    test = identity_test(TARGET, 1e-6, DRAFT, pools=POOLS)
    redrawn = bank(TARGET, DRAFT)["M11"]
    assert stopping_times(test, redrawn, 50, 2_000, np.random.default_rng(3)).max() <= 2_000
    assert (stopping_times(test, redrawn, 50, 2_000, np.random.default_rng(3)) > 0).all()
    halfway = 0.5 * TARGET + 0.5 * bank(TARGET, DRAFT)["M48"]
    distance = pooled_variation(TARGET, halfway, POOLS)
    planned = sequential_sample_size(distance, 1e-6, 0.99, 32, bank=True)
    assert (stopping_times(test, halfway, 50, planned, np.random.default_rng(4)) == 0).sum() <= most_alarms(50, 0.01)


def test_sample_sizes_are_planned_for_pools_and_for_all_tokens() -> None:
    """At total variation 1 %: 32 pools need 245 thousand draws and all 151,936 tokens 9.9 million."""
    pooled, whole = sample_size(0.01, 1e-6, 0.99, 32), sample_size(0.01, 1e-6, 0.99, SIZE)
    assert (pooled, round(whole, -5)) == (244_705, 9_900_000)
    test = identity_test(TARGET, 1e-6, DRAFT, pools=POOLS)
    assert test.promise(sequential_sample_size(0.01, 1e-6, 0.99, 32, bank=True)).detectable == pytest.approx(
        0.01, rel=1e-4
    )
    full = identity_test(TARGET, 1e-6)
    assert full.promise(sequential_sample_size(0.01, 1e-6, 0.99, SIZE, bank=True)).detectable == pytest.approx(
        0.01, rel=1e-4
    )
    assert "within its 32 pools" in str(test)
    assert "pools" not in str(full)


def test_contexts_of_a_large_vocabulary_take_their_features_in_one_pass() -> None:
    """Rows of float32 masses, not divided by their sums: 60 draws of the draft are found, 60 of the target are not."""
    rng = np.random.default_rng(5)
    for law, silent in ((TARGET, True), (DRAFT, False)):
        test = contexts_test(1e-6)
        rows = np.array([7 * TARGET, 7 * TARGET], dtype=np.float32), np.array([3 * DRAFT, 3 * DRAFT], dtype=np.float32)
        for _ in range(30):
            test.take(rng.choice(SIZE, size=2, p=law), *rows)
        assert bool(test.verdict) is silent
