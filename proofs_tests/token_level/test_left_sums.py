"""What a multiple of the drafts leaves is summed alike on the host, on a device and in Fractions."""

from __future__ import annotations

import numpy as np
import pytest

from spec_math import exact
from spec_math.array_coin import ArrayCoin
from spec_math.token_level.batch import drafts as batch_drafts
from spec_math.token_level.batch.drafts import sums_left

ROWS, SIZE = 6, 40


def test_sums_are_those_of_fractions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Masses in 64ths and factors in quarters: no sum rounds. Tokens to leave out repeat, or are none."""
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 9, (2, ROWS, SIZE))
    factor, without = rng.integers(0, 9, ROWS) / 4, rng.integers(0, SIZE, (ROWS, 3))
    without[0], without[1, 1:], without[2, 1] = -1, -1, without[2, 0]
    true_laws = exact(counts[0].astype(object)) / 64, exact(counts[1].astype(object)) / 64
    coins = ArrayCoin(exact(np.zeros((ROWS, 1)))), ArrayCoin(np.zeros((ROWS, 1)))
    true = [sums_left(coins[0], true_laws, exact(factor)), sums_left(coins[0], true_laws, exact(factor), without)]
    for kind in (np.float64, np.float32):
        laws = (counts[0] / 64).astype(kind), (counts[1] / 64).astype(kind)
        for host in (True, False):
            with monkeypatch.context() as patch:
                patch.setattr(batch_drafts, "on_host", lambda _, host=host: host)
                found = [sums_left(coins[1], laws, factor), sums_left(coins[1], laws, factor, without)]
            assert [each.tolist() for each in found] == [each.astype(float).tolist() for each in true]
    # Control: the tokens left out are not those of the next request.
    assert sums_left(coins[1], laws, factor, np.roll(without, 1, axis=0)).tolist() != found[1].tolist()


def test_only_the_requests_asked_for_are_summed() -> None:
    laws, where = (np.full((2, 3), 0.25), np.full((2, 3), 0.125)), np.array([False, True])
    assert sums_left(ArrayCoin(np.zeros((2, 1))), laws, np.ones(2), where=where).tolist() == [0.0, 0.375]
