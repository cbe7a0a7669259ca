"""TokenTiming as printed: its exact law where the vocabularies are one, its bias, and how probabilities are mapped."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from proofs_tests.strategies import pairs
from proofs_tests.tokenized_models import speaker
from spec_math import Lossless, Lossy, check_lossless_block, law, overlap, total_variation
from spec_math.arrays import exact
from spec_math.language import Vocabulary
from spec_math.string_level import timing
from spec_math.string_level.alignment import WidenedBandWarning
from spec_math.studies.positions.stream import default_positions

LETTERS = "abcd"


def one_vocabulary(target, draft):
    words = list(LETTERS[: len(target)])
    return speaker(words, target), speaker(words, draft)


@given(pairs())
def test_the_law_of_the_first_token_over_one_vocabulary(pair):
    target, draft = pair
    speakers = one_vocabulary(target, draft)
    emitted = law(lambda coin: timing.generate(coin, *speakers, (), 1)[0])
    assert timing.first_token_law(target, draft).tolist() == [emitted.get(token, 0) for token in range(len(target))]
    assert timing.bias(target, draft) == total_variation(timing.first_token_law(target, draft), target)
    accepted = law(lambda coin: timing.run(coin, *speakers, (), 1).accepted).get(1, 0)
    assert accepted == overlap(target, draft)


@given(pairs())
def test_over_one_vocabulary_it_is_lossless_only_if_the_draft_is_proportional(pair):
    target, draft = pair
    speakers = one_vocabulary(target, draft)
    ratios = {d / t for t, d in zip(target, draft, strict=True) if t > 0}
    verdict = check_lossless_block(
        lambda coin, prefix: timing.generate(coin, *speakers, prefix, 1), speakers[0].model, 1
    )
    assert bool(verdict) == (len(ratios) == 1) == (timing.bias(target, draft) == 0)


def test_the_bias_on_the_embedded_default():
    # The mean over 2,000 held-out positions of the total variation between what is emitted first and the target.
    batches = list(default_positions(2000).batches(500))
    biases = np.concatenate([timing.bias(batch.targets, batch.drafts) for batch in batches])
    assert len(biases) == 2000
    assert 0.0 < biases.mean() < biases.max() < 0.25
    accepted = np.concatenate([overlap(batch.targets, batch.drafts) for batch in batches])
    # Sums of V = 4,128 masses of at most 1, a dozen roundings each, and laws that may sum to 1 ± 2^-36.
    assert (biases <= accepted * (1 - accepted) + 4128 * 12 * 2.0**-53 + 2.0**-34).all()


@given(pairs())
def test_the_bias_is_at_most_acceptance_times_rejection(pair):
    # With O = Σ min and B the tokens that gain: bias = min(B) − O·t(B) ≤ min(B)·(1 − O) ≤ O·(1 − O), as min ≤ t.
    accepted = overlap(*pair)
    assert timing.bias(*pair) <= accepted * (1 - accepted)


def test_tensors_and_leading_axes():
    torch = pytest.importorskip("torch")
    targets, drafts = [[0.25, 0.75], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]
    assert timing.bias(torch.tensor(targets), torch.tensor(drafts)).tolist() == [0.0625, 0.0]
    assert timing.bias(targets, drafts).tolist() == [0.0625, 0.0]


# The mapping.


def test_many_to_one_takes_the_last_and_one_to_many_copies():
    assert timing.mapped([b"a", b"b"], [b"ab"], ["p", "q"], 8) == ["q"]
    assert timing.mapped([b"ab"], [b"a", b"b"], ["p"], 8) == ["p", "p"]
    assert timing.mapped([b"c"], [], ["p"], 8) == []


def test_figure_2_s_mapping():
    # Figure 2 (b): (S, Scale), (cal, Scale), (ing, ing), (Law, L), (Law, aw).
    drafted, retokenised = ["S", "cal", "ing", "Law"], ["Scale", "ing", "L", "aw"]
    path, cost = timing.align(drafted, retokenised, timing.WINDOW)
    assert path == [(0, 0), (1, 0), (2, 1), (3, 2), (3, 3)]
    assert cost == 4 + 2 + 0 + 2 + 1
    mapped = timing.mapped([w.encode() for w in drafted], [w.encode() for w in retokenised], [1, 2, 3, 4], 8)
    assert mapped == [2, 3, 4, 4]


def test_a_narrow_band_is_widened_without_a_warning_by_the_mapping():
    drafted, retokenised = [b"a", b"b", b"c", b"d"], [b"abcd"]
    with pytest.warns(WidenedBandWarning):
        timing.align(drafted, retokenised, 0)
    assert timing.mapped(drafted, retokenised, [1, 2, 3, 4], 0) == [4]


def test_the_window_can_change_the_law():
    # With w = 0 the places are matched one for one; a wider band aligns a ⊕ b with ab. The mapped chances differ.
    drafted, retokenised = [b"a", b"b", b"ab", b"a"], [b"ab", b"a", b"b", b"a"]
    assert timing.mapped(drafted, retokenised, [1, 2, 3, 4], 0) == [1, 2, 3, 4]
    assert timing.mapped(drafted, retokenised, [1, 2, 3, 4], 8) != [1, 2, 3, 4]


# Ends and text that cannot be tokenised.


def test_the_block_stops_at_the_end_and_falls_back_without_a_draft():
    target = speaker(["a", "b"], ["1/2", "1/2"], end=1)
    emitted = law(lambda coin: timing.generate(coin, target, speaker(["ba"], [1]), (), 1))
    assert emitted == {(1,): Fraction(3, 4), (0,): Fraction(1, 4)}
    outcomes = law(lambda coin: timing.run(coin, target, speaker(["c"], [1]), (), 2))
    assert {outcome.fallback for outcome in outcomes} == {
        "nothing was drafted: the text b'cc' begins with no target token"
    }
    ended = speaker(["a", "<end>"], ["1/2", "1/2"], special=[1], end=1)
    outcomes = law(lambda coin: timing.run(coin, speaker(["a", "b"], ["1/2", "1/2"]), ended, (), 2))
    assert {outcome.drafted for outcome in outcomes} == {(), (0,), (0, 0)}


@pytest.mark.parametrize("rounds", [1, 2])
def test_over_one_vocabulary_equal_models_are_lossless_up_to_two_drafts(rounds):
    same = speaker(["a", "b"], ["1/3", "2/3"], ["1/4", "3/4"], ["1/2", "1/2"])
    for lookahead in (1, 2):
        verdict = check_lossless_block(
            lambda coin, prefix, n=lookahead: timing.generate(coin, same, same, prefix, n), same.model, 3, rounds
        )
        assert isinstance(verdict, Lossless)


def test_equal_models_over_tokens_that_retokenise_are_lossy():
    # The drafter is the target itself, but a ⊕ b is read as ab: p(ab) is then the chance of b after a.
    same = speaker(["a", "b", "ab"], ["1/2", "1/4", "1/4"])
    assert Vocabulary(["a", "b", "ab"]).tokens == same.vocabulary.tokens
    verdict = check_lossless_block(lambda coin, prefix: timing.generate(coin, same, same, prefix, 2), same.model, 2)
    assert isinstance(verdict, Lossy)


def test_a_block_is_aligned_in_the_band_that_it_is_given():
    """abab said as a, b, ab, a and read as ab, a, b, a: with w = 0 the chances are matched one for one."""
    target, drafter = speaker(["ab", "a", "b"], ["1/4", "1/4", "1/2"]), speaker(["a", "b", "ab"], ["1/8", "1/4", "5/8"])
    laws = {window: law(lambda coin, w=window: timing.run(coin, target, drafter, (), 4, w).tokens) for window in (0, 8)}
    assert laws[8] == law(lambda coin: timing.generate(coin, target, drafter, (), 4))
    assert laws[0] != laws[8]


def test_a_rejected_draft_is_no_fallback():
    target, drafter = speaker(["a", "b"], ["1/4", "3/4"]), speaker(["a"], [1])
    outcomes = law(lambda coin: timing.run(coin, target, drafter, (), 1))
    assert {outcome.accepted for outcome in outcomes} == {0, 1}
    assert {outcome.fallback for outcome in outcomes} == {None}


def test_the_law_of_many_positions_is_that_of_each():
    targets, drafts = exact([["1/4", "3/4"], ["1/2", "1/2"]]), exact([["1/2", "1/2"], ["1/8", "7/8"]])
    each = [timing.first_token_law(t, d).tolist() for t, d in zip(targets, drafts, strict=True)]
    assert timing.first_token_law(targets, drafts).tolist() == each
