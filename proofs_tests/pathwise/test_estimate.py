"""A long exploration says how far it is, and takes the heaviest paths first; a bare TypeError names its cause."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import islice

import pytest

from spec_math.audit import explore
from spec_math.chance import Coin, Enumerating, paths
from spec_math.pathwise import exploration as estimate
from spec_math.pathwise.exploration import HeaviestFirst


def three_coins() -> int:
    return sum(random.random() < 0.5 for _ in range(3))


def test_an_exploration_tells_how_far_it_is(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "EVERY", 0.0)
    with caplog.at_level(logging.INFO, "spec_math.pathwise"):
        explored = explore(three_coins)
    told = [one.getMessage() for one in caplog.records]
    assert explored == {0: 1 / 8, 1: 3 / 8, 2: 3 / 8, 3: 1 / 8}
    assert len(told) == 8
    assert all(one.split(": ")[1].startswith("about 8 paths") for one in told)


def test_a_short_one_says_nothing(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "EVERY", 600.0)  # a busy machine takes seconds for it too
    with caplog.at_level(logging.INFO, "spec_math.pathwise"):
        _ = explore(three_coins)
    assert not caplog.records


def test_paths_of_no_mass_have_no_estimate() -> None:
    told: list[str] = []
    seconds = iter([0.0, 6.0])
    estimate.Estimate(told.append, lambda: next(seconds)).at(3, lambda: 0.0)
    assert told == ["3 paths in 6 s hold 0 of the mass"]


def noted(fn: Callable[[], object]) -> str:
    with pytest.raises(TypeError) as raised:
        _ = explore(fn)
    return " ".join(getattr(raised.value, "__notes__", []))


def test_a_bare_type_error_after_a_draw_says_what_to_do() -> None:
    assert "law_by_bisection" in noted(lambda: (random.random() < 0.5) + "a")  # type: ignore[operator]


def test_one_before_any_draw_does_not_blame_exploring() -> None:
    assert "exploring" not in noted(lambda: 1 + "a")  # type: ignore[operator]


def tree(seed: int) -> Callable[[Coin], tuple[int, ...]]:
    """Return a program of six coins at most, each of which depends on those before."""

    def program(coin: Coin, depth: int = 6, state: int = 0) -> tuple[int, ...]:
        asked = random.Random(1000 * seed + state)
        if not depth or asked.random() < 0.2:
            return ()
        if asked.random() < 0.5:
            answer = int(coin.flip(Fraction(asked.randint(0, 5), 5)))
        else:
            masses = [Fraction(1 + asked.randint(0, 4)), *(Fraction(asked.randint(0, 4)) for _ in range(2))]
            answer = coin.draw([mass / sum(masses) for mass in masses])
        return (answer, *program(coin, depth - 1, 7 * state + answer + 1))

    return program


@pytest.mark.parametrize("depth_first", [1, 2, 5, 1000])
def test_the_heaviest_beginning_comes_next_and_no_path_is_lost(depth_first: int) -> None:
    for seed in range(40):
        whole = {path.choices: path.mass for path in paths(tree(seed))}
        walked = [(path.choices, path.mass) for path in paths(tree(seed), HeaviestFirst(depth_first))]
        assert len(walked) == len(whole)
        assert dict(walked) == whole


def test_of_a_long_loop_the_heaviest_paths_are_walked() -> None:
    def loop(coin: Coin) -> int:
        return sum(coin.flip(Fraction(1, 9)) for _ in range(12))

    held = [sum(path.mass for path in islice(paths(loop, coin), 80)) for coin in (HeaviestFirst(1), Enumerating())]
    heaviest = sorted((path.mass for path in paths(loop)), reverse=True)
    assert held[1] < Fraction(1, 10**4) < held[0] <= sum(heaviest[:80])
    assert held[0] > Fraction(9, 10) * sum(heaviest[:80])
