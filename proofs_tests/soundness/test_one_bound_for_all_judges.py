"""A float64 verifier off by 2e-11 was lossy for one judge, lossless for the other; right float32 models were lossy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from spec_math import Lossless, Lossy, check_lossless, check_lossless_block
from spec_math.audit import check_drafter_program
from spec_math.block_level import block, chain, spectr, traversal, without_replacement
from spec_math.distribution import residual

TARGET, DRAFT = np.array([0.25, 0.75]), np.array([0.5, 0.5])
OFF = 2e-11


def biased(coin: Any, x: int, off: float) -> int:
    """Off by so much in total variation: the first token is accepted with 1/2 less 2·off, and drafted with 1/2."""
    chance = min(1.0, TARGET[x] / DRAFT[x]) - (2 * off if x == 0 else 0)
    return x if coin.flip(chance) else coin.draw(residual(TARGET, DRAFT))


def of_position(off: float) -> Any:
    return check_lossless(lambda coin, tokens, *_: biased(coin, tokens[0], off), TARGET, DRAFT, 1)


def of_block(off: float) -> Any:
    def generate(coin: Any, _: Any) -> tuple[int, ...]:
        return (biased(coin, coin.draw(DRAFT), off),)

    return check_lossless_block(generate, lambda _: TARGET, 1)


def of_second_token(off: float) -> Any:
    def generate(coin: Any, _: Any) -> tuple[int, ...]:
        return (coin.draw(TARGET), biased(coin, coin.draw(DRAFT), off))

    return check_lossless_block(generate, lambda _: TARGET, 2)


def of_second_round(off: float) -> Any:
    def generate(coin: Any, prefix: Any) -> tuple[int, ...]:
        return (biased(coin, coin.draw(DRAFT), off if prefix else 0.0),)

    return check_lossless_block(generate, lambda _: TARGET, 2, 2)


def of_drafter(off: float) -> Any:
    return check_drafter_program(lambda coin: (coin.draw(TARGET + np.array([off, -off])), TARGET))


JUDGES = [of_position, of_block, of_second_token, of_second_round, of_drafter]


@pytest.mark.parametrize("judge", JUDGES)
def test_what_is_off_by_2e_11_is_lossy_for_every_judge(judge: Callable[[float], Any]) -> None:
    verdict = judge(OFF)
    assert isinstance(verdict, Lossy), str(verdict)
    assert verdict.total_variation == pytest.approx(OFF, rel=1e-3)
    right = judge(0.0)
    assert isinstance(right, Lossless)
    assert right.bound < 1e-13


def test_position_and_block_forgive_the_same() -> None:
    """The block's drafts are a coin of its own, which a position's are not."""
    assert of_position(0.0).bound <= of_block(0.0).bound <= 2 * of_position(0.0).bound


def model(seed: int, size: int, stored: Any) -> Callable[[Any], Any]:
    def row(prefix: Any) -> Any:
        logits = 2 * np.random.default_rng([seed, *prefix]).standard_normal(size)
        return (np.exp(logits) / np.exp(logits).sum()).astype(stored)

    return row


GENERATORS = [
    (chain.generate, 2),
    (block.generate, 2),
    (spectr.generate, (2, 1)),
    (without_replacement.generate, (2, 1)),
    (traversal.generate, (2, 1)),
]


@pytest.mark.parametrize(
    "stored", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16], ids=lambda one: one.__name__
)
@pytest.mark.parametrize(("generate", "shape"), GENERATORS)
def test_right_generators_are_lossless_in_every_type(generate: Any, shape: Any, stored: Any) -> None:
    most = {np.float64: 1e-12, np.float32: 1e-4}.get(stored, 1e-2)
    for seed in range(4):
        target, draft = model(seed, 3, stored), model(seed + 100, 3, stored)
        verdict = check_lossless_block(
            lambda coin, prefix, models=(target, draft): generate(coin, *models, prefix, shape), target, 3
        )
        assert isinstance(verdict, Lossless), f"{stored}, {seed}: {verdict}"
        assert 0 < verdict.bound <= most


@pytest.mark.parametrize("stored", [np.float32, np.float16])
def test_wrong_generators_are_lossy_in_small_types(stored: Any) -> None:
    target, draft = model(1, 3, stored), model(2, 3, stored)

    def greedy_bonus(coin: Any, prefix: Any) -> tuple[int, ...]:
        tokens = chain.generate(coin, target, draft, prefix, 1)
        return (tokens[0], int(np.argmax(target((*prefix, tokens[0]))))) if len(tokens) == 2 else tokens

    assert isinstance(check_lossless_block(greedy_bonus, target, 2), Lossy)
