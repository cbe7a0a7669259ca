"""SpecVocab: figures that do not add up as printed, with exact numbers."""

from __future__ import annotations

from fractions import Fraction

from spec_math.arrays import exact
from spec_math.drafting import head_cost
from spec_math.papers import reduced_vocabulary, speculative_vocabulary
from spec_math.token_level import single


def test_2048_of_olmo_2_s_tokens_are_more_than_2_per_cent():
    # Section 6: "no more than 2% of the exact logits". OLMo 2 has 100,278 tokens.
    assert Fraction(2, 100) < Fraction(2048, 100_278) < Fraction(205, 10_000)


def test_table_4_leaves_w_down_out_and_can_so_name_the_wrong_method():
    # |V|·d'/d + k < |V'| holds: 32 + 10 < 50. With d'·d for W_down it costs more than the fixed part.
    size, dimension, rank, k, kept = 128, 64, 16, 10, 50
    assert Fraction(size * rank, dimension) + k < kept
    assert head_cost.speculative(size, dimension, rank, k, down=False) < head_cost.reduced(kept, dimension)
    assert head_cost.speculative(size, dimension, rank, k) > head_cost.reduced(kept, dimension)


def test_coverage_of_the_full_vocabulary_is_not_its_acceptance():
    # Section 6: "SpecVocab can achieve coverage of the full vocabulary at a lower cost". Every token may be a candidate
    # in some context; in each, no more is accepted than the target has on its k candidates.
    target, draft = exact(["1/2", "1/4", "1/4"]), exact(["1/2", "1/4", "1/4"])
    assert single.acceptance(target, draft) == 1
    assert (
        speculative_vocabulary.acceptance(target, draft, draft, 2)
        == reduced_vocabulary.free(target, 2)
        == Fraction(3, 4)
    )
