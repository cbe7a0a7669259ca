"""Accelerated speculative sampling (ASpS): one draw of how far a chain is kept and of the token after it.

Source: Hu and Huang 2024, "Accelerated Speculative Sampling Based on Tree Monte Carlo", by its abstract and by a public
summary of its algorithm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spec_math.arrays import Array, positive_part
from spec_math.block_level import block, chain
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import Coin
from spec_math.distribution import capped_ratio
from spec_math.language.model import Model
from spec_math.scheme import Tokens

expected = block.expected
"""Tokens per target call: those of block verification, which this is."""


def generate(coin: Coin, target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int) -> Tokens:
    """Draft up to `lookahead` tokens, and draw from the neighbours of the drafted chain; see `neighbours`.

    The law: the tokens, continued by the target, have the target's joint law. Source: Hu and Huang 2024.

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
    """Draw one neighbour of a drafted chain: some of its tokens and one more, or all of it and a token of the target.

    The law: `neighbours`. Laws: targets [L+1, V] and drafts [L, V], row i given the first i tokens; targets may lack
    its last row where nothing follows the chain.

    Raises:
        ValueError: the numbers of rows do not fit the tokens; a token that its draft law cannot draw.

    >>> from spec_math.chance import law
    >>> law(lambda coin: verify(coin, (1,), [["1/4", "3/4"]], [[0, 1]]))
    {(0,): Fraction(1, 4), (1,): Fraction(3, 4)}
    """
    t, d = chain.checked_rows(tokens, targets, drafts)
    rows, kept = neighbours(tokens, t, d)
    size = len(t[0])
    place, token = divmod(coin.draw([mass for row in rows for mass in row] + [kept]), size)
    if place < len(tokens):
        return (*tokens[:place], token)
    return tuple(tokens) if len(t) == len(tokens) else (*tokens, coin.draw(t[-1]))


def neighbours(tokens: Tokens, targets: Sequence[Array], drafts: Sequence[Array]) -> tuple[list[Array], Any]:
    """Return P(the first i tokens and then y), rows [L, V], and the chance that the whole chain is kept.

    With w_0 = 1 and w_i = min(1, w_{i−1} t/d): at each token the rows so far are scaled by s, the next row is
    (w_{i−1} t − d)+ times s, and s = (1 − w_i) / Σ(d − w_{i−1} t)+, so that all add up to 1 with w_i.

    >>> from spec_math.arrays import exact
    >>> t, d = exact(["1/3", "2/3"]), exact(["2/3", "1/3"])
    >>> rows, kept = neighbours((0,), [t], [d])
    >>> [str(mass) for mass in rows[0]], str(kept)
    (['0', '1/2'], '1/2')
    """
    weight = targets[0].sum() * 0 + 1
    rows: list[Array] = []
    for place, token in enumerate(tokens):
        wanted, own = weight * targets[place], drafts[place]
        less = positive_part(own - wanted)
        total = less.sum()
        # Where nothing of the draft is too much the chain goes on with weight 1, and leaves nothing to the others.
        scale = less[token] / (total * own[token]) if total > 0 else total
        rows = [row * scale for row in (*rows, positive_part(wanted - own))]
        weight = capped_ratio(wanted[token], own[token])
    return rows, weight
