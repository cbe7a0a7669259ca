"""The blog post on Timor et al.: what it says of the methods beyond the paper, with exact counterexamples."""

from __future__ import annotations

from fractions import Fraction

from proofs_tests.tokenized_models import speaker
from spec_math import Lossy, check_lossless_block, law
from spec_math.arrays import exact
from spec_math.drafting import intersection, union
from spec_math.language import GreedyTokenizer, Vocabulary
from spec_math.string_level import exact_match, rejection, segmentation
from spec_math.string_level.psi import psi
from spec_math.string_level.reading import opened

HALF = Fraction(1, 2)


def test_slrs_is_no_theoretical_upper_bound():
    # T = {a, ab}, t(a) = 1, the draft always ab: all drafted text begins with a, and SLRS accepts nothing.
    target, drafter = speaker(["a", "ab"], [1, 0]), speaker(["ab"], [1])
    found = psi(target.vocabulary, drafter.vocabulary, [1])
    assert rejection.acceptance([1, 0], found) == 0
    assert law(lambda coin: rejection.run(coin, target, drafter, (), 1).accepted) == {0: 1}
    # TLI exceeds SLRS where half of what is drafted is no target token.
    words = Vocabulary(["a", "b"]), Vocabulary(["a", "c"])
    assert intersection.acceptance([1, 0], [HALF, HALF], *words) == 1
    assert rejection.acceptance([1, 0], psi(*words, [HALF, HALF])) == HALF


def test_every_way_of_spelling_a_string_is_not_what_slrs_compares_with():
    # "you must sum the probabilities of every possible way the drafter could construct 'hello'": against that sum the
    # rejection is lossy. T = {a, b, aa}, D = {a, b}: a has one spelling, but a ⊕ a is read as aa.
    target, drafter = speaker(["a", "b", "aa"], ["1/2", "1/4", "1/4"]), speaker(["a", "b"], ["1/2", "1/2"])

    def sums(reading):
        words = [segmentation.list(word, drafter.vocabulary) for word in target.vocabulary.tokens]
        return exact([sum(_mass(reading, cut) for cut in cuts) * Fraction(4, 5) for cuts in words])

    def generate(coin, prefix):
        laws, reading = opened(target, drafter, prefix)
        text = rejection.draw(coin, reading, target.vocabulary, 2)
        token = GreedyTokenizer(target.vocabulary).first(text)
        return (rejection.emit(coin, token, laws.target(), sums(reading)).token,)

    assert isinstance(check_lossless_block(generate, target.model, 1), Lossy)
    # Unscaled the sums are not a probability distribution at all: 1/2 + 1/2 + 1/4.
    assert sum(sums(opened(target, drafter, ())[1])) * Fraction(5, 4) == Fraction(5, 4)


def _mass(reading, cut):
    mass = Fraction(1)
    for place, token in enumerate(cut):
        mass *= reading(cut[:place])[token]
    return mass


def test_slrs_compares_masses_of_tokens_and_not_of_strings():
    # "P_target(string) ≥ P_draft(string)": ψ(a) is the mass of the texts whose first TOKEN is a. T = {a, aa}, D = {a}:
    # every drafted text begins with the string a, and ψ(a) = 0.
    assert psi(Vocabulary(["a", "aa"]), Vocabulary(["a"]), [1]).tolist() == [0, 1]


def test_theorem_4_1_guarantees_no_higher_rate():
    # "guarantees a higher expected acceptance rate": at least as high; equal where both vocabularies are one.
    words = Vocabulary(["a", "b"])
    both = ["1/4", "3/4"], ["1/2", "1/2"], words, words
    assert intersection.acceptance(*both) == union.acceptance(*both)


def test_tli_is_not_always_below_slem():
    # "SLEM: moderate", "TLI: higher than Alg 1": of all orders two hold (`string_level/test_acceptance_table.py`).
    words = Vocabulary(["a", "b"])
    assert intersection.acceptance([HALF, HALF], [HALF, HALF], words, words) == 1
    assert exact_match.acceptance([HALF, HALF], psi(words, words, [HALF, HALF])) == HALF
