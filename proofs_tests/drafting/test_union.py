"""The union strategy is lossless with every verifier of blocks, and accepts what Table 3 says."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.drafting.vocabulary_pairs import DRAFTER, TARGET, vocabulary_pairs
from proofs_tests.real_vocabularies import real
from proofs_tests.tokenized_models import speaker, speaker_pairs
from spec_math import Lossless, Lossy, check_lossless_block, law
from spec_math.block_level import block, chain, spectr, without_replacement
from spec_math.drafting import intersection, union
from spec_math.language import Table, TokenizedModel, Vocabulary

HALF = Fraction(1, 2)


def table_3(target: Any, draft: Any, targets: list[str], drafts: list[str]) -> Fraction:
    """Σ over the shared tokens, by their spelling."""
    return sum(
        (min(target[i], draft[drafts.index(word)]) for i, word in enumerate(targets) if word in drafts), Fraction(0)
    )


@settings(max_examples=30)
@given(speaker_pairs(), st.sampled_from([(2, 1), (1, 2), (2, 2)]))
def test_union_is_lossless(pair, reach):
    target, drafter = pair
    lookahead, rounds = reach

    def generate(coin, prefix):
        return union.generate(coin, target, drafter, prefix, lookahead)

    assert isinstance(check_lossless_block(generate, target.model, 3, rounds), Lossless)


@settings(max_examples=15)
@given(speaker_pairs(ends=False))
def test_every_verifier_of_blocks_is_lossless_on_the_union(pair):
    models = union.models(*pair)
    for verifier in (
        lambda coin, prefix: block.generate(coin, *models, prefix, 2),
        lambda coin, prefix: spectr.generate(coin, *models, prefix, (2,)),
        lambda coin, prefix: without_replacement.generate(coin, *models, prefix, (2, 1)),
    ):
        assert isinstance(check_lossless_block(verifier, pair[0].model, 3), Lossless)


@given(vocabulary_pairs())
def test_acceptance_is_that_of_table_3(case):
    target, draft, targets, drafts = case
    accepted = union.acceptance(target, draft, Vocabulary(targets), Vocabulary(drafts))
    assert type(accepted) is Fraction
    assert accepted == table_3(target, draft, targets, drafts)


@given(vocabulary_pairs())
def test_the_program_accepts_what_table_3_says(case):
    target, draft, targets, drafts = case
    pair = speaker(targets, target), speaker(drafts, draft)
    # One drafted token: a second token is emitted if and only if the first was accepted.
    lengths = law(lambda coin: len(union.generate(coin, *pair, (), 1)))
    assert lengths.get(2, 0) == table_3(target, draft, targets, drafts)


def test_examples_of_the_paper():
    # Disjoint vocabularies, and one a part of the other (Timor et al., Section 2).
    one = union.acceptance([1], [1], Vocabulary(["a"]), Vocabulary(["b"]))
    part = union.acceptance(["1/4", "3/4"], [1], Vocabulary(["a", "b"]), Vocabulary(["b"]))
    more = union.acceptance([1], ["1/3", "2/3"], Vocabulary(["a"]), Vocabulary(["a", "b"]))
    assert (one, part, more) == (0, Fraction(3, 4), Fraction(1, 3))
    # T = {a}, D = {a, aa}: aa is always rejected, although the target writes nothing else.
    assert union.acceptance([1], ["1/2", "1/2"], Vocabulary(["a"]), Vocabulary(["a", "aa"])) == HALF


def test_the_target_is_never_asked_about_tokens_it_does_not_know():
    # The drafter says c, then goes on: all rows of the draft are asked for before the first is verified.
    rows = {(): ["1/2", "1/2"], (0,): [1, 0], (1,): [1, 0]}
    target = TokenizedModel(Table(rows, context=1), Vocabulary(["a", "b"]))
    drafter = speaker(["c", "b"], ["1/2", "1/2"])
    emitted = law(lambda coin: union.generate(coin, target, drafter, (), 2))
    assert all(token < 2 for tokens in emitted for token in tokens)
    # After c the target hears what it can read: nothing of bc, and b of cb.
    extended, _ = union.models(target, drafter)
    assert extended((1, 2)).tolist() == [HALF, HALF, 0]
    assert extended((2, 1)).tolist() == [1, 0, 0]


def test_special_tokens_are_shared_by_name_and_repeats_add_up():
    target = Vocabulary(["a", "<end>"], special=[1])
    named = Vocabulary(["<end>", "a"], special=[0])
    spelled = Vocabulary(["<end>", "a"])
    assert union.acceptance(["1/2", "1/2"], ["1/2", "1/2"], target, named) == 1
    assert union.acceptance(["1/2", "1/2"], ["1/2", "1/2"], target, spelled) == HALF
    twice = Vocabulary(["a", "b", "a"], repeats=True)
    assert union.acceptance([1, 0], ["1/4", "1/2", "1/4"], Vocabulary(["a", "b"]), twice) == HALF


def test_laws_may_have_leading_axes_and_be_tensors():
    torch = pytest.importorskip("torch")
    words = Vocabulary(["a", "b"]), Vocabulary(["c", "b"])
    targets, drafts = [[0.25, 0.75], [0.5, 0.5]], [[0.5, 0.5], [0.75, 0.25]]
    assert union.acceptance(targets, drafts, *words).tolist() == [0.5, 0.25]
    assert union.acceptance(torch.tensor(targets), torch.tensor(drafts), *words).tolist() == [0.5, 0.25]
    assert intersection.acceptance(torch.tensor(targets), torch.tensor(drafts), *words).tolist() == [0.75, 0.5]


def test_real_vocabularies_share_what_their_bytes_say():
    # Two published vocabularies, and laws that fall off along the tokens: Σ min over the tokens with the same bytes.
    target_words, draft_words = real("mixtral-8x22b"), real("qwen2")
    target, draft = (0.5 ** (np.arange(len(words)) / 4000) for words in (target_words, draft_words))
    target, draft = target / target.sum(), draft / draft.sum()
    mass = {}
    for word, d in zip(draft_words, draft, strict=True):
        mass[word] = mass.get(word, 0.0) + d
    read = {word: place for place, word in enumerate(target_words)}
    shared = [(target[place], mass[word]) for word, place in read.items() if word and word in mass]
    assert len(shared) == 29_234
    # Sums of at most 2^18 masses of at most 1 in another order.
    wanted = sum(min(pair) for pair in shared)
    assert abs(union.acceptance(target, draft, target_words, draft_words) - wanted) <= 2.0 ** (18 - 53)
    common = sum(d for _, d in shared)
    wanted = sum(min(t, d / common) for t, d in shared[:1000])
    restricted = intersection.draft_law(draft, target_words, draft_words)
    places = [place for word, place in read.items() if word and word in mass][:1000]
    assert abs(np.minimum(target, restricted)[places].sum() - wanted) <= 2.0 ** (18 - 53)


def test_bad_laws_are_named():
    words = Vocabulary(["a", "b"])
    with pytest.raises(ValueError, match="target: its vocabulary has 2 tokens; the distribution has 1"):
        union.acceptance([1], ["1/2", "1/2"], words, words)
    with pytest.raises(ValueError, match="draft: its vocabulary has 2 tokens; the distribution has 3"):
        union.acceptance(["1/2", "1/2"], ["1/2", "1/4", "1/4"], words, words)
    with pytest.raises(TypeError, match="one number type"):
        union.acceptance([0.5, 0.5], ["1/2", "1/2"], words, words)


# Controls: the judge meets wrong ways of joining two vocabularies.


def drops_what_the_target_lacks(coin, prefix):
    """Draw from the intersection, but verify against the draft's masses as they were."""
    target, draft = union.models(TARGET, DRAFTER)
    row = draft(prefix)[:3]
    token = coin.draw(row / row.sum())
    left = [max(t - d, 0) for t, d in zip(target(prefix), row, strict=False)]
    if coin.flip(min(1, target(prefix)[token] / row[token])):
        return (token,)
    return (coin.draw([mass / sum(left) for mass in left]),)


def accepts_what_the_target_lacks(coin, prefix):
    """Keep a token outside the target's vocabulary, as TokenTiming's Figure 1 says of TLI (erratum p)."""
    target, draft = union.models(TARGET, DRAFTER)
    token = coin.draw(draft(prefix))
    return (token,) if token >= 3 else chain.generate(coin, target, draft, prefix, 1)


def matches_by_index(coin, prefix):
    """Read a draft token as the target token with the same index, as if both had one vocabulary."""
    row = DRAFTER.law(DRAFTER.read(TARGET.vocabulary.spell(prefix)))
    token = coin.draw(row)
    shared, _ = union.laws(TARGET.law(prefix), row, TARGET.vocabulary, DRAFTER.vocabulary)
    t, d = shared, union.models(TARGET, DRAFTER)[1](prefix)
    left = [max(x - y, 0) for x, y in zip(t, d, strict=True)]
    if d[token] > 0 and coin.flip(min(1, t[token] / d[token])):
        return (token,)
    return (coin.draw([mass / sum(left) for mass in left]),)


@pytest.mark.parametrize("wrong", [drops_what_the_target_lacks, accepts_what_the_target_lacks, matches_by_index])
def test_a_wrong_union_is_lossy(wrong):
    assert isinstance(check_lossless_block(wrong, TARGET.model, 2), Lossy)


def test_the_right_union_of_the_controls_is_lossless():
    verdict = check_lossless_block(
        lambda coin, prefix: union.generate(coin, TARGET, DRAFTER, prefix, 2), TARGET.model, 3
    )
    assert isinstance(verdict, Lossless)
