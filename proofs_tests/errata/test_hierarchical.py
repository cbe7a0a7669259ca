"""Errata of HSD (Zhou et al. 2026), as its public scripts print it: each variant with its least instance.

The scripts keep the whole chain with chance min(1, Π t/d), uncapped, and resample position i with chance
D+ / max(D+, D−) of (r t − d): `simulation.py` caps r by the largest ratio of a prefix, `algorithm_clean.py` by 1, and
there never steps back from a position whose ratio is at least 1.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec_math import check_lossless_block
from spec_math.arrays import exact, positive_part
from spec_math.block_level import block, chain, length
from spec_math.block_level.conditionals import Conditionals
from spec_math.verdict import Lossy

TARGET, DRAFT = exact(["1/3", "2/3"]), exact(["2/3", "1/3"])
"""The scripts' own toy example: two laws that depend on no context."""


def target(prefix: tuple[int, ...]) -> Any:  # noqa: ARG001
    return TARGET


def draft(prefix: tuple[int, ...]) -> Any:  # noqa: ARG001
    return DRAFT


def printed(by_prefixes: bool, lookahead: int) -> Any:
    """The scripts' verification: capped by the prefixes' largest ratio, or by 1."""

    def generate(coin: Any, prefix: tuple[int, ...]) -> tuple[int, ...]:
        laws = Conditionals(target, draft, prefix)
        tokens = chain.draw(coin, laws, lookahead)
        ratios, largest = [Fraction(1)], [Fraction(1)]
        for token in tokens:
            ratios.append(ratios[-1] * TARGET[token] / DRAFT[token])
            largest.append(max(largest[-1], ratios[-1]))
        caps = largest if by_prefixes else [max(Fraction(1), ratio) for ratio in ratios]
        stop = lookahead - 1
        for place in range(lookahead - 1, -1, -1):
            scaled = ratios[place] / caps[place] * TARGET
            more, less = positive_part(scaled - DRAFT).sum(), positive_part(DRAFT - scaled).sum()
            kept = not by_prefixes and ratios[place + 1] >= 1
            if coin.flip(Fraction(1) if kept else more / max(more, less)):
                stop = place
                break
        if coin.flip(min(Fraction(1), ratios[-1])):
            return (*tokens, coin.draw(TARGET))
        more = positive_part(ratios[stop] / caps[stop] * TARGET - DRAFT)
        if more.sum() == 0:
            return tokens[: stop + 1]
        return (*tokens[:stop], coin.draw(more / more.sum()))

    return generate


def test_two_tokens_are_lossy_as_the_last_ratio_is_not_capped() -> None:
    for by_prefixes in (True, False):
        assert check_lossless_block(printed(by_prefixes, 1), target, 2)
        verdict = check_lossless_block(printed(by_prefixes, 2), target, 3)
        assert isinstance(verdict, Lossy)
        assert (verdict.tokens, verdict.emitted, verdict.target) == ((1, 0, 1), Fraction(2, 9), Fraction(4, 27))


def test_what_is_accepted_beyond_a_block_is_accepted_too_often() -> None:
    """7/3 tokens a call against 20/9 of block verification, which no lossless verifier of one chain exceeds."""
    for by_prefixes in (True, False):
        assert length.expected(printed(by_prefixes, 2), ()) == Fraction(7, 3)
    assert block.expected(target, draft, (), 2) == Fraction(20, 9)
