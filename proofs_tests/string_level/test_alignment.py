"""Alignment is the least path in the band, by enumeration of all paths; ties fall in the printed order."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_math.string_level.alignment import WidenedBandWarning, align, band

WORDS = st.lists(st.text("abc", max_size=4), min_size=1, max_size=4)


@cache
def distance(first, second):
    """Levenshtein by its recursion."""
    if not first or not second:
        return len(first) + len(second)
    return min(
        distance(first[1:], second) + 1,
        distance(first, second[1:]) + 1,
        distance(first[1:], second[1:]) + (first[0] != second[0]),
    )


def levenshtein(first, second):
    return align([first], [second], 0)[1]


def paths(rows, columns, width, at=(0, 0)):
    """Every path from a place to the last one by steps of one, inside the band."""
    if at == (rows - 1, columns - 1):
        yield [at]
        return
    for step in ((1, 0), (0, 1), (1, 1)):
        i, j = at[0] + step[0], at[1] + step[1]
        if i < rows and j < columns and abs(i - j) <= width:
            for rest in paths(rows, columns, width, (i, j)):
                yield [at, *rest]


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_levenshtein_is_its_recursion(first, second):
    assert levenshtein(first, second) == distance(first, second)
    assert levenshtein(first.encode(), second.encode()) == distance(first, second)


@given(WORDS, WORDS, st.integers(0, 4))
def test_the_alignment_is_the_least_path_in_the_band(xs, ys, window):
    width = band(len(xs), len(ys), window)
    path, cost = align(xs, ys, width)
    weighed = {tuple(way): sum(distance(xs[i], ys[j]) for i, j in way) for way in paths(len(xs), len(ys), width)}
    assert cost == min(weighed.values())
    assert weighed[tuple(path)] == cost


@given(WORDS, WORDS)
def test_ties_fall_to_the_first_predecessor_in_printed_order(xs, ys):
    # The printed order prefers (i−1, j), then (i, j−1), then (i−1, j−1), walking back: among the least paths the one
    # whose backward steps come first in that order. A rule that prefers the diagonal is told apart below.
    rank = {(1, 0): 0, (0, 1): 1, (1, 1): 2}
    path, cost = align(xs, ys, 4)
    least = [way for way in paths(len(xs), len(ys), 4) if sum(distance(xs[i], ys[j]) for i, j in way) == cost]

    def backwards(way):
        steps = zip(way[:0:-1], way[-2::-1], strict=True)
        return [rank[later[0] - sooner[0], later[1] - sooner[1]] for later, sooner in steps]

    assert path == min(least, key=backwards)


def test_a_tie_is_not_broken_by_the_diagonal():
    # All four cells cost 0, so three paths do; (i−1, j) is taken first.
    assert align(["a", "a"], ["a", "a"], 1) == ([(0, 0), (0, 1), (1, 1)], 0)


def test_a_band_too_narrow_is_widened_and_says_so():
    xs, ys = ["a", "b", "c", "d"], ["abcd"]
    with pytest.warns(WidenedBandWarning, match="window 1 holds no path between 4 and 1 tokens; widened to 3"):
        widened = align(xs, ys, 1)
    assert widened == align(xs, ys, 3)
    assert band(4, 1, 1) == 3
    # One narrower, and no path is left.
    assert list(paths(4, 1, 2)) == []


def test_a_narrow_band_costs_more():
    xs, ys = ["a", "a", "b"], ["a", "b", "b"]
    assert align(xs, ys, 0)[1] == 1
    assert align(xs, ys, 1)[1] == 0


def test_empty_sequences():
    assert align([], [], 0) == ([], 0)
    with pytest.raises(ValueError, match="the lengths are 0 and 1"):
        align([], ["a"], 3)


def test_bad_input_is_named():
    with pytest.raises(TypeError, match=r"window must be a whole number.*True"):
        align(["a"], ["a"], True)
    with pytest.raises(TypeError, match=r"got 2\.5"):
        align(["a"], ["a"], 2.5)
    with pytest.raises(ValueError, match=r"at least 0.*got -1"):
        align(["a"], ["a"], -1)
    with pytest.raises(TypeError, match=r"all str or all bytes; got \['bytes', 'str'\]"):
        align(["a"], [b"a"], 1)
    assert align(["a"], ["a"], np.int64(1)) == ([(0, 0)], 0)


def test_letters_are_characters_of_str_and_bytes_of_bytes():
    assert levenshtein("é", "e") == 1
    assert levenshtein("é".encode(), b"e") == 2


def test_half_a_pair_of_surrogates_is_a_letter():
    assert levenshtein("a\ud800b", "ab") == 1
    assert levenshtein("\ud800", "\udc00") == 1
    assert levenshtein("\ud800", "\ud800") == 0
