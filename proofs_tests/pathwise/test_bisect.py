"""Thresholds of kernels with injected uniforms, found on the grid k/2^b, against counting every k."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from proofs_tests.strategies import laws
from spec_math.audit import explore, law_by_bisection, thresholds
from spec_math.pathwise.bisect import NotMonotoneError

BITS = 6


def walk(law: Any, u: Any) -> int:
    return next(token for token, total in enumerate(accumulate(law)) if u < total)


@given(laws(4))
def test_bisection_counts_as_going_through_every_uniform(law: Any) -> None:
    counted = Counter(walk(law, Fraction(k, 2**BITS)) for k in range(2**BITS))
    assert law_by_bisection(lambda u: walk(law, u), BITS) == {
        token: Fraction(number, 2**BITS) for token, number in counted.items()
    }


@given(laws(3))
def test_bisection_and_exploration_on_a_grid_agree(law: Any) -> None:
    assert law_by_bisection(lambda u: walk(law, u), 24) == explore(lambda: walk(law, random.random()), grid=24)


def test_an_acceptance_threshold_of_a_float32_kernel_is_exact() -> None:
    """u·q < p in float32: the first k that fails, and no float in between; `<=` moves it by one where p/q is met."""
    p, q = np.float32(0.25), np.float32(0.75)

    def strict(u: Fraction) -> bool:
        return bool(np.float32(float(u)) * q < p)

    (_, first), (cut, second) = thresholds(strict, 24)
    assert (first, second) == (True, False)
    assert strict(cut - Fraction(1, 2**24))
    assert not strict(cut)
    halves = thresholds(lambda u: bool(np.float32(float(u)) < np.float32(0.5)), 24)
    weak = thresholds(lambda u: bool(np.float32(float(u)) <= np.float32(0.5)), 24)
    assert halves[1][0] == Fraction(1, 2)
    assert weak[1][0] == Fraction(1, 2) + Fraction(1, 2**24)


def test_few_calls_are_made() -> None:
    asked: list[Fraction] = []

    def decide(u: Fraction) -> int:
        asked.append(u)
        return walk([Fraction(1, 3)] * 3, u)

    law_by_bisection(decide, 24)
    assert len(asked) == len(set(asked)) <= 2 * 24 + 2


def test_an_answer_that_returns_has_no_threshold() -> None:
    with pytest.raises(NotMonotoneError, match="the answer 0 returns at u = 1/2"):
        thresholds(lambda u: (0, 1, 0, 2)[int(u * 4)], 2)
    with pytest.raises(ValueError, match="at least 1"):
        thresholds(lambda u: u, 0)
