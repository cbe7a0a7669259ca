"""Overlaps of vocabularies as sets, by bytes and by raw keys."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given

from proofs_tests.strategies import vocabularies
from spec_math.language import GreedyTokenizer, Vocabulary
from spec_math.language.overlap import by_bytes, by_keys, in_texts, keys_of, pairs


@given(vocabularies(), vocabularies())
def test_overlap_figures_are_those_of_the_two_sets(target: list[str], draft: list[str]) -> None:
    overlap = by_bytes(Vocabulary(target), Vocabulary(draft))
    shared = [word for word in target if word in draft]
    assert len(overlap.shared) == len(shared)
    assert overlap.of_target == Fraction(len(shared), len(target))
    assert overlap.jaccard == Fraction(len(shared), len(target) + len(draft) - len(shared))
    assert overlap.of_larger == Fraction(len(shared), max(len(target), len(draft)))
    assert by_keys(Vocabulary(target), Vocabulary(draft)).shared == set(shared)
    assert pairs(Vocabulary(target), Vocabulary(draft)) == tuple(
        (target.index(word), draft.index(word)) for word in shared
    )


def test_erratum_k_raw_keys_compare_spellings_and_not_texts() -> None:
    # Both vocabularies add the same two texts; their files spell them otherwise, and one shared spelling is two texts.
    byte_level = Vocabulary([b" a", b"\xe9", b"b"], keys=["Ġa", "é", "b"])
    pieces = Vocabulary([b" a", "é".encode(), b"b"], keys=["▁a", "é", "b"])
    assert by_bytes(byte_level, pieces).shared == {b" a", b"b"}
    assert by_keys(byte_level, pieces).shared == {"é", "b"}


def test_special_tokens_meet_special_tokens_alone() -> None:
    named = Vocabulary(["a", "</s>"], special=[1])
    spelled = Vocabulary(["a", "</s>"])
    assert by_bytes(named, spelled).shared == {b"a"}
    assert len(by_bytes(named, named).shared) == 2
    assert len(by_keys(named, spelled).shared) == 2


def test_tokens_with_equal_bytes_count_once() -> None:
    repeated = Vocabulary([b"a", b"a", b"b"], keys=["<0x61>", "a", "b"], repeats=True)
    overlap = by_bytes(repeated, Vocabulary(["b", "a"]))
    assert overlap.of_target == 1
    assert pairs(repeated, Vocabulary(["b", "a"])) == ((1, 1), (2, 0))
    assert by_keys(repeated, Vocabulary(["b", "a"])).of_target == Fraction(2, 3)


def test_no_shared_token_is_an_overlap_of_zero() -> None:
    overlap = by_bytes(Vocabulary(["a"]), Vocabulary(["b"]))
    assert (overlap.of_target, overlap.jaccard, overlap.of_larger) == (0, 0, 0)
    assert pairs(Vocabulary(["a"]), Vocabulary(["b"])) == ()


def test_overlap_on_texts_counts_the_tokens_they_use() -> None:
    target = GreedyTokenizer(Vocabulary(["a", "b", "ab", "c", "d"]))
    draft = GreedyTokenizer(Vocabulary(["a", "b", "bc", "c", "d"]))
    # T' = {ab, c}, D' = {a, bc, c}: whatever else they could have used is left out.
    overlap = in_texts(["abc", "c"], target, draft)
    assert (overlap.target, overlap.draft) == ({b"ab", b"c"}, {b"a", b"bc", b"c"})
    assert (overlap.of_target, overlap.jaccard) == (Fraction(1, 2), Fraction(1, 4))
    assert in_texts(["abc", "c"], target, draft, keys_of).shared == {"c"}
    with pytest.raises(ValueError, match="use no tokens"):
        _ = in_texts([""], target, draft).of_target
