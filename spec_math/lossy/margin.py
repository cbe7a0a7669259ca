"""MARS: where the target's two favourites have nearly equal logits, a draft is kept if it is either of them.

With z the target's logits the ratio z_2/z_1 of the second largest to the largest is compared with `ratio`. Above it the
first draft among the two favourites is emitted, and a token of the target if no draft is. Elsewhere each draft x in
turn is accepted with min(1, p(x)/d(x)), p being the target without the rejected drafts, and a token of p comes last.

A law does not say its logits: z = ln t + c with c = ln Σ exp z, and a constant added to all logits, which changes no
law, changes the ratio. So c is an option here, and the rule is not among `RULES`, which are functions of two laws, but
among `OF_LOGITS`. Nor is the other branch lossless: drafts that the drafter chose, as its likeliest tokens, are tested
as if it drew them.

Source: Song et al. 2026 (2601.15498), and its public code (5SSjw/MARS, `evaluate_posterior` of mars/model/utils.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, is_exact
from spec_math.chance import Coin
from spec_math.distribution import capped_ratio, descending_rank, normalised
from spec_math.lossy.frontier import one_position
from spec_math.lossy.logarithm import sign
from spec_math.lossy.one_draft import ones
from spec_math.lossy.options import Checked, number, option, options_of, share
from spec_math.lossy.rule import Rule
from spec_math.lossy.thresholds import draw
from spec_math.scheme import Emission, drafted, token_of


@dataclass(frozen=True)
class Options(Checked):
    """`ratio` in [0, 1], 1 never relaxing where logits are positive; `offset`, c = ln Σ exp z in nats.

    >>> Options("9/10", 20)
    Options(ratio=Fraction(9, 10), offset=Fraction(20, 1))
    """

    ratio: Any = option(Fraction(9, 10), share)
    offset: Any = option(Fraction(20), number)


def relaxed(target: Array, options: Options) -> bool:
    """Say whether the ratio of the two largest logits of a law [V] is above the threshold; never with one token alone.

    >>> from spec_math.arrays import exact
    >>> [relaxed(exact(["3/4", "1/4"]), Options("9/10", offset)) for offset in (2, 20)]
    [False, True]
    """
    first, second = (*sorted(target.tolist(), reverse=True), 0)[:2]
    if not second:
        return False
    ratio, offset = options.ratio, options.offset
    if is_exact(target):
        one = Fraction(1)
        return sign([(one, first)], offset) * sign([(one, second), (-ratio, first)], (1 - ratio) * offset) > 0
    high, low = (float(np.log(mass)) + float(offset) for mass in (first, second))
    return high != 0 and low / high > float(ratio)


def emit(coin: Coin, tokens: Any, target: Any, draft: Any, options: Any = None) -> Emission:
    """Keep the first draft among two favourites of nearly equal logits, else test the drafts in turn; laws [V].

    Raises:
        TypeError, ValueError: an option lies outside its range; a drafted token that the draft cannot draw.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, (0,), ["1/4", "3/4"], ["1/2", "1/2"]))
    {Emission(token=0, accepted=True): Fraction(1, 1)}
    """
    t, d = one_position(target, draft)
    listed = tuple(dict.fromkeys(drafted(tokens, d)))
    if relaxed(t, options_of(Options, options)):
        kept = _favourites(t, listed)
        return Emission(kept[0] if kept else coin.draw(t), bool(kept))
    left = t
    for token in listed:
        if coin.flip(capped_ratio(left[token], d[token])):
            return Emission(token, accepted=True)
        left = normalised(left * (1 - ones(np.arange(len(t)) == token, t)), t)
    return Emission(coin.draw(left), accepted=False)


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def law(target: Any, draft: Any, k: int = 1, options: Any = None) -> Array:
    """Return the emitted law for the k likeliest tokens of the draft, for laws [V].

    The i-th draft is accepted with min(1, t(x_i)/(d(x_i)·(1 − T_{i−1}))), T the target mass of those before it.

    Raises:
        TypeError, ValueError: as `emit`.

    >>> law(["1/4", "3/4"], ["3/5", "2/5"], 1, 1).tolist()
    [Fraction(5, 12), Fraction(7, 12)]
    """
    t, d = one_position(target, draft)
    listed = list(draw(None, d, k))  # type: ignore[arg-type]  # the likeliest tokens need no coin
    if relaxed(t, options_of(Options, options)):
        kept = _favourites(t, listed)
        return ones(np.arange(len(t)) == kept[0], t) if kept else t
    found, waiting, left = t * 0, t[0] * 0 + 1, t[0] * 0 + 1
    for token in listed:
        if not waiting > 0:
            break
        chance = capped_ratio(t[token], d[token] * left)
        found[token] = waiting * chance
        waiting, left = waiting * (1 - chance), left - t[token]
    rest = t * (1 - ones(np.isin(np.arange(len(t)), listed), t))
    return found + waiting * normalised(rest, rest) if waiting > 0 else found


def acceptance(target: Any, draft: Any, k: int = 1, options: Any = None) -> Any:
    """Return the probability that the emitted token is one of the k likeliest tokens of the draft, for laws [V].

    Raises:
        TypeError, ValueError: as `emit`.

    >>> acceptance(["1/4", "3/4"], ["3/5", "2/5"], 1, 1)
    Fraction(5, 12)
    """
    t, d = one_position(target, draft)
    listed = list(draw(None, d, k))  # type: ignore[arg-type]  # the likeliest tokens need no coin
    return law(t, d, k, options)[listed].sum()


def _favourites(t: Array, listed: Sequence[int]) -> list[int]:
    return [token for token in listed if descending_rank(t)[token] < 2]


SWEPT = ("1", "199/200", "99/100", "49/50", "19/20", "9/10", "4/5", "1/2")
RULE = Rule(
    "MARS",
    Options,
    emit,
    law,
    acceptance,
    SWEPT,
    "ratio of the two largest logits",
    draw=draw,
    several=True,
    of_logits=True,
)
