"""Laws that are kept are those of the model, as many as there is room for, and nobody can write into them."""

from __future__ import annotations

import numpy as np
import pytest

from spec_math.language import NGram
from spec_math.language.tempered import KeptRows, heated

TEXT = np.random.default_rng(0).integers(0, 5, 300).tolist()


class Counting(NGram):
    """An n-gram model that counts what it is asked for."""

    asked = 0

    def rows(self, contexts: object) -> np.ndarray:  # type: ignore[type-arg]
        found = super().rows(contexts)
        Counting.asked += len(found)
        return found


@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize("heat", [1, 0.5])
def test_kept_laws_are_the_models_own(order: int, heat: float) -> None:
    """After prefixes of every length, short ones among them, which stand at the start of a text."""
    model = heated(NGram.learn(TEXT, order, 5), heat)
    kept = KeptRows(model)  # type: ignore[arg-type]
    prefixes = [tuple(TEXT[at : at + size]) for size in range(7) for at in range(12)]
    for _ in range(2):
        for prefix, row in zip(prefixes, kept.rows_after(prefixes), strict=True):
            assert row.tolist() == model(prefix).tolist()
            assert kept(prefix).tolist() == row.tolist()


def test_a_law_is_worked_out_once_and_the_longest_unused_goes_first() -> None:
    kept = KeptRows(Counting.learn(TEXT, 2, 5), most=3 * 5 * 8)
    Counting.asked = 0
    _ = kept.rows_after([(0,), (1,), (3, 0), (2,)])
    assert Counting.asked == 3
    _ = kept((0,))
    _ = kept((4, 3))  # now 1 is the one that was asked for longest ago
    assert Counting.asked == 4
    _ = kept.rows_after([(0,), (2,), (3,)])
    assert Counting.asked == 4
    _ = kept((1,))
    assert Counting.asked == 5


def test_more_laws_than_are_kept_are_all_returned() -> None:
    model = NGram.learn(TEXT, 3, 5)
    prefixes = [(a, b) for a in range(5) for b in range(5)]
    rows = KeptRows(model, most=1).rows_after(prefixes)
    assert [row.tolist() for row in rows] == [model(prefix).tolist() for prefix in prefixes]


def test_nobody_writes_into_a_law_that_is_kept() -> None:
    kept = KeptRows(NGram.learn(TEXT, 2, 5))
    for row in (kept((0,)), *kept.rows_after([(1,), (2,)])):
        with pytest.raises(ValueError, match="read-only"):
            row[0] = 1.0


def test_a_token_beyond_the_vocabulary_is_refused() -> None:
    with pytest.raises(ValueError, match="5"):
        _ = KeptRows(NGram.learn(TEXT, 2, 5))((0, 5))
