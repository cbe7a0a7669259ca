"""Randomness that is not seen: a leak through it is never lossless, a right sampler that uses it never lossy."""

from __future__ import annotations

import random
import threading
import time
from typing import Any

import numpy as np
import pytest

from proofs_tests.soundness.unseen_sources import FOLLOWED, JUDGED, PAIR, REFUSED, leaky, right
from spec_math.audit import LeakError, check_sampler, explore
from spec_math.pathwise import followed
from spec_math.verdict import Lossless, Lossy, Reason, Undecided


def verdict(sampler: Any) -> Any:
    return check_sampler(sampler, *PAIR, numbers="float64")


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("made", [right, leaky])
def test_what_is_not_followed_is_left_open_and_named(name: str, made: Any) -> None:
    found = verdict(made(REFUSED[name]))
    assert isinstance(found, Undecided)
    assert found.reason is Reason.RANDOMNESS_NOT_SEEN


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_is_followed_is_decided(name: str) -> None:
    assert isinstance(verdict(right(FOLLOWED[name])), Lossless)
    assert isinstance(verdict(leaky(FOLLOWED[name])), Lossy)


@pytest.mark.parametrize("name", JUDGED)
def test_what_cannot_be_entered_and_does_not_draw_is_judged(name: str) -> None:
    assert isinstance(verdict(JUDGED[name]), Lossless)
    assert isinstance(verdict(lambda target, draft: JUDGED[name](target[::-1], draft)), Lossy)


def test_an_explorer_that_does_not_look_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: with nothing noted, and no state compared, leaks of 1/1,000 are called lossless."""
    drawn = REFUSED["numba's np.random"]()  # compiled before names stand for others
    assert 0 <= drawn < 1
    monkeypatch.setattr(followed, "WATCHED", ())
    assert isinstance(verdict(leaky(REFUSED["os.urandom"])), Lossless)
    assert isinstance(verdict(leaky(REFUSED["numba's np.random"])), Undecided)
    monkeypatch.setattr(followed.Still, "moved", lambda *_: [])
    assert isinstance(verdict(leaky(REFUSED["numba's np.random"])), Lossless)


def test_a_verifier_with_a_coin_may_draw_from_nothing_else() -> None:
    def peeks(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        leak = random.random() < 0.001
        return 0 if leak else coin.draw(target) + 0 * len(tokens) * len(draft)

    assert isinstance(verdict(peeks), Undecided)
    assert isinstance(verdict(lambda coin, tokens, target, draft: coin.draw(target)), Lossless)  # noqa: ARG005


def test_repeating_every_path_finds_what_moves_no_state() -> None:
    """A counter is no generator. A leak by it comes up where the path that it decides is walked again."""
    calls = [0]

    def counted() -> bool:
        calls[0] += 1
        heads = tuple(random.random() < 0.5 for _ in range(7))
        return heads == (False, False, True, True, True, False, False) and calls[0] % 2 == 0

    assert isinstance(explore(counted), dict)
    calls[0] = 0
    with pytest.raises(LeakError, match="the first run returned"):
        explore(counted, repeats=1)


def test_a_fault_that_does_not_come_again_is_no_fault() -> None:
    calls = [0]

    def fails_once(target: Any, _draft: Any) -> int:
        calls[0] += 1
        if calls[0] == 1:
            raise RuntimeError("out of luck")
        return int(random.random() >= target[0])

    assert isinstance(verdict(fails_once), Undecided)


def test_a_source_is_refused_where_a_rare_path_alone_draws_from_it() -> None:
    def rarely(target: Any, _draft: Any) -> int:
        if random.random() < 1e-6:
            return right(REFUSED["os.urandom"])(target, _draft)
        return int(random.random() >= target[0])

    assert isinstance(verdict(rarely), Undecided)


def test_a_refusal_that_the_code_catches_is_a_refusal() -> None:
    """The control: the code goes on without its normal number, and would be judged for what it does then."""

    def catches(target: Any, _draft: Any) -> int:
        try:
            return int(random.gauss(0, 1) < 0)
        except Exception:
            return int(random.random() >= target[0])

    found = verdict(catches)
    assert isinstance(found, Undecided)
    assert "random.gauss" in found.explanation


def test_another_thread_may_draw_in_the_middle_of_a_run() -> None:
    asked, drawn = threading.Event(), threading.Event()

    def drawing() -> None:
        asked.wait()
        np.random.rand()  # noqa: NPY002
        drawn.set()

    def step() -> bool:
        asked.set()
        drawn.wait()
        return random.random() < 0.5

    np.random.seed(1)  # noqa: NPY002
    host = threading.Thread(target=drawing)
    host.start()
    assert explore(step) == {True: 0.5, False: 0.5}
    host.join()


def test_other_threads_may_draw_meanwhile() -> None:
    """A thread of the host, such as a progress bar's, draws while a function is explored: it condemns nothing."""
    stop, drawn = threading.Event(), [0]

    def drawing() -> None:
        while not stop.is_set():
            assert isinstance(random.random(), float)
            assert isinstance(float(np.random.rand()), float)  # noqa: NPY002
            drawn[0] += 1
            time.sleep(0)

    host = threading.Thread(target=drawing)
    host.start()
    try:
        found = explore(lambda: sum(random.random() < 0.5 for _ in range(7)))
    finally:
        stop.set()
        host.join()
    assert drawn[0] > 0
    assert found[0] == 2.0**-7  # type: ignore[index]
