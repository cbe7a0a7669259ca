"""Recursive rejection without replacement: its drafts, its acceptance by recursion, and the estimate of it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from scipy import stats

from proofs_tests.coverage import misses, too_many
from proofs_tests.oracles import forked, optimum, successive_drafts
from proofs_tests.strategies import counts, pairs
from spec_math import exact, proportional_to
from spec_math.token_level.without_replacement import acceptance, draw, emit, estimate, without


@given(pair=pairs(), k=counts(5))
@example(pair=(exact(["1/2", "1/2", 0]), exact([0, 1, 0])), k=3)
def test_drafts_are_successive_and_end_with_the_support(pair: Any, k: int) -> None:
    _, draft = pair
    assert forked(lambda coin: draw(coin, draft, k)) == successive_drafts(draft, k)


@given(pair=pairs(), k=counts(4))
def test_no_coupling_of_these_drafts_accepts_more_than_the_optimum(pair: Any, k: int) -> None:
    target, draft = pair
    assert acceptance(target, draft, k) <= optimum(target, successive_drafts(draft, k))


@given(pair=pairs(), k=counts(4))
def test_a_draft_of_the_whole_support_accepts_all_that_is_supported(pair: Any, k: int) -> None:
    """With every token drafted nothing is left to reject but what the draft never drafts."""
    target, draft = pair
    if k >= sum(mass > 0 for mass in draft):
        supported = sum((t for t, d in zip(target, draft, strict=True) if d), Fraction(0))
        assert acceptance(target, draft, k) <= supported
        assert optimum(target, successive_drafts(draft, k)) == supported
        if k == 1 or supported == 1:
            assert acceptance(target, draft, k) == supported


@given(pair=pairs())
@settings(max_examples=40)
def test_leaving_tokens_out_divides_by_what_is_left(pair: Any) -> None:
    _, draft = pair
    for x in range(len(draft)):
        if draft[x] < 1:
            found = without(draft, [x])
            assert found.tolist() == [0 if y == x else mass / (1 - draft[x]) for y, mass in enumerate(draft)]
    assert without(draft, []) is draft
    with pytest.raises(ValueError, match="have mass 0"):
        without(draft, list(range(len(draft))))


def test_a_repeated_draft_is_refused() -> None:
    with pytest.raises(ValueError, match=r"drafts without replacement are distinct; got \(0, 0\)"):
        emit(None, (0, 0), ["1/4", "3/4"], ["1/2", "1/2"])  # type: ignore[arg-type]


def test_a_sum_too_long_is_refused_with_its_size_and_the_other_way() -> None:
    uniform = np.full(2000, 1 / 2000)
    with pytest.raises(ValueError, match=r"at V = 2000 is a sum of 2000\^3 terms, more than 2e\+06; call .*estimate"):
        acceptance(uniform, uniform, 4)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_estimate_is_near_the_exact_value(k: int) -> None:
    """Rejections lie in [0, 1]: by Hoeffding a mean of n is off by more than √(ln(2/p)/2n) with chance p at most.

    n = 20,000 and p = 1e-9: detectable is a bias of 2.4 %; 12 pairs, so a false alarm has chance 1.2e-8.
    """
    n = 20_000
    slack = (log(2e9) / (2 * n)) ** 0.5
    rng = np.random.default_rng(k)
    for _ in range(4):
        target, draft = (proportional_to(rng.random(5) ** 2) for _ in range(2))
        found = estimate(target, draft, k, n, rng)
        assert abs(found.value - float(acceptance(target, draft, k))) <= slack
        assert 0 <= found.error <= 0.5 / n**0.5
        if k == 1:
            assert found.value == pytest.approx(float(acceptance(target, draft, 1)), abs=7 * 2.0**-53)


def test_the_estimate_refuses_what_it_cannot_use() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(TypeError, match="paths must be a whole number"):
        estimate([0.5, 0.5], [0.5, 0.5], 1, 2.5, rng)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="an estimate is a float"):
        estimate(["1/2", "1/2"], ["1/2", "1/2"], 1, 2, rng)
    with pytest.raises(ValueError, match="at least 2 samples; got 1"):
        estimate([0.5, 0.5], [0.5, 0.5], 1, 1, rng)


def test_the_interval_of_the_estimate_covers_the_exact_value_as_often_as_it_says() -> None:
    """A rejected draft of small mass decides: four paths seldom meet it, and the normal limit of them misses."""
    target, draft, k = [0.163, 0.286, 0.13, 0.421, 0.0], [0.0, 0.0, 0.001, 0.422, 0.577], 2
    exact_value, runs, rng = float(acceptance(target, draft, k)), 2_000, np.random.default_rng(0)
    found = [estimate(target, draft, k, 4, rng) for _ in range(runs)]
    assert not too_many(misses(found, exact_value), runs, 0.01)
    reach = float(stats.norm.isf(0.005))
    near = [replace(one, low=one.value - reach * one.error, high=one.value + reach * one.error) for one in found]
    assert too_many(misses(near, exact_value), runs, 0.01)


def test_a_residual_of_roundings_alone_is_no_division_by_zero() -> None:
    """The draft's masses are at least the target's everywhere, by a rounding more in one place: nothing is rejected."""
    target, draft = [0.1] * 10, [0.1] * 9 + [float(np.nextafter(0.1, 1))]
    assert acceptance(target, draft, 2) == 1.0


@pytest.mark.parametrize("k", [2, 3])
def test_a_few_paths_of_the_estimate_are_the_residuals_of_the_rejected_drafts(k: int) -> None:
    """Rejections along one path a row, on given uniforms, residual by residual in Fractions."""
    target, draft = exact(["1/16", "1/2", "1/4", "1/8", "1/16"]), exact(["3/8", "1/8", "1/16", "5/16", "1/8"])
    uniforms = [[Fraction(number % 7, 7), Fraction(number % 5, 5), Fraction(0), Fraction(0)] for number in range(35)]
    wanted = [_rejected_along(target, draft, row[:k]) for row in uniforms]
    rows = np.array([[float(uniform) for uniform in row[:k]] for row in uniforms])
    found = estimate(target.astype(float), draft.astype(float), k, len(rows), _Given(rows))
    # Three steps on five tokens take some twenty roundings each.
    assert abs(found.value - float(1 - sum(wanted) / len(wanted))) < 2.0**-44
    assert len(set(wanted)) > 1


class _Given:
    """A source of uniforms that were chosen."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def random(self, shape: Any) -> Any:
        assert shape == self.rows.shape
        return self.rows


def _rejected_along(target: Any, draft: Any, uniforms: list[Fraction]) -> Fraction:
    r, d, chance = list(target), list(draft), Fraction(1)
    for uniform in uniforms:
        lost = [max(b - a, Fraction(0)) for a, b in zip(r, d, strict=True)]
        gain = sum(lost)
        chance *= gain
        if gain == 0:
            return chance
        rejected = next(x for x in range(len(d)) if sum(lost[: x + 1]) > uniform * gain)
        r = [max(a - b, Fraction(0)) / gain for a, b in zip(r, d, strict=True)]
        left = 1 - d[rejected]
        d = [Fraction(0) if x == rejected else mass / left for x, mass in enumerate(d)]
    return chance
