"""Thresholds carried back through logarithms, reciprocals and powers, against the same code on a fine grid of uniforms.

An indicator that changes at m places is averaged over N midpoints to within m/(2N); each case here changes at most
twice.
"""

# ruff: noqa: ARG005

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from proofs_tests.pathwise.explored_functions import F
from spec_math.audit import ExploreError, explore

FINE = 20_000

CASES: dict[str, Callable[[Any, Any], Any]] = {
    "log u < c": lambda u, log: log(u) < math.log(0.3),
    "log u >= c": lambda u, log: log(u) >= math.log(0.3),
    "-log u > c": lambda u, log: -log(u) > 0.7,
    "-log u < a negative number": lambda u, log: -log(u) < -1,
    "scaled log": lambda u, log: log(u) * -2 < 0.5,
    "log of -log": lambda u, log: -log(-log(u)) < 0.4,
    "reciprocal of -log": lambda u, log: 1 / (-log(u)) > 2,
    "reciprocal of -log, negative": lambda u, log: -1 / (-log(u)) > 2,
    "p / u > 1": lambda u, log: 0.3 / u > 1,
    "p / u <= 1": lambda u, log: 0.3 / u <= 1,
    "-p / u < -1": lambda u, log: -0.3 / u < -1,
    "p / u < -1": lambda u, log: 0.3 / u < -1,
    "-p / u > -1": lambda u, log: -0.3 / u > -1,
    "-p / u > 1": lambda u, log: -0.3 / u > 1,
    "p / (1 - u)": lambda u, log: 0.3 / (1 - u) < 0.5,
    "square": lambda u, log: u**2 < 0.3,
    "root": lambda u, log: u ** (1 / 0.3) > 0.2,
    "root and scale": lambda u, log: 3 - 2 * u**0.5 < 1.9,
    "power of a power": lambda u, log: (u**2 + 1) ** -1.5 < 0.6,
    "two answers of one uniform": lambda u, log: (u**2 < 0.5) + (1 / u < 3),
    "log and reciprocal": lambda u, log: int(log(u) < -0.5) + (1 / u < 3),
    "equality": lambda u, log: u == 0.25,
    "inequality": lambda u, log: u != 0.25,
}


@pytest.mark.parametrize("ask", CASES.values(), ids=CASES)
def test_a_bent_threshold_has_the_law_of_the_code_on_a_fine_grid(ask: Callable[[Any, Any], Any]) -> None:
    found = explore(lambda: int(ask(random.random(), np.log)))
    counted: dict[int, int] = {}
    for k in range(FINE):
        answer = int(ask((k + 0.5) / FINE, math.log))
        counted[answer] = counted.get(answer, 0) + 1
    for answer in {*found, *counted}:
        assert abs(found.get(answer, 0) - counted.get(answer, 0) / FINE) <= 1 / FINE, answer


def test_a_threshold_that_is_carried_the_wrong_way_is_found_by_the_grid() -> None:
    """The control: the answers of 1/u > 2 are not those of u > 2."""
    found = explore(lambda: random.random() > 0.5)
    counted = sum(1 / ((k + 0.5) / FINE) > 1 / 0.3 for k in range(FINE)) / FINE
    assert abs(found[True] - counted) > 1 / FINE


def test_products_of_uniforms_are_gone_through_on_a_stated_grid() -> None:
    found = explore(lambda: random.random() * random.random() < 0.25, grid=4)
    wanted = sum(i * j < 64 for i in range(16) for j in range(16)) / 256
    assert found == {True: wanted, False: 1 - wanted}


@pytest.mark.parametrize(
    ("fn", "said"),
    [
        (lambda: random.random() * random.random() < 0.25, "stated grid"),
        (lambda: (random.random() - 0.5) ** 2 < 0.1, "may be negative"),
        (lambda: [0, 1][random.random()], "exploring is the cause"),
        (lambda: random.random() ** 2 == random.random(), "compared by =="),
    ],
)
def test_what_is_not_followed_says_why(fn: Any, said: str) -> None:
    with pytest.raises(ExploreError, match=said):
        explore(fn)


P, Q = np.array([0.25, 0.75]), np.array([0.5, 0.5])


def entries(side: Callable[[Any], Any], **options: Any) -> Any:
    """The law of what one uniform says to each entry."""

    def asked() -> Any:
        found: Any = side(random.random())
        return tuple(found.tolist())

    return explore(asked, **options)


@pytest.mark.parametrize(
    ("one_way", "other_way"),
    [
        (lambda u: u < P, lambda u: u < P),
        (lambda u: u <= P, lambda u: u <= P),
        (lambda u: u > P, lambda u: u > P),
        (lambda u: u >= P, lambda u: u >= P),
        (lambda u: u * Q < P, lambda u: Q * u < P),
        (lambda u: u + Q < 1, lambda u: Q + u < 1),
        (lambda u: u - Q < 0, lambda u: Q - u > 0),
        (lambda u: u / P < 1, lambda u: u < P),
        (lambda u: np.log(u) < np.log(P), lambda u: np.log(P) > np.log(u)),
        (lambda u: -np.log(u) * Q < P, lambda u: -(Q * np.log(u)) < P),
    ],
)
def test_both_sides_have_one_law(one_way: Callable[[Any], Any], other_way: Callable[[Any], Any]) -> None:
    left, right = entries(one_way), entries(other_way)
    assert dict(left) == dict(right)
    assert len(left) > 1


def test_the_law_is_that_of_one_uniform_against_all_entries() -> None:
    assert entries(lambda u: u < P) == {(True, True): F(1, 4), (False, True): F(1, 2), (False, False): F(1, 4)}


def test_a_uniform_equals_no_entry() -> None:
    assert entries(lambda u: u == P) == {(False, False): 1}


def test_a_verifier_that_asks_for_all_tokens_at_once_is_judged() -> None:
    def emitted(least: float) -> int:
        token = random.choices([0, 1], weights=[0.75, 0.25])[0]
        u: Any = random.random()
        accepted = u < np.maximum(np.array([0.25, 0.75]) / np.array([0.75, 0.25]), least)
        return token if accepted[token] else 1

    assert explore(lambda: emitted(0)) == {0: pytest.approx(F(1, 4)), 1: pytest.approx(F(3, 4))}
    wrong: Any = explore(lambda: emitted(0.5))
    assert wrong[0] == pytest.approx(F(3, 8))


def test_on_a_grid_the_meeting_is_refused_with_what_to_do() -> None:
    with pytest.raises(ExploreError, match="take one entry of the array"):
        entries(lambda u: u < P, grid=4)


def test_beside_a_tensor_of_many_numbers_nothing_is_followed() -> None:
    with pytest.raises(ExploreError):
        entries(lambda u: u < torch.tensor(P))
