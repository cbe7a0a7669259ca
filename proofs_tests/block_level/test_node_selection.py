"""The passes over a node's tokens against sums over arrays: on Fractions equal, on floats but for roundings."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.block_level.node_prefixes import prefix_law, weighted
from proofs_tests.strategies import pairs
from spec_math.arrays import Array, exact
from spec_math.block_level import priority_law as passes
from spec_math.block_level.priority_law import PriorityLaw, node_selection, uniform
from spec_math.token_level.optimum.pools import selection_ratios
from spec_math.token_level.optimum.ratio_order import UNIT, RatioOrder, ratio_order

WEIGHTS = ["1/8", "2/3", "1"]


def over_arrays(order: RatioOrder, weight: Any, priority: PriorityLaw, k: int) -> tuple[Array, Array]:
    convex = prefix_law(priority, order, k)
    return selection_ratios(weighted(order, weight), convex), convex.slopes * order.draft


def half(law: PriorityLaw, weight: Any, one: Any) -> PriorityLaw:
    """A law of two pieces: a part of the mass within the upper half of the quantiles."""
    weights, starts, stops = ([weight, one - weight], [one / 2, one - one], [one, one])
    return law.given(*(np.array(part, dtype=law.masses.dtype) for part in (weights, starts, stops)))


@given(pairs(), st.sampled_from(WEIGHTS), st.integers(1, 4))
def test_passes_over_tokens_find_what_arrays_do(pair: tuple[Array, Array], weight: str, k: int) -> None:
    order, one = ratio_order(*pair), Fraction(1)
    for priority in (uniform(order.draft), half(uniform(order.draft), Fraction(1, 3), one)):
        found, wanted = (of(order, Fraction(weight), priority, k) for of in (node_selection, over_arrays))
        assert found[0].tolist() == wanted[0].tolist()
        assert found[1].tolist() == wanted[1].tolist()


def furthest() -> float:
    """How far, relatively, compiled ratios and gains are from those that arrays of Fractions find, at most."""
    rng, worst = np.random.default_rng(3), 0.0
    for size in (1, 2, 3, 8, 20) * 8:
        # Of 2^-12 each: Fractions of these floats are laws, and their sums are exact.
        target, draft = (rng.multinomial(4095, rng.dirichlet(np.full(size, 0.7))) / 4096 for _ in "td")
        target[0], draft[-1] = target[0] + 2.0**-12, draft[-1] + 2.0**-12
        weight, k = float(rng.choice([0.125, 0.75, 1.0])), int(rng.integers(1, 6))
        order, exactly = ratio_order(target, draft), ratio_order(exact(target), exact(draft))
        found = node_selection(order, weight, half(uniform(order.draft), 0.25, 1.0), k)
        law = half(uniform(exactly.draft), Fraction(1, 4), Fraction(1))
        ratios, gains = over_arrays(exactly, Fraction(weight), law, k)
        for ours, theirs in ((found[0] * (1 / UNIT), ratios), (found[1], gains)):
            wanted = np.array([float(value) for value in theirs])
            worst = max(worst, float(np.abs(ours - wanted).max() / wanted.max()))
    return worst


def test_compiled_passes_are_those_of_fractions_but_for_roundings() -> None:
    """Of sums of at most 20 positive terms; a bound divides by the draft mass on one side, at least 2^-12."""
    assert furthest() <= 200 * 2.0**-53 * 2.0**12


def whole_target(drafts: Any, targets: Any, scales: Any, gains: Any, ratios: Any) -> None:
    FILL(drafts, targets, (1.0, scales[1]), gains, ratios)


def rest_is_not_lost(drafts: Any, targets: Any, scales: Any, gains: Any, ratios: Any) -> None:
    """What is left of 1 beside the weighted target is forgotten above a prefix."""
    target, below, above = targets
    FILL(drafts, (target, below, above - (1 - scales[0]) / scales[0]), scales, gains, ratios)


def slopes_unweighted(drafts: Any, targets: Any, scales: Any, gains: Any, ratios: Any) -> None:
    draft, below, above = drafts
    gains /= draft
    FILL((draft, below, above), targets, scales, gains, ratios)


FILL: Any = vars(passes)["_fast_fill"]


@pytest.mark.parametrize("wrong", [whole_target, rest_is_not_lost, slopes_unweighted])
def test_wrong_passes_are_seen(monkeypatch: pytest.MonkeyPatch, wrong: Any) -> None:
    monkeypatch.setattr(passes, "_fast_fill", wrong)
    assert furthest() > 0.01
