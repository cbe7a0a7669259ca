"""A row of masses and a uniform give the token that a coin draws."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from proofs_tests.block_level.column_coin import replay_row
from spec_math import array_draw
from spec_math.arrays import exact, proportional_to


def test_a_draw_beyond_all_running_sums_is_the_last_token_with_mass() -> None:
    masses, uniforms = np.array([[0.1] * 10 + [0.0]]), np.array([1 - 2.0**-53])
    assert array_draw.drawn(masses, uniforms).tolist() == [9]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6).filter(any), st.fractions(0, Fraction(99, 100)))
@example([0, 1], Fraction(0))
@example([1, 1], Fraction(1, 2))
def test_drawn_is_the_coins_draw(weights: list[int], uniform: Fraction) -> None:
    law = proportional_to(weights)
    (token,) = array_draw.drawn(exact([weights]), exact([uniform])).tolist()
    assert token == replay_row(lambda coin: coin.draw(law), [uniform])


@given(st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5).filter(any), min_size=1, max_size=4), st.data())
def test_rows_of_floats_are_drawn_from_as_those_of_fractions_are(rows: list[list[int]], data: st.DataObject) -> None:
    """Whole numbers and uniforms of few bits: nothing rounds, and a uniform often falls on a border."""
    eighths = data.draw(st.lists(st.integers(0, 7), min_size=len(rows), max_size=len(rows)))
    uniforms = exact([Fraction(eighth, 8) for eighth in eighths])
    wanted = array_draw.drawn(exact(rows), uniforms).tolist()
    for kind in (np.float64, np.float32):
        assert array_draw.drawn(np.array(rows, dtype=kind), uniforms.astype(np.float64)).tolist() == wanted


def test_where_no_running_sum_is_above_a_row_is_looked_at_whole() -> None:
    """The bar of the least float rounds up to it; a row of zeros has no token."""
    masses = np.array([[0.0, 5e-324, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert array_draw.drawn(masses, np.array([0.9, 0.5, 0.0])).tolist() == [1, -1, 2]
