"""What is left out of a law, as guards of logarithms are, is in doubt: a verdict's bound holds it, or there is none."""

from __future__ import annotations

from collections.abc import Callable
from math import exp
from typing import Any

import numpy as np
import pytest

from spec_math.audit import check_sampler
from spec_math.float_allowance import Allowance
from spec_math.verdict import Lossless, Lossy, Reason, Undecided, judged

HALF = ["1/2", "1/2"]


def raced(guard: float) -> Callable[..., int]:
    """The token whose exponential, with a guard added, is the first of two."""

    def sampler(target: Any, draft: Any) -> int:  # noqa: ARG001
        return int(np.argmin((np.random.default_rng().exponential(size=2) + guard) / np.asarray(target)))

    return sampler


def logged(guard: float) -> Callable[..., int]:
    def sampler(target: Any, draft: Any) -> int:  # noqa: ARG001
        return int(np.argmin(-np.log(np.random.default_rng().random(2) + guard) / np.asarray(target)))

    return sampler


def twice(guard: float) -> Callable[..., int]:
    def sampler(target: Any, draft: Any) -> int:  # noqa: ARG001
        noise = -np.log(-np.log(np.random.default_rng().random(2) + guard) + guard)
        return int(np.argmax(np.log(np.asarray(target, dtype=float)) + noise))

    return sampler


def off(p: float, guard: float) -> float:
    """The total variation of `raced` for the target (p, 1 − p), p ≤ 1/2: the first has to win by a head start.

    E_1 + g < (E_2 + g)·p/(1 − p) holds with chance p·exp(−(1/p − 2)·g).
    """
    return p - p * exp(-(1 / p - 2) * guard)


@pytest.mark.parametrize("target", [("1/100", "99/100"), ("1/4", "3/4"), ("2/5", "3/5")])
@pytest.mark.parametrize("guard", [9e-4, 2e-4, 1e-5, 1e-10, 0.0])
def test_a_bound_holds_what_a_guard_changes_or_nothing_is_decided(target: tuple[str, str], guard: float) -> None:
    numerator, denominator = map(int, target[0].split("/"))
    truth = off(numerator / denominator, guard)
    for at_most in (None, 1e-7):
        verdict = check_sampler(raced(guard), list(target), HALF, at_most=at_most)
        if 2 * guard > (at_most or 1e-4):
            assert isinstance(verdict, Undecided)
            assert verdict.reason is Reason.ROUNDING
            assert "keep a logarithm finite" in str(verdict)
        else:
            assert isinstance(verdict, Lossless)
            assert truth <= verdict.bound <= (at_most or 1e-4)


@pytest.mark.parametrize("sampler", [raced, logged, twice], ids=["exponential", "logarithm", "gumbel"])
def test_large_guards_decide_nothing_and_small_ones_do(sampler: Callable[[float], Callable[..., int]]) -> None:
    assert isinstance(check_sampler(sampler(9e-4), ["1/100", "99/100"], HALF), Undecided)
    assert check_sampler(sampler(1e-10), ["1/100", "99/100"], HALF)


def test_a_distance_beyond_what_was_left_out_is_lossy_and_within_it_is_open() -> None:
    """On two laws alone: what was left out moves both ends of what the distance may be."""
    half = {0: 0.5, 1: 0.5}
    far, near = {0: 0.6, 1: 0.4}, {0: 0.50005, 1: 0.49995}
    assert isinstance(judged(far, half, Allowance(left_out=0.05)), Lossy)
    assert isinstance(judged(far, half, Allowance(left_out=0.11)), Undecided)
    assert isinstance(judged(near, half, Allowance(left_out=6e-5)), Undecided)
    assert isinstance(judged(near, half, Allowance(rounding=6e-5)), Lossless)
    assert judged(half, half, Allowance(left_out=6e-5)) == Lossless(0, 6e-5)
