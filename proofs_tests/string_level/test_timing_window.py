"""Appendix K's choice of the window: offsets without a band, the reach of nine in ten, the best mean speed-up."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_math.papers.two_vocabularies import chosen, offsets, reach
from spec_math.string_level.alignment import align

WORDS = st.lists(st.text("ab", max_size=3), min_size=1, max_size=5)


@given(st.lists(st.tuples(WORDS, WORDS), max_size=4))
def test_offsets_are_those_of_alignments_without_a_band(pairs):
    expected = Counter()
    for first, second in pairs:
        expected.update(abs(i - j) for i, j in align(first, second, 99)[0])
    assert offsets(pairs) == expected


@given(st.dictionaries(st.integers(0, 6), st.integers(1, 9), min_size=1), st.integers(1, 10))
def test_the_reach_is_the_first_offset_at_which_the_share_is_held(counts, tenths):
    share = Fraction(tenths, 10)
    places = sorted(offset for offset, count in counts.items() for _ in range(count))
    held = [offset for offset in range(7) if sum(place <= offset for place in places) >= share * len(places)]
    assert reach(counts, share) == held[0]


def test_the_window_of_the_best_mean_speed_up_is_chosen_among_the_reaches():
    speeds = {2: Fraction(11, 10), 3: Fraction(12, 10), 4: Fraction(12, 10), 5: Fraction(13, 10)}
    # 5 is the best, but no pair reaches so far; of the equals 3 and 4 the narrower.
    assert chosen([2, 4], speeds.__getitem__) == 3
    assert chosen([5, 5], speeds.__getitem__) == 5


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match="at least one aligned place"):
        reach({})
    with pytest.raises(ValueError, match=r"lies in \(0, 1\]; got 0"):
        reach({0: 1}, 0)
    with pytest.raises(ValueError, match="at least one model pair"):
        chosen([], lambda window: window)
