"""Chains verified one request at a time in Fractions, from the algorithms as they are printed: no array, no coin."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple

DIGITS = 60
"""Of a softmax; what is left out is far below every bound that is asked for."""


class Decided(NamedTuple):
    """The emitted tokens, and how far the uniforms are from another decision.

    The margin is the least, over what decides, of |u − chance| times the chance's denominator and |u · S − border|, S
    being the mass drawn from.
    """

    tokens: tuple[int, ...]
    margin: Fraction


def softmax(logits):
    """The law of a row of numbers, each an exact float or −inf, as Fractions that sum to 1 but for 10^-55."""
    with localcontext() as context:
        context.prec = DIGITS
        numbers = [Decimal(float(logit)) for logit in logits]
        top = max(numbers)
        weights = [Fraction((number - top).exp()) if number.is_finite() else Fraction(0) for number in numbers]
    total = sum(weights)
    return [weight / total for weight in weights]


def verify_token(targets, drafts, tokens, uniforms) -> Decided:
    """Accept x_i with chance min(1, t/d) until one is refused; then (t − d)+ is drawn from, at the end the next t."""
    margin = Fraction(1)
    for place, token in enumerate(tokens):
        t, d, u = targets[place][token], drafts[place][token], uniforms[place]
        chance = min(Fraction(1), t / d)
        margin = min(margin, abs(u - chance))
        if u >= chance:
            rest = positive(Fraction(1), targets[place], drafts[place])
            return followed(tokens[:place], rest if any(rest) else targets[place], uniforms[-1], margin)
    return followed(tokens, targets[len(tokens)], uniforms[-1], margin)


def verify_block(targets, drafts, tokens, uniforms) -> Decided:
    """Keep up to the LAST i whose coin accepts: w_i at the end, ρ_i/(ρ_i + 1 − w_i) before; then (w_i t − d)+."""
    weights = list(
        accumulate(
            enumerate(tokens),
            lambda w, step: min(Fraction(1), w * targets[step[0]][step[1]] / drafts[step[0]][step[1]]),
            initial=Fraction(1),
        )
    )
    size, accepted, coins = len(tokens), 0, []
    for place in range(1, size + 1):
        weight, u = weights[place], uniforms[place - 1]
        whole, part = Fraction(1), weight
        if place < size:
            part = sum(positive(weight, targets[place], drafts[place]))
            whole = part + 1 - weight
            if not whole:  # 0/0: what follows accepts anyway
                whole, part = Fraction(1), weight
        coins.append(abs(u * whole - part))
        if u * whole < part:
            accepted = place
    # A coin before the last that accepts changes nothing.
    margin = min([Fraction(1), *coins[max(0, accepted - 1) :]])
    if accepted == size:
        return followed(tokens, targets[size], uniforms[-1], margin)
    rest = positive(weights[accepted], targets[accepted], drafts[accepted])
    return followed(tokens[:accepted], rest if any(rest) else targets[accepted], uniforms[-1], margin)


def positive(weight, target, draft) -> list[Fraction]:
    return [max(weight * t - d, Fraction(0)) for t, d in zip(target, draft, strict=True)]


def followed(kept: Any, masses: Any, u: Fraction, margin: Fraction) -> Decided:
    """Add the first token whose running sum exceeds u · S; none where there is no mass."""
    sums = list(accumulate(masses))
    if not sums[-1]:
        return Decided(tuple(kept), margin)
    wanted = u * sums[-1]
    token = next(place for place, total in enumerate(sums) if total > wanted)
    last = max(place for place, mass in enumerate(masses) if mass)
    # Beyond the last border there is nothing else to draw.
    borders = [abs(wanted - total) for total in {Fraction(0), *sums[:last]} if total < sums[-1]]
    return Decided((*kept, token), min([margin, *borders]))
