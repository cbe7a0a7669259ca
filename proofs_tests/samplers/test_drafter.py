"""The law that a drafter reports is the law that it samples from: checked by exploring it."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
from hypothesis import given, settings

from proofs_tests.strategies import pairs
from spec_math import Lossless, Lossy, total_variation
from spec_math.arrays import exact
from spec_math.audit import check_drafter, check_drafter_program
from spec_math.verdict import Reason, Undecided

LAW = exact(["1/2", "1/3", "1/6"])


def sampled(law: Any) -> int:
    return random.choices(range(len(law)), law)[0]


@settings(max_examples=30)
@given(pairs())
def test_a_drafter_is_judged_by_the_distance_of_what_it_reports(pair: Any) -> None:
    drawn, reported = pair
    verdict = check_drafter(lambda: (sampled(drawn), reported))
    distance = total_variation(drawn, reported)
    assert bool(verdict) == (distance == 0)
    if isinstance(verdict, Lossy):
        assert verdict.total_variation == distance


def test_reports_that_follow_the_token_keep_the_contract() -> None:
    def one_hot() -> Any:
        token = sampled(LAW)
        return token, exact([int(other == token) for other in range(3)])

    def two_faced() -> Any:
        """Samples and reports one of two laws."""
        law = LAW if random.random() < Fraction(1, 2) else LAW[::-1]
        return sampled(law), law

    assert check_drafter(one_hot)
    assert check_drafter(two_faced)
    assert check_drafter(lambda: (0, exact([1, 0, 0])))
    assert check_drafter(lambda: (sampled(LAW) if random.random() < Fraction(1, 2) else None, LAW))


def test_drafters_that_break_it_are_caught() -> None:
    def crossed() -> Any:
        """Reports the law that it did not sample; on average over both the reports are right."""
        first = random.random() < Fraction(1, 2)
        return sampled(LAW if first else LAW[::-1]), LAW[::-1] if first else LAW

    def hides_the_rare() -> Any:
        token = sampled(LAW)
        return None if token == 2 else token, LAW

    greedy = check_drafter(lambda: (0, LAW))
    assert isinstance(greedy, Lossy)
    assert (greedy.token, greedy.emitted, greedy.target) == (0, 1, Fraction(1, 2))
    assert not check_drafter(crossed)
    assert not check_drafter(hides_the_rare)
    assert "outside 0..2" in str(check_drafter(lambda: (3, LAW)))
    assert not check_drafter_program(lambda coin: (coin.draw(LAW), LAW[::-1]))


def test_floats_are_allowed_their_own_sum_and_no_more() -> None:
    law = np.array([0.1, 0.2, 0.7])
    verdict = check_drafter(lambda: (int(np.random.default_rng().choice(3, p=law)), law))
    assert isinstance(verdict, Lossless)
    # The sum of the law is off by at most 2^-53, and each of three masses is rounded once more.
    assert verdict.bound <= 4 * 2.0**-53
    off = law + np.array([1e-15, -1e-15, 0])
    assert not check_drafter(lambda: (int(np.random.default_rng().choice(3, p=law)), off))


def test_a_drafter_that_is_too_large_is_not_judged() -> None:
    verdict = check_drafter(lambda: (sampled(LAW), LAW), budget=2)
    assert isinstance(verdict, Undecided)
    assert verdict.reason is Reason.BUDGET


def test_a_drafter_whose_randomness_is_not_followed_is_not_judged() -> None:
    asked = count(2)
    verdict = check_drafter(lambda: (int(random.random() < Fraction(1, next(asked))), exact(["1/4", "3/4"])))
    assert isinstance(verdict, Undecided)
    assert verdict.reason is Reason.RANDOMNESS_NOT_SEEN
