"""Nodes take tokens of equal ratio as one: chances of drafts against the programs on all tokens one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.lengths.given_drafts import Nodes
from spec_math.block_level.selected_chain import classes_of, order_of
from spec_math.chance import Coin, law
from spec_math.scheme import Emission, Tokens
from spec_math.token_level import k_sequential, plan, recursive
from spec_math.token_level.excess import least
from spec_math.token_level.optimum.ratio_order import Joined, joined, ratio_order

FLOAT = np.ndarray[Any, np.dtype[np.float64]]
SIZE = 200


def backing_off(seed: int) -> FLOAT:
    """A law [V] that counts a few tokens, and gives the others what one common law gives them."""
    common, own = np.random.default_rng(7).dirichlet(np.full(SIZE, 0.3)), np.random.default_rng(seed)
    counted = np.zeros(SIZE)
    counted[own.integers(SIZE, size=12)] = own.random(12)
    return 0.4 * counted / counted.sum() + 0.6 * common


class AllAlike(Conditionals):
    """The control: tokens of all ratios are joined."""

    def kept(self, make: Any, path: tuple[int, ...] = ()) -> Any:
        if make is not classes_of:
            return super().kept(make, path)
        whole, draft = order_of(self, path), order_of(self, path).draft
        even = joined(ratio_order(draft, draft), len(draft))
        place = np.zeros(self.size, np.int64)
        return Joined(even.order, place, whole)


def programs(target: FLOAT, draft: FLOAT, drafts: Tokens) -> dict[str, Callable[[Coin], Emission]]:
    prepared = plan.plan(target, draft, len(drafts))
    return {
        "recursive": lambda coin: recursive.emit(coin, drafts, target, draft),
        "k_sequential": lambda coin: k_sequential.emit(coin, drafts, target, draft),
        "plan": lambda coin: plan.emit(coin, drafts, prepared),
    }


def farthest(laws: type[Conditionals], method: str) -> float:
    """How far the chances of drafts lie from those of the program that is given all tokens, at most."""
    worst, rng = 0.0, np.random.default_rng(2)
    for seed in range(12):
        target, draft = backing_off(seed), backing_off(seed + 100)
        nodes = Nodes(laws(lambda _, t=target: t, lambda _, d=draft: d, ()))
        for k in (2, 3, 5):
            drafts = tuple(rng.choice(SIZE, k, p=draft).tolist())
            emitted = law(programs(target, draft, drafts)[method])
            for token, chance in getattr(nodes, method)((), drafts).items():
                worst = max(worst, abs(chance - emitted.get(Emission(token, accepted=True), 0.0)))
    return worst


@pytest.mark.parametrize("method", ["recursive", "k_sequential", "plan"])
def test_nodes_of_classes_accept_drafts_as_the_program_does(method: str) -> None:
    """Classes join ratios that differ by 200·2^-45 of themselves at most."""
    target, draft = backing_off(0), backing_off(100)
    assert len(joined(ratio_order(target, draft), SIZE).order) < 40
    assert farthest(Conditionals, method) < 1e-10
    assert farthest(AllAlike, method) > 1e-3


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
