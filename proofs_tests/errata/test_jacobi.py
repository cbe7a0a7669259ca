"""Erratum of the public sampler of SJD-PAC (arXiv 2603.18599): of the paths that pass, it keeps the longest.

Behind a rejection it drafts a tree: distinct tokens at each of the next positions, the same below every parent. Each
sibling is tested as recursive rejection tests it after those before it. The sampler tosses all these coins, and goes on
with the path on which most tokens in a row have passed, also where an earlier sibling has passed on a shorter one.
Read as printed there, and its own class, run on the laws below, emitted token 0 in each of 20,000 calls; of the paper
abstract and introduction could be had.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from spec_math.arrays import exact, positive_part
from spec_math.chance import Coin, law
from spec_math.distribution import capped_ratio, normalised
from spec_math.token_level.without_replacement import draw, without

FIRST, DRAFT = exact(["3/4", "1/4", 0]), exact(["1/2", "1/2", 0])
"""The target's law of the next token, and that of the drafts of both positions."""

AFTER = {0: exact(["1/2", "1/2", 0]), 1: exact([0, 0, 1])}
"""The target's law after each of them: after 0 its drafts are always right, after 1 never."""

Choice = Callable[[list[tuple[bool, int]]], int | None]
"""(passed, how many tokens in a row have passed on its longest path), a pair a sibling -> the one that is kept."""


def tosses(coin: Coin, tokens: tuple[int, ...], target: Any) -> tuple[list[bool], Any]:
    """Toss the coin of every sibling, and return what has passed and what is left where none has."""
    passed: list[bool] = []
    for place, token in enumerate(tokens):
        rest = without(DRAFT, list(tokens[:place]))
        passed.append(coin.flip(capped_ratio(target[token], rest[token])))
        target = normalised(positive_part(target - rest), target)
    return passed, target


def emitted(coin: Coin, chosen: Choice) -> int:
    """Return the first token that is emitted: of the sibling that is kept, or of what is left."""
    tokens, below = draw(coin, DRAFT, 2), draw(coin, DRAFT, 2)
    passed, left = tosses(coin, tokens, FIRST)
    lengths = [
        1 + any(tosses(coin, below, AFTER[token])[0]) if own else 0 for token, own in zip(tokens, passed, strict=True)
    ]
    kept = chosen(list(zip(passed, lengths, strict=True)))
    return coin.draw(left) if kept is None else tokens[kept]


def longest(siblings: list[tuple[bool, int]]) -> int | None:
    best = max(length for _, length in siblings)
    return next(place for place, (_, length) in enumerate(siblings) if length == best) if best else None


def first(siblings: list[tuple[bool, int]]) -> int | None:
    return next((place for place, (passed, _) in enumerate(siblings) if passed), None)


def test_the_longest_path_of_the_tree_behind_a_rejection_is_lossy() -> None:
    """Two siblings at two positions: token 1 passes half the time, but 0 has then passed too, and goes further."""
    assert law(lambda coin: emitted(coin, longest)) == {0: Fraction(1)}
    # The first sibling that passes, as recursive rejection has it, has the target's law.
    assert law(lambda coin: emitted(coin, first)) == {0: Fraction(3, 4), 1: Fraction(1, 4)}
