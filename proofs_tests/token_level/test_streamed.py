"""The streamed closed forms, against the closed forms over whole rows."""

import numpy as np
import pytest

from spec_math.token_level import SCHEMES, greedy, hub, k_sequential, one_hot
from spec_math.token_level.excess import Excess
from spec_math.token_level.streamed import Chunk, RatioBuckets, rounding

UNIT = 2.0**-53


def rows(seed, size, scale):
    """Unnormalised pairs with zeros, one equal pair, and one pair with disjoint supports where V allows it."""
    rng = np.random.default_rng(seed)
    targets, drafts = (np.exp(rng.standard_normal((6, size)) * scale) * (rng.random((6, size)) < 0.7) for _ in range(2))
    targets[:, 0] += 1e-3
    drafts[:, 0] += 1e-9
    targets[0] = drafts[0]
    if size > 1:
        targets[1, 1:], drafts[1, 0] = 0.0, 0.0
        drafts[1, 1] = 1.0
    return targets, drafts


def bound(size, k):
    """Rounding of both sides: the closed forms over arrays keep to the bound of the streamed ones too."""
    return 2 * rounding(size, k)


streamed_schemes = pytest.mark.parametrize(
    "scheme", [scheme for scheme in SCHEMES if scheme.streamed is not None], ids=lambda scheme: scheme.name
)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 40, 400])
@pytest.mark.parametrize("scale", [1, 10, 30])
@streamed_schemes
def test_streamed_values_equal_the_closed_forms(scheme, size, scale):
    targets, drafts = rows(7, size, scale)
    t, d = (x / x.sum(axis=1, keepdims=True) for x in (targets, drafts))
    chunk = Chunk(size, (1, 2, 4, 8))
    chunk.take(targets, drafts)
    for k in (1, 2, 4, 8):
        accepted, tested = scheme.streamed(chunk, k)
        assert np.abs(accepted - scheme.acceptance(t, d, k)).max() <= bound(size, k)
        assert np.abs(tested - scheme.test_acceptance(t, d, k)).max() <= bound(size, k)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 40, 400])
@streamed_schemes
def test_a_streamed_optimum_is_that_of_the_schemes_drafts(scheme, size):
    targets, drafts = rows(11, size, 5)
    t, d = (x / x.sum(axis=1, keepdims=True) for x in (targets, drafts))
    chunk = Chunk(size, (1, 2, 4, 8))
    chunk.take(targets, drafts)
    for k in (1, 2, 4, 8):
        assert np.abs(scheme.optimum.streamed(chunk, k)[0] - scheme.optimum(t, d, k)).max() <= bound(size, k)


@pytest.mark.parametrize(("seed", "size", "scale"), [(0, 300, 2), (1, 300, 12), (2, 2000, 4)])
def test_streamed_optimum_equals_the_best_prefix_by_a_whole_sort(seed, size, scale):
    targets, drafts = rows(seed, size, scale)
    t, d = (x / x.sum(axis=1, keepdims=True) for x in (targets, drafts))
    chunk = Chunk(size, (1, 2, 5, 8))
    chunk.take(targets, drafts)
    for row in range(len(t)):
        some = d[row] > 0
        order = np.argsort(t[row][some] / d[row][some], kind="stable")
        prefix_t = np.concatenate([[0.0], np.cumsum(t[row][some][order])])
        prefix_d = np.concatenate([[0.0], np.cumsum(d[row][some][order])])
        for k in (1, 2, 5, 8):
            assert abs(chunk.optimum(k)[0][row] - (1 - (prefix_d**k - prefix_t).max())) <= bound(size, k)


def test_a_full_chunk_takes_no_more():
    chunk = Chunk(2, (1,), capacity=2)
    chunk.take(np.ones((2, 2)), np.ones((2, 2)))
    with pytest.raises(ValueError, match="a chunk of 2 positions cannot take 3"):
        chunk.take(np.ones((1, 2)), np.ones((1, 2)))


def test_greedy_drafts_with_ties_take_the_lowest_index_first():
    """Over more tokens than classes of indices, with many equal maxima, an exact zero tail, and k above the support."""
    targets, drafts = rows(5, 1500, 1)
    drafts[0] = 0.0
    drafts[0, 1000:1100] = 0.01
    drafts[1] = 0.0
    drafts[1, [3, 600, 1200]] = [0.25, 0.5, 0.25]
    chunk = Chunk(1500, (1, 3, 6))
    chunk.take(targets, drafts)
    t, d = (x / x.sum(axis=1, keepdims=True) for x in (targets, drafts))
    for k in (1, 3, 6):
        for ours, theirs in zip(chunk.greedy(k), (greedy.acceptance, greedy.test_acceptance), strict=True):
            assert np.abs(ours - theirs(t, d, k)).max() <= bound(1500, k)


@pytest.mark.parametrize(
    ("target", "draft"),
    [
        ([0.125, 0.25, 0.5, 0.125], [0.25, 0.25, 0.25, 0.25]),
        ([0.125, 0.25, 0.5, 0.125], [0.125, 0.375, 0.125, 0.375]),
        ([0.5, 0.125, 0.125, 0.25], [0.25, 0.5, 0.25, 0.0]),
    ],
)
def test_the_lowest_index_wins_a_tie(target, draft):
    """Few tokens, whose masses are all sums of halves: the answers are equal, not near."""
    chunk = Chunk(4, (1, 2, 3))
    chunk.take(np.array([target]), np.array([draft]))
    for streamed, module, ks in (
        (chunk.favourite, one_hot, (1,)),
        (chunk.greedy, greedy, (1, 2, 3)),
        (chunk.hub, hub, (2,)),
    ):
        for k in ks:
            accepted, tested = (float(found[0]) for found in streamed(k))
            assert abs(accepted - module.acceptance(target, draft, k)) <= 2.0**-50
            if module is greedy:
                assert abs(tested - greedy.test_acceptance(target, draft, k)) <= 2.0**-50
            else:
                assert tested == accepted


@pytest.mark.parametrize("tied", [(1, 512), (0, 513, 514), (3, 515, 516, 1)])
def test_the_lowest_index_wins_a_tie_that_is_met_out_of_order(tied):
    """Of more tokens than classes, those of class 0 are met first: 0, 512, then 1, 513."""
    target, draft = np.full(600, 1 / 1024), np.zeros(600)
    draft[list(tied)] = 0.25
    target[list(tied)] = np.arange(1, len(tied) + 1) / 16
    chunk = Chunk(600, (1, 2, 3, 4))
    chunk.take(target[None], draft[None])
    order = sorted(tied)
    assert chunk.favourite(1)[0][0] == pytest.approx(target[order[0]] / target.sum(), rel=2.0**-40)
    for k in range(2, len(tied) + 1):
        top = chunk.greedy(k)[0][0] - chunk.greedy(k)[1][0]
        assert top == pytest.approx(target[order[: k - 1]].sum() / target.sum(), rel=2.0**-40)


def test_a_cleared_chunk_starts_again():
    chunk = Chunk(2, (1,), capacity=1)
    chunk.take(np.array([[1.0, 3.0]]), np.array([[1.0, 1.0]]))
    chunk.clear()
    assert (chunk.rows, len(chunk.overlap(1)[0])) == (0, 0)
    chunk.take(np.array([[1.0, 0.0]]), np.array([[1.0, 1.0]]))
    assert chunk.overlap(1)[0].tolist() == [0.5]


@pytest.mark.parametrize("scale", [0.0, 2.0**-12, 2.0**-9, 2.0**-8, 0.5, 1.0, 2.0, 2.0**9])
def test_the_excess_of_buckets_is_that_of_their_laws(scale):
    """Ratios 0, 2^-9, 1 and infinite; scales on either side of each: sums are exact here."""
    target, draft = np.array([0.0, 2.0**-11, 0.25, 0.75 - 2.0**-11]), np.array([0.5, 0.25, 0.25, 0.0])
    assert RatioBuckets.of(target[None], draft[None]).excess(scale) == Excess.of_laws(target, draft).at(scale)


@pytest.mark.parametrize("k", [1, 2, 3, 8, 40])
def test_gamma_star_of_buckets_is_that_of_the_closed_form(k):
    """Both are the upper ends of brackets of 2^-50 of them, where f is steep."""
    for row in range(1, 6):
        target, draft = (x[row] / x[row].sum() for x in rows(3, 6, 1))
        found = Excess(RatioBuckets.of(target[None], draft[None]).excess).gamma_star(k)[0, 0]
        assert abs(found / k_sequential.gamma_star(target, draft, k) - 1) <= 2.0**-46
