"""Right verifiers that ask of a mass what a symbol cannot follow, or what it follows: the answers change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proofs_tests.soundness.verifiers_of_symbols import (
    Verifier,
    accepting,
    copied_masses,
    counts_masses,
    denominators,
    floats,
    formatted_masses,
    fractions_made_anew,
    hashes_of_masses_or_none,
    masses_in_a_set,
    masses_remembered,
    pickled_masses,
    rounded_masses,
    unique_masses,
    whole_tenths,
)
from spec_math.chance import Coin
from spec_math.token_level import single


def power_of_minus_one(target: Any, draft: Any, x: int) -> Any:
    return min(1, target[x] * draft[x] ** -1)


def square_over_square(target: Any, draft: Any, x: int) -> Any:
    return min(1, target[x] * draft[x] * (1 / draft[x] ** 2))


def power_of_minus_two(target: Any, draft: Any, x: int) -> Any:
    return min(1, target[x] * draft[x] * pow(draft[x], -2))


def float_threshold(target: Any, draft: Any, x: int) -> Any:
    ratio = target[x] / draft[x]
    return 1 if ratio >= 1.0 else ratio


def infinite_start(target: Any, draft: Any, x: int) -> Any:
    least = float("inf")
    for value in (1, target[x] / draft[x]):
        least = min(least, value)
    return least


FOLLOWED: tuple[Verifier, ...] = tuple(
    map(accepting, (power_of_minus_one, square_over_square, power_of_minus_two, float_threshold, infinite_start))
)
"""Right, and so that symbols follow them to a proof."""


def asking(question: Callable[[Any], Any]) -> Verifier:
    """A right verifier that asks a question and leaves the answer."""

    def verify(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
        question(target)
        return single.verify(coin, tokens[0], target, draft)

    verify.__name__ = f"asks_{question.__name__}"
    return verify


RIGHT: tuple[Verifier, ...] = tuple(
    map(
        asking,
        (
            counts_masses,
            masses_in_a_set,
            hashes_of_masses_or_none,
            masses_remembered,
            formatted_masses,
            pickled_masses,
            rounded_masses,
            whole_tenths,
            floats,
            denominators,
            fractions_made_anew,
            unique_masses,
            copied_masses,
        ),
    )
)
"""Right, whether or not symbols follow them."""
