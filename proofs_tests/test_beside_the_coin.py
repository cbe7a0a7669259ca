"""A default generator that moves while a program is judged leaves it open, whatever its law seems to be."""

from __future__ import annotations

import random
from fractions import Fraction
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

from spec_math import check_lossless, check_lossless_block
from spec_math.every_path import standing_still
from spec_math.token_level import single
from spec_math.verdict import Lossless, Reason, Undecided

TARGET, DRAFT = ["1/4", "3/4"], ["1/2", "1/2"]
LEAKS = {
    "Python's random": lambda: random.random() < 1e-9,
    "Python's random, by randrange": lambda: random.randrange(10**9) == 0,
    "NumPy's numpy.random": lambda: np.random.random() < 1e-9,  # noqa: NPY002
    "NumPy's numpy.random, by normal": lambda: np.random.normal() > 9,  # noqa: NPY002
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_verifier_that_draws_beside_its_coin_is_left_open(name: str) -> None:
    def verify(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        return 0 if LEAKS[name]() else single.verify(coin, tokens[0], target, draft)

    def generate(coin: Any, prefix: Any) -> tuple[int, ...]:  # noqa: ARG001
        return (0,) if LEAKS[name]() else (coin.draw([Fraction(1, 4), Fraction(3, 4)]),)

    for verdict in (
        check_lossless(verify, TARGET, DRAFT, k=1),
        check_lossless(verify, TARGET, DRAFT),
        check_lossless_block(generate, lambda _: [Fraction(1, 4), Fraction(3, 4)], 1),
    ):
        assert isinstance(verdict, Undecided)
        assert verdict.reason is Reason.RANDOMNESS_NOT_SEEN
        assert str(verdict).count(name.partition(",")[0]) == 1


def test_torch_s_default_generator_is_watched_where_torch_is_loaded() -> None:
    torch = pytest.importorskip("torch")
    verdict = standing_still(lambda: Lossless(int(2 * torch.rand(()).item())))
    assert isinstance(verdict, Undecided)
    assert "torch" in str(verdict)


def test_a_generator_of_its_own_and_a_thread_that_draws_once_are_no_reason() -> None:
    own = random.Random(1)
    assert standing_still(lambda: Lossless(own.randrange(1, 2)))
    started = Event()

    def once() -> Lossless:
        if not started.is_set():
            started.set()
            other = Thread(target=random.random)
            other.start()
            other.join()
        return Lossless(1)

    assert standing_still(once) == Lossless(1)


def test_a_judge_that_does_not_watch_says_lossless(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: without the watch the leak is Lossless, by chance."""
    monkeypatch.setattr("spec_math.verdict.standing_still", lambda judge: judge())

    def verify(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        return 0 if random.random() < 1e-9 else single.verify(coin, tokens[0], target, draft)

    assert isinstance(check_lossless(verify, TARGET, DRAFT, k=1), Lossless)
