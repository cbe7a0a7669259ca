"""Timor et al.: what does not hold as printed, each with an exact counterexample; letters as in the errata.

Errata i, j and z (ψ) stand in `string_level/test_psi.py`, k in `language/test_overlap.py`, l and the word of Figure 1
in `string_level/test_published_segmentations.py`.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from proofs_tests.drafting.vocabulary_pairs import vocabulary_pairs
from proofs_tests.language.failing_drafts import failing_draft
from proofs_tests.tokenized_models import speaker
from spec_math import Lossless, Lossy, check_lossless_block, law, overlap
from spec_math.arrays import exact
from spec_math.block_level import length
from spec_math.distribution import residual
from spec_math.drafting import intersection, union
from spec_math.language import GreedyTokenizer, Vocabulary
from spec_math.language.overlap import expressibility
from spec_math.string_level import exact_match, rejection
from spec_math.string_level.reading import opened

HALF = Fraction(1, 2)


def test_h_theorem_3_1_fails_for_a_point_mass_and_leaves_uniform_laws_out():
    # The condition: there are t₁, t₂ with p(t₁) ≠ p(t₂). A point mass has them, and exact match accepts all.
    point = exact([1, 0])
    assert point[0] != point[1]
    assert exact_match.acceptance(point, point) == overlap(point, point) == 1
    # The uniform law has none, and the theorem's claim holds all the same.
    uniform = exact([HALF, HALF])
    assert exact_match.acceptance(uniform, uniform) == HALF < overlap(uniform, uniform)


@given(vocabulary_pairs())
def test_x_a_target_that_is_nowhere_above_the_draft_is_the_draft(case):
    # "As long as p(t) ≤ q(t) for all t ∈ T …, Algorithm 1 is optimal": both sum to at most 1, so that p = q on T, and
    # the draft has nothing beyond T.
    target, draft, targets, drafts = case
    t, d = union.laws(target, draft, Vocabulary(targets), Vocabulary(drafts))
    if all(t[place] <= d[place] for place in range(len(targets))):
        assert t.tolist() == d.tolist()
    else:
        assert t.tolist() != d.tolist()


def test_x_the_union_is_optimal_in_other_cases_too():
    # Optimal means Σ min(t, d) over one position; with d = (1/2, 1/2) and t = (1/4, 3/4), p ≤ q fails at b, and no
    # verifier accepts more than the overlap 3/4 that the union accepts.
    words = Vocabulary(["a", "b"])
    assert union.acceptance(["1/4", "3/4"], [HALF, HALF], words, words) == overlap(["1/4", "3/4"], [HALF, HALF])


TARGET = speaker(["a", "b"], ["1/4", "3/4"], ["2/3", "1/3"])
DRAFTER = speaker(["a", "b"], ["1/2", "1/2"], ["1/3", "2/3"])


def line_10(coin, prefix, place_of_the_difference):
    """Algorithm 2, lines 4 to 11, with a reading of line 10; t_{m+1} does not exist and counts as different."""
    laws, reading = opened(TARGET, DRAFTER, prefix)
    drafted = GreedyTokenizer(TARGET.vocabulary).encode(reading.text(reading.draw(coin, 2)))
    sampled = [coin.draw(laws.target(drafted[:place])) for place in range(len(drafted) + 1)]
    differs = [ours != theirs for ours, theirs in zip(sampled, drafted, strict=False)] + [True]
    j = place_of_the_difference(differs)
    return (*drafted[:j], sampled[j])


def test_y_line_10_needs_a_token_after_the_last_and_min_for_arg_min():
    # The first index that differs is a minimum over indices. arg min over the truth values of t'_j ≠ t_j is the first
    # index that does NOT differ, and keeps a drafted token that the target did not sample.
    verdict = check_lossless_block(lambda coin, prefix: line_10(coin, prefix, np.argmin), TARGET.model, 3)
    assert isinstance(verdict, Lossy)

    def first(differs):
        return min(place for place, differ in enumerate(differs) if differ)

    assert isinstance(
        check_lossless_block(lambda coin, prefix: line_10(coin, prefix, first), TARGET.model, 3), Lossless
    )
    # Where all drafted tokens match there is no index to take the minimum of, unless t_{m+1} counts as different.
    with pytest.raises(ValueError, match="empty"):
        min(place for place, differ in enumerate([False, False]) if differ)


def printed_residual(target, draft):
    """Alg. 3, line 8, and Alg. 5, line 12, as they stand: (p(t) − min) / (1 − Σ min)."""
    kept = [min(t, d) for t, d in zip(target, draft, strict=True)]
    return [(t - low) / (1 - sum(kept)) for t, low in zip(target, kept, strict=True)]


def test_z_the_printed_residual_is_0_over_0_where_draft_and_target_agree():
    same = exact(["1/4", "3/4"])
    with pytest.raises(ZeroDivisionError):
        printed_residual(same, same)
    # Nothing is rejected there, so that it is never drawn from; elsewhere it is the residual.
    assert {emission.accepted for emission in law(lambda coin: rejection.emit(coin, coin.draw(same), same, same))} == {
        True
    }
    assert printed_residual(same, [HALF, HALF]) == residual(same, [HALF, HALF]).tolist()


def test_algorithm_3_yields_one_token_a_call_whatever_it_accepts():
    """Its output is "a token from T": with one target call a run it is never faster than the target alone.

    The row after an accepted token comes from the same call; `rejection.generate` draws a second token from it.
    """
    same = speaker(["a", "b"], ["1/2", "1/2"])

    def printed(coin, prefix):
        return rejection.run(coin, same, same, prefix, 1).tokens[:1]

    assert isinstance(check_lossless_block(printed, same.model, 2, rounds=2), Lossless)
    assert length.expected(printed, ()) == 1
    assert length.expected(lambda coin, prefix: rejection.generate(coin, same, same, prefix, 1), ()) == 2


def test_theorem_4_1_can_be_an_equality():
    # The text and Table 4 say that TLI is "always beneficial"; where t ≤ d on all shared tokens it gains nothing.
    words = Vocabulary(["a", "b"]), Vocabulary(["a", "c"])
    assert union.acceptance(["1/8", "7/8"], ["1/4", "3/4"], *words) == Fraction(1, 8)
    assert intersection.acceptance(["1/8", "7/8"], ["1/4", "3/4"], *words) == Fraction(1, 8)


def test_expressible_text_need_not_be_tokenisable():
    # Section 3.1: D* ↠ T*, "i.e., T(d₁ ⊕ … ⊕ d_i) ≠ ∅". Each draft token and each concatenation is expressible in
    # T = {b, ba, bb}, yet b ⊕ ba is read as bb, and then no token begins with a.
    target, draft = Vocabulary(["b", "ba", "bb"]), Vocabulary(["b", "ba"])
    assert not expressibility(target, draft).draft_breaks
    assert failing_draft(draft, target) == (0, 1)
    assert not GreedyTokenizer(target).reads("bba")
