"""Many tests of recursive rejection taken together, against the same tests one by one."""

import numpy as np
import pytest

from spec_math.token_level.ratio_buckets import buckets_of, gather
from spec_math.token_level.rejection_walk import rejections

KS = np.array([1, 2, 64, 65, 66, 100, 500])


def one_by_one(target, draft):
    """E(λ) = Σ (t − λd)+ after each k tests, λ growing by E at each."""
    scale, left, found = 0.0, 1.0, {}
    for test in range(1, int(KS[-1]) + 1):
        scale += left
        left = np.maximum(target - scale * draft, 0.0).sum()
        found[test] = left
    return [found[int(k)] for k in KS]


def together(target, draft):
    found = np.empty(len(KS))
    gathered = gather(target, draft, target.sum(), draft.sum(), buckets_of(len(target)))
    rejections(KS, gathered, found)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_tests_taken_together_reject_as_one_by_one(seed):
    """Ratios far apart, so that λ passes some of them only after hundreds of tests.

    A step does not widen an error in λ, and adds 20 roundings of λ ≤ 500 at most: 500 · 20 · 500 · 2^-53 < 10^-9.
    """
    rng = np.random.default_rng(seed)
    target, draft = rng.random(6) + 0.1, 10.0 ** rng.uniform(-3, 0, 6)
    # Sums other than 1; a token that is never drafted in every other pair.
    draft[0] *= seed % 2
    wanted = one_by_one(target / target.sum(), draft / draft.sum())
    assert np.abs(together(target, draft) - wanted).max() < 1e-9
    assert wanted[-1] > 1e-3 or seed % 2


def test_of_equal_laws_and_of_disjoint_ones():
    same = np.array([1.0, 2.0, 5.0])
    assert together(same, same).tolist() == [0.0] * len(KS)
    assert together(np.array([1.0, 3.0, 0.0]), np.array([0.0, 0.0, 2.0])).tolist() == [1.0] * len(KS)
