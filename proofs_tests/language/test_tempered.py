"""A model at a temperature: its laws one by one, many at once, exactly, and what it refuses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from spec_math.language import NGram, Table
from spec_math.language.tempered import Tempered, TemperedNGram, heated

MODEL = NGram.learn(np.random.default_rng(0).integers(0, 4, 300), 3, 4)


def test_rows_are_the_laws_one_by_one() -> None:
    warm = TemperedNGram(MODEL, 0.5)
    contexts = np.stack([MODEL.context(prefix) for prefix in [(), (0,), (1, 2), (3, 3, 1)]])
    assert [row.tolist() for row in warm.rows(contexts)] == [
        warm(prefix).tolist() for prefix in [(), (0,), (1, 2), (3, 3, 1)]
    ]


def test_half_the_temperature_squares_the_masses() -> None:
    row = MODEL((1, 2))
    assert np.abs(heated(MODEL, 0.5)((1, 2)) - row**2 / (row**2).sum()).max() < 2.0**-50
    exact = heated(Table({(): ["1/3", "2/3"]}, context=0, end=1), Fraction(1, 2))
    assert exact(()).tolist() == [Fraction(1, 5), Fraction(4, 5)]
    assert exact.end == 1  # type: ignore[attr-defined]


def test_a_power_that_is_not_whole_is_refused_of_exact_laws() -> None:
    with pytest.raises(ValueError, match="whole"):
        Tempered(Table({(): ["1/3", "2/3"]}, context=0), Fraction(2, 3))(())
