"""Hierarchical verification of one chain: scan backwards, resample where a capped prefix has too little (HSD).

Source: Zhou et al. 2026, "Overcoming Joint Intractability with Lossless Hierarchical Speculative Decoding", as read in
its public scripts; with every ratio capped, which they do not do at the last position.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spec_math.arrays import Array, positive_part
from spec_math.block_level import block, chain
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import Coin
from spec_math.distribution import normalised
from spec_math.language.model import Model
from spec_math.scheme import Tokens

expected = block.expected
"""Tokens per target call: those of block verification, which this is."""


def generate(coin: Coin, target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int) -> Tokens:
    """Draft up to `lookahead` tokens, and verify them from the last to the first; see `verify`.

    The law: the tokens, continued by the target, have the target's joint law. Source: Zhou et al. 2026.

    Raises:
        ValueError, TypeError: lookahead is not a positive integer; a law is not a probability distribution or the
            prefix is not valid, named by its prefix.

    >>> from spec_math.chance import law
    >>> target, draft = (lambda prefix: ["1/4", "3/4"]), (lambda prefix: [0, 1])
    >>> law(lambda coin: generate(coin, target, draft, (), 1))[0,]
    Fraction(1, 4)
    """
    return verify(coin, *chain.draw_with_rows(coin, Conditionals(target_model, draft_model, prefix), lookahead))


def verify(coin: Coin, tokens: Tokens, targets: Sequence[Any], drafts: Sequence[Any]) -> Tokens:
    """Keep all L tokens with chance r*_L; else resample the last position whose coin says so, from (r*_i t − d)+.

    The law: r_i = Π t/d over the first i tokens, r*_i = r_i over the largest of r_0 = 1, r_1, …, r_i. Position i is
    resampled with chance D+ / max(D+, D−), D± = Σ (r*_i t − d)±, the first one always. As D− = D+ + 1 − r*_i and
    r*_i = min(1, r*_{i−1} t/d), these are the weights and the coins of `block.verify`, tossed from the other end.

    Laws: targets [L+1, V] and drafts [L, V], row i given the first i tokens; targets may lack its last row where
    nothing follows the chain.

    Raises:
        ValueError: the numbers of rows do not fit the tokens; a token that its draft law cannot draw.

    >>> from spec_math.chance import law
    >>> law(lambda coin: verify(coin, (1,), [["1/4", "3/4"]], [[0, 1]]))
    {(1,): Fraction(3, 4), (0,): Fraction(1, 4)}
    """
    t, d = chain.checked_rows(tokens, targets, drafts)
    ratios = capped(tokens, t, d)
    if coin.flip(ratios[-1]):
        return tuple(tokens) if len(t) == len(tokens) else (*tokens, coin.draw(t[-1]))
    for place in range(len(tokens) - 1, 0, -1):
        scaled = ratios[place] * t[place]
        more, less = positive_part(scaled - d[place]), positive_part(d[place] - scaled)
        widest = max(more.sum(), less.sum())
        if widest > 0 and coin.flip(min(ratios[0], more.sum() / widest)):
            return (*tokens[:place], coin.draw(normalised(more, t[place])))
    return (coin.draw(normalised(positive_part(t[0] - d[0]), t[0])),)


def capped(tokens: Tokens, targets: Sequence[Array], drafts: Sequence[Array]) -> list[Any]:
    """Return r*_0..r*_L, each prefix's ratio over the largest of its own prefixes', for laws [L, V]; numbers in [0, 1].

    >>> from spec_math.arrays import exact
    >>> t, d = exact(["2/3", "1/3"]), exact(["1/3", "2/3"])
    >>> [str(ratio) for ratio in capped((0, 1), [t, t], [d, d])]
    ['1', '1', '1/2']
    """
    one = targets[0].sum() * 0 + 1
    ratio = largest = one
    found = [one]
    for place, token in enumerate(tokens):
        ratio = ratio * targets[place][token] / drafts[place][token]
        largest = max(largest, ratio)
        found.append(ratio / largest)
    return found
