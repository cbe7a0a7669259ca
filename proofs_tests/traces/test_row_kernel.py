"""The compiled passes over a row: every mean and every bet is what float64 formulas and exact features say."""

import numpy as np
import pytest

from proofs_tests.sequential.token_features import centred
from spec_math.arrays import proportional_to
from spec_math.sequential.bets import FEATURES
from spec_math.traces.row_kernel import (
    BAD_DRAFT,
    BAD_TARGET,
    DRAFTED,
    EMITTED,
    FACTS,
    FINE,
    IMPOSSIBLE,
    IMPOSSIBLE_DRAFT,
    measure,
    rounding,
)

U = 2.0**-24


def measured(targets, drafts, tokens):
    rows, size = targets.shape
    bets, draft_bets, facts = (np.zeros((rows, len(names)), np.float32) for names in (EMITTED, DRAFTED, FACTS))
    flags = np.zeros(rows, np.uint8)
    scratch = np.empty((2, size), np.float32)
    measure(targets, drafts, np.asarray(tokens), scratch, bets, draft_bets, facts, flags)
    return bets, draft_bets, facts, flags


def softmax(logits):
    masses = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return masses / masses.sum(axis=1, keepdims=True)


def logits(seed, rows, size, masked=0.0):
    rng = np.random.default_rng(seed)
    found = rng.standard_normal((rows, size), dtype=np.float32) * np.float32(rng.choice([1.0, 4.0, 9.0]))
    found[rng.random(found.shape) < masked] = -np.inf
    found[:, 0] = 0.0  # some mass in every row
    return found


def oracle(t, d, y):
    """Bets on the emitted token by definition, [rows, 6], in float64."""
    rows = np.arange(len(y))
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(t > 0, np.minimum(d / t, 1.0), 0.0)
        clipped = np.where(d > 0, np.minimum(t / d, 1.0), np.where(t > 0, 1.0, 0.0))
    top = t.max(axis=1, keepdims=True)
    features = [t > d, ratio, clipped, t == top, t >= top / 8, t / top]
    return np.stack([f[rows, y] - (t * f).sum(axis=1) for f in features], axis=1)


@pytest.mark.parametrize("size", [3, 40, 700, 5_000])
@pytest.mark.parametrize("masked", [0.0, 0.3])
def test_every_bet_is_its_definition_up_to_the_derived_rounding(size, masked):
    targets, drafts = logits(size, 24, size, masked), logits(size + 1, 24, size, masked)
    t, d = softmax(targets), softmax(drafts)
    rng = np.random.default_rng(7)
    y = np.array([rng.choice(size, p=row) for row in t])
    x = np.array([rng.choice(size, p=row) for row in d])
    bets, draft_bets, facts, flags = measured(targets, drafts, np.stack([y, x], axis=1))
    assert (flags == FINE).all()
    bound = rounding(size)
    assert np.abs(facts[:, 0] - np.minimum(t, d).sum(axis=1)).max() <= bound
    assert np.abs(facts[:, 1] - (t * d).sum(axis=1)).max() <= bound
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(t > 0, t * np.log(t), 0.0).sum(axis=1)
    # log Z and the mean of x both lose u on average over the law, the mean u·|x| more.
    assert np.abs(facts[:, 2] - entropy).max() <= (np.log(size) + 2) * bound
    # The feature of the token itself is a quotient of two masses, each off by its exponent's rounding too.
    rows = np.arange(24)
    deep = np.abs(targets[rows, y] - targets.max(axis=1)) + np.abs(drafts[rows, y] - drafts.max(axis=1))
    own = bound + U * (2 * np.where(np.isfinite(deep), deep, 0.0) + 12)
    wanted = oracle(t, d, y)
    for place in range(6):
        assert (np.abs(bets[:, place] - wanted[:, place]) <= bound + own).all(), EMITTED[place]
    assert (bets[:, 6:] == 0).all()
    swapped = oracle(d, t, x)
    deep = np.abs(targets[rows, x] - targets.max(axis=1)) + np.abs(drafts[rows, x] - drafts.max(axis=1))
    own = bound + U * (2 * np.where(np.isfinite(deep), deep, 0.0) + 12)
    # Of the draft, "target above draft" is t > d: without ties one less than "draft at or above target".
    above = (t > d)[rows, x] - (d * (t > d)).sum(axis=1)
    assert (np.abs(draft_bets[:, 0] - above) <= 2 * bound + own).all()
    for place, of in ((1, 1), (2, 3), (3, 5)):
        assert (np.abs(draft_bets[:, place] - swapped[:, of]) <= bound + own).all(), DRAFTED[place]


def test_bets_shared_with_the_exact_features_agree():
    """Another author's exact features: t > d, min(d/t, 1), and the acceptance deficit, 1 − min(t/d, 1)."""
    weights = [[5, 1, 2, 0, 8], [1, 2, 6, 3, 5]]  # no ties: float32 would part them
    t, d = (proportional_to(row) for row in weights)
    rows = dict(zip(FEATURES, centred(t, d), strict=True))
    with np.errstate(divide="ignore"):
        targets, drafts = (np.log(np.array([row], dtype=np.float32)) for row in weights)
    for token in (0, 1, 2, 4):
        bets, _, _, _ = measured(targets, drafts, [[token, 0]])
        for place, name, sign in ((0, "t > d", 1), (1, "d/t to 1", 1), (2, "acceptance deficit", -1)):
            assert abs(bets[0, place] - sign * float(rows[name][token])) <= 2 * rounding(5), (name, token)


def test_ties_of_the_favourite_count_together():
    bets, _, _, _ = measured(np.zeros((1, 4), np.float32), np.zeros((1, 4), np.float32), [[2, 1]])
    assert (bets[0, :6] == [-0.0, 0, 0, 0, 0, 0]).all()


def test_a_row_without_a_draft_bets_on_the_target_alone():
    targets = logits(3, 1, 30)
    drafts = np.full((1, 30), np.nan, np.float32)
    bets, draft_bets, facts, flags = measured(targets, drafts, [[4, -1]])
    assert flags[0] == FINE
    assert (bets[0, :3] == 0).all()
    assert (draft_bets == 0).all()
    assert facts[0, 0] == 0
    assert bets[0, 6] == bets[0, 3] != 0
    assert bets[0, 7] == bets[0, 5] != 0


def test_one_hot_drafts_need_no_logits():
    targets = logits(4, 2, 30)
    t = softmax(targets)
    bets, _, facts, _ = measured(targets, np.empty((0, 30), np.float32), [[4, 4], [5, 4]])
    assert np.abs(facts[:, 0] - t[:, 4]).max() <= rounding(30)
    assert np.abs(bets[:, 1] - (np.array([1, 0]) - t[:, 4])).max() <= rounding(30)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("place", [0, 17, 599])
def test_a_row_without_a_law_is_flagged_and_bets_nothing(bad, place):
    clean, broken = logits(5, 2, 600), logits(5, 2, 600)
    broken[1, place] = bad
    bets, _, _, flags = measured(broken, clean, [[1, 1], [1, 1]])
    assert flags.tolist() == [FINE, BAD_TARGET]
    assert (bets[1] == 0).all()
    bets, draft_bets, _, flags = measured(clean, broken, [[1, 1], [1, 1]])
    assert flags.tolist() == [FINE, BAD_DRAFT]
    assert (draft_bets[1] == 0).all()
    assert (bets[1, :3] == 0).all()
    assert bets[1, 5] != 0  # what is known of the target alone is still bet on


def test_a_row_of_masked_tokens_alone_is_flagged():
    empty = np.full((1, 8), -np.inf, np.float32)
    assert measured(empty, empty, [[0, 0]])[3].tolist() == [BAD_TARGET]


def test_tokens_without_mass_are_flagged():
    targets, drafts = logits(6, 1, 9), logits(7, 1, 9)
    targets[0, 3] = drafts[0, 5] = -np.inf
    assert measured(targets, drafts, [[3, 1]])[3].tolist() == [IMPOSSIBLE]
    assert measured(targets, drafts, [[1, 5]])[3].tolist() == [IMPOSSIBLE_DRAFT]
    for stray in (-1, 9, 10**9):
        assert measured(targets, drafts, [[stray, 1]])[3].tolist() == [IMPOSSIBLE]
    assert measured(targets, drafts, [[1, 9]])[3].tolist() == [IMPOSSIBLE_DRAFT]
    one_hot = np.empty((0, 9), np.float32)
    assert measured(targets, one_hot, [[1, 9]])[3].tolist() == [IMPOSSIBLE_DRAFT]


def test_bets_on_the_emitted_token_do_not_depend_on_the_draft() -> None:
    """Of a drafter that leaves the vocabulary too: bets that were left out by the draft would be chosen by it."""
    targets, drafts = logits(8, 1, 9), logits(9, 1, 9)
    drafts[0, 4] = -np.inf
    bets = [measured(targets, drafts, [[2, x]])[0][0].tolist() for x in (1, 4, 9, 10**6)]
    assert bets == [bets[0]] * 4
    assert any(bets[0][:3])


def test_exponentials_are_right_over_their_range():
    """Masses of one row whose logits fall evenly to −87, against float64."""
    targets = -np.linspace(0, 87, 4001, dtype=np.float32)[None, :]
    t = softmax(targets)
    for token in range(0, 4001, 250):
        bets, _, _, _ = measured(targets, targets, [[token, token]])
        wanted = t[0, token] / t[0, 0] - (t[0] ** 2).sum() / t[0, 0]
        assert abs(bets[0, 5] - wanted) <= rounding(4001)
