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
