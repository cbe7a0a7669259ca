"""Shared noise: target and drafter race the same exponentials, and what is emitted is the target's own draw.

With E[k, y] independent exponentials, draft k is the token of the least E[k, y]/d(y), and the emitted token that of the
least min_k E[k, y]/t(y). Nothing is accepted or rejected; a draft is met where both races have one winner. What is
emitted looks at the noise and the target alone: another drafter changes the speed and not one token.

Source: Daliri, Musco and Suresh 2024, "Coupling without communication" (one draft); Rowan, Phan and Khisti 2025,
"List-level distribution coupling" (k drafts), both by their abstracts.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from spec_math.arrays import Array, as_laws, count
from spec_math.chance import Coin
from spec_math.masses import by_outcome
from spec_math.scheme import Tokens, drafted, draw_independent

__all__ = ["acceptance", "draw", "joint", "least", "race", "verify"]

Sum = dict[Any, Any]
"""Σ c·e^(−m v) as {rate m: coefficient c}."""

draw = draw_independent
"""The drafts are k i.i.d. draws, as the noise of different drafts is independent."""


def race(noise: Any, target: Any, draft: Any) -> tuple[Tokens, int]:
    """Return the drafts and the emitted token of given noise [k, V], numbers > 0, for float laws [V].

    >>> race([[1.0, 2.0]], [0.25, 0.75], [0.5, 0.5])
    ((0,), 1)
    """
    t, d = (np.asarray(law, dtype=np.float64) for law in as_laws(target, draft))
    rows = np.asarray(noise, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return tuple(np.argmin(rows / d, axis=1).tolist()), int(np.argmin(rows.min(axis=0) / t))


def verify(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    """Draw the emitted token given k drafts, from the law that the shared noise gives it; laws [V].

    The law: `joint`, divided by the mass of the drafts. Its cost is V^k: it is for judging, and `race` for decoding.

    Raises:
        ValueError: a draft without draft mass.

    >>> from spec_math.chance import law
    >>> law(lambda coin: verify(coin, (0,), ["1/4", "3/4"], ["1/2", "1/2"])) == {0: 1 / 2, 1: 1 / 2}
    True
    """
    t, d = as_laws(target, draft)
    listed = drafted(tokens, d)
    masses = [_mass(t, d, listed, token) for token in range(len(t))]
    total = sum(masses)
    return coin.draw([mass / total for mass in masses])


def joint(target: Any, draft: Any, k: int) -> dict[tuple[Tokens, int], Any]:
    """Return the law of (drafts, emitted token), {((x_1, …, x_k), y): mass}: exact on Fractions, V^(k+1) masses.

    The law: where y wins at the value v in the noise of draft j, E[j, y] = v t(y) and every other E[i, z] is at least
    v t(z). With u = s·v the value at which a draft wins, its noise has the chance e^(−v M(s)), M(s) = Σ_z max(s d(z),
    t(z)); as M is linear between the ratios t/d, integrals over s and then over v are sums of fractions. Laws [V].

    Raises:
        TypeError, ValueError: k is not a positive integer.

    >>> joint(["1/4", "3/4"], ["1/2", "1/2"], 1)[(0,), 0]
    Fraction(1, 4)
    """
    t, d = as_laws(target, draft)
    tokens = [token for token in range(len(t)) if d[token] > 0]
    found = {
        (drafts, token): _mass(t, d, drafts, token)
        for drafts in product(tokens, repeat=count(k))
        for token in range(len(t))
    }
    return {outcome: mass for outcome, mass in found.items() if mass > 0}


def acceptance(target: Any, draft: Any, k: int) -> Any:
    """Return P(the emitted token is a draft): Σ_y t(y)/M(t(y)/d(y)) for one draft, in O(V log V); laws [V], k ≥ 1.

    For more drafts it is 1 − k Σ_y ∫ t(y) (e^(−v) − e^(−v M_y)) (e^(−v) − f_y(v))^(k−1) dv, f_y the chance that a
    draft is y where all noise is at least v·t: (2V)^(k−1) terms a token, exact on Fractions.

    Raises:
        TypeError, ValueError: k is not a positive integer.

    >>> acceptance(["1/4", "3/4"], ["1/2", "1/2"], 1), acceptance(["1/4", "3/4"], ["1/2", "1/2"], 2)
    (Fraction(3, 4), Fraction(9, 10))
    """
    t, d = as_laws(target, draft)
    if count(k) == 1:
        return least(t, d, 1)
    zero = t[0] - t[0]
    missed = zero
    for token in range(len(t)):
        if t[token] == 0:
            continue
        others: Sum = {zero + 1: zero + 1}
        alone: Sum = {zero + 1: t[token]}
        if d[token] > 0:
            others = _plus(others, _wins(t, d, token, None), -1)
            alone = _plus(alone, {_rate(t, d, t[token] / d[token]): t[token]}, -1)
        for _ in range(k - 1):
            alone = _times(alone, others)
        missed = missed + k * _integral(alone)
    return 1 - missed


def least(target: Any, draft: Any, k: int) -> Any:
    """Return what the acceptance is at least: Σ_y k t(y) / (M_y + k − 1), M_y = Σ_z max(t(z), d(z) t(y)/d(y)).

    It is the chance that the draft in whose noise the emitted token wins is that token, and so an equality for one
    draft. O(V log V), laws [V]; units: a probability.

    Raises:
        TypeError, ValueError: k is not a positive integer.

    Source: the list matching lemma of Rowan, Phan and Khisti 2025, as derived here.

    >>> least(["1/4", "3/4"], ["1/2", "1/2"], 2)
    Fraction(17, 20)
    """
    t, d = as_laws(target, draft)
    k = count(k)
    tokens = [token for token in range(len(t)) if t[token] > 0 and d[token] > 0]
    order = sorted(tokens, key=lambda token: t[token] / d[token])
    # Tokens the target never writes have the ratio 0, and the drafter's own mass is theirs at every place.
    below = sum((d[token] for token in range(len(t)) if t[token] == 0), t[0] - t[0])
    above, total = t.sum(), t[0] - t[0]
    for token in order:
        below, above = below + d[token], above - t[token]
        rate = t[token] / d[token] * below + above
        total = total + k * t[token] / (rate + k - 1)
    return total


def _mass(t: Array, d: Array, drafts: Tokens, token: int) -> Any:
    """Return P(these drafts, this token emitted): the sum over the draft in whose noise the token wins."""
    total = t[0] - t[0]
    if t[token] == 0:
        return total
    chances = {draft: _wins(t, d, draft, None) for draft in set(drafts)}
    for place, own in enumerate(drafts):
        if own == token:
            value: Sum = {_rate(t, d, t[token] / d[token]): t[token]}
        else:
            value = {rate: t[token] * share for rate, share in _wins(t, d, own, token).items()}
        for other, draft in enumerate(drafts):
            if other != place:
                value = _times(value, chances[draft])
        total = total + _integral(value)
    return total


def _rate(t: Array, d: Array, s: Any) -> Any:
    """Return M(s) = Σ_z max(s d(z), t(z))."""
    return sum((max(s * dz, tz) for tz, dz in zip(t, d, strict=True)), s - s)


def _wins(t: Array, d: Array, draft: int, before: int | None) -> Sum:
    """Return the chance over v that a draft is `draft`, its noise being at least v·t, and wins before `before` would.

    ∫ d(x) v e^(−v M(s)) ds over s from t(x)/d(x) up to the ratio of `before`, to infinity where there is none.
    """
    start = t[draft] / d[draft]
    stop = None if before is None or d[before] == 0 else t[before] / d[before]
    if stop is not None and stop <= start:
        return {}
    ratios = {t[token] / d[token] for token in range(len(t)) if d[token] > 0}
    cuts = [start, *sorted(ratio for ratio in ratios if start < ratio and (stop is None or ratio < stop))]
    ends: list[Any] = [*cuts[1:], stop]
    found: Sum = {}
    for low, high in zip(cuts, ends, strict=True):
        slope = sum((dz for tz, dz in zip(t, d, strict=True) if dz > 0 and tz <= low * dz), start - start)
        found = _plus(found, {_rate(t, d, low): d[draft] / slope}, 1)
        if high is not None:
            found = _plus(found, {_rate(t, d, high): d[draft] / slope}, -1)
    return found


def _plus(first: Sum, second: Sum, sign: int) -> Sum:
    return by_outcome([*first.items(), *((rate, sign * share) for rate, share in second.items())])


def _times(first: Sum, second: Sum) -> Sum:
    return by_outcome((one + two, a * b) for (one, a), (two, b) in product(first.items(), second.items()))


def _integral(value: Sum) -> Any:
    return sum(share / rate for rate, share in value.items())
