"""SLRS: Theorem 3.2 with ψ of the drafting rule, Table 3, at least SLEM's acceptance, and wrong ψ's that are lossy."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.drafting.vocabulary_pairs import vocabulary_pairs
from proofs_tests.strategies import pairs, vocabularies
from proofs_tests.tokenized_models import speaker, speaker_pairs
from spec_math import Lossless, Lossy, check_lossless_block, law
from spec_math.arrays import exact, proportional_to
from spec_math.language import GreedyTokenizer, Vocabulary
from spec_math.scheme import Emission
from spec_math.string_level import exact_match, rejection, segmentation
from spec_math.string_level.psi import first_token, longest_lookahead, psi
from spec_math.string_level.reading import opened

HALF = Fraction(1, 2)


@settings(max_examples=40)
@given(speaker_pairs(), st.sampled_from([(1, 1), (2, 1), (4, 1), (1, 2), (2, 2)]))
def test_theorem_3_2_rejection_is_lossless(pair, reach):
    target, drafter = pair
    lookahead, rounds = reach

    def generate(coin, prefix):
        return rejection.generate(coin, target, drafter, prefix, lookahead)

    assert isinstance(check_lossless_block(generate, target.model, 3, rounds), Lossless)


@settings(max_examples=60)
@given(pairs(), st.integers(1, 3))
def test_theorem_3_2_holds_for_every_sub_law(pair, part):
    # One position: x has the law ψ, of which a part is missing, and then there is no x.
    target, first = pair
    found = first * Fraction(1, part)

    def program(coin):
        drawn = coin.draw([*found, 1 - found.sum()])
        return rejection.emit(coin, None if drawn == len(found) else drawn, target, found)

    outcomes = law(program)
    emitted = [sum(outcomes.get(Emission(y, kept), 0) for kept in (True, False)) for y in range(len(target))]
    assert emitted == target.tolist()
    accepted = sum(mass for emission, mass in outcomes.items() if emission.accepted)
    assert accepted == rejection.acceptance(target, found)


@given(vocabulary_pairs(), st.integers(1, 3))
def test_the_program_accepts_what_table_3_says(case, lookahead):
    target, draft, targets, drafts = case
    pair = speaker(targets, target), speaker(drafts, draft)
    found = psi(Vocabulary(targets), Vocabulary(drafts), draft, lookahead)
    wanted = sum(min(t, first) for t, first in zip(target, found, strict=True))
    outcomes = law(lambda coin: rejection.run(coin, *pair, (), lookahead))
    accepted = sum((mass for outcome, mass in outcomes.items() if outcome.accepted), Fraction(0))
    assert accepted == wanted == rejection.acceptance(target, found)
    # Without an end, each accepted token is followed by one more: E[tokens] = 1 + acceptance.
    assert sum(len(outcome.tokens) * mass for outcome, mass in outcomes.items()) == 1 + wanted


@given(vocabulary_pairs(), st.one_of(st.none(), st.integers(1, 3)))
def test_rejection_accepts_at_least_what_exact_match_does(case, lookahead):
    target, draft, targets, drafts = case
    found = psi(Vocabulary(targets), Vocabulary(drafts), draft, lookahead)
    assert rejection.acceptance(target, found) >= exact_match.acceptance(target, found)


@given(vocabularies("ab", most=4), st.text("ab", max_size=4))
def test_the_first_token_is_determined_if_no_continuation_changes_it(words, text):
    tokenizer = GreedyTokenizer(Vocabulary(words))
    longest = max(map(len, words))
    ends = {tokenizer.first(text + "".join(more)) for size in range(longest + 1) for more in product("ab", repeat=size)}
    determined = rejection.determined(tokenizer, text.encode())
    assert determined == (not any(word != text and word.startswith(text) for word in words))
    if determined:
        assert len(ends) == 1


@settings(max_examples=25)
@given(speaker_pairs(), st.integers(1, 3))
def test_the_drafted_text_begins_with_the_law_psi(pair, lookahead):
    target, drafter = pair
    _, reading = opened(target, drafter, ())
    first = GreedyTokenizer(target.vocabulary).first
    drawn = law(lambda coin: first(rejection.draw(coin, reading, target.vocabulary, lookahead)))
    found = first_token(target.vocabulary, drafter.vocabulary, reading, lookahead)
    assert found.law.tolist() == [drawn.get(token, 0) for token in range(len(target.vocabulary))]
    assert found.untokenisable == drawn.get(None, 0)


def test_a_shorter_lookahead_is_lossless_with_its_own_psi_and_accepts_less_here():
    # Timor et al., Section 3.3: hello_world needs three draft tokens.
    words = ["hello_", "world", "wo", "rld"]
    target = speaker([*words, "hello_world"], [0, 0, 0, 0, 1])
    drafter = speaker(words, ["1/2", "1/4", "1/8", "1/8"])
    assert longest_lookahead(target.vocabulary, drafter.vocabulary) == 3
    accepted = []
    for lookahead in (1, 2, 3, 4):
        outcomes = law(lambda coin, n=lookahead: rejection.run(coin, target, drafter, (), n))
        accepted.append(sum(mass for outcome, mass in outcomes.items() if outcome.accepted))
        assert {outcome.tokens[0] for outcome in outcomes} == {4}
    assert accepted == [0, Fraction(1, 8), Fraction(17, 128), Fraction(17, 128)]


def test_where_psi_is_the_target_all_is_accepted_and_no_residual_is_formed():
    # As printed, line 8 of Algorithm 3 divides 0 by 1 − Σ min = 0 (erratum z).
    target = speaker(["a", "b", "ab"], ["1/4", "1/2", "1/4"])
    drafter = speaker(["a", "b"], ["1/2", "1/2"])
    assert psi(target.vocabulary, drafter.vocabulary, drafter.law(()), 2).tolist() == target.law(()).tolist()
    outcomes = law(lambda coin: rejection.run(coin, target, drafter, (), 2))
    assert {outcome.accepted for outcome in outcomes} == {1}


def test_text_that_begins_with_no_target_token_counts_as_rejected_and_says_so():
    target, drafter = speaker(["a", "b"], ["1/4", "3/4"]), speaker(["b", "c"], ["1/2", "1/2"])
    outcomes = law(lambda coin: rejection.run(coin, target, drafter, (), 1))
    lost = {outcome.tokens: mass for outcome, mass in outcomes.items() if outcome.fallback}
    # Not a sample of the target: what ψ has of b is taken off, (t − ψ)+ = (1/4, 1/4).
    assert lost == {(0,): Fraction(1, 4), (1,): Fraction(1, 4)}


# Controls: each is Algorithm 3 with a ψ that is not the law of what was drafted, or another residual.

TARGET = speaker(["a", "b", "aa"], ["1/2", "1/4", "1/4"], ["1/5", "2/5", "2/5"], ["1/10", "1/2", "2/5"])
DRAFTER = speaker(["a", "b", "c"], ["2/5", "2/5", "1/5"], ["1/3", "1/3", "1/3"], ["2/5", "2/5", "1/5"])


def against(another):
    def generate(coin, prefix):
        laws_, reading = opened(TARGET, DRAFTER, prefix)
        text = rejection.draw(coin, reading, TARGET.vocabulary, 2)
        token = GreedyTokenizer(TARGET.vocabulary).first(text)
        return (rejection.emit(coin, token, laws_.target(), another(reading)).token,)

    return generate


def right(reading):
    return psi(TARGET.vocabulary, DRAFTER.vocabulary, reading, 2)


def of_another_lookahead(reading):
    return psi(TARGET.vocabulary, DRAFTER.vocabulary, reading, 1) * HALF + right(reading) * HALF


def normalised(reading):
    return proportional_to(right(reading))


def of_exact_segmentations(reading):
    # The sum over all ways of drafting exactly the token: a (which runs on to aa), b, and aa as a ⊕ a.
    words = [TARGET.vocabulary[token] for token in range(3)]
    cuts = [segmentation.list(word, DRAFTER.vocabulary) for word in words]
    masses = [sum((_path(reading, cut) for cut in each), Fraction(0)) for each in cuts]
    return exact([mass / 2 for mass in masses])


def _path(reading, cut):
    mass = Fraction(1)
    for place, token in enumerate(cut):
        mass *= reading(cut[:place])[token]
    return mass


def of_a_drafter_without_context(reading):
    return psi(TARGET.vocabulary, DRAFTER.vocabulary, reading(()), 2)


@pytest.mark.parametrize(
    "another", [of_another_lookahead, normalised, of_exact_segmentations, of_a_drafter_without_context]
)
def test_another_psi_is_lossy(another):
    assert isinstance(check_lossless_block(against(another), TARGET.model, 2), Lossy)


def test_the_frame_of_the_controls_is_lossless():
    assert isinstance(check_lossless_block(against(right), TARGET.model, 3, rounds=2), Lossless)


def test_a_rejection_that_samples_the_target_is_lossy():
    def generate(coin, prefix):
        outcome = rejection.run(coin, TARGET, DRAFTER, prefix, 2)
        return outcome.tokens if outcome.accepted else (coin.draw(TARGET.law(prefix)),)

    assert isinstance(check_lossless_block(generate, TARGET.model, 2), Lossy)


def test_a_token_that_psi_does_not_have_is_named():
    with pytest.raises(ValueError, match="no mass on the token 1 that was drafted; compute it with the lookahead"):
        law(lambda coin: rejection.emit(coin, 1, ["1/2", "1/2"], [1, 0]))


def test_a_text_that_psi_cannot_give_is_answered_by_the_target():
    """Only rounding brings it about: ψ has no mass left for a text without a first token."""
    emitted = law(lambda coin: rejection.emit(coin, None, ["1/4", "3/4"], ["1/4", "3/4"]).token)
    assert emitted == {0: Fraction(1, 4), 1: Fraction(3, 4)}


def test_a_rejected_draft_is_no_fallback():
    target, drafter = speaker(["a", "b"], ["1/4", "3/4"]), speaker(["a", "c"], ["1/2", "1/2"])
    outcomes = law(lambda coin: rejection.run(coin, target, drafter, (), 1))
    rejected = {outcome.drafted: outcome.fallback for outcome in outcomes if outcome.accepted == 0}
    assert set(rejected) == {(0,), ()}
    assert rejected[0,] is None
    assert "nothing was drafted" in rejected[()]


def test_a_lookahead_that_is_no_count_is_named():
    target, drafter = speaker(["a"], [1]), speaker(["a"], [1])
    with pytest.raises(ValueError, match=r"^lookahead must be"):
        law(lambda coin: rejection.run(coin, target, drafter, (), 0))


@settings(max_examples=20)
@given(speaker_pairs(), st.integers(1, 2))
def test_an_outcome_says_what_was_drafted_and_whether_it_was_kept(pair, lookahead):
    target, drafter = pair
    for outcome in law(lambda coin: rejection.run(coin, target, drafter, (), lookahead)):
        assert isinstance(outcome.drafted, tuple)
        assert outcome.accepted in (0, 1)
        assert not outcome.accepted or outcome.tokens[:1] == outcome.drafted
