"""A row of masses and a uniform give the token that a coin draws."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proofs_tests.block_level.column_coin import replay_row
from spec_math import array_coin
from spec_math.arrays import exact, proportional_to


def test_a_draw_beyond_all_running_sums_is_the_last_token_with_mass() -> None:
    masses, uniforms = np.array([[0.1] * 10 + [0.0]]), np.array([1 - 2.0**-53])
    assert array_coin.drawn(masses, uniforms).tolist() == [9]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6).filter(any), st.fractions(0, Fraction(99, 100)))
@example([0, 1], Fraction(0))
@example([1, 1], Fraction(1, 2))
def test_drawn_is_the_coins_draw(weights: list[int], uniform: Fraction) -> None:
    law = proportional_to(weights)
    (token,) = array_coin.drawn(exact([weights]), exact([uniform])).tolist()
    assert token == replay_row(lambda coin: coin.draw(law), [uniform])


@given(st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5).filter(any), min_size=1, max_size=4), st.data())
def test_rows_of_floats_are_drawn_from_as_those_of_fractions_are(rows: list[list[int]], data: st.DataObject) -> None:
    """Whole numbers and uniforms of few bits: nothing rounds, and a uniform often falls on a border."""
    eighths = data.draw(st.lists(st.integers(0, 7), min_size=len(rows), max_size=len(rows)))
    uniforms = exact([Fraction(eighth, 8) for eighth in eighths])
    wanted = array_coin.drawn(exact(rows), uniforms).tolist()
    for kind in (np.float64, np.float32):
        assert array_coin.drawn(np.array(rows, dtype=kind), uniforms.astype(np.float64)).tolist() == wanted


def test_where_no_running_sum_is_above_a_row_is_looked_at_whole() -> None:
    """The bar of the least float rounds up to it; a row of zeros has no token."""
    masses = np.array([[0.0, 5e-324, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert array_coin.drawn(masses, np.array([0.9, 0.5, 0.0])).tolist() == [1, -1, 2]


@pytest.mark.parametrize("size", [1024, 1087, 1088])
def test_long_rows_are_drawn_from_as_those_of_fractions_are(size: int) -> None:
    """Rows of 2^11 whole units, most of them empty, at every border between tokens, below it and above it."""
    rng = np.random.default_rng(size)
    rows = np.stack([rng.multinomial(2**11, rng.dirichlet(np.full(size, 0.01))) for _ in range(4)])
    rows[0, -1] += rows[0, :-1].sum() - (rows[0, :-1] // 2).sum()
    rows[0, :-1] //= 2
    for row in rows:
        borders = np.concatenate([[0], np.cumsum(row)])
        for shift in (0, -(2.0**-40), 2.0**-40):
            bars = borders[:-1] + shift
            uniforms = bars[(bars >= 0) & (bars < 2**11)] / 2**11
            wanted = [int(np.flatnonzero(borders[1:] > uniform * 2**11)[0]) for uniform in uniforms]
            many = np.tile(row.astype(float), (len(uniforms), 1))
            assert array_coin.drawn(many, uniforms).tolist() == wanted
            assert array_coin.drawn(many.astype(np.float32), uniforms).tolist() == wanted


def test_long_rows_without_a_sum_above_are_looked_at_whole() -> None:
    masses = np.zeros((3, 2000))
    masses[0, 7], masses[2, 1999] = 5e-324, 1.0
    assert array_coin.drawn(masses, np.array([0.9, 0.5, 0.0])).tolist() == [7, -1, 1999]
    tenths = np.array([[0.1] * 1999 + [0.0]])
    assert array_coin.drawn(tenths, np.array([1 - 2.0**-53])).tolist() == [1998]
