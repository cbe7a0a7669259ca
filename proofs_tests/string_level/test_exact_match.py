"""SLEM: lossless as a whole generator, Table 3, Theorem 3.1, and what re-tokenising and realigning do to it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proofs_tests.drafting.vocabulary_pairs import vocabulary_pairs
from proofs_tests.strategies import laws
from proofs_tests.string_level.stripping import STRIPPING
from proofs_tests.tokenized_models import speaker, speaker_pairs
from spec_math import Lossless, Lossy, check_lossless_block, law, overlap
from spec_math.arrays import SUM_BOUND, exact
from spec_math.language import GreedyTokenizer, TokenizedModel, Vocabulary
from spec_math.string_level import exact_match
from spec_math.string_level.psi import psi
from spec_math.string_level.reading import opened

HALF = Fraction(1, 2)


@settings(max_examples=40)
@given(speaker_pairs(), st.sampled_from([(1, 1), (2, 1), (3, 1), (1, 2), (2, 2)]))
def test_exact_match_is_lossless(pair, reach):
    target, drafter = pair
    lookahead, rounds = reach

    def generate(coin, prefix):
        return exact_match.generate(coin, target, drafter, prefix, lookahead)

    assert isinstance(check_lossless_block(generate, target.model, 3, rounds), Lossless)


@given(speaker_pairs(), st.integers(1, 2))
def test_as_much_is_accepted_as_the_emitted_tokens_share_with_the_drafted(pair, lookahead):
    for found in law(lambda coin: exact_match.run(coin, *pair, (), lookahead)):
        alike = [token == drafted for token, drafted in zip(found.tokens, found.drafted, strict=False)]
        assert found.accepted == [*alike, False].index(False)


@given(vocabulary_pairs(), st.integers(1, 3))
def test_the_program_accepts_what_table_3_says(case, lookahead):
    target, draft, targets, drafts = case
    pair = speaker(targets, target), speaker(drafts, draft)
    outcomes = law(lambda coin: exact_match.run(coin, *pair, (), lookahead).accepted > 0)
    found = psi(Vocabulary(targets), Vocabulary(drafts), draft, lookahead)
    assert outcomes.get(True, 0) == exact_match.acceptance(target, found) == sum(target * found)


@settings(max_examples=25)
@given(speaker_pairs(ends=False), st.integers(1, 2))
def test_the_block_is_as_long_as_draft_and_samples_agree(pair, lookahead):
    # A second way: the law of the block from the law of the candidate, position by position.
    target, drafter = pair
    candidates = law(lambda coin: exact_match.run(coin, target, drafter, (), lookahead).drafted)
    expected = {}
    for candidate, mass in candidates.items():
        kept = mass
        for place in range(len(candidate) + 1):
            row = target.law(candidate[:place])
            matched = row[candidate[place]] if place < len(candidate) else 0
            expected[place + 1] = expected.get(place + 1, 0) + kept * (1 - matched)
            kept *= matched
    lengths = law(lambda coin: len(exact_match.generate(coin, target, drafter, (), lookahead)))
    assert lengths == {size: mass for size, mass in expected.items() if mass}


@given(st.integers(1, 4).flatmap(laws))
@example(exact([0, 1]))
@example(exact([HALF, HALF]))
def test_theorem_3_1_holds_but_for_point_masses(target):
    # Erratum h: the printed condition, two different masses, lets point masses in and uniform laws out.
    matched, standard = exact_match.acceptance(target, target), overlap(target, target)
    assert (matched < standard) == (max(target) < 1)


def test_drafted_text_is_tokenised_anew():
    # The drafter's aa is two target tokens, and a third is added: T = {a, b}, D = {aa}.
    target, drafter = speaker(["a", "b"], [1, 0]), speaker(["aa"], [1])
    assert law(lambda coin: exact_match.generate(coin, target, drafter, (), 1)) == {(0, 0, 0): 1}
    # And two draft tokens may make one.
    target, drafter = speaker(["ab", "b"], [1, 0]), speaker(["a", "b"], [1, 0], [0, 1])
    assert law(lambda coin: exact_match.generate(coin, target, drafter, (), 2)) == {(0, 0): 1}


def test_text_that_cannot_be_tokenised_falls_back_and_says_so():
    target, drafter = speaker(["a", "b"], ["1/4", "3/4"]), speaker(["c", "ac"], [1, 0], [0, 1])
    outcomes = law(lambda coin: exact_match.run(coin, target, drafter, (), 1))
    assert {outcome.tokens: mass for outcome, mass in outcomes.items()} == {(0,): Fraction(1, 4), (1,): Fraction(3, 4)}
    assert {outcome.fallback for outcome in outcomes} == {
        "nothing was drafted: the text b'c' begins with no target token"
    }
    # The drafter cannot spell b and hears nothing; of ac the a is drafted, and no fallback is needed.
    ending = speaker(["c", "ac"], [0, 1])
    outcomes = law(lambda coin: exact_match.run(coin, target, ending, (1,), 2))
    assert {(outcome.drafted, outcome.fallback) for outcome in outcomes} == {((0,), None)}
    silent = speaker(["a", "<end>"], [0, 1], special=[1], end=1)
    (outcome, *_) = law(lambda coin: exact_match.run(coin, target, silent, (), 2))
    assert outcome.fallback == "nothing was drafted: the drafter ended its text at once"


def test_nothing_follows_the_target_s_end():
    target = speaker(["a", "<end>"], ["1/2", "1/2"], special=[1], end=1)
    emitted = law(lambda coin: exact_match.generate(coin, target, speaker(["a"], [1]), (), 2))
    assert all(1 not in tokens[:-1] for tokens in emitted)
    ends_with_text = speaker(["a", "b"], ["1/2", "1/2"], end=1)
    emitted = law(lambda coin: exact_match.generate(coin, ends_with_text, speaker(["ba"], [1]), (), 1))
    assert emitted == {(0,): HALF, (1,): HALF}


class Echo:
    """A target that writes " b" after a, and anything after that."""

    def __call__(self, prefix):
        return exact([0, 0, 0, 1] if prefix[-1:] == (0,) else ["1/4"] * 4)


def test_realignment_keeps_drafts_that_a_lossy_tokeniser_would_spoil():
    target = TokenizedModel(Echo(), STRIPPING.vocabulary, STRIPPING.encode)
    drafter = speaker([" b"], [1])

    def accepted(lookbehind):
        outcomes = law(lambda coin: exact_match.run(coin, target, drafter, (0,), 1, lookbehind).accepted)
        return outcomes.get(1, 0)

    assert (accepted(0), accepted(1), accepted(exact_match.LOOKBEHIND)) == (0, 1, 1)
    for lookbehind in (0, 1, 10):
        verdict = check_lossless_block(
            lambda coin, prefix, lookbehind=lookbehind: (
                exact_match.run(coin, target, drafter, prefix, 2, lookbehind).tokens
            ),
            target.model,
            3,
            rounds=2,
        )
        assert isinstance(verdict, Lossless)


def test_acceptance_refuses_what_is_no_sub_law():
    with pytest.raises(ValueError, match="a row sums to 5/4"):
        exact_match.acceptance(["1/2", "1/2"], ["1/2", "3/4"])
    with pytest.raises(ValueError, match="one is negative"):
        exact_match.acceptance(["1/2", "1/2"], ["1/2", "-1/4"])
    with pytest.raises(ValueError, match=r"order and shape \(2,\) of the target's tokens; got \(3,\)"):
        exact_match.acceptance(["1/2", "1/2"], ["1/2", 0, 0])
    with pytest.raises(TypeError, match="one number type"):
        exact_match.acceptance(["1/2", "1/2"], [0.5, 0.5])


# Controls.

TARGET = speaker(["a", "b", "aa"], ["1/2", "1/4", "1/4"], ["1/5", "2/5", "2/5"], ["1/10", "1/2", "2/5"])
DRAFTER = speaker(["aa", "b"], ["1/2", "1/2"], ["1/3", "2/3"], ["1/5", "4/5"])


def wrong(keep, bonus):
    """SLEM with a wrong rule for a draft that differs, or a wrong row for the sample after the draft."""

    def generate(coin, prefix):
        laws_, reading = opened(TARGET, DRAFTER, prefix)
        drafted = GreedyTokenizer(TARGET.vocabulary).encode(reading.text(reading.draw(coin, 2)))
        tokens = ()
        for token in drafted:
            sampled = coin.draw(laws_.target(tokens))
            if sampled != token:
                return (*tokens, keep(token, sampled))
            tokens = (*tokens, token)
        return (*tokens, coin.draw(laws_.target(bonus(tokens))))

    return generate


@pytest.mark.parametrize(
    ("keep", "bonus"),
    [(lambda drafted, _: drafted, lambda tokens: tokens), (lambda _, sampled: sampled, lambda tokens: tokens[:-1])],
    ids=["keeps the draft that differs", "samples the bonus from the row before"],
)
def test_a_wrong_exact_match_is_lossy(keep, bonus):
    assert isinstance(check_lossless_block(wrong(keep, bonus), TARGET.model, 4), Lossy)


def test_the_frame_of_the_controls_is_lossless():
    right = wrong(lambda _, sampled: sampled, lambda tokens: tokens)
    assert isinstance(check_lossless_block(right, TARGET.model, 4), Lossless)


def test_one_sample_held_against_every_position_is_lossy():
    # Control: the sample of the first row is compared with all drafted tokens.
    def stale(coin, prefix):
        laws_, reading = opened(TARGET, DRAFTER, prefix)
        drafted = GreedyTokenizer(TARGET.vocabulary).encode(reading.text(reading.draw(coin, 2)))
        sampled = coin.draw(laws_.target())
        matched = tuple(token for token in drafted if token == sampled)
        return matched or (sampled,)

    assert isinstance(check_lossless_block(stale, TARGET.model, 3), Lossy)


def test_acceptance_of_many_positions_is_that_of_each():
    targets, found = exact([["1/4", "3/4"], ["1/2", "1/2"]]), exact([["1/2", "1/4"], ["1/3", "2/3"]])
    each = [exact_match.acceptance(t, psi) for t, psi in zip(targets, found, strict=True)]
    assert exact_match.acceptance(targets, found).tolist() == each == [Fraction(5, 16), Fraction(1, 2)]


def test_an_exact_sub_law_exceeds_1_by_nothing():
    with pytest.raises(ValueError, match="masses must sum to at most 1"):
        exact_match.acceptance(exact(["1/4", "3/4"]), exact(["1/4", Fraction(3, 4) + Fraction(1, 10**30)]))


@pytest.mark.parametrize("stored", ["float16", "float32", "float64", "longdouble"])
def test_a_sub_law_may_exceed_1_by_what_its_storage_rounds_and_by_no_more(stored):
    target = np.array([0.25, 0.75], dtype=stored)
    bound = SUM_BOUND.get(stored, SUM_BOUND["float64"])
    assert exact_match.acceptance(target, (target * (1 + bound / 2)).astype(stored)) > 0.5
    with pytest.raises(ValueError, match="masses must sum to at most 1"):
        exact_match.acceptance(target, (target * (1 + 4 * bound)).astype(stored))


def test_a_target_that_is_no_law_is_named():
    with pytest.raises(ValueError, match=r"^target: masses must sum to exactly 1"):
        exact_match.acceptance(["1/4", "1/4"], ["1/4", "1/4"])
