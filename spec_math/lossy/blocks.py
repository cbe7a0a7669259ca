"""Lossy rules on a chain: what a text of n tokens is emitted as, and how its distance from the target grows.

A chain is verified position by position by a rule of one draft; after a rejection the rule's own token ends the block,
and a chain accepted in full is followed by a token of the target. So the next token has the rule's law e where a draft
was verified, and the target's where the block had no draft left. With A(y) the chance that y is drafted and accepted,
and R = e − A, the law of texts is a walk over the number of drafts that the block has used.

How the distance grows, ε(s) being the total variation at the prefix s:

    TV ≤ 1 − Σ_s Π_i min(e, t)(s_i | s_<i)      couple each step maximally while both texts agree
       ≤ 1 − (1 − max ε)^n ≤ n·max ε
    KL = Σ_i E[KL at the prefix]                 exactly: divergences of a chain add up
    ratio ≤ (max ratio)^n

for texts whose every position was drafted; the bonus tokens only lower it.

Source: Timor et al., Alg. 5, for the chain; the coupling and chain rules are classical (Cover and Thomas 2006, 2.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import count
from spec_math.block_level.chain import draw
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.lossless import target_law
from spec_math.chance import Coin
from spec_math.language.model import Model
from spec_math.lossy.distances import distances, divergence
from spec_math.lossy.logarithm import ZERO, Interval
from spec_math.lossy.rule import Rule
from spec_math.masses import excess
from spec_math.scheme import Tokens


def generate(
    coin: Coin, models: tuple[Model, Model], prefix: Sequence[int], lookahead: int, rule: Rule, options: Any = None
) -> Tokens:
    """Draft `lookahead` tokens, keep them up to the first that the rule rejects, and add one token.

    `models` are the target and the draft. Each draft is verified by the rule of one draft with its options.

    Raises:
        ValueError, TypeError: as `block_level.chain.generate`; a rule of several drafts; options out of range.

    >>> from spec_math.chance import law
    >>> from spec_math.lossy import RULES
    >>> models = (lambda prefix: ["1/4", "3/4"]), (lambda prefix: ["1/2", "1/2"])
    >>> law(lambda coin: generate(coin, models, (), 1, RULES[0], "1/2"))[0, 0]
    Fraction(3, 32)
    """
    _check(rule)
    laws = Conditionals(*models, prefix)
    tokens = draw(coin, laws, lookahead)
    for place, token in enumerate(tokens):
        path = tokens[:place]
        emission = rule.emit(coin, (token,), laws.target(path), laws.draft(path), options)
        if not emission.accepted:
            return (*path, emission.token)
    return tokens if laws.ends(tokens) else (*tokens, coin.draw(laws.target(tokens)))


@dataclass(frozen=True)
class Growth:
    """Distances of the texts of some length from the target's: exact values, and bounds from single positions.

    `total_variation` is exact for the law given; `coupled` = 1 − Σ Π min(e, t), `uniform` = 1 − (1 − max ε)^n and
    `summed` = n·max ε bound it where every position is drafted. `divergence` is KL(text law ‖ target's), `chained` the
    sum of those of the positions. Made by `growth`. Source: `blocks`.
    """

    length: int
    total_variation: Any
    coupled: Any
    uniform: Any
    summed: Any
    divergence: Interval
    chained: Interval


def growth(models: tuple[Model, Model], length: int, rule: Rule, options: Any = None) -> list[Growth]:
    """Return how the distance of texts grows with their length, 1 to `length`, every position being drafted.

    `models` are the target and the draft; exact on Fractions.

    Raises:
        ValueError, TypeError: as `generate`.

    >>> from spec_math.lossy import RULES
    >>> models = (lambda prefix: ["1/4", "3/4"]), (lambda prefix: ["1/2", "1/2"])
    >>> [(found.total_variation, found.coupled) for found in growth(models, 2, RULES[0], "1/2")]
    [(Fraction(1, 8), Fraction(1, 8)), (Fraction(11, 64), Fraction(15, 64))]
    """
    _check(rule)
    laws = Conditionals(*models, ())
    found: list[Growth] = []
    emitted: dict[Tokens, Any] = {(): Fraction(1)}
    agreed: dict[Tokens, Any] = {(): Fraction(1)}
    most, chained = Fraction(0), ZERO
    for steps in range(1, count(length, "length") + 1):
        after: dict[Tokens, Any] = {}
        agreeing: dict[Tokens, Any] = {}
        for text, mass in emitted.items():
            if laws.ends(text):
                after[text], agreeing[text] = mass, agreed[text]
                continue
            t = laws.target(text)
            e = rule.law(t, laws.draft(text), 1, options)
            most = max(most, distances(e, t).total_variation)
            chained = chained + divergence(e, t).times(mass) if mass else chained
            for token in range(laws.size):
                if e[token] > 0:
                    after[*text, token] = mass * e[token]
                    agreeing[*text, token] = agreed[text] * min(e[token], t[token])
        emitted, agreed = after, agreeing
        wanted = target_law(models[0], steps)
        far = excess(emitted, wanted)
        coupled, summed = 1 - sum(agreed.values()), steps * most
        found.append(Growth(steps, far, coupled, 1 - (1 - most) ** steps, summed, _between(emitted, wanted), chained))
    return found


def _check(rule: Rule) -> None:
    if rule.several:
        raise ValueError(f"a chain is verified by a rule of one draft; {rule.name} takes several")


def _between(emitted: dict[Tokens, Any], wanted: dict[Tokens, Any]) -> Interval:
    kind = object if isinstance(next(iter(emitted.values())), Fraction) else np.float64
    e, t = (np.array([masses.get(text, 0) for text in emitted], dtype=kind) for masses in (emitted, wanted))
    return divergence(e, t)
