"""The bias of the printed TokenTiming over any two vocabularies: that of the program, and an estimate from below."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.speakers import speaker_pairs
from proofs_tests.strategies import pairs
from spec_math import law, sample, total_variation
from spec_math.language import Speaker, Vocabulary
from spec_math.string_level import timing, timing_bias
from spec_math.string_level.reading import opened


@given(speaker_pairs(), st.integers(1, 3))
def test_the_bias_is_that_of_the_program(pair, lookahead):
    target, drafter = pair
    masses = law(lambda coin: timing.generate(coin, target, drafter, (), lookahead)[0])
    emitted = [masses.get(token, 0) for token in range(len(target.vocabulary))]
    wanted = total_variation(target.law(()), emitted)
    assert timing_bias.total_variation(target, drafter, (), lookahead) == wanted


@given(pairs())
def test_over_one_vocabulary_it_is_the_closed_form(pair):
    words = Vocabulary([chr(97 + token) for token in range(len(pair[0]))])
    target, drafter = (Speaker(lambda _, row=row: row, words) for row in pair)
    assert timing_bias.total_variation(target, drafter, (), 1) == timing.bias(*pair)


def sampled(target, drafter, lookahead, size, seed):
    laws, reading = opened(target, drafter, ())
    random = Random(seed)
    drafts = [sample(lambda coin: reading.draw(coin, lookahead), random) for _ in range(size)]
    return laws.target(), [timing_bias.first(target, laws, reading, said) for said in drafts]


def many_to_one():
    target = Speaker(lambda _: np.array([0.7, 0.1, 0.1, 0.1]), Vocabulary(["aa", "ab", "ba", "bb"]))
    return target, Speaker(lambda _: np.array([0.5, 0.5]), Vocabulary(["a", "b"]))


def test_the_estimate_reaches_the_bias_and_does_not_exceed_it():
    # Many-to-one (erratum o): the bias is 3/100. Each half of 10,000 drafts judges a set that the other half chose; a
    # draft's share lies in [−1, 1], so that by Hoeffding's inequality a half is above its mean, which is at most the
    # bias, by more than 0.06 with a chance of at most exp(−2 · 10,000 · 0.06² / 4) < 2e-8.
    estimate = timing_bias.from_below(*sampled(*many_to_one(), 2, 20_000, 1))
    assert 0 < estimate < 0.03 + 0.06
    # An unbiased choice of A falls short where few drafts choose it: the mean of many estimates stays below.
    few = [timing_bias.from_below(*sampled(*many_to_one(), 2, 10, seed)) for seed in range(400)]
    error = np.std(few, ddof=1) / 20
    assert np.mean(few) < 0.03 + 4 * error


def test_choosing_and_judging_on_the_same_drafts_exceeds_the_bias():
    # The control: a lossless sampler (draft and target alike), where every chosen excess is luck.
    same = Speaker(lambda _: np.full(16, 1 / 16), Vocabulary([chr(97 + token) for token in range(16)]))
    target, firsts = sampled(same, same, 1, 64, 0)
    kept = np.bincount([found.token for found in firsts], weights=[found.chance for found in firsts], minlength=16) / 64
    plugged_in = np.maximum(kept - kept.sum() * target, 0).sum()
    estimates = [timing_bias.from_below(*sampled(same, same, 1, 64, seed)) for seed in range(100)]
    assert plugged_in > 0.05
    assert abs(np.mean(estimates)) < 4 * np.std(estimates, ddof=1) / 10


def test_one_draft_is_too_few():
    with pytest.raises(ValueError, match="at least 2 are needed, got 1"):
        timing_bias.from_below(np.array([1.0]), [timing_bias.First(0, 1.0)])
