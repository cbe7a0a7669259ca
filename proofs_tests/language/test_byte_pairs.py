"""Byte pairs learnt from a text: against a learner that recounts everything, and the reading of texts."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_math.language import Vocabulary
from spec_math.language.byte_pairs import BytePairs, learn, pieces

TEXTS = st.lists(st.text("ab c", max_size=12), max_size=5)


def recounted(texts, merges, prefer=min):
    """Byte pairs the slow way: after each join all pairs of all pieces are counted again."""
    words = [[bytes([byte]) for byte in piece] for text in texts for piece in pieces(text)]
    learnt: list[bytes] = []
    while len(learnt) < merges:
        counts = Counter(pair for word in words for pair in pairwise(word))
        if not counts:
            break
        most = max(counts.values())
        best = prefer(pair for pair, number in counts.items() if number == most)
        if b"".join(best) not in learnt:
            learnt.append(b"".join(best))
        for word in words:
            at = 0
            while at + 1 < len(word):
                if (word[at], word[at + 1]) == best:
                    word[at : at + 2] = [b"".join(best)]
                at += 1
    return tuple(learnt)


@given(TEXTS, st.integers(1, 8))
def test_the_pairs_learnt_are_those_of_a_recount(texts, merges):
    assert learn(texts, merges).tokens[256:] == recounted(texts, merges)


def test_another_rule_for_equally_frequent_pairs_learns_others():
    texts = ["ab", "ba"]
    assert learn(texts, 1).tokens[256:] == recounted(texts, 1) == (b"ab",)
    assert recounted(texts, 1, prefer=max) == (b"ba",)


@given(TEXTS, st.text(" abé\n", max_size=20))
def test_every_text_is_read_and_given_back(texts, text):
    tokenizer = BytePairs(learn(texts, 6))
    assert b"".join(pieces(text)) == text.encode()
    assert tokenizer.decode(tokenizer.encode(text)) == text


@given(TEXTS)
def test_a_piece_that_is_a_token_is_read_as_it(texts):
    vocabulary = learn(texts, 6)
    read = BytePairs(vocabulary).encode
    for token in vocabulary.tokens[256:]:
        assert read(token) == (vocabulary.index(token),)


def test_the_library_learns_the_same_tokens():
    tokenizers = pytest.importorskip("tokenizers")
    # Weights without ties, and pieces of letters alone, so that neither rule for ties nor any alphabet matters.
    weights = {"hello": 31, "hell": 17, "yellow": 11, "low": 7, "wool": 3}
    model = tokenizers.Tokenizer(tokenizers.models.BPE())
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=6 + 5, show_progress=False)
    model.train_from_iterator([word for word, number in weights.items() for _ in range(number)], trainer)
    theirs = sorted(model.get_vocab().items(), key=lambda entry: entry[1])
    ours = learn([word for word, number in weights.items() for _ in range(number)], 5)
    assert [key.encode() for key, _ in theirs[-5:]] == list(ours.tokens[256:])


def test_what_cannot_be_learnt_or_read_is_named():
    assert learn(["a b"], 5).tokens[256:] == (b" b",)
    with pytest.raises(ValueError, match="merges must be at least 1"):
        learn(["ab"], 0)
    with pytest.raises(ValueError, match="no token spells byte 0x63 at position 1"):
        BytePairs(Vocabulary(["a", "b"])).encode("acb")
