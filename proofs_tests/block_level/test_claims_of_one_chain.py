"""Claims for one drafted chain, held against the most that any verifier accepts, on 300 random pairs of models each.

Whole weights 0 to 9, a law of its own after every prefix. What any verifier accepts is written out: P(the accepted
text begins with s) is at most d(v) t(s | v) for each beginning v of s, as v must be drafted, and what follows it has
the target's law whatever became of it. Block verification reaches the least of these for all s at once.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import pytest

from proofs_tests.block_level.models import weighted
from spec_math.block_level import block, chain, length
from spec_math.papers import hierarchical, tree_monte_carlo

PAIRS = 300


def pairs(size: int = 2) -> list[tuple[Any, Any]]:
    return [(weighted(f"t{number}", size), weighted(f"d{number}", size)) for number in range(PAIRS)]


def cut(target: Any, draft: Any, size: int, lookahead: int) -> Fraction:
    """1 + Σ_s min over the beginnings v of s of d(v) t(s | v)."""

    def mass(model: Any, text: tuple[int, ...], start: int, stop: int) -> Fraction:
        return prod((model(text[:place])[text[place]] for place in range(start, stop)), start=Fraction(1))

    texts = [text for n in range(1, lookahead + 1) for text in product(range(size), repeat=n)]
    return 1 + sum(
        (min(mass(draft, s, 0, v) * mass(target, s, v, len(s)) for v in range(len(s) + 1)) for s in texts), Fraction(0)
    )


@pytest.mark.parametrize("shape", [(2, 2), (3, 2)])
def test_block_verification_is_the_optimum_of_one_chain(shape: tuple[int, int]) -> None:
    """The claim holds on all of them; that of token-by-token acceptance would fail on most."""
    size, lookahead = shape
    below: Counter[str] = Counter()
    for pair in pairs(size):
        best = cut(*pair, size, lookahead)
        held, by_token = block.expected(*pair, (), lookahead), chain.expected(*pair, (), lookahead)
        assert max(held, by_token) <= best
        below["block"] += held < best
        below["token by token"] += by_token < best
    assert below == {"block": 0, "token by token": BY_TOKEN[shape]}


BY_TOKEN = {(2, 2): 193, (3, 2): 228}
"""On how many of 300 pairs acceptance token by token is below the optimum, for V tokens and L drafts."""


def test_hierarchical_verification_accepts_as_much_as_a_block_and_no_more() -> None:
    """HSD claims to accept more than a block, which is the optimum of one chain: on none of them."""
    for pair in pairs():
        walked = length.expected(lambda coin, prefix, pair=pair: hierarchical.generate(coin, *pair, prefix, 2), ())
        assert walked == cut(*pair, 2, 2)


def test_tree_monte_carlo_is_the_optimum_of_one_chain_and_never_fewer_than_token_by_token() -> None:
    """Claimed: more tokens than speculative sampling from two on. More on most, fewer on none."""
    more = 0
    for pair in pairs():
        walked = length.expected(lambda coin, prefix, pair=pair: tree_monte_carlo.generate(coin, *pair, prefix, 2), ())
        assert walked == cut(*pair, 2, 2)
        more += walked > chain.expected(*pair, (), 2)
    assert more == BY_TOKEN[2, 2]
