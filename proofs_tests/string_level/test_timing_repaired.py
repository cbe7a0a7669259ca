"""TokenTiming repaired: both variants are lossless; one is SLEM, one verifies re-tokenised text by its own law."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import Rows
from proofs_tests.string_level.stripping import STRIPPING
from proofs_tests.tokenized_models import speaker, speaker_pairs
from spec_math import Lossless, Lossy, check_lossless_block, law
from spec_math.arrays import exact
from spec_math.language import GreedyTokenizer, TokenizedModel
from spec_math.string_level import exact_match, timing
from spec_math.string_level.psi import psi
from spec_math.string_level.reading import candidate, opened
from spec_math.string_level.rejection import emit
from spec_math.string_level.timing import RetokenisedLaw, run_conditional

REACHES = st.sampled_from([(1, 1), (2, 1), (3, 1), (1, 2), (2, 2)])


@pytest.mark.parametrize("variant", [timing.deterministic, timing.conditional])
@settings(max_examples=30)
@given(speaker_pairs(), REACHES)
def test_a_repaired_variant_is_lossless(variant, pair, reach):
    target, drafter = pair
    lookahead, rounds = reach

    def generate(coin, prefix):
        return variant(coin, target, drafter, prefix, lookahead)

    assert isinstance(check_lossless_block(generate, target.model, 3, rounds), Lossless)


@settings(max_examples=30)
@given(speaker_pairs(), st.integers(1, 3))
def test_the_deterministic_variant_has_the_law_of_exact_match(pair, lookahead):
    blocks = [
        law(lambda coin, method=method: method(coin, *pair, (), lookahead))
        for method in (timing.deterministic, exact_match.generate)
    ]
    assert blocks[0] == blocks[1]


@settings(max_examples=30)
@given(speaker_pairs(), st.integers(1, 3))
def test_the_conditional_variant_proposes_first_tokens_with_the_law_psi(pair, lookahead):
    target, drafter = pair
    _, reading = opened(target, drafter, ())
    proposal = RetokenisedLaw(reading, lambda text: candidate(target, (), text, 0), lookahead)
    found = psi(target.vocabulary, drafter.vocabulary, reading, lookahead)
    assert proposal.after((), len(target.vocabulary)).tolist() == found.tolist()


@settings(max_examples=30)
@given(speaker_pairs(), st.integers(1, 3))
def test_the_conditional_variant_keeps_at_least_what_the_deterministic_one_does(pair, lookahead):
    lengths = [
        sum(len(block) * mass for block, mass in law(lambda c, v=variant: v(c, *pair, (), lookahead)).items())
        for variant in (timing.deterministic, timing.conditional)
    ]
    assert lengths[0] <= lengths[1]


@settings(max_examples=30)
@given(speaker_pairs(ends=False), st.integers(1, 3))
def test_the_law_of_the_retokenised_text_is_that_of_a_program(pair, lookahead):
    target, drafter = pair
    _, reading = opened(target, drafter, ())

    def read(text):
        return candidate(target, (), text, 0)

    drawn = law(lambda coin: read(reading.text(reading.draw(coin, lookahead))))
    proposal = RetokenisedLaw(reading, read, lookahead)
    assert proposal.masses == drawn
    for tokens in drawn:
        for place in range(len(tokens)):
            start = tokens[:place]
            whole = sum(mass for other, mass in drawn.items() if other[:place] == start)
            onward = sum(mass for other, mass in drawn.items() if other[: place + 1] == tokens[: place + 1])
            assert proposal.after(start, len(target.vocabulary))[tokens[place]] == onward / whole


def test_examples_that_the_printed_algorithm_gets_wrong_are_right():
    # Erratum o: D = {aa, bb}, T = {a, b}, all uniform. The second a is certain once aa is drafted.
    target, drafter = speaker(["a", "b"], ["1/2", "1/2"]), speaker(["aa", "bb"], ["1/2", "1/2"])
    emitted = law(lambda coin: timing.conditional(coin, target, drafter, (), 1)[:2])
    assert emitted == {two: Fraction(1, 4) for two in product((0, 1), repeat=2)}
    accepted = law(lambda coin: run_conditional(coin, target, drafter, (), 1).accepted)
    # The first is always accepted, the second (proposed with 1 against 1/2) half the time.
    assert accepted == {1: Fraction(1, 2), 2: Fraction(1, 2)}


def test_too_many_sequences_are_refused(monkeypatch):
    monkeypatch.setattr(timing, "MOST", 7)
    _, reading = opened(speaker(["a", "b"], ["1/2", "1/2"]), speaker(["a", "b"], ["1/2", "1/2"]), ())
    assert len(RetokenisedLaw(reading, tuple, 2).masses) == 4
    with pytest.raises(ValueError, match="a lookahead of 3 makes more than 7 sequences"):
        RetokenisedLaw(reading, tuple, 3)


# Controls.

TARGET = speaker(["a", "b", "aa"], ["1/2", "1/4", "1/4"], ["1/5", "2/5", "2/5"], ["1/10", "1/2", "2/5"])
DRAFTER = speaker(["ab", "a", "b"], ["1/2", "1/4", "1/4"], ["1/3", "1/3", "1/3"], ["1/5", "1/5", "3/5"])


def conditional(coin, prefix, proposed, last):
    """The conditional variant with another law of the proposed token, or another draw where the text has ended."""
    laws_, reading = opened(TARGET, DRAFTER, prefix)
    read = GreedyTokenizer(TARGET.vocabulary).encode
    drafted = read(reading.text(reading.draw(coin, 2)))
    proposal = RetokenisedLaw(reading, read, 2)
    tokens = ()
    for token in drafted:
        emission = emit(coin, token, laws_.target(tokens), proposed(proposal, tokens))
        tokens = (*tokens, emission.token)
        if not emission.accepted:
            return tokens
    return (*tokens, last(coin, laws_, proposal, tokens))


def joint(proposal, tokens):
    return proposal.after(tokens, 3)


def of_the_first(proposal, _tokens):
    return proposal.after((), 3)


def residual(coin, laws_, proposal, tokens):
    return emit(coin, None, laws_.target(tokens), proposal.after(tokens, 3)).token


def plain(coin, laws_, _proposal, tokens):
    return coin.draw(laws_.target(tokens))


def test_the_frame_of_the_controls_is_lossless():
    verdict = check_lossless_block(lambda coin, prefix: conditional(coin, prefix, joint, residual), TARGET.model, 3)
    assert isinstance(verdict, Lossless)


def test_a_sample_of_the_target_where_the_text_ended_is_lossy():
    # That the text ended was one of the things that could be drafted there: the residual has to answer for it.
    verdict = check_lossless_block(lambda coin, prefix: conditional(coin, prefix, joint, plain), TARGET.model, 3)
    assert isinstance(verdict, Lossy)


def test_the_law_of_the_first_token_at_every_position_is_lossy():
    verdict = check_lossless_block(
        lambda coin, prefix: conditional(coin, prefix, of_the_first, residual), TARGET.model, 3
    )
    assert isinstance(verdict, Lossy)


# A tokeniser that loses text: a blank in front is dropped.


def stripping_pair():
    rows = exact(["1/8", "1/4", "1/8", "1/2"]), exact(["1/4", "1/8", "1/2", "1/8"]), exact(["1/2", "1/8", "1/4", "1/8"])
    target = TokenizedModel(Rows(rows), STRIPPING.vocabulary, STRIPPING.encode)
    return target, speaker([" b", "a"], ["3/4", "1/4"])


@pytest.mark.parametrize("variant", [timing.deterministic, timing.conditional])
def test_a_repaired_variant_is_lossless_where_the_tokeniser_loses_text(variant):
    target, drafter = stripping_pair()
    verdict = check_lossless_block(
        lambda coin, prefix: variant(coin, target, drafter, prefix, 2), target.model, 3, 2, (0,)
    )
    assert isinstance(verdict, Lossless), str(verdict)


def test_the_deterministic_variant_is_exact_match_without_its_alignment():
    pair = stripping_pair()
    plain = law(lambda coin: timing.deterministic(coin, *pair, (0,), 2))
    assert plain == law(lambda coin: exact_match.run(coin, *pair, (0,), 2, 0).tokens)
    assert plain != law(lambda coin: exact_match.generate(coin, *pair, (0,), 2))


def test_a_block_says_what_was_drafted_also_where_it_ends_the_text():
    target = speaker(["a", "b"], ["1/4", "3/4"], end=1)
    outcomes = law(lambda coin: run_conditional(coin, target, speaker(["b"], [1]), (), 1))
    assert {(outcome.tokens, outcome.drafted, outcome.accepted) for outcome in outcomes} == {
        ((1,), (1,), 1),
        ((0,), (1,), 0),
    }


def test_a_lookahead_that_is_none_is_named():
    _, reading = opened(speaker(["a"], [1]), speaker(["a"], [1]), ())
    with pytest.raises(ValueError, match=r"^lookahead must be at least 1; got 0"):
        RetokenisedLaw(reading, lambda _: (), 0)
