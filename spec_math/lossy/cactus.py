"""Cactus: the target's mass of the drafted token is raised before the test, and the others' are lowered in proportion.

For the draft x let h(x) = min(1, t(x) + √(2δ·t(x)(1 − t(x)))) and h_x(y) = t(y)(1 − h(x))/(1 − t(x)) for y ≠ x. The
draft is accepted with min(1, h(x)/d(x)), else the token comes from (h_x − d)+. As the raised law depends on what was
drafted, the emitted law is another: e(y) = min(d(y), h(y)) + Σ_x (d(x) − h(x))+ · (h_x − d)+(y)/Σ(h_x − d)+.

A root that is no fraction is taken at the lower end of an interval of width 2^-64, in program and closed form alike.

Source: Hao and Mou 2026 (2604.04987), and their public code.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from spec_math.arrays import Array, is_exact, positive_part
from spec_math.chance import Coin
from spec_math.distribution import capped_ratio, normalised
from spec_math.lossy.frontier import one_position
from spec_math.lossy.one_draft import drafted_position
from spec_math.lossy.options import Checked, at_least, option, options_of
from spec_math.lossy.rule import Rule
from spec_math.scheme import Emission, token_of

BITS = 64


@dataclass(frozen=True)
class Options(Checked):
    """`delta`, from 0 on; 0 is lossless.

    >>> Options("1/8")
    Options(delta=Fraction(1, 8))
    """

    delta: Any = option(Fraction(1, 10), at_least(0))


def root(value: Fraction) -> Fraction:
    """Return the square root of a fraction from 0 on, exactly or the lower end of an interval of width 2^-64.

    >>> root(Fraction(9, 16)), float(root(Fraction(2)))
    (Fraction(3, 4), 1.4142135623730951)
    """
    top, bottom = isqrt(value.numerator), isqrt(value.denominator)
    if top * top == value.numerator and bottom * bottom == value.denominator:
        return Fraction(top, bottom)
    return Fraction(isqrt((value.numerator << 2 * BITS) // value.denominator), 1 << BITS)


def raised(target: Array, options: Options) -> Array:
    """Return h(x) = min(1, t(x) + √(2δ·t(x)(1 − t(x)))) for each token x of a law [V].

    >>> from spec_math.arrays import exact
    >>> raised(exact(["1/5", "4/5"]), Options("1/8")).tolist()
    [Fraction(2, 5), Fraction(1, 1)]
    """
    if is_exact(target):
        masses = [mass + root(2 * options.delta * mass * (1 - mass)) for mass in target.tolist()]
        return np.array([min(Fraction(1), mass) for mass in masses], dtype=object)
    spread = np.maximum(2 * float(options.delta) * target * (1 - target), 0.0)
    return np.minimum(target + np.sqrt(spread), 1.0)


def raised_for(token: int, target: Array, options: Options) -> Array:
    """Return the law h_x [V] against which a draft of this token is verified.

    >>> from spec_math.arrays import exact
    >>> raised_for(0, exact(["1/5", "2/5", "2/5"]), Options("1/8")).tolist()
    [Fraction(2, 5), Fraction(3, 10), Fraction(3, 10)]
    """
    high = raised(target, options)[token]
    rest = 1 - target[token]
    others = target * ((1 - high) / rest) if rest > 0 else target * 0
    others[token] = high
    return others


def emit(coin: Coin, tokens: Any, target: Any, draft: Any, options: Any = None) -> Emission:
    """Accept the draft x with min(1, h(x)/d(x)), else draw from (h_x − d)+; laws [V].

    Raises:
        TypeError, ValueError: delta is negative; more than one draft; as `single.emit`.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, (0,), ["1/5", "4/5"], ["1/2", "1/2"], "1/8"))[Emission(0, True)]
    Fraction(4, 5)
    """
    t, d, x = drafted_position(tokens, target, draft)
    high = raised_for(x, t, options_of(Options, options))
    accepted = coin.flip(capped_ratio(high[x], d[x]))
    return Emission(x if accepted else coin.draw(normalised(positive_part(high - d), t)), accepted)


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def law(target: Any, draft: Any, k: int = 1, options: Any = None) -> Array:  # noqa: ARG001
    """Return the emitted law, for laws [V]; k is ignored. O(V log V): a rejected x matters by (1 − h)/(1 − t) alone.

    Raises:
        TypeError, ValueError: as `emit`.

    >>> law(["1/5", "4/5"], ["1/2", "1/2"], 1, "1/8").tolist()
    [Fraction(2, 5), Fraction(3, 5)]
    """
    t, d = one_position(target, draft)
    high = raised(t, options_of(Options, options))
    found = np.minimum(d, high)
    rejected = np.flatnonzero(d > high)
    if len(rejected) == 0:
        return found
    # After x the token is drawn from (c·t − d)+ with c = (1 − h(x))/(1 − t(x)), which is 0 at x itself.
    scales = (1 - high[rejected]) / (1 - t[rejected])
    there = np.flatnonzero(t > 0)
    ratios = d[there] / t[there]
    order = np.argsort(ratios, kind="stable")
    zero = t[:1] * 0
    below_t, below_d = (np.concatenate([zero, np.cumsum(law[there][order])]) for law in (t, d))
    reached = np.searchsorted(ratios[order], scales, side="left")
    sums = scales * below_t[reached] - below_d[reached]
    # A rejection without anything to draw from falls back on the target, as `normalised` does.
    empty = sums <= 0
    weight = (d - high)[rejected]
    found = found + weight[empty].sum() * t
    share = weight[~empty] / sums[~empty]
    by_scale = np.argsort(scales[~empty], kind="stable")
    ascending = scales[~empty][by_scale]
    above = [
        np.concatenate([np.cumsum(values[by_scale][::-1])[::-1], zero]) for values in (share * scales[~empty], share)
    ]
    place = np.searchsorted(ascending, ratios, side="right")
    found[there] = found[there] + positive_part(t[there] * above[0][place] - d[there] * above[1][place])
    return found


def acceptance(target: Any, draft: Any, k: int = 1, options: Any = None) -> Any:  # noqa: ARG001
    """Return the probability Σ min(d, h) that the emitted token is the draft, for laws [V].

    Raises:
        TypeError, ValueError: as `emit`.

    >>> acceptance(["1/5", "4/5"], ["1/2", "1/2"], 1, "1/8")
    Fraction(9, 10)
    """
    t, d = one_position(target, draft)
    return np.minimum(d, raised(t, options_of(Options, options))).sum()


SWEPT = ("0", "1/1000", "1/100", "1/50", "1/20", "1/10", "1/5", "1/2", "1", "2")
RULE = Rule("Cactus", Options, emit, law, acceptance, SWEPT, "delta")
