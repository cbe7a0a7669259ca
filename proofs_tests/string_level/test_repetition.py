"""Repetition-N by another count, and the two numbers that the paper calls by one name."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_math.papers import two_vocabularies

TEXTS = st.lists(st.lists(st.sampled_from("abc"), max_size=6).map(" ".join), max_size=3)


def grams(texts, n):
    return [tuple(words[at : at + n]) for words in map(str.split, texts) for at in range(len(words) - n + 1)]


@given(TEXTS, st.integers(1, 4))
def test_rates_count_kinds_and_shares_count_occurrences(texts, order):
    for n in range(1, order + 1):
        found = grams(texts, n)
        kinds = set(found)
        repeated = [gram for gram in found if found.count(gram) > 1]
        rate = Fraction(100 * len(set(repeated)), len(kinds)) if found else 0
        share = Fraction(100 * len(repeated), len(found)) if found else 0
        assert two_vocabularies.rates(texts, order)[n - 1] == rate
        assert two_vocabularies.shares(texts, order)[n - 1] == share


def test_the_algorithm_and_the_prose_give_different_numbers():
    # "a a a a b": of two kinds of words one is repeated, 50 %; of five words four are, 80 %.
    assert two_vocabularies.rates(["a a a a b"], 1) == [50]
    assert two_vocabularies.shares(["a a a a b"], 1) == [80]


def test_n_grams_do_not_run_across_texts():
    assert two_vocabularies.rates(["a b", "a b"], 2) == [100, 100]
    assert two_vocabularies.rates(["a", "b", "a", "b"], 2) == [100, 0]


def test_wrong_orders_are_named():
    with pytest.raises(ValueError, match="order must be at least 1"):
        two_vocabularies.rates(["a"], 0)


def test_up_to_three_tokens_in_a_row_are_counted_unless_told():
    texts = ["a b c d a b c d", "a b c"]
    assert two_vocabularies.shares(texts) == two_vocabularies.shares(texts, 3)
    assert two_vocabularies.rates(texts) == two_vocabularies.rates(texts, 3)
    assert len(two_vocabularies.shares(texts)) == 3
