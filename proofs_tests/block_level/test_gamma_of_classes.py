"""γ* of K-SEQ from classes of tokens of equal ratios, against that of all tokens one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from spec_math.token_level.excess import least
from spec_math.token_level.optimum.ratio_order import joined, ratio_order

FLOAT = np.ndarray[Any, np.dtype[np.float64]]
SIZE = 200


def backing_off(seed: int) -> FLOAT:
    """A law [V] that counts a few tokens, and gives the others what one common law gives them."""
    common, own = np.random.default_rng(7).dirichlet(np.full(SIZE, 0.3)), np.random.default_rng(seed)
    counted = np.zeros(SIZE)
    counted[own.integers(SIZE, size=12)] = own.random(12)
    return 0.4 * counted / counted.sum() + 0.6 * common


def gap(classes: Callable[[FLOAT, FLOAT], Any], k: int) -> float:
    """How far γ* of classes, with what is never drafted as one more, is from that of all tokens, at most."""
    pairs = [(backing_off(seed), backing_off(seed + 100)) for seed in range(12)]
    return max(abs(least(*masses(classes(*pair)), k) - float(least(*pair, k))) for pair in pairs)


def masses(order: Any) -> tuple[Any, Any]:
    return np.append(order.target, order.target_above[-1:]), np.append(order.draft, order.draft_above[-1:])


@pytest.mark.parametrize("k", [1, 2, 3, 8, 40])
def test_gamma_of_prefix_sums_is_that_of_all_tokens(k: int) -> None:
    assert gap(ratio_order, k) < 1e-12
    assert gap(lambda t, d: joined(ratio_order(t, d), SIZE).order, k) < 1e-10
    assert k == 1 or gap(lambda t, d: ratio_order(t, (t + d) / 2), k) > 1e-3
