"""The selection at a node against passes over its tokens: on Fractions equal, on floats but for roundings."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.block_level.node_prefixes import token_by_token
from proofs_tests.strategies import pairs
from spec_math.arrays import Array, exact
from spec_math.block_level import priority_law
from spec_math.block_level.priority_law import PriorityLaw, node_selection, uniform
from spec_math.token_level.optimum.ratio_order import UNIT, RatioOrder, ratio_order

WEIGHTS = ["1/8", "2/3", "1"]


def half(law: PriorityLaw, weight: Any, one: Any) -> PriorityLaw:
    """A law of two pieces: a part of the mass within the upper half of the quantiles."""
    weights, starts, stops = ([weight, one - weight], [one / 2, one - one], [one, one])
    return law.given(*(np.array(part, dtype=law.masses.dtype) for part in (weights, starts, stops)))


@given(pairs(), st.sampled_from(WEIGHTS), st.integers(1, 4))
def test_arrays_find_what_passes_over_tokens_do(pair: tuple[Array, Array], weight: str, k: int) -> None:
    order, one = ratio_order(*pair), Fraction(1)
    for priority in (uniform(order.draft), half(uniform(order.draft), Fraction(1, 3), one)):
        ratios, gains = node_selection(order, Fraction(weight), priority, k)
        assert (ratios.tolist(), gains.tolist()) == token_by_token(order, Fraction(weight), priority, k)


def furthest() -> float:
    """The largest relative error of ratios and gains in floats against those of Fractions."""
    rng, worst = np.random.default_rng(3), 0.0
    for size in (1, 2, 3, 8, 20) * 8:
        # Of 2^-12 each: Fractions of these floats are laws, and their sums are exact.
        target, draft = (rng.multinomial(4095, rng.dirichlet(np.full(size, 0.7))) / 4096 for _ in "td")
        target[0], draft[-1] = target[0] + 2.0**-12, draft[-1] + 2.0**-12
        weight, k = float(rng.choice([0.125, 0.75, 1.0])), int(rng.integers(1, 6))
        order, exactly = ratio_order(target, draft), ratio_order(exact(target), exact(draft))
        found = node_selection(order, weight, half(uniform(order.draft), 0.25, 1.0), k)
        law = half(uniform(exactly.draft), Fraction(1, 4), Fraction(1))
        ratios, gains = token_by_token(exactly, Fraction(weight), law, k)
        for ours, theirs in ((found[0] * (1 / UNIT), ratios), (found[1], gains)):
            wanted = np.array([float(value) for value in theirs])
            worst = max(worst, float(np.abs(ours - wanted).max() / wanted.max()))
    return worst


def test_floats_are_fractions_but_for_roundings() -> None:
    """Of sums of at most 20 positive terms; a bound divides by the draft mass on one side, at least 2^-12."""
    assert furthest() <= 200 * 2.0**-53 * 2.0**12


def whole_target(order: RatioOrder, _: Any) -> RatioOrder:
    return order


def rest_is_not_lost(order: RatioOrder, weight: Any) -> RatioOrder:
    """What is left of 1 beside the weighted target is forgotten above a prefix."""
    return replace(WEIGHTED(order, weight), target_above=weight * order.target_above)


WEIGHTED = priority_law.weighted


@pytest.mark.parametrize("wrong", [whole_target, rest_is_not_lost])
def test_a_wrong_weight_is_seen(monkeypatch: pytest.MonkeyPatch, wrong: Any) -> None:
    monkeypatch.setattr(priority_law, "weighted", wrong)
    assert furthest() > 0.01


def test_chords_in_place_of_gains_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    slopes = PriorityLaw.slopes
    monkeypatch.setattr(
        PriorityLaw, "slopes", lambda own, ends, k: slopes(own, ends, k) / np.diff(ends, prepend=0 * ends[0])
    )
    assert furthest() > 0.01
