"""RDK: any row-stochastic kernel is lossless; TLI is one of them, and so is a draft text's first target token."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.drafting.vocabulary_pairs import DRAFTER, TARGET, vocabulary_pairs
from proofs_tests.tokenized_models import speaker, speaker_pairs, weighed
from spec_math import Lossless, Lossy, check_lossless_block, law, overlap
from spec_math.arrays import exact
from spec_math.block_level import block, chain
from spec_math.drafting import intersection
from spec_math.drafting.correspondence import carried
from spec_math.language import Vocabulary
from spec_math.papers import two_vocabularies


@settings(max_examples=30)
@given(speaker_pairs(ends=False), st.integers(0, 2**32 - 1), st.sampled_from([(2, 1), (1, 2)]))
def test_every_kernel_is_lossless(pair, seed, reach):
    target, drafter = pair
    random = Random(seed)
    kernel = np.stack([weighed(random, len(target.vocabulary)) for _ in range(len(drafter.vocabulary))])
    model = two_vocabularies.model(drafter, target.vocabulary, kernel)
    lookahead, rounds = reach
    for verifier in (chain, block):
        verdict = check_lossless_block(
            lambda coin, prefix, verifier=verifier: verifier.generate(coin, target.model, model, prefix, lookahead),
            target.model,
            3,
            rounds,
        )
        assert isinstance(verdict, Lossless)


@given(vocabulary_pairs(), st.integers(0, 2**32 - 1))
def test_the_redistributed_law_is_that_of_two_draws(case, seed):
    _, draft, targets, drafts = case
    random = Random(seed)
    kernel = np.stack([weighed(random, len(targets)) for _ in drafts])
    drawn = law(lambda coin: coin.draw(kernel[coin.draw(draft)]))
    assert two_vocabularies.draft_law(draft, kernel).tolist() == [drawn.get(token, 0) for token in range(len(targets))]


@given(vocabulary_pairs(), st.integers(0, 2**32 - 1))
def test_acceptance_is_that_of_the_program(case, seed):
    target, draft, targets, drafts = case
    random = Random(seed)
    kernel = np.stack([weighed(random, len(targets)) for _ in drafts])
    model = two_vocabularies.model(speaker(drafts, draft), Vocabulary(targets), kernel)
    lengths = law(lambda coin: len(chain.generate(coin, lambda _: target, model, (), 1)))
    assert lengths.get(2, 0) == two_vocabularies.acceptance(target, draft, kernel)


@given(vocabulary_pairs())
def test_the_intersection_is_redistribution_by_a_kernel_that_follows_the_law(case):
    # What lies beyond T is spread in proportion to what lies on it: d_T + d(beyond)·d_T/d(T) = d_T/d(T).
    _, draft, targets, drafts = case
    words = Vocabulary(targets), Vocabulary(drafts)
    shared, _ = carried(draft, *words)
    if shared.sum() == 0:
        return
    restricted = intersection.draft_law(draft, *words)
    kernel = [
        exact([int(word == other) for other in targets]) if word in targets else restricted.copy() for word in drafts
    ]
    assert two_vocabularies.draft_law(draft, np.stack(kernel)).tolist() == restricted.tolist()


def test_wrong_kernels_are_named():
    with pytest.raises(ValueError, match=r"kernel \(row \(1,\)\): masses must sum to exactly 1; these 2 sum to 1/2"):
        two_vocabularies.draft_law(["1/2", "1/2"], [[1, 0], ["1/2", 0]])
    with pytest.raises(ValueError, match=r"one row for each draft token, \[D = 2, T\]; got the shape \(1, 2\)"):
        two_vocabularies.draft_law(["1/2", "1/2"], [[1, 0]])
    with pytest.raises(ValueError, match="kernel: its vocabulary has 3 tokens; the distribution has 2"):
        two_vocabularies.model(DRAFTER, TARGET.vocabulary, [[1, 0], [1, 0], [1, 0]])
    with pytest.raises(TypeError, match="one number type"):
        two_vocabularies.draft_law(["1/2", "1/2"], [[1.0, 0.0], [0.0, 1.0]])


def test_a_token_drawn_along_the_kernel_but_verified_against_another_law_is_lossy():
    # Control: the draft's own mass of the token that was sent on stands in for the mass of where it arrived.
    kernel = exact([["1/3", "2/3", 0], [0, "1/2", "1/2"], ["1/2", 0, "1/2"]])

    def wrong(coin, prefix):
        row = DRAFTER.law(DRAFTER.read(TARGET.vocabulary.spell(prefix)))
        said = coin.draw(row)
        token = coin.draw(kernel[said])
        t, d = TARGET.law(prefix), two_vocabularies.draft_law(row, kernel)
        if coin.flip(min(1, t[token] / row[said])):
            return (token,)
        left = [max(x - y, 0) for x, y in zip(t, d, strict=True)]
        return (coin.draw([mass / sum(left) for mass in left]),)

    assert isinstance(check_lossless_block(wrong, TARGET.model, 1), Lossy)
    assert overlap(TARGET.law(()), two_vocabularies.draft_law(DRAFTER.law(()), kernel)) < 1
