"""The pools of one token are those that each component of the mixture gives it, in order, with the components' mass."""

from collections.abc import Callable
from fractions import Fraction
from itertools import groupby
from typing import Any

import numpy as np
import pytest

from spec_math.token_level.optimum import pools
from spec_math.token_level.optimum.pools import KnotMixture, nested

Pools = list[tuple[tuple[int, int], Fraction]]


def any_mixture(seed: int) -> KnotMixture:
    """Knots that die in any order, several at once, some before the first component."""
    rng = np.random.default_rng(seed)
    n, components = int(rng.integers(1, 12)), int(rng.integers(1, 6))
    parts = rng.integers(1, 9, components)
    weights = np.array([Fraction(int(part), int(parts.sum())) for part in parts])
    dies = rng.integers(0, components + 1, n + 1)
    dies[[0, n]] = components
    return KnotMixture(weights, dies, np.array([Fraction(1, n)] * n))


def one_component_at_a_time(mixture: KnotMixture, place: int) -> Pools:
    each = [(mixture.pool(component, place), weight) for component, weight in enumerate(mixture.weights)]
    return [(pool, sum((w for _, w in run), Fraction(0))) for pool, run in groupby(each, key=lambda pair: pair[0])]


def walked(mixture: KnotMixture, place: int) -> Pools:
    weights, low, high = (found.tolist() for found in nested(mixture, place))
    return [((a, b), weight) for weight, a, b in zip(weights, low, high, strict=True)]


def differing() -> int:
    return sum(
        walked(mixture, place) != one_component_at_a_time(mixture, place)
        for mixture in map(any_mixture, range(60))
        for place in range(len(mixture.selection))
    )


def test_pools_of_a_token_are_those_of_each_component() -> None:
    assert differing() == 0
    assert max(len(walked(any_mixture(seed), 0)) for seed in range(60)) > 2


def innermost_alone(dies: Any, place: int, components: int) -> Any:
    found = nested_pools_around(dies, place, components)
    return tuple(np.repeat(row[:1], len(row)) if at else row for at, row in enumerate(found))


def alive_when_they_die(dies: Any, place: int, components: int) -> Any:
    return nested_pools_around(np.minimum(dies + 1, components), place, components)


nested_pools_around: Callable[..., Any] = vars(pools)["_pools_around"]


@pytest.mark.parametrize("wrong", [innermost_alone, alive_when_they_die])
def test_wrong_pools_are_seen(monkeypatch: pytest.MonkeyPatch, wrong: Any) -> None:
    monkeypatch.setattr(pools, "_pools_around", wrong)
    assert differing() > 0
