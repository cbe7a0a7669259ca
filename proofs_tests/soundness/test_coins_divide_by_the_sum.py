"""Masses that were off by 2^-7 in one draw and back in the next were lossless, bound 0.0, on Fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from spec_math import Cumulative, Lossless, Lossy, check_lossless, check_lossless_block, law, replay, sample
from spec_math.chance import ChanceError
from spec_math.distribution import residual

EVEN = ["1/2", "1/2"]
MORE = 2.0**-8


def off_and_back(coin: Any) -> int:
    """Without division by the sums: 1/2 for token 0, and (1/2 + 2^-8)·(1/2)/(1/2 + 2^-8) for token 1."""
    if coin.draw([0.5, 0.5 + MORE]) == 0:
        return 0
    coin.draw([0.5 / (0.5 + MORE)])
    return 1


def off_and_back_in_half(coin: Any) -> int:
    if coin.draw(np.float16([0.5, 0.5 + MORE])) == 0:
        return 0
    coin.draw(np.float16([0.5 / (0.5 + MORE)]))
    return 1


def off_twice(coin: Any) -> int:
    """Three coins of one token: 1 + 2^-8, and back in two steps."""
    if coin.draw(Cumulative(np.float16([0.5, 0.5 + MORE]))) == 0:
        return 0
    coin.draw(np.float32([0.5 / (0.5 + MORE) / (1 - 2.0**-18)]).astype(np.float16))
    coin.draw(np.float32([1 - 2.0**-18]))
    return 1


PROGRAMS = [off_and_back, off_and_back_in_half, off_twice]


@pytest.mark.parametrize("program", PROGRAMS)
def test_masses_that_are_off_and_back_are_never_lossless_exactly(program: Callable[[Any], int]) -> None:
    verdict = check_lossless(lambda coin, *_: program(coin), EVEN, EVEN, 1)
    assert not isinstance(verdict, Lossless)
    block = check_lossless_block(lambda coin, _: (program(coin),), lambda _: [Fraction(1, 2)] * 2, 1)
    assert not isinstance(block, Lossless)


@pytest.mark.parametrize("program", PROGRAMS[1:])
def test_every_reading_divides_by_the_sum(program: Callable[[Any], int]) -> None:
    share = 0.5 / (1 + MORE)
    assert law(program)[0] == pytest.approx(share, rel=1e-12)
    just_below, just_above = share - 2.0**-12, share + 2.0**-12
    assert just_above < 0.5
    assert replay(program, [just_below]) == 0
    assert replay(program, [just_above, 0.0, 0.0]) == 1

    class Tape:
        def __init__(self) -> None:
            self.left = [just_above, 0.0, 0.0]

        def random(self) -> float:
            return self.left.pop(0)

    assert sample(program, Tape()) == 1


@pytest.mark.parametrize("masses", [[0.1, 0.9 + 1e-3], [0.1, 0.9 + 2.0**-30], np.array([0.3, 0.7 + 1e-9])])
def test_a_sum_that_its_type_does_not_explain_is_refused_in_every_reading(masses: Any) -> None:
    for read in (law, lambda program: sample(program, np.random.default_rng(0)), lambda program: replay(program, [0])):
        with pytest.raises(ChanceError, match=r"a sum of float64 may be off by 1\.5e-11"):
            read(lambda coin: coin.draw(masses))
    assert isinstance(check_lossless(lambda coin, *_: coin.draw(masses), EVEN, EVEN, 1), Lossy)


def test_what_a_type_explains_passes() -> None:
    single = np.float32([0.1, 0.2, 0.7000001])
    for masses in (single, single.tolist(), list(single), single.astype(np.float64)):
        assert law(lambda coin, masses=masses: coin.draw(masses))[0] == pytest.approx(0.1, rel=1e-6)


def accepting(chance: Callable[[Any], Any]) -> Callable[..., int]:
    def verify(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        x = tokens[0]
        return x if coin.flip(chance(min(1, target[x] / draft[x]))) else coin.draw(residual(target, draft))

    return verify


@pytest.mark.parametrize("number", [float, np.float64, np.float32])
def test_a_float_inside_an_exact_program_makes_a_verdict_on_floats(number: Callable[[Any], Any]) -> None:
    laws = ["1/3", "2/3"], ["2/5", "3/5"]
    verdict = check_lossless(accepting(lambda p: number(float(p))), *laws, 1)
    assert isinstance(verdict, Lossless)
    assert 0 < verdict.bound < 1e-4
    assert "the verdict is about floats" in str(verdict)
    assert check_lossless(accepting(lambda p: p), *laws, 1) == Lossless(3, 0.0, (1,))
    wrong = check_lossless(accepting(lambda p: float(p) * (1 - 1e-3)), *laws, 1)
    assert isinstance(wrong, Lossy)


def test_a_float_that_decides_nothing_makes_it_one_as_well() -> None:
    def verify(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        coin.flip(0.5)
        return accepting(lambda p: p)(coin, tokens, target, draft)

    verdict = check_lossless(verify, ["1/3", "2/3"], ["2/5", "3/5"], 1)
    assert isinstance(verdict, Lossless)
    assert verdict.bound > 0
