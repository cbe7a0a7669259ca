"""The law of prefixes: with which probability do all drafts fall among the first i tokens of a ratio order?"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np

from spec_math.arrays import Array, count, is_exact, ones_like
from spec_math.token_level import exponential_clocks
from spec_math.token_level.ratio_order import RatioOrder, running_sums

TERMS = 1_000_000
"""The most terms that the exact recursion over drawn sets may take."""


@dataclass(frozen=True, eq=False)
class PrefixLaw:
    """g_i = P(S ⊆ first i tokens of a ratio order), i = 0..n, convex in the draft mass P_i: its slopes do not decrease.

    On floats each of the three is a sum of terms ≥ 0 of its own: neither 1 − g nor a slope is a difference.
    """

    inside: Array
    """[n + 1] g_i."""
    outside: Array
    """[n + 1] 1 − g_i."""
    slopes: Array
    """[n] (g_{i+1} − g_i)/d_i, d_i the mass of the token between prefixes i and i + 1; infinite beyond 1.8·10^308."""


def independent(order: RatioOrder, k: int) -> PrefixLaw:
    """Return the law of prefixes for k i.i.d. drafts: g_i = P_i^k, with slopes Σ_{j<k} P_i^j P_{i+1}^(k−1−j).

    In floats every entry is within a relative (10k + 12)·2^-53, down to 2^-1000.

    Raises:
        TypeError, ValueError: k is not a positive integer.

    >>> from spec_math.arrays import exact
    >>> from spec_math.token_level.ratio_order import ratio_order
    >>> order = ratio_order(exact(["1/4", "3/4"]), exact(["1/2", "1/2"]))
    >>> independent(order, 2).slopes.tolist()
    [Fraction(1, 2), Fraction(3, 2)]
    """
    below, power = order.draft_below, count(k)
    outside = order.draft_above * mixed_powers(below, ones_like(below), power)
    return PrefixLaw(below**power, outside, mixed_powers(below[:-1], below[1:], power))


def mixed_powers(low: Array, high: Array, k: int) -> Array:
    """Return (high^k − low^k)/(high − low) = Σ_{j<k} low^j high^(k−1−j), by doubling: a sum of products, O(log k).

    In floats within a relative 8k·2^-53 for low and high within 3·2^-53.

    >>> from spec_math.arrays import exact
    >>> mixed_powers(exact([0, 2]), exact([1, 3]), 3).tolist()
    [Fraction(1, 1), Fraction(19, 1)]
    """
    total, done = ones_like(low), 1
    for bit in bin(k)[3:]:
        total, done = total * (low**done + high**done), 2 * done
        if bit == "1":
            total, done = total * low + high**done, done + 1
    return total


def without_replacement(order: RatioOrder, k: int) -> PrefixLaw:
    """Return the law of prefixes for k drafts without replacement; for k ≥ n the drafts are the whole support.

    Exact by recursion over drawn sets; in floats k = 2 in closed form (a relative 30·2^-53), k ≥ 3 by quadrature over
    exponential clocks, to the bound that `exponential_clocks` derives.

    Raises:
        TypeError, ValueError: k is not a positive integer; the exact recursion would need more than 10^6 terms; in
            floats k > 64, and the draft has more tokens than that.

    >>> from spec_math.arrays import exact
    >>> from spec_math.token_level.ratio_order import ratio_order
    >>> order = ratio_order(exact(["1/2", "1/4", "1/4"]), exact(["1/2", "1/4", "1/4"]))
    >>> without_replacement(order, 2).inside.tolist()
    [Fraction(0, 1), Fraction(0, 1), Fraction(5, 12), Fraction(1, 1)]
    """
    size = len(order)
    if count(k) == 1:
        return independent(order, 1)
    if is_exact(order.draft):
        inside = _by_drawn_sets(order, k) if k < size else _all_or_nothing(order)
        return PrefixLaw(inside, 1 - inside, (inside[1:] - inside[:-1]) / order.draft)
    if k >= size:
        inside, gains = _all_or_nothing(order), np.zeros(size)
        gains[-1] = 1.0
        outside = 1 - inside
    else:
        gains = _pair_gains(order) if k == 2 else exponential_clocks.gains(order.draft, order.draft_above, k)
        inside, outside = running_sums(gains), running_sums(gains[::-1])[::-1]
    with np.errstate(over="ignore"):
        return PrefixLaw(inside, outside, gains / order.draft)


def outside_without_replacement(order: RatioOrder, k: int) -> Array:
    """Return 1 − g_i for k drafts without replacement, [n + 1], as `without_replacement` does, at less cost.

    Raises:
        TypeError, ValueError: as `without_replacement`.

    >>> from spec_math.token_level.ratio_order import ratio_order
    >>> outside_without_replacement(ratio_order(np.array([0.25, 0.75]), np.array([0.5, 0.5])), 2).tolist()
    [1.0, 1.0, 0.0]
    """
    if count(k) == 1:
        return order.draft_above
    if is_exact(order.draft):
        return 1 - (_by_drawn_sets(order, k) if k < len(order) else _all_or_nothing(order))
    if k >= len(order):
        return 1 - _all_or_nothing(order)
    return _pair_outside(order) if k == 2 else exponential_clocks.outside(order.draft, order.draft_above, k)


def outsides_without_replacement(order: RatioOrder, ks: tuple[int, ...]) -> list[Array]:
    """Return 1 − g_i for several numbers of drafts, the quadrature of all k ≥ 3 in one pass.

    Raises:
        TypeError, ValueError: as `without_replacement`.

    >>> from spec_math.token_level.ratio_order import ratio_order
    >>> order = ratio_order(np.array([0.25, 0.75]), np.array([0.5, 0.5]))
    >>> [law.tolist() for law in outsides_without_replacement(order, (1, 2))]
    [[1.0, 0.5, 0.0], [1.0, 1.0, 0.0]]
    """
    raced = tuple(k for k in ks if 2 < count(k) < len(order)) if not is_exact(order.draft) else ()
    laws = exponential_clocks.outsides(order.draft, order.draft_above, raced) if raced else ()
    found = dict(zip(raced, laws, strict=True))
    return [found[k] if k in found else outside_without_replacement(order, k) for k in ks]


def _all_or_nothing(order: RatioOrder) -> Array:
    inside = order.draft_below - order.draft_below
    inside[-1] = inside[-1] + 1
    return inside


def _by_drawn_sets(order: RatioOrder, k: int) -> Array:
    """Return g by recursion over the sets R that the first k − 1 draws can leave.

    g_i = Σ_{R ⊆ prefix i} P(R)·(P_i − d(R))/(1 − d(R)), where
    P(R) = Σ_{x∈R} P(R∖x)·d_x/(1 − d(R∖x)). Each set is kept as its bits, with its probability and its mass.
    """
    size = len(order)
    terms = sum(comb(size, drawn) * size for drawn in range(k - 1)) + comb(size, k - 1)
    if terms > TERMS:
        raise ValueError(
            f"exact drafts without replacement are enumerated as sets; n = {size}, k = {k} needs about {terms} terms, "
            f"more than {TERMS}: use floats"
        )
    draft: list[Fraction] = order.draft.tolist()
    sets: dict[int, tuple[Fraction, Fraction]] = {0: (Fraction(1), Fraction(0))}
    for _ in range(k - 1):
        longer: dict[int, tuple[Fraction, Fraction]] = {}
        for drawn, (chance, mass) in sets.items():
            share = chance / (1 - mass)
            for token, d in enumerate(draft):
                if not drawn >> token & 1:
                    before = longer.get(drawn | 1 << token, (Fraction(0), mass + d))
                    longer[drawn | 1 << token] = before[0] + share * d, before[1]
        sets = longer
    rates, offsets = np.full((2, size + 1), Fraction(0), dtype=object)
    for drawn, (chance, mass) in sets.items():
        rates[drawn.bit_length()] += chance / (1 - mass)
        offsets[drawn.bit_length()] += chance / (1 - mass) * mass
    return np.cumsum(rates) * order.draft_below - np.cumsum(offsets)


def _odds(order: RatioOrder) -> tuple[Array, int, float]:
    """Return d/(1 − d), that of the heaviest token set to 0, its place, and its 1 − d: each the sum of all others.

    Only the heaviest can have 1 − d below 1/2, down to denormals: its odds may overflow, so it is divided by last.
    """
    others = order.draft_below[:-1] + order.draft_above[1:]
    heaviest = int(np.argmax(order.draft))
    odds = order.draft / np.where(others > 0.25, others, 1.0)
    odds[heaviest] = 0.0
    return odds, heaviest, float(others[heaviest])


def _pair_outside(order: RatioOrder) -> Array:
    """Return 1 − g = c(1 + Σ_H d/(1 − d)), c = d(not H)."""
    odds, heaviest, others = _odds(order)
    result = order.draft_above * (1 + running_sums(odds))
    result[heaviest + 1 :] += order.draft[heaviest] * (order.draft_above[heaviest + 1 :] / others)
    return result


def _pair_gains(order: RatioOrder) -> Array:
    """Return d_y·(Σ_B d/(1 − d) + d(B)/(1 − d_y)): y comes second, or first."""
    odds, heaviest, others = _odds(order)
    d, below = order.draft, order.draft_below[:-1]
    result = d * running_sums(odds)[:-1] + odds * below
    result[heaviest] += d[heaviest] * (below[heaviest] / others)
    result[heaviest + 1 :] += d[heaviest] * (d[heaviest + 1 :] / others)
    return result
