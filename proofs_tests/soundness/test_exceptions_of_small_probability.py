"""An exception of probability 1e-6 comes up in plain runs too, with uniforms that Python's random may draw."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from spec_math.audit import check_sampler
from spec_math.samplers.faults import _seldom  # pyright: ignore[reportPrivateUsage]
from spec_math.verdict import Lossy, Reason, Undecided

LAWS = ["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"]


def right(tokens: Any, target: Any, draft: Any) -> int:
    x = int(tokens[0])
    if random.random() * draft[x] < target[x]:
        return x
    return random.choices(range(3), [max(t - d, 0) for t, d in zip(target, draft, strict=True)])[0]


def failing(chance: float, of: Callable[[], Any]) -> Callable[..., int]:
    def sample(tokens: Any, target: Any, draft: Any) -> int:
        if of() < chance:
            raise RuntimeError("seldom")
        return right(tokens, target, draft)

    return sample


@pytest.mark.parametrize("chance", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("of", [lambda: random.random(), lambda: 1 - random.random(), lambda: random.uniform(0, 1)])
def test_an_exception_that_is_seldom_is_lossy(chance: float, of: Callable[[], Any]) -> None:
    verdict = check_sampler(failing(chance, of), *LAWS, 1)
    assert isinstance(verdict, Lossy), str(verdict)
    assert verdict.reason == "RuntimeError: seldom"
    assert verdict.path


def test_one_that_only_stand_ins_cause_is_not() -> None:
    """The control: no number that Python draws has another type."""

    def sample(tokens: Any, target: Any, draft: Any) -> int:
        u = random.random()
        if int(tokens[0]) == 2 and type(u) is not float:
            raise RuntimeError("seldom")
        return int(tokens[0]) if u * draft[tokens[0]] < target[tokens[0]] else right((0,), target, draft)

    verdict = check_sampler(sample, *LAWS, 1)
    assert isinstance(verdict, Undecided), str(verdict)
    assert verdict.reason is Reason.RANDOMNESS_NOT_SEEN


def test_seldom_numbers_are_those_of_the_grid_and_leave_no_trace() -> None:
    methods = random.Random.random, random.random
    held = random.getstate()
    drawn: list[float] = []
    for seed in range(200):
        with _seldom(seed):
            drawn += [random.random(), random.Random(seed).random()]
    assert all(0 <= u < 1 and (u * 2**53).is_integer() for u in drawn)
    assert min(drawn) < 1e-9
    assert max(drawn) > 1 - 1e-9
    assert (random.Random.random, random.random) == methods
    random.setstate(held)
