"""Joined tokens of equal ratios: sums, places and plans against those of the tokens one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from spec_math.arrays import exact
from spec_math.block_level.chain_priorities import Priorities
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.selected_chain import classes_of, order_of
from spec_math.token_level.excess import least
from spec_math.token_level.optimum.ratio_order import Joined, joined, ratio_order

FLOAT = np.ndarray[Any, np.dtype[np.float64]]

SIZE = 400


def backing_off(seed: int) -> FLOAT:
    """A law [V] that counts a few tokens, and gives the others what one common law gives them."""
    common, own = np.random.default_rng(7).dirichlet(np.full(SIZE, 0.3)), np.random.default_rng(seed)
    counted = np.zeros(SIZE)
    counted[own.integers(SIZE, size=30)] = own.random(30)
    return 0.4 * counted / counted.sum() + 0.6 * common


def test_classes_hold_the_masses_of_their_tokens() -> None:
    target, draft = backing_off(1), backing_off(2)
    draft[3] = 0.0
    draft /= draft.sum()
    found = joined(ratio_order(target, draft), SIZE)
    assert len(found.order) < 70
    assert found.place[3] == -1
    for number in range(len(found.order)):
        tokens = np.flatnonzero(found.place == number)
        assert found.order.target[number] == pytest.approx(target[tokens].sum(), rel=1e-13)
        assert found.order.draft[number] == pytest.approx(draft[tokens].sum(), rel=1e-13)
        ratios = target[tokens] / draft[tokens]
        assert ratios.max() <= ratios.min() * (1 + len(tokens) * 2.0**-45)
    below = np.concatenate([[0.0], np.cumsum(found.order.draft)])
    assert found.order.draft_below == pytest.approx(below, abs=1e-13)


def test_ratios_that_differ_are_not_joined() -> None:
    draft = np.full(4, 0.25)
    apart = np.array([1.0, 1 + 2.0**-40, 1 + 2.0**-39, 0.5])
    assert len(joined(ratio_order(apart / apart.sum(), draft), 4).order) == 4


def test_fractions_are_left_as_they_are() -> None:
    order = ratio_order(exact(["1/4", "1/4", "1/2"]), exact(["1/3", "1/3", "1/3"]))
    found = joined(order, 3)
    assert found.order is order
    assert found.place[order.tokens].tolist() == [0, 1, 2]


def test_masses_of_classes_are_spread_in_proportion_to_the_draft() -> None:
    """Three classes of ratios 1/2, 1 and 2, whose masses are put forward as 1/8, 3/8 and 1/2."""
    draft = np.array([0.25, 0.125, 0.125, 0.25, 0.25])
    order = ratio_order(draft * [1.0, 2.0, 0.5, 0.5, 1.0] / 0.9375, draft)
    found, row = joined(order, 5), np.zeros(5)
    found.spread(np.array([0.125, 0.375, 0.5]), row)
    assert row == pytest.approx([0.1875, 0.5, 0.125 / 3, 0.25 / 3, 0.1875], rel=1e-12)


def follows(seed: int) -> Callable[[tuple[int, ...]], FLOAT]:
    def model(prefix: tuple[int, ...]) -> FLOAT:
        return backing_off(seed + sum(prefix))

    return model


class OneByOne(Conditionals):
    def kept(self, make: Any, path: tuple[int, ...] = ()) -> Any:
        if make is not classes_of:
            return super().kept(make, path)
        order, place = order_of(self, path), np.empty(self.size, np.int64)
        place[order.tokens] = np.arange(len(order))
        return Joined(order, place, order)


class AllAlike(Conditionals):
    """The control: tokens of all ratios are joined."""

    def kept(self, make: Any, path: tuple[int, ...] = ()) -> Any:
        if make is not classes_of:
            return super().kept(make, path)
        draft = order_of(self, path).draft
        even = ratio_order(draft, draft)
        return joined(even, self.size)


def farthest(laws: type[Conditionals], k: int) -> float:
    """How far selected laws and chances of chains lie from those of tokens one by one, at most, over two positions."""
    models = follows(10), follows(500)
    one, other = Priorities(OneByOne(*models, ()), k), Priorities(laws(*models, ()), k)
    gaps: list[float] = []
    for token in (0, 1, int(np.argmax(models[1](())))):
        for path in ((), (token,)):
            gaps.append(float(np.abs(one.law(path) - other.law(path)).sum()))
        for power in (2, 5):
            pair = one.priority((token, 2)).mean_power(power), other.priority((token, 2)).mean_power(power)
            gaps.append(abs(float(pair[0]) / float(pair[1]) - 1))
    return max(gaps)


@pytest.mark.parametrize("k", [2, 4, 8])
def test_chain_priorities_of_classes_are_those_of_their_tokens(k: int) -> None:
    assert farthest(Conditionals, k) < 1e-10
    assert farthest(AllAlike, k) > 1e-3


def gap(classes: Callable[[FLOAT, FLOAT], Any], k: int) -> float:
    """Return the largest distance of γ* of classes, with what is never drafted as one more, from that of all tokens."""
    pairs = [(backing_off(seed), backing_off(seed + 100)) for seed in range(12)]
    return max(abs(least(*masses(classes(*pair)), k) - float(least(*pair, k))) for pair in pairs)


def masses(order: Any) -> tuple[Any, Any]:
    return np.append(order.target, order.target_above[-1:]), np.append(order.draft, order.draft_above[-1:])


@pytest.mark.parametrize("k", [1, 2, 3, 8, 40])
def test_gamma_of_prefix_sums_is_that_of_all_tokens(k: int) -> None:
    assert gap(ratio_order, k) < 1e-12
    assert gap(lambda t, d: joined(ratio_order(t, d), SIZE).order, k) < 1e-10
    assert k == 1 or gap(lambda t, d: ratio_order(t, (t + d) / 2), k) > 1e-3
