"""Segmentations counted, listed and drawn, against recursion over plain strings."""

from __future__ import annotations

from itertools import product
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.strategies import vocabularies
from spec_math.language import Vocabulary
from spec_math.string_level import segmentation

TEXTS = st.text("ab", max_size=9)


def by_recursion(text, words):
    """All ways of cutting, shortest first token first."""
    if not text:
        return [()]
    starts = sorted((word for word in words if text.startswith(word)), key=len)
    return [(words.index(word), *rest) for word in starts for rest in by_recursion(text[len(word) :], words)]


@given(vocabularies(), TEXTS)
def test_count_and_list_are_those_of_the_recursion(words, text):
    vocabulary = Vocabulary(words)
    expected = by_recursion(text, words)
    assert segmentation.list(text, vocabulary) == expected
    assert segmentation.count(text, vocabulary) == len(expected)
    assert segmentation.counts([text.encode()], vocabulary) == [len(expected)]


@given(vocabularies(), TEXTS)
def test_forward_passes_are_the_distinct_proper_prefixes(words, text):
    prefixes = {cut[:length] for cut in by_recursion(text, words) for length in range(len(cut))}
    assert segmentation.forward_passes(text, Vocabulary(words)) == len(prefixes)


@given(vocabularies(), TEXTS.filter(bool))
def test_the_drawn_tree_has_a_leaf_for_each_segmentation(words, text):
    vocabulary = Vocabulary(words)
    drawn = segmentation.draw(text, vocabulary).splitlines()
    assert drawn[0] == text
    assert sum(line.endswith("✓") for line in drawn) == segmentation.count(text, vocabulary)
    # The other nodes are the forward passes, the root among them.
    inner = sum(not line.endswith("✓") for line in drawn[1:]) + (segmentation.count(text, vocabulary) > 0)
    assert inner == segmentation.forward_passes(text, vocabulary)


@pytest.mark.parametrize("longest", [1, 2, 3])
def test_a_complete_vocabulary_cuts_a_token_of_length_m_in_two_to_the_m_minus_1_ways(longest):
    # What Lemma 3.1 of Timor et al. does prove: the compositions of m, for tokens no longer than the vocabulary's.
    words = ["".join(letters) for size in range(1, longest + 1) for letters in product("ab", repeat=size)]
    for size in range(1, longest + 1):
        for letters in product("ab", repeat=size):
            assert segmentation.count("".join(letters), Vocabulary(words)) == 2 ** (size - 1)


def test_counts_beyond_64_bits_are_exact():
    # With a and aa the count of a text of n letters is a Fibonacci number, Σ C(n − i, i).
    vocabulary = Vocabulary(["a", "aa"])
    sizes = [62, 63, 64, 65, 400]
    expected = [sum(comb(size - pairs, pairs) for pairs in range(size // 2 + 1)) for size in sizes]
    assert segmentation.counts([b"a" * size for size in sizes], vocabulary) == expected
    every = Vocabulary(["a" * size for size in range(1, 130)])
    assert segmentation.counts([b"a" * size for size in (63, 64, 129)], every) == [2**62, 2**63, 2**128]


def test_special_tokens_take_part_in_no_segmentation():
    assert segmentation.count("ab", Vocabulary(["a", "b", "ab"], special=[2])) == 1
    assert segmentation.count("ab", Vocabulary(["a", "b", "ab"])) == 2


def test_tokens_with_the_same_bytes_are_one_piece():
    assert segmentation.list("aa", Vocabulary(["a", "a"], repeats=True)) == [(1, 1)]


def test_a_text_with_too_many_segmentations_is_counted_and_walked_but_not_listed():
    vocabulary = Vocabulary(["a", "aa"])
    with pytest.raises(ValueError, match="573,147,844,013,817,084,101 segmentations, and list holds at most 1,000,000"):
        segmentation.list("a" * 100, vocabulary)
    walk = segmentation.each("a" * 100, vocabulary)
    assert next(walk) == (0,) * 100
    assert next(walk) == (*(0,) * 98, 1)


def test_as_many_segmentations_as_are_listed_are_listed(monkeypatch):
    vocabulary = Vocabulary(["a", "aa"])
    monkeypatch.setattr(segmentation, "LISTED", 5)
    assert len(segmentation.list("aaaa", vocabulary)) == 5
    monkeypatch.setattr(segmentation, "LISTED", 4)
    with pytest.raises(ValueError, match="5 segmentations, and list holds at most 4"):
        segmentation.list("aaaa", vocabulary)


def test_text_that_cannot_be_spelled_has_no_segmentation():
    vocabulary = Vocabulary(["a"])
    assert segmentation.count("ab", vocabulary) == 0
    assert segmentation.list("ab", vocabulary) == []
    assert segmentation.forward_passes("ab", vocabulary) == 0
    assert segmentation.draw("ab", vocabulary) == "ab"
    with pytest.raises(ValueError, match="lone surrogate"):
        segmentation.count("\ud800", vocabulary)


def test_a_dead_end_is_no_forward_pass():
    # aab: after (aa) only b is left to draw; after (a, a) too; (a, ab) is a whole. No prefix ends where text cannot go.
    assert segmentation.forward_passes("aab", Vocabulary(["a", "aa", "aab"])) == 1


def test_the_drawn_tree_is_that_of_the_paper_in_small():
    """A branch with siblings after it goes on as a line beside its children; the last one leaves none."""
    drawn = segmentation.draw("abc", Vocabulary(["a", "b", "c", "ab", "bc"]))
    assert drawn.splitlines() == ["abc", "├─ a", "│  ├─ b", "│  │  └─ c ✓", "│  └─ bc ✓", "└─ ab", "   └─ c ✓"]


def test_texts_too_long_for_64_bits_leave_those_after_them_alone():
    vocabulary = Vocabulary(["a", "aa"])
    texts = [b"a" * 70, b"aa", b"a" * 64, b"aaa", b"b"]
    assert segmentation.counts(texts, vocabulary) == [segmentation.count(text, vocabulary) for text in texts]
    assert segmentation.counts(texts, vocabulary)[1::2] == [2, 3]


def test_counts_below_64_bits_are_exact_where_floats_are_not():
    vocabulary = Vocabulary(["a" * size for size in range(1, 62)])
    assert segmentation.counts([b"a" * 62], vocabulary) == [2**61 - 1] != [int(float(2**61 - 1))]
