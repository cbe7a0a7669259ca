"""TLI: lossless, Table 3, Theorem 4.1 with its equality case, and what it does where its draft is undefined."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proofs_tests.drafting.vocabulary_pairs import DRAFTER, TARGET, vocabulary_pairs
from proofs_tests.tokenized_models import speaker, speaker_pairs
from spec_math import Lossless, Lossy, check_lossless_block, law
from spec_math.arrays import exact
from spec_math.block_level import block, length, spectr, traversal
from spec_math.drafting import intersection, union
from spec_math.drafting.intersection import NoOverlapError
from spec_math.language import Vocabulary

HALF = Fraction(1, 2)


@settings(max_examples=30)
@given(speaker_pairs(), st.sampled_from([(2, 1), (1, 2), (2, 2)]))
def test_intersection_is_lossless(pair, reach):
    target, drafter = pair
    lookahead, rounds = reach

    def generate(coin, prefix):
        return intersection.generate(coin, target, drafter, prefix, lookahead)

    assert isinstance(check_lossless_block(generate, target.model, 3, rounds), Lossless)


def test_every_verifier_of_blocks_is_lossless_on_the_intersection():
    model = intersection.model(DRAFTER, TARGET.vocabulary)
    for verifier in (
        lambda coin, prefix: block.generate(coin, TARGET.model, model, prefix, 2),
        lambda coin, prefix: spectr.generate(coin, TARGET.model, model, prefix, (2, 1)),
        lambda coin, prefix: traversal.generate(coin, TARGET.model, model, prefix, (2,)),
    ):
        assert isinstance(check_lossless_block(verifier, TARGET.model, 3), Lossless)


def table_3(target, draft, targets, drafts):
    """Σ min(t, d/d(T)) over the shared tokens, by their spelling; 0 where none of them has mass."""
    mass = sum((draft[i] for i, word in enumerate(drafts) if word in targets), Fraction(0))
    shared = [(target[i], draft[drafts.index(word)]) for i, word in enumerate(targets) if word in drafts]
    return sum((min(t, d / mass) for t, d in shared), Fraction(0)) if mass else Fraction(0)


@given(vocabulary_pairs())
def test_acceptance_is_that_of_table_3(case):
    target, draft, targets, drafts = case
    accepted = intersection.acceptance(target, draft, Vocabulary(targets), Vocabulary(drafts))
    assert type(accepted) is Fraction
    assert accepted == table_3(target, draft, targets, drafts)


@given(vocabulary_pairs())
def test_the_program_accepts_what_table_3_says(case):
    target, draft, targets, drafts = case
    pair = speaker(targets, target), speaker(drafts, draft)
    outcomes = law(lambda coin: intersection.run(coin, *pair, (), 1).accepted)
    assert outcomes.get(1, 0) == table_3(target, draft, targets, drafts)


@given(vocabulary_pairs())
@example((exact(["1/4", "3/4"]), exact(["1/4", "1/2", "1/4"]), ["a", "b"], ["a", "b", "c"]))
@example((exact(["1/8", "7/8"]), exact(["1/4", "3/4"]), ["a", "b"], ["a", "c"]))
def test_theorem_4_1_with_its_equality_case(case):
    target, draft, targets, drafts = case
    both = target, draft, Vocabulary(targets), Vocabulary(drafts)
    plain, restricted = union.acceptance(*both), intersection.acceptance(*both)
    assert plain <= restricted
    shared = [(target[i], draft[drafts.index(word)]) for i, word in enumerate(targets) if word in drafts]
    mass = sum((d for _, d in shared), Fraction(0))
    equal = mass in (0, 1) or all(t <= d for t, d in shared if d > 0)
    assert (plain == restricted) == equal


@settings(max_examples=20)
@given(speaker_pairs(ends=False))
def test_intersection_yields_at_least_the_tokens_of_the_union(pair):
    lengths = [
        length.expected(lambda coin, prefix, method=method: method.generate(coin, *pair, prefix, 2), ())
        for method in (union, intersection)
    ]
    assert lengths[0] <= lengths[1]


def test_examples_of_the_paper():
    third = ["1/3", "1/3", "1/3"]
    words = Vocabulary(["a", "b"]), Vocabulary(["a", "b", "c"])
    assert intersection.draft_law(third, *words).tolist() == [HALF, HALF]
    assert intersection.acceptance(["1/2", "1/2"], third, *words) == 1
    assert union.acceptance(["1/2", "1/2"], third, *words) == Fraction(2, 3)


# Where the draft has no mass on the target's tokens.


def test_no_overlap_is_an_error_that_says_so():
    apart = Vocabulary(["a", "b"]), Vocabulary(["c"])
    with pytest.raises(NoOverlapError, match=r"mass 0 on the 2 target tokens \(there is no token in common\)"):
        intersection.draft_law([1], *apart)
    with pytest.raises(NoOverlapError, match="none of those in common has mass"):
        intersection.draft_law([0, 1], Vocabulary(["a"]), Vocabulary(["a", "c"]))
    assert intersection.acceptance(["1/4", "3/4"], [1], *apart) == 0


def test_without_overlap_the_target_goes_on_alone_and_says_so():
    target, drafter = speaker(["a", "b"], ["1/4", "3/4"]), speaker(["c"], [1])
    outcomes = law(lambda coin: intersection.run(coin, target, drafter, (), 3))
    assert {outcome.tokens: mass for outcome, mass in outcomes.items()} == {(0,): Fraction(1, 4), (1,): Fraction(3, 4)}
    assert all(outcome.drafted == () and "undefined" in outcome.fallback for outcome in outcomes)
    with pytest.raises(NoOverlapError):
        law(lambda coin: block.generate(coin, target.model, intersection.model(drafter, target.vocabulary), (), 1))


def test_drafting_ends_where_the_draft_becomes_undefined():
    # After an even number of letters the drafter says a, after an odd number c, which the target lacks.
    target = speaker(["a", "b"], ["1/4", "3/4"])
    drafter = speaker(["a", "c"], [1, 0], [0, 1])
    outcomes = law(lambda coin: intersection.run(coin, target, drafter, (), 3))
    assert {outcome.drafted for outcome in outcomes} == {(0,)}
    assert {outcome.fallback for outcome in outcomes} == {None}
    assert sum(mass for outcome, mass in outcomes.items() if outcome.accepted) == Fraction(1, 4)

    def generate(coin, prefix):
        return intersection.generate(coin, target, drafter, prefix, 3)

    assert isinstance(check_lossless_block(generate, target.model, 4, rounds=2), Lossless)


def test_an_undefined_draft_that_is_taken_for_the_target_is_lossy():
    # Control: draw a token of the target, "accept" it, and add a sample that the residual of the wrong position gives.
    target, drafter = speaker(["a", "b"], ["1/4", "3/4"], ["2/3", "1/3"]), speaker(["c"], [1])

    def wrong(coin, prefix):
        outcome = intersection.run(coin, target, drafter, prefix, 1)
        return (*outcome.tokens, coin.draw(target.law(prefix))) if outcome.fallback else outcome.tokens

    assert isinstance(check_lossless_block(wrong, target.model, 2), Lossy)


def test_the_accepted_drafts_are_counted_up_to_the_end_too():
    # Nothing follows a drafted end: all drafts are accepted, and no token is added.
    same = speaker(["a", "<end>"], ["1/2", "1/2"], special=[1], end=1)
    outcomes = law(lambda coin: intersection.run(coin, same, same, (), 2))
    assert {(outcome.tokens, outcome.accepted) for outcome in outcomes} == {
        ((1,), 1),
        ((0, 1), 2),
        ((0, 0, 0), 2),
        ((0, 0, 1), 2),
    }
