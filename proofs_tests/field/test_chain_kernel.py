"""The law that is put together from cuts is the law of the program, for kernels written in NumPy; wrong ones differ."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from proofs_tests.field.numpy_kernels import GRID, decided, numpy_kernel
from proofs_tests.field.sources import distance, draft, target
from spec_math.block_level import block, chain
from spec_math.chance import law as law_of
from spec_math.field import chain_kernel
from spec_math.field.chain_kernel import BLOCK, TOKEN, Kernel, Requests, Rule
from spec_math.field.source_file import EngineError
from spec_math.zoo import toy

PROGRAMS = {"token": (TOKEN, chain), "block": (BLOCK, block)}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("lookahead", [1, 2])
def test_the_law_of_a_kernel_is_that_of_its_program(name: str, lookahead: int) -> None:
    rule, program = PROGRAMS[name]
    found = chain_kernel.law(numpy_kernel(rule), target, draft, lookahead)
    exact = law_of(lambda coin: program.generate(coin, target, draft, (), lookahead))
    assert all(isinstance(mass, Fraction) for mass in found.values())
    assert sum(found.values()) == 1
    # Each of the coins of a request moves by less than one grid point, and its draw by float64's rounding.
    assert distance(found, exact) < (lookahead + 1) / GRID
    other = law_of(lambda coin: (chain if program is block else block).generate(coin, target, draft, (), lookahead))
    if lookahead > 1:  # with one token the two rules are one
        assert distance(found, other) > 1e-3


def test_coins_of_a_coarse_grid_are_counted() -> None:
    """On 8 coins a chance c becomes ceil(8c)/8."""
    found = chain_kernel.law(numpy_kernel(TOKEN, 8), target, draft, 1)
    chances = [min(Fraction(1), t / d) for t, d in zip(target(()), draft(()), strict=True)]
    accepted = sum(d * Fraction(ceil(8 * c), 8) for c, d in zip(chances, draft(()), strict=True))
    assert sum(mass for text, mass in found.items() if len(text) == 2) == accepted


@pytest.mark.parametrize("rule", [TOKEN, BLOCK], ids=["token", "block"])
def test_a_kernel_in_float32_is_asked_few_questions(rule: Rule) -> None:
    """Its cuts lie 2^16 coins from those of float64, and 25 chains share a few; two questions a coin are the least."""
    asked = 0

    def rounded(rule: Rule, requests: Requests, coins: Any, grid: int) -> Any:
        nonlocal asked
        asked += len(coins)
        decisions = decided(rule, requests, coins, grid)
        accepts = coins / grid < decisions.chances.astype(np.float32)
        numbers = [np.cumprod(accepts, axis=1).sum(axis=1), (np.arange(1, 3) * accepts).max(axis=1)]
        return decisions._replace(accepted=numbers[rule is BLOCK])

    found = chain_kernel.law(numpy_kernel(rule, decide=rounded), toy.target, toy.draft, 2)
    exact = law_of(lambda coin: {TOKEN: chain, BLOCK: block}[rule].generate(coin, toy.target, toy.draft, (), 2))
    assert distance(found, exact) < 3 * 2.0**-24
    coins, at_random, drawn = 50, 50, 75
    assert asked <= 2 * coins + at_random + drawn + {TOKEN: 10, BLOCK: 30}[rule] * 2 * 17


def test_one_hot_drafts_are_told_as_certain_and_missing_ones_are_handed_on() -> None:
    seen: list[Requests] = []

    def seeing(rule: Rule, requests: Requests, coins: Any, grid: int) -> Any:
        seen.append(requests)
        return decided(rule, requests, coins, grid)

    kernel = numpy_kernel(TOKEN, decide=seeing)
    found = chain_kernel.law(kernel, target, draft, 2, one_hot=True)
    assert all((requests.drafts.max(axis=-1) == 1).all() for requests in seen)
    assert all(found.get((token,), 0) + sum(found.get((token, x), 0) for x in range(3)) >= 0 for token in range(3))
    first = [sum(mass for text, mass in found.items() if text[0] == token) for token in range(3)]
    assert max(abs(a - b) for a, b in zip(first, target(()), strict=True)) < 2 / GRID
    short = chain_kernel.law(kernel, target, draft, 2, handed=lambda text: (text[0], -1))
    assert max(len(text) for text in short) == 2


def test_coins_that_do_not_act_one_by_one_are_refused() -> None:
    def same_coin(rule: Rule, requests: Requests, coins: Any, grid: int) -> Any:
        return decided(rule, requests, np.repeat(coins.min(axis=1, keepdims=True), coins.shape[1], axis=1), grid)

    with pytest.raises(EngineError, match="its coins do not act one by one"):
        chain_kernel.law(numpy_kernel(TOKEN, decide=same_coin), target, draft, 2)
    with pytest.raises(EngineError, match="its coins do not act one by one"):
        chain_kernel.law(Kernel(BLOCK, *_parts(numpy_kernel(TOKEN))), target, draft, 2)


def _parts(kernel: Kernel) -> tuple[Any, ...]:
    return kernel.grid, kernel.emit, kernel.following


def test_tokens_that_were_not_drafted_are_refused() -> None:
    right = numpy_kernel(TOKEN)

    def emit(requests: Requests, coins: Any) -> list[tuple[int, ...]]:
        return [tuple(2 - token for token in text[:-1]) + text[-1:] for text in right.emit(requests, coins)]

    with pytest.raises(EngineError, match="was drafted"):
        chain_kernel.law(Kernel(TOKEN, GRID, emit, right.following), target, draft, 2)
