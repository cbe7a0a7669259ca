"""torch compares a tensor with a Python number in the tensor's type; explored code was compared in float32 instead."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from spec_math.verdict import Lossy  # noqa: E402
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


def accepting(threshold: Callable[[Any, Any], Any]) -> Callable[..., int]:
    def verify(tokens: Any, target: Any, draft: Any) -> int:
        x = int(tokens[0])
        if bool(torch.rand(1) < threshold(target[x], draft[x])):
            return x
        left = torch.clamp(target - draft, min=0)
        return int(torch.multinomial(left / left.sum(), 1))

    return verify


@pytest.mark.parametrize("numbers", ["torch.float64", "torch.float32", "torch.float16"])
@pytest.mark.parametrize(
    "laws",
    [
        (["1/4", "3/8", "3/8"], ["1/4", "3/16", "9/16"]),
        (["1/2", "1/2"], ["9/16", "7/16"]),
        # The ratio is 1 − 10^-12: in float32 it becomes 1, and shows no digits.
        (
            [Fraction(3, 5), Fraction(2, 5)],
            [Fraction(3, 5) - Fraction(4, 10**13), Fraction(2, 5) + Fraction(4, 10**13)],
        ),
    ],
)
def test_a_ratio_that_torch_rounds_to_float32_is_not_called_lossy(laws: Any, numbers: str) -> None:
    """A mass without dimensions beside `torch.rand(1)` is compared in float32, whatever type it has."""
    verdict = check_sampler(accepting(lambda t, d: min(1, t / d)), *laws, k=1, numbers=numbers)
    assert not isinstance(verdict, Lossy), verdict


@pytest.mark.parametrize("numbers", ["torch.float64", "torch.float32", "torch.float16"])
def test_a_slip_beyond_what_float32_explains_is_lossy_on_the_same_laws(numbers: str) -> None:
    """The control."""
    wrong = accepting(lambda t, d: min(1, t / d + 0.001))
    verdict = check_sampler(wrong, ["1/4", "3/8", "3/8"], ["1/4", "3/16", "9/16"], k=1, numbers=numbers)
    assert isinstance(verdict, Lossy), verdict
