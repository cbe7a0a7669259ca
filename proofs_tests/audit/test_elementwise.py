"""A random number on the left of an array meets each entry, with the law of the array on the left."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from proofs_tests.audit.explored_functions import F
from spec_math.audit import ExploreError, explore

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
    assert entries(lambda u: u < P) == {
        (True, True): F(1, 4),
        (False, True): F(1, 2),
        (False, False): F(1, 4),
    }


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
