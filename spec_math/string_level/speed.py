"""Yield and cost of a method for two vocabularies: tokens per target call, drafter calls, and the speed-up.

Source: Timor et al., Table 4, for the question; TokenTiming, Section 3, for the speed-up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from spec_math.arrays import Array, count
from spec_math.block_level.lengths.cost import speed_up
from spec_math.chance import Coin, law
from spec_math.drafting.correspondence import Mapped
from spec_math.language import TokenizedModel
from spec_math.scheme import Tokens
from spec_math.string_level.methods import METHODS, Method


@dataclass(frozen=True)
class Speed:
    """A method at one lookahead: expectations over everything that is drawn in one block.

    tokens_per_call: target tokens emitted in a call of the target. drafter_calls: different contexts the drafter is
    asked about in it, ψ included. speed_up: tokens_per_call / (1 + drafter_calls · draft_cost).

    >>> Speed("TLI", 2, 2.5, 2, 1.25, lossless=True, needs="").speed_up
    1.25
    """

    method: str
    lookahead: int
    tokens_per_call: Any
    drafter_calls: Any
    speed_up: Any
    lossless: bool
    needs: str


def measure(
    method: Method,
    target: TokenizedModel,
    drafter: TokenizedModel,
    prefix: Sequence[int],
    lookahead: int,
    draft_cost: Any,
) -> Speed:
    """Compute what one block of a method after a prefix yields and costs, by walking every path of it.

    draft_cost: one drafter call in units of a target call (which verifies a whole block); the drafter's calls come one
    after another. Exact on Fractions; the number of paths grows with every coin.

    Raises:
        ValueError: draft_cost is negative; as the method.

    >>> from fractions import Fraction
    >>> from spec_math.language import Vocabulary
    >>> target = TokenizedModel(lambda prefix: ["1/4", "3/4"], Vocabulary(["a", "b"]))
    >>> drafter = TokenizedModel(lambda prefix: [1], Vocabulary(["bb"]))
    >>> slem = measure(METHODS[2], target, drafter, (), 1, Fraction(1, 8))
    >>> slem.tokens_per_call, slem.drafter_calls, slem.speed_up
    (Fraction(37, 16), Fraction(1, 1), Fraction(37, 18))
    """
    if not draft_cost >= 0:
        raise ValueError(f"a drafter call costs at least 0 target calls; got {draft_cost}")

    def block(coin: Coin) -> tuple[int, int]:
        asked: set[Tokens] = set()

        def noted(row: Array, context: Tokens) -> Array:
            asked.add(context)
            return row

        counted = TokenizedModel(Mapped(drafter.model, noted), drafter.vocabulary, drafter.encode)
        return len(method.generate(coin, target, counted, prefix, lookahead)), len(asked)

    blocks = law(block)
    tokens = sum(size * mass for (size, _), mass in blocks.items())
    calls = sum(calls * mass for (_, calls), mass in blocks.items())
    faster = speed_up(tokens, 1 + calls * draft_cost)
    return Speed(method.name, lookahead, tokens, calls, faster, method.lossless, method.needs)


def compare(
    target: TokenizedModel,
    drafter: TokenizedModel,
    prefix: Sequence[int],
    lookaheads: Iterable[int],
    draft_cost: Any,
    methods: Sequence[Method] = METHODS,
) -> list[Speed]:
    """Measure every method at its best lookahead, the fastest first; the shortest lookahead among equals.

    What Timor et al., Table 4, advises in words, computed for one pair of tokenized models after one prefix.

    Raises:
        ValueError: there is no lookahead; as `measure`.

    >>> from fractions import Fraction
    >>> from spec_math.language import Vocabulary
    >>> target = TokenizedModel(lambda prefix: ["1/4", "3/4"], Vocabulary(["a", "b"]))
    >>> drafter = TokenizedModel(lambda prefix: [1], Vocabulary(["bb"]))
    >>> found = compare(target, drafter, (), [1, 2], Fraction(1, 8))
    >>> [(speed.method, speed.lookahead) for speed in found][:2], found[-1].method, found[-1].speed_up
    ([('SLEM', 2), ('TokenTiming as printed', 2)], 'TLI', Fraction(8, 9))
    """
    listed = [count(lookahead, "lookahead") for lookahead in lookaheads]
    if not listed:
        raise ValueError("methods are compared at one lookahead at least; there is none")
    found = [[measure(method, target, drafter, prefix, k, draft_cost) for k in sorted(listed)] for method in methods]
    best = [max(speeds, key=lambda speed: speed.speed_up) for speeds in found]
    return sorted(best, key=lambda speed: -speed.speed_up)
