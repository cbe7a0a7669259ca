"""SpecVocab: a subset that changes with the context is lossless; exact logits of the subset are the restricted law."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import model_pairs
from proofs_tests.drafting.positive_drafts import busy
from spec_math import Lossless, Lossy, check_lossless_block, exact
from spec_math.block_level import block, chain, spectr
from spec_math.papers import reduced_vocabulary, speculative_vocabulary
from spec_math.papers.speculative_vocabulary import Ranking
from spec_math.token_level import single


def scores(prefix):
    """A rough ranking that depends on the whole prefix, with ties."""
    return exact([(sum(prefix) * 2 + len(prefix) + token) % 3 for token in range(3)])


@settings(max_examples=25)
@given(model_pairs(3, small=True), st.sampled_from([1, 2, 3]))
def test_speculative_vocabulary_is_lossless(models, k):
    target, draft = busy(models)
    model = speculative_vocabulary.model(draft, scores, k)
    for verifier in (chain, block):
        verdict = check_lossless_block(
            lambda coin, prefix, verifier=verifier: verifier.generate(coin, target, model, prefix, 2),
            target,
            3,
            rounds=2,
        )
        assert isinstance(verdict, Lossless)


def test_speculative_vocabulary_is_lossless_on_a_tree():
    # EAGLE drafts a tree: each node's subset is its own.
    target = [exact(["1/2", "1/3", "1/6"]), exact(["1/6", "1/6", "2/3"])]
    draft = [exact(["1/6", "1/3", "1/2"]), exact(["1/3", "1/3", "1/3"])]
    model = speculative_vocabulary.model(lambda prefix: draft[len(prefix) % 2], scores, 2)

    def target_model(prefix):
        return target[len(prefix) % 2]

    verdict = check_lossless_block(
        lambda coin, prefix: spectr.generate(coin, target_model, model, prefix, (2, 1)), target_model, 3
    )
    assert isinstance(verdict, Lossless)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.data())
def test_candidates_are_the_k_highest_scores(values, data):
    k = data.draw(st.integers(1, len(values)))
    ranked = sorted(range(len(values)), key=lambda token: (-values[token], token))
    assert np.flatnonzero(speculative_vocabulary.candidates(values, k)).tolist() == sorted(ranked[:k])
    draft = exact([Fraction(1, len(values))] * len(values))
    law = speculative_vocabulary.draft_law(draft, values, k)
    assert law.tolist() == reduced_vocabulary.draft_law(draft, sorted(ranked[:k])).tolist()


def test_exact_logits_of_the_candidates_give_the_restricted_softmax():
    rng = np.random.default_rng(5)
    hidden, head = rng.normal(size=(4, 3)), rng.normal(size=(7, 3))
    ranking = Ranking(rng.normal(size=(2, 3)), rng.normal(size=(7, 2)))
    for k in (1, 3, 7):
        found = speculative_vocabulary.from_hidden(hidden, head, ranking, k)
        logits = hidden @ head.T
        whole = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
        wanted = speculative_vocabulary.draft_law(whole, ranking.scores(hidden), k)
        # Logits of at most 32 in size, each a sum of 3 products: off by 3·32·2^-53, before exp and after it; sums of 7.
        assert np.abs(logits).max() < 32
        assert np.abs(found - wanted).max() <= (2 * 3 * 32 + 2 * 7 + 8) * 2.0**-52
        assert ((found > 0) == (wanted > 0)).all()


def test_a_subset_that_is_verified_against_the_whole_draft_is_lossy():
    # Control: the chance to accept is computed from the full softmax, the draft drawn from the candidates.
    target, draft = exact(["1/2", "1/3", "1/6"]), exact(["1/6", "1/3", "1/2"])

    def wrong(coin, prefix):
        token = coin.draw(speculative_vocabulary.draft_law(draft, scores(prefix), 2))
        return (single.verify(coin, token, target, draft),)

    assert isinstance(check_lossless_block(wrong, lambda _: target, 1), Lossy)


def test_wrong_sizes_are_named():
    with pytest.raises(ValueError, match="k = 4, V = 3"):
        speculative_vocabulary.candidates([1, 2, 3], 4)
    with pytest.raises(TypeError, match="k must be a whole number"):
        speculative_vocabulary.candidates([1, 2, 3], True)
    with pytest.raises(ValueError, match="has mass 0"):
        speculative_vocabulary.draft_law([1, 0], [0, 1], 1)
