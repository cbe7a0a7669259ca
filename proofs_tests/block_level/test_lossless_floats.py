"""The judge on float models: verdicts within its stated bound, and no blindness for what is larger."""

from typing import Any

import numpy as np
import pytest

from spec_math import Lossy, Undecided, check_lossless_block
from spec_math.block_level import block, chain, emitted_law, spectr, target_law, without_replacement
from spec_math.block_level.lossless import asked_in_float64
from spec_math.float_allowance import UNIT, Level, rounding
from spec_math.verdict import Reason

Text = tuple[int, ...]


def peaked(seed: int, scale: float) -> Any:
    """A float model: the softmax of normal logits of the given scale, drawn afresh for each prefix."""

    def model(prefix: Text) -> Any:
        logits = scale * np.random.default_rng([seed, len(prefix), *prefix]).standard_normal(3)
        weights = np.exp(logits - logits.max())
        return weights / weights.sum()

    return model


GENERATORS = [(chain.generate, 2), (block.generate, 2), (spectr.generate, (2,)), (without_replacement.generate, (2, 1))]


@pytest.mark.parametrize(("generate", "shape"), GENERATORS)
@pytest.mark.parametrize(("scale", "seed"), [(1.0, 0), (1.0, 1), (10.0, 2), (10.0, 3)])
def test_generators_are_lossless_on_floats_within_the_bound(generate: Any, shape: Any, scale: float, seed: int) -> None:
    target, draft = peaked(seed, scale), peaked(seed + 100, scale)
    verdict = check_lossless_block(lambda coin, prefix: generate(coin, target, draft, prefix, shape), target, 3)
    assert verdict, str(verdict)
    assert 0 < verdict.bound < 1e-12


def test_a_bias_above_the_bound_is_caught_on_floats() -> None:
    target, draft = peaked(0, 1.0), peaked(1, 1.0)

    def biased(coin: Any, prefix: Text) -> Text:
        t = target(prefix)
        return chain.generate(coin, lambda p: 0.99999 * target(p) + 1e-5 * t[::-1], draft, prefix, 1)

    verdict = check_lossless_block(biased, target, 2)
    assert not verdict
    assert verdict.total_variation > 1e-8
    wanted = target_law(target, 2)
    emitted = emitted_law(biased, target, 2)
    assert verdict.total_variation == pytest.approx(
        sum(abs(emitted[text] - wanted[text]) for text in wanted) / 2, rel=1e-9
    )


def test_a_coin_that_is_seldom_reached_moves_no_more_than_its_chance() -> None:
    """Half precision, so that a coin moves 6 or 8 roundings of 2^-11; the last coin is reached with chance 2^-10."""
    law, unit = np.array([1 - 2.0**-10, 2.0**-10], np.float16), UNIT["float16"]

    def generate(coin: Any, prefix: Text) -> Text:
        return tuple(coin.draw(law) for _ in range(2 if prefix == (1,) else 1))

    verdict = check_lossless_block(generate, lambda _: law, 3, rounds=2)
    assert verdict, str(verdict)
    once = rounding([Level(unit)], 2)
    # What adding up some twenty paths in float64 may be off by is far below 2^-40.
    assert 2 * once < verdict.bound < 2 * once + 2.0**-10 + 2.0**-40
    # The control: the bound where the last coin is always reached.
    assert once + rounding([Level(unit)] * 2, 2) > 2 * once + 2.0**-9


def test_what_rounding_left_open_is_asked_again_of_the_same_blocks() -> None:
    """Wrong after (1, 0) alone, so that prefix, horizon and rounds decide whether it is met."""

    def generate(coin: Any, prefix: Text) -> Text:
        return (coin.draw([0.27, 0.73] if prefix == (1, 0) else [0.25, 0.75]),)

    def target(_: Text) -> Any:
        return [0.25, 0.75]

    left = Undecided(Reason.ROUNDING, "rounding explains it")
    for horizon, rounds, prefix in ((1, 1, (1, 0)), (2, 2, (1,)), (3, 3, ())):
        found = asked_in_float64(left, generate, target, horizon, rounds, prefix)
        assert isinstance(found, Lossy)
        assert str(found.reason).startswith("with the same distributions as float64, ")
        for other in (Undecided(Reason.NOT_JUDGED, "all paths raise"), Lossy("no token")):
            assert asked_in_float64(other, generate, target, horizon, rounds, prefix) is other
    for horizon, rounds, prefix in ((1, 1, ()), (2, 1, (1,)), (3, 2, ())):
        assert asked_in_float64(left, generate, target, horizon, rounds, prefix) is left
