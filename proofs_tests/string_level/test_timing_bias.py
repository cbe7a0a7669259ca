"""The bias of the printed TokenTiming over any two vocabularies: that of the program, and an estimate from below."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.strategies import pairs
from proofs_tests.string_level.stripping import STRIPPING
from proofs_tests.tokenized_models import speaker, speaker_pairs
from spec_math import exact, law, sample, total_variation
from spec_math.language import TokenizedModel, Vocabulary
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
    target, drafter = (TokenizedModel(lambda _, row=row: row, words) for row in pair)
    assert timing_bias.total_variation(target, drafter, (), 1) == timing.bias(*pair)


def firsts_of_all_drafts(target, drafter, lookahead):
    """The first tokens of all drafts of a uniform drafter, which are equally likely."""
    laws, reading = opened(target, drafter, ())
    drafts = product(range(len(drafter.vocabulary)), repeat=lookahead)
    return laws.target(), [timing_bias.first(target, laws, reading, said) for said in drafts]


UNIFORM = [
    (speaker(["aa", "ab", "ba", "bb"], ["7/10", "1/10", "1/10", "1/10"]), speaker(["a", "b"], ["1/2", "1/2"])),
    (speaker(["a", "ab", "b"], ["1/2", "1/3", "1/6"]), speaker(["a", "b", "ba"], ["1/3", "1/3", "1/3"])),
    (speaker(["a", "b"], ["1/4", "3/4"]), speaker(["a", "b"], ["1/2", "1/2"])),
]


def excess(target, firsts, among):
    """The estimate: what the drafts add to the excess, on average."""
    return sum(timing_bias.excesses(target, firsts, among)) / len(firsts)


@pytest.mark.parametrize("pair", UNIFORM)
@pytest.mark.parametrize("lookahead", [1, 2, 3])
def test_no_set_of_tokens_exceeds_the_bias_and_one_reaches_it(pair, lookahead):
    row, firsts = firsts_of_all_drafts(*pair, lookahead)
    found = [excess(row, firsts, among) for among in product([False, True], repeat=len(row))]
    assert max(found) == timing_bias.total_variation(*pair, (), lookahead)


@given(pairs())
def test_over_one_vocabulary_the_tokens_proposed_too_often_make_the_whole_bias(pair):
    target, draft = pair
    among = timing_bias.over_proposed(target, draft)
    # Every draft once, weighed by its mass: the mean of the estimate.
    chances = [min(Fraction(1), t / d) if d else Fraction(0) for t, d in zip(target, draft, strict=True)]
    values = [excess(target, [timing_bias.First(x, chance)], among) for x, chance in enumerate(chances)]
    assert sum(d * value for d, value in zip(draft, values, strict=True)) == timing.bias(target, draft)


def test_a_set_chosen_from_the_same_drafts_exceeds_the_bias():
    # The control: a sampler without bias, draft and target alike, where every chosen excess is luck.
    same = TokenizedModel(lambda _: np.full(16, 1 / 16), Vocabulary([chr(97 + token) for token in range(16)]))
    laws, reading = opened(same, same, ())
    random = Random(0)
    drafts = [sample(lambda coin: reading.draw(coin, 1), random) for _ in range(64)]
    firsts = [timing_bias.first(same, laws, reading, said) for said in drafts]
    seen = np.bincount([found.token for found in firsts], minlength=16) > 4
    assert timing_bias.total_variation(same, same, (), 1) == 0
    assert excess(laws.target(), firsts, seen) > 0.05
    assert not timing_bias.over_proposed(laws.target(), laws.target()).any()


def test_a_lookahead_that_is_none_is_named():
    target, drafter = speaker(["a"], [1]), speaker(["a"], [1])
    for lookahead in (0, -1):
        with pytest.raises(ValueError, match="lookahead must be"):
            timing_bias.total_variation(target, drafter, (), lookahead)


def test_a_draft_without_a_first_token_is_never_accepted():
    target, drafter = speaker(["a"], [1]), speaker(["c"], [1])
    assert timing_bias.first(target, *opened(target, drafter, ()), (0,)) == (None, 0)
    assert timing_bias.total_variation(target, drafter, (), 1) == 0


def test_a_first_token_is_read_as_the_program_reads_it_where_the_tokeniser_loses_text():
    target = TokenizedModel(lambda _: ["1/8", "1/4", "1/8", "1/2"], STRIPPING.vocabulary, STRIPPING.encode)
    drafter = speaker([" b", "a"], ["3/4", "1/4"])
    emitted = law(lambda coin: timing.generate(coin, target, drafter, (0,), 2)[0])
    masses = [emitted.get(token, 0) for token in range(4)]
    assert timing_bias.total_variation(target, drafter, (0,), 2) == total_variation(masses, target.law((0,))) > 0


def test_whether_a_token_is_among_those_chosen_may_be_said_by_0_and_1():
    target, firsts = exact(["1/4", "3/4"]), [timing_bias.First(token, Fraction(1, 2)) for token in (0, 1, None)]
    wanted = [Fraction(3, 8), Fraction(-1, 8), 0]
    assert timing_bias.excesses(target, firsts, [True, False]) == timing_bias.excesses(target, firsts, [1, 0]) == wanted
