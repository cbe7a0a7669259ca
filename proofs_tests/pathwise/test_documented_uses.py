"""Uses that the docs name: reservoir keys, numba's kernels, keyed bit generators, methods without their object."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numba
import numpy as np
import pytest

from spec_math.audit import ExploreError, check_sampler, explore
from spec_math.verdict import Lossless, Lossy, Undecided

TARGET, DRAFT = ["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"]
WEIGHTS = np.array([0.25, 0.5, 0.25])
FIRST = {0: 0.25, 1: 0.5, 2: 0.25}


def keys() -> Any:
    return np.random.default_rng().random(3) ** (1 / WEIGHTS)


def listed_keys() -> list[Any]:
    return [random.random() ** (1 / weight) for weight in WEIGHTS]


def beside_a_zero() -> int:
    with np.errstate(divide="ignore"):
        return int((np.random.default_rng().random(4) ** (1 / np.array([*WEIGHTS, 0.0]))).argmax())


RESERVOIRS: dict[str, Callable[[], int]] = {
    "argmax": lambda: int(np.argmax(keys())),
    "argmax of its own": lambda: int(keys().argmax()),
    "rows": lambda: int(keys().reshape(1, 3).argmax(axis=1)[0]),
    "argmin of falling keys": lambda: int(np.argmin(np.random.default_rng().random(3) ** (-1 / WEIGHTS))),
    "argsort": lambda: int(np.argsort(keys())[-1]),
    "argsort of negatives": lambda: int(np.argsort(-keys())[0]),
    "old functions": lambda: int(np.argmax(np.random.rand(3) ** (1 / WEIGHTS))),  # noqa: NPY002
    "one minus": lambda: int(np.argmax((1 - np.random.default_rng().random(3)) ** (1 / WEIGHTS))),
    "beside a mass of 0": beside_a_zero,
    "a list": lambda: int(np.argmax(listed_keys())),
    "max": lambda: max(range(3), key=listed_keys().__getitem__),
    "a heap": lambda: heapq.nlargest(1, range(3), key=listed_keys().__getitem__)[0],
}


@pytest.mark.parametrize("name", RESERVOIRS)
def test_keys_of_a_weighted_reservoir_are_a_race(name: str) -> None:
    assert explore(RESERVOIRS[name]) == pytest.approx(FIRST, abs=1e-12)


def test_the_largest_keys_are_a_draw_without_replacement() -> None:
    found = explore(lambda: tuple(np.argsort(-keys())[:2].tolist()))
    wanted = {(a, b): FIRST[a] * FIRST[b] / (1 - FIRST[a]) for a in FIRST for b in FIRST if a != b}
    assert found == pytest.approx(wanted, abs=1e-12)


def test_two_uniforms_are_compared_exactly() -> None:
    assert explore(lambda: random.random() < random.random()) == {True: Fraction(1, 2), False: Fraction(1, 2)}


def test_three_uniforms_are_sorted_exactly() -> None:
    found = explore(lambda: tuple(np.argsort(np.random.default_rng().random(3)).tolist()))
    assert list(found.values()) == [Fraction(1, 6)] * 6


@pytest.mark.parametrize(
    "fn",
    [
        lambda: random.random() < 2 * random.random(),
        lambda: int(np.argmax(WEIGHTS * np.random.default_rng().random(3))),
        lambda: int(np.argmax(np.random.default_rng().random(3) + WEIGHTS)),
    ],
)
def test_uniforms_of_other_scales_are_not_raced(fn: Any) -> None:
    with pytest.raises(ExploreError):
        explore(fn)


def test_a_reservoir_with_weights_for_exponents_is_lossy() -> None:
    def wrong(tokens: Any, target: Any, draft: Any) -> int:
        del tokens, draft
        return int(np.argmax(np.random.default_rng().random(len(target)) ** np.asarray(target, dtype=float)))

    def right(tokens: Any, target: Any, draft: Any) -> int:
        del tokens, draft
        return int(np.argmax(np.random.default_rng().random(len(target)) ** (1 / np.asarray(target, dtype=float))))

    assert isinstance(check_sampler(right, TARGET, DRAFT), Lossless)
    assert isinstance(check_sampler(wrong, TARGET, DRAFT), Lossy)


@numba.njit
def residual_kernel(tokens: Any, target: Any, draft: Any, uniforms: Any) -> Any:
    token = tokens[0]
    if uniforms[0] * draft[token] < target[token]:
        return token
    left = np.maximum(target - draft, 0)
    sums = np.cumsum(left)
    for place in range(len(sums)):
        if uniforms[1] * sums[-1] < sums[place]:
            return place
    return len(sums) - 1


@numba.njit
def target_kernel(tokens: Any, target: Any, draft: Any, uniforms: Any) -> Any:
    token = tokens[0]
    if uniforms[0] * draft[token] < target[token]:
        return token
    sums = np.cumsum(target)
    for place in range(len(sums)):
        if uniforms[1] * sums[-1] < sums[place]:
            return place
    return len(sums) - 1


@numba.njit
def below(uniform: float, chance: float) -> bool:
    return uniform < chance


def given_uniforms(kernel: Any) -> Callable[..., int]:
    def verify(tokens: Any, target: Any, draft: Any) -> int:
        uniforms = np.random.default_rng().random(2)
        return int(kernel(np.array(tokens), np.asarray(target, float), np.asarray(draft, float), uniforms))

    return verify


def test_a_kernel_by_numba_that_is_given_its_uniforms_is_judged() -> None:
    assert isinstance(check_sampler(given_uniforms(residual_kernel), TARGET, DRAFT), Lossless)
    assert isinstance(check_sampler(given_uniforms(target_kernel), TARGET, DRAFT), Lossy)


def test_a_kernel_by_numba_that_is_given_one_uniform_is_followed() -> None:
    assert explore(lambda: bool(below(random.random(), 0.25))) == {True: 0.25, False: 0.75}


def test_a_kernel_that_does_something_else_when_it_is_compiled_is_refused() -> None:
    @numba.njit
    def wraps(uniform: Any) -> Any:
        count = np.uint8(255)
        count += np.uint8(1)  # in numba a number of 64 bits, in NumPy one of 8
        return (uniform < 0.5) == (count == 0)

    with pytest.raises(ExploreError, match="on ordinary numbers"):
        explore(lambda: bool(wraps(random.random())))


@pytest.mark.parametrize("given", [{"key": 3}, {"key": 3, "counter": 1}, {"counter": 1}, {"seed": 3}, {}])
def test_a_philox_made_by_its_key_is_followed(given: dict[str, int]) -> None:
    found = explore(lambda: bool(np.random.Generator(np.random.Philox(**given)).random() < 0.25))
    assert found == {True: 0.25, False: 0.75}


@pytest.mark.parametrize(("given", "repeats"), [({"key": 3}, True), ({"counter": 1}, False)])
def test_a_key_in_call_after_call_is_a_seed_and_a_counter_is_none(given: dict[str, int], repeats: bool) -> None:
    def sampler(tokens: Any, target: Any, draft: Any) -> int:
        del tokens, draft
        return int(np.random.Generator(np.random.Philox(**given)).choice(3, p=np.asarray(target, dtype=float)))

    verdict = check_sampler(sampler, TARGET, DRAFT)
    assert isinstance(verdict, Undecided if repeats else Lossless), verdict


class Bare:
    """A verifier whose methods need nothing of their object."""

    def __init__(self) -> None:
        raise AssertionError("an object of it is not initialised")

    def verify(self, tokens: Any, target: Any, draft: Any) -> int:
        if random.random() < target[tokens[0]] / draft[tokens[0]]:
            return tokens[0]
        return self.corrected(target, draft)

    def corrected(self, target: Any, draft: Any) -> int:
        left = [max(t - d, 0) for t, d in zip(target, draft, strict=True)]
        return random.choices(range(len(left)), left)[0]

    def wrong(self, tokens: Any, target: Any, draft: Any) -> int:
        del target, draft
        return tokens[0]

    def deeper(self, tokens: Any, target: Any, draft: Any) -> int:
        return self.from_a_table(tokens, target, draft)

    def from_a_table(self, tokens: Any, target: Any, draft: Any) -> int:
        del target, draft
        return self.table[tokens[0]]  # type: ignore[attr-defined]


def test_a_method_without_its_object_is_judged_where_it_needs_none() -> None:
    assert isinstance(check_sampler(Bare.verify, TARGET, DRAFT), Lossless)
    assert isinstance(check_sampler(Bare.wrong, TARGET, DRAFT), Lossy)


@pytest.mark.parametrize("method", [Bare.deeper, Bare.from_a_table])
def test_a_method_that_needs_its_object_is_refused_with_the_line_that_binds_it(method: Any) -> None:
    verdict = check_sampler(method, TARGET, DRAFT)
    assert isinstance(verdict, Undecided)
    assert "is not understood; write an adapter" in str(verdict)
