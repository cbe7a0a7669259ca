"""What random numbers that nobody sees decide, or ends the process, is no law: few paths are walked again often."""

from __future__ import annotations

import os
import random
import sys
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from spec_math import check_lossless, check_lossless_block, residual
from spec_math.verdict import Lossless, Lossy, Undecided

TARGET, DRAFT = ["1/2", "3/8", "1/8"], ["1/4", "1/4", "1/2"]
TWO_TOKENS = ["1/4", "3/4"], ["1/2", "1/2"]
ONE_IN_A_MILLION = Fraction(1, 10**6)


def bytes_of_the_system(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    x = tokens[0]
    return x if os.urandom(1)[0] < 256 * target[x] / draft[x] else coin.draw(residual(target, draft))


def a_generator_of_its_own(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    x = tokens[0]
    accepted = np.random.default_rng().random() < float(target[x] / draft[x])
    return x if accepted else coin.draw(residual(target, draft))


@pytest.mark.parametrize("verify", [bytes_of_the_system, a_generator_of_its_own])
def test_a_right_verifier_with_unseen_random_numbers_is_not_called_lossy(verify: Any) -> None:
    # Both walks of its few paths agreed in one of two to three judgements.
    for _ in range(25):
        assert isinstance(check_lossless(verify, TARGET, DRAFT, 1), Undecided)


def test_unseen_random_numbers_are_not_lossless_by_luck() -> None:
    own = random.Random(5)

    def guess(coin: Any, tokens: Any, target: Any, draft: Any) -> int:  # noqa: ARG001
        return own.randrange(2)

    found = [check_lossless(guess, ["1/2", "1/2"], ["1/2", "1/2"], 1) for _ in range(25)]
    assert not any(isinstance(verdict, Lossless) for verdict in found)


def test_a_verifier_that_counts_its_calls_is_not_told_a_law_that_it_does_not_emit() -> None:
    calls = [0]

    def every_other(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        calls[0] += 1
        x = tokens[0]
        if calls[0] % 2 == 0:
            return 0
        return x if coin.flip(min(1, target[x] / draft[x])) else coin.draw(residual(target, draft))

    # Four paths: each came out alike the second time.
    verdict = check_lossless(every_other, TARGET, DRAFT, 1)
    assert isinstance(verdict, Undecided)
    assert "let the coin make all of its decisions" in verdict.explanation


def ends_at_times(coin: Any, tokens: Any, target: Any, draft: Any) -> int:  # noqa: ARG001
    if coin.flip(ONE_IN_A_MILLION):
        sys.exit(0)
    return coin.draw(target)


def test_a_program_that_ends_the_process_on_some_paths_is_lossy() -> None:
    verdict = check_lossless(ends_at_times, TARGET, DRAFT, 1)
    assert isinstance(verdict, Lossy)
    assert verdict.reason == "SystemExit for the drafts (0,): 0"


def test_a_program_that_ends_the_process_on_every_path_is_not_judged() -> None:
    def ends(*_: Any) -> int:
        sys.exit(0)

    verdict = check_lossless(ends, TARGET, DRAFT)
    assert isinstance(verdict, Undecided)


def test_a_block_that_ends_the_process_on_some_paths_is_lossy() -> None:
    def block(coin: Any, prefix: tuple[int, ...]) -> tuple[int, ...]:  # noqa: ARG001
        return (ends_at_times(coin, (), [Fraction(1, 4), Fraction(3, 4)], None),)

    assert isinstance(check_lossless_block(block, lambda _: ["1/4", "3/4"], 1), Lossy)


def redraws(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    """A right verifier whose residual is drawn in a loop: each round rejects with probability 3/4."""
    x = tokens[0]
    if coin.flip(min(1, target[x] / draft[x])):
        return x
    while True:
        y = coin.draw(target)
        if coin.flip(max(0 * target[y], target[y] - draft[y]) / target[y]):
            return y


def rejects(coin: Any, tokens: Any, target: Any, draft: Any, share: Fraction = Fraction(1)) -> int:  # noqa: ARG001
    """Rejection sampling from the draft, whatever was drafted; `share` of the right chance is a wrong rule."""
    most = max(t / d for t, d in zip(target, draft, strict=True))
    while True:
        x = coin.draw(draft)
        if coin.flip(target[x] / (most * draft[x]) * (share if x else 1)):
            return x


def waits(coin: Any, tokens: Any, target: Any, draft: Any) -> int:  # noqa: ARG001
    while coin.flip(Fraction(1, 2)):
        pass
    return coin.draw(target)


def swallows(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    """A right loop that catches what the coin says of paths that are cut."""
    try:
        return waits(coin, tokens, target, draft)
    except Exception:
        return 0


@pytest.mark.parametrize("loop", [rejects, waits, swallows], ids=lambda loop: loop.__name__)
def test_a_right_loop_is_lossless_to_within_what_was_not_walked(loop: Any) -> None:
    verdict = check_lossless(loop, *TWO_TOKENS, 1)
    assert isinstance(verdict, Lossless)
    assert 0 < verdict.bound <= 1e-6
    assert "paths of total probability" in str(verdict)


def test_a_wrong_loop_is_lossy() -> None:
    """The control: the same loop, with one chance of acceptance a hundredth too small."""
    verdict = check_lossless(partial(rejects, share=Fraction(99, 100)), *TWO_TOKENS, 1)
    assert isinstance(verdict, Lossy)
    assert verdict.token == 0


def test_a_right_loop_of_a_block_is_lossless_and_a_wrong_one_lossy() -> None:
    def block(coin: Any, prefix: tuple[int, ...], share: Fraction = Fraction(1)) -> tuple[int, ...]:  # noqa: ARG001
        exact = [Fraction(1, 4), Fraction(3, 4)], [Fraction(1, 2), Fraction(1, 2)]
        return (rejects(coin, (), *exact, share),)

    assert isinstance(check_lossless_block(block, lambda _: ["1/4", "3/4"], 1), Lossless)
    wrong = partial(block, share=Fraction(99, 100))
    assert isinstance(check_lossless_block(wrong, lambda _: ["1/4", "3/4"], 1), Lossy)


def test_a_loop_that_decides_too_slowly_says_how_many_paths_would() -> None:
    for budget in (3_000, 6_000):
        verdict = check_lossless(redraws, TARGET, DRAFT, 1, budget=budget)
        assert isinstance(verdict, Undecided)
        assert "bound the program's loop" in verdict.explanation
        assert "would decide" in verdict.explanation
        assert "raise budget" not in verdict.explanation
