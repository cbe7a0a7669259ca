"""What the judge of generators leaves unwalked, what breaks in a later block, and the bound of floats, exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from spec_math import Lossless, Lossy, Undecided, check_lossless_block
from spec_math.arrays import exact
from spec_math.block_level import lossless
from spec_math.float_allowance import UNIT, Allowance, Level, adding_up, rounding
from spec_math.language import Table
from spec_math.verdict import Reason

Text = tuple[int, ...]
TARGET = exact(["1/4", "3/4"])


def one_token(coin: Any, _: Text) -> Text:
    return (coin.draw(TARGET),)


@pytest.mark.parametrize(("budget", "left"), [(1, "1"), (2, "1"), (3, "0.938"), (4, "0.75"), (5, "0.562")])
def test_mass_that_the_budget_leaves_is_that_of_the_texts_not_gone_on_with(
    budget: int, left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two blocks of one token, 2 + 2·2 paths: 3 of them leave all but (1/4)², 4 the 3/4 of (1,), 5 (3/4)².

    One path or two leave nothing of the budget for the second block: after no text is it known.
    """
    monkeypatch.setattr(lossless, "BUDGET", budget)
    verdict = check_lossless_block(one_token, lambda _: TARGET, 2, rounds=2)
    assert isinstance(verdict, Undecided)
    assert verdict.reason is Reason.BUDGET
    assert str(verdict.explanation).startswith(f"{budget} paths left {left} of the mass unexplored")


def test_a_budget_that_is_just_enough_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lossless, "BUDGET", 6)
    assert check_lossless_block(one_token, lambda _: TARGET, 2, rounds=2) == Lossless(paths=6, bound=0.0)


def test_a_difference_that_was_found_within_the_budget_is_lossy(monkeypatch: pytest.MonkeyPatch) -> None:
    """2 of 6 paths: (0, 0) has 3/4 too much."""

    def generate(coin: Any, prefix: Text) -> Text:
        return (coin.draw(TARGET if not prefix else exact([1, 0])),)

    monkeypatch.setattr(lossless, "BUDGET", 3)
    verdict = check_lossless_block(generate, lambda _: TARGET, 2, rounds=2)
    assert isinstance(verdict, Lossy)
    assert (verdict.tokens, verdict.emitted, verdict.target) == ((0, 0), Fraction(1, 4), Fraction(1, 16))


def test_an_exception_after_every_text_is_lossy_only_where_another_block_has_returned() -> None:
    def later(coin: Any, prefix: Text) -> Text:
        if prefix != (1,):
            raise LookupError("no more")
        return (coin.draw(TARGET),)

    verdict = check_lossless_block(later, lambda _: TARGET, 2, rounds=2, prefix=(1,))
    assert isinstance(verdict, Lossy)
    assert str(verdict.reason).startswith("after the prefix (1, 0): LookupError: no more")
    assert check_lossless_block(later, lambda _: TARGET, 2, rounds=1, prefix=(1,))
    assert isinstance(check_lossless_block(later, lambda _: TARGET, 2, rounds=2), Undecided)


def test_what_follows_the_end_is_named_with_the_prefix_it_came_after() -> None:
    model = Table({(): ["1/2", "1/2"]}, context=0, end=1)

    def generate(_: Any, prefix: Text) -> Text:
        return (0,) if len(prefix) < 2 else (1, 0)

    verdict = check_lossless_block(generate, model, 4, rounds=3, prefix=(0,))
    assert isinstance(verdict, Lossy)
    assert str(verdict.reason).startswith("after the prefix (0, 0): emitted (1, 0): tokens follow the end token 1")


@pytest.mark.parametrize(("horizon", "rounds", "paths", "coins"), [(1, 1, 2, 1), (3, 1, 2, 1), (3, 2, 6, 2)])
def test_the_bound_of_floats_is_what_its_coins_round_and_what_adding_up_does(
    horizon: int, rounds: int, paths: int, coins: int
) -> None:
    """A coin a block of masses whose sum is 1 exactly; what is measured may be off by counts twice."""
    law = np.array([0.25, 0.75])
    verdict = check_lossless_block(lambda coin, _: (coin.draw(law),), lambda _: law, horizon, rounds)
    lost = rounds * rounding([Level(UNIT["float64"])], 2)
    assert verdict == Lossless(paths, Allowance(lost, measured=adding_up(paths, coins + horizon, 2)).forgiven)


def test_a_cap_that_was_asked_for_is_not_exceeded() -> None:
    law = np.array([0.25, 0.75], np.float16)

    def generate(coin: Any, _: Text) -> Text:
        return (coin.draw(law),)

    wide = check_lossless_block(generate, lambda _: law, 1, at_most=0.0078125)
    assert isinstance(wide, Lossless)
    assert 0.001 < wide.bound < 0.0078125
    assert check_lossless_block(generate, lambda _: law, 1, at_most=0.001) == Lossless(2, 0.001)


def test_what_laws_are_off_by_is_carried_from_coin_to_coin() -> None:
    """Both the target's law and the coin's are off by g: 2g at the first coin of a block, 4g at the second."""
    off = 2.0**-40
    law = np.array([0.25, 0.75 + off])

    def generate(coin: Any, _: Text) -> Text:
        return coin.draw(law), coin.draw(law)

    unit = UNIT["float64"]
    lost = rounding([Level(unit, 2 * off), Level(unit, 4 * off)], 2)
    verdict = check_lossless_block(generate, lambda _: law, 2)
    assert verdict == Lossless(4, Allowance(lost, measured=adding_up(4, 2 + 2, 2)).forgiven)


def test_of_several_texts_the_law_that_is_furthest_off_counts_for_all() -> None:
    """After 0 the law is off by g, after 1 by 2g, at the start by nothing; the target is off by 2g at most."""
    off = 2.0**-40
    laws: dict[Text, Any] = {
        (): np.array([0.25, 0.75]),
        (0,): np.array([0.5, 0.5 + off]),
        (1,): np.array([0.5, 0.5 - 2 * off]),
    }

    def generate(coin: Any, prefix: Text) -> Text:
        return (coin.draw(laws[prefix]),)

    unit = UNIT["float64"]
    lost = rounding([Level(unit, 2 * off)], 2) + rounding([Level(unit, 4 * off)], 2)
    verdict = check_lossless_block(generate, laws.__getitem__, 2, rounds=2)
    assert verdict == Lossless(6, Allowance(lost, measured=adding_up(6, 2 + 2, 2)).forgiven)
