"""Static subsets: lossless, at most t(K), and counted and mapped as FR-Spec, VocabTrim and EAGLE-3 do."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import Rows, model_pairs
from proofs_tests.drafting.positive_drafts import busy
from proofs_tests.strategies import pairs
from proofs_tests.tokenized_models import speaker_pairs
from spec_math import Lossless, Lossy, check_lossless, check_lossless_block, law
from spec_math.arrays import exact, proportional_to
from spec_math.block_level import block, chain
from spec_math.papers import reduced_vocabulary, speculative_vocabulary, two_vocabularies
from spec_math.token_level import recursive, single

TARGET, DRAFT = exact(["1/10", "1/5", "3/10", "2/5"]), exact(["2/5", "3/10", "1/5", "1/10"])


@settings(max_examples=25)
@given(model_pairs(3, small=True), st.sampled_from([(0,), (1, 2), (0, 2), (0, 1, 2)]))
def test_every_subset_is_lossless(models, kept):
    target, draft = busy(models)
    model = reduced_vocabulary.model(draft, kept)
    for verifier in (chain, block):
        verdict = check_lossless_block(
            lambda coin, prefix, verifier=verifier: verifier.generate(coin, target, model, prefix, 2),
            target,
            3,
            rounds=2,
        )
        assert isinstance(verdict, Lossless)


@settings(max_examples=25)
@given(speaker_pairs(ends=False), st.integers(0, 2**32 - 1), st.sampled_from([(2, 1), (1, 2)]))
def test_every_subset_is_lossless_over_two_vocabularies(pair, seed, reach):
    """A drafter of another language, sent on to the target's tokens, and then kept to a part of them.

    The part is fixed (FR-Spec, VocabTrim), or changes with the text (SpecVocab).
    """
    target, drafter = pair
    random, size, (lookahead, rounds) = Random(seed), len(target.vocabulary), reach
    # Positive kernels, so that every part has mass.
    kernel = np.stack([proportional_to([random.randint(1, 4) for _ in range(size)]) for _ in drafter.vocabulary])
    sent = two_vocabularies.model(drafter, target.vocabulary, kernel)
    k = random.randint(1, size)
    scores = {length: [random.randint(0, 3) for _ in range(size)] for length in range(3)}
    kept = tuple(sorted(random.sample(range(size), k)))
    for model in (
        reduced_vocabulary.model(sent, kept),
        speculative_vocabulary.model(sent, lambda prefix: scores[len(prefix) % 3], k),
    ):
        verdict = check_lossless_block(
            lambda coin, prefix, model=model: chain.generate(coin, target.model, model, prefix, lookahead),
            target.model,
            3,
            rounds,
        )
        assert isinstance(verdict, Lossless)


@given(pairs(), st.data())
def test_a_subset_accepts_at_most_the_target_mass_on_it(pair, data):
    target, draft = pair
    kept = data.draw(st.lists(st.integers(0, len(target) - 1), min_size=1, unique=True))
    if not draft[kept].sum():
        with pytest.raises(ValueError, match="has mass 0"):
            reduced_vocabulary.acceptance(target, draft, kept)
        return
    accepted = reduced_vocabulary.acceptance(target, draft, kept)
    restricted = {token: draft[token] / draft[kept].sum() for token in kept}
    assert accepted == sum(min(target[token], restricted[token]) for token in kept)
    assert accepted <= target[kept].sum()
    assert (accepted == target[kept].sum()) == all(restricted[token] >= target[token] for token in kept)
    program = law(
        lambda coin: len(chain.generate(coin, lambda _: target, reduced_vocabulary.model(lambda _: draft, kept), (), 1))
    )
    assert program.get(2, 0) == accepted


def test_a_model_behind_a_map_ends_where_it_ended():
    draft = Rows((DRAFT,), end=3)
    model = reduced_vocabulary.model(draft, (0, 3))
    assert model.end == 3
    target = Rows((TARGET,))
    with pytest.raises(
        ValueError, match="must agree on the token that ends a text; the target's is None, the draft's 3"
    ):
        law(lambda coin: chain.generate(coin, target, model, (), 1))


def test_a_subset_that_is_verified_against_the_whole_draft_is_lossy():
    # Control: the draft law that the tokens came from is d_K, not d.
    restricted = reduced_vocabulary.draft_law(DRAFT, (0, 2))

    def wrong(coin, _tokens, target, draft):
        token = coin.draw(restricted)
        return single.verify(coin, token, target, draft)

    assert isinstance(check_lossless(wrong, TARGET, DRAFT), Lossy)
    assert check_lossless(single.verify, TARGET, restricted)
    assert check_lossless(recursive.verify, TARGET, restricted, k=2)


# EAGLE-3's maps.


@given(st.sets(st.integers(0, 9), min_size=1))
def test_d2t_and_t2d_lead_back_to_the_tokens_kept(kept):
    d2t, t2d = reduced_vocabulary.maps(tuple(kept), 10)
    assert [place + offset for place, offset in enumerate(d2t)] == sorted(kept)
    assert {token for token, is_kept in enumerate(t2d) if is_kept} == kept
    even = [Fraction(1, len(kept))] * len(kept)
    spread = reduced_vocabulary.spread(even, d2t, 10)
    assert {token for token, mass in enumerate(spread) if mass} == kept


def test_a_draft_with_its_own_law_is_lossless_behind_d2t():
    own, d2t = exact(["3/4", "1/4"]), (1, 2)
    spread = reduced_vocabulary.spread(own, d2t, 4)
    assert [str(mass) for mass in spread] == ["0", "3/4", "0", "1/4"]
    assert check_lossless(single.verify, TARGET, spread)


def test_a_skipped_d2t_is_lossy():
    # Control: draft tokens 0 and 1 are taken for target tokens 0 and 1, but their law for that of tokens 1 and 3.
    own = exact(["3/4", "1/4"])
    spread = reduced_vocabulary.spread(own, (1, 2), 4)

    def wrong(coin, _tokens, target, _draft):
        token = coin.draw(own)
        if coin.flip(min(1, target[token] / spread[token]) if spread[token] else 1):
            return token
        left = [max(t - d, 0) for t, d in zip(target, spread, strict=True)]
        return coin.draw([mass / sum(left) for mass in left])

    assert isinstance(check_lossless(wrong, TARGET, DRAFT), Lossy)


def test_wrong_subsets_are_named():
    for kept, message in (
        ((), "at least one token"),
        ((0, 4), r"indices in 0\.\.3; got 4"),
        ((0, 0), "2 tokens, 1 of them different"),
        ((True,), "got True"),
    ):
        with pytest.raises(ValueError, match=message):
            reduced_vocabulary.draft_law(DRAFT, kept)
    with pytest.raises(ValueError, match="there are 2, and 3 masses"):
        reduced_vocabulary.spread(["1/2", "1/4", "1/4"], (0, 0), 4)
    with pytest.raises(ValueError, match="2 tokens, 1 of them different"):
        reduced_vocabulary.spread(["1/2", "1/2"], (1, 0), 4)
