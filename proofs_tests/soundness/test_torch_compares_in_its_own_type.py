"""torch compares a tensor with a Python number in the tensor's type; explored code was compared in float32 instead."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch_bridge import explore  # noqa: E402
from torch_bridge.subject import check_sampler  # noqa: E402

CHANCE = 0.01


@pytest.mark.parametrize(
    ("ask", "compare"),
    [
        (lambda: torch.rand(2, dtype=torch.float64)[1], operator.lt),
        (lambda: torch.rand((), dtype=torch.float64), operator.le),
        (lambda: 1 - torch.empty(1, dtype=torch.float64).uniform_(), operator.lt),
    ],
)
def test_a_float64_uniform_is_compared_with_a_python_float_as_it_is(
    ask: Callable[[], Any], compare: Callable[[Any, Any], Any]
) -> None:
    assert explore(lambda: bool(compare(ask(), CHANCE)))[True] == CHANCE


def test_a_float32_uniform_is_compared_with_a_python_float_in_float32() -> None:
    assert explore(lambda: bool(torch.rand(1) < CHANCE))[True] == float(torch.tensor(CHANCE))


def test_a_number_of_no_fraction_below_one_is_compared_as_the_whole_number_it_is() -> None:
    assert explore(lambda: bool(torch.rand(1) < 1)) == {True: 1.0}


def test_a_leak_is_told_with_the_mass_that_it_has() -> None:
    def leaks(tokens: Any, target: Any, draft: Any) -> int:
        del tokens, draft
        return 0 if torch.rand(2, dtype=torch.float64)[1] < CHANCE else int(torch.multinomial(target, 1))

    verdict = check_sampler(leaks, ["0", "1"], ["1/2", "1/2"], 1, numbers="torch.float64")
    assert verdict.total_variation == Fraction(CHANCE)
