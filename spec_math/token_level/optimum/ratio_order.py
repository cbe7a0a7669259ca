"""The ratio order: tokens that the draft can draw, sorted by target/draft ascending, with the masses on either side."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, is_exact
from spec_math.common_denominator import Counts
from spec_math.kernels import inner_kernel, kernel
from spec_math.number_types import Symbol

_STEPWISE = 32
"""Up to this k the float search raises powers step by step; beyond it, it takes logarithms."""


UNIT = 2.0**-100
"""Floats keep masses divided by draft masses in units of 2^100: with draft masses down to 2^-1074 none overflows."""


@dataclass(frozen=True, eq=False)
class RatioOrder:
    """The n tokens with d > 0, sorted by t/d ascending, ties by index, and the masses of its n + 1 prefixes.

    Entry i of the last four arrays belongs to the prefix of the first i tokens, i = 0..n; "above" is a sum from the
    other end, never 1 minus the sum below. Tokens with d = 0 are in no prefix: their target mass is above every one.
    """

    tokens: np.ndarray[Any, Any]
    """[n] token indices."""
    target: Array
    """[n] target masses in this order."""
    draft: Array
    """[n] draft masses in this order, all > 0."""
    target_below: Array
    """[n + 1] T_i, the target mass of the first i tokens."""
    draft_below: Array
    """[n + 1] P_i, the draft mass of the first i tokens."""
    target_above: Array
    """[n + 1] 1 − T_i, the target mass of all other tokens, those with d = 0 included."""
    draft_above: Array
    """[n + 1] 1 − P_i."""

    def __len__(self) -> int:
        return len(self.tokens)


def ratio_order(target: Array, draft: Array) -> RatioOrder:
    """Sort one pair of laws [V] by t/d: exactly on Fractions, and on NumPy float64.

    The laws are checked already (`arrays.as_laws`). A float law sums to 1 only up to the rounding of its storage, so
    its masses are taken in proportion to their own sum. Each float mass and sum is then within a relative 6·2^-53 of
    that of the exact proportional law, for V ≤ 2^24, and the order is that of the ratios rounded to float64.
    """
    if is_exact(target):
        return _exact(target, draft)
    t, d = np.ascontiguousarray(target, dtype=np.float64), np.ascontiguousarray(draft, dtype=np.float64)
    tokens = by_ratio(t, d)
    # One allocation: six of a megabyte each would cost more in page faults than all the sums.
    table = np.empty((6, len(tokens) + 1))
    masses, below, above = table[:2, :-1], table[2:4], table[4:]
    _cumulate(t, d, tokens, masses, below, above)
    return RatioOrder(tokens, masses[0], masses[1], below[0], below[1], above[0], above[1])


def by_ratio(target: np.ndarray[Any, Any], draft: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the tokens with d > 0 by t/d ascending, ties by index: float64 arrays [V], whatever their range."""
    tokens = np.flatnonzero(draft > 0).astype(np.int32)
    t, d = target[tokens], draft[tokens]
    with np.errstate(over="ignore", under="ignore"):
        ratios = t / d
        # Both scalings are exact: a tiny ratio has a tiny t, a huge one has t > 2^-54.
        tiny, huge = ratios < 2.0**-1020, ratios > 2.0**1020
        ratios = np.where(tiny, t * 2.0**600 / d, np.where(huge, t * 2.0**-600 / d, ratios))
    exponents = np.where(tiny, 424, np.where(huge, 1624, 1024)).astype(np.uint64)
    keys = np.where(t > 0, ratios.view(np.uint64) + (exponents << np.uint64(52)), np.uint64(0))
    return tokens[stable_argsort(keys)]


def stable_argsort(keys: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the order of keys [n], the lower index first among equals: several times faster than a stable sort."""
    order = np.argsort(keys)
    ranked = keys[order]
    larger = ranked[1:] != ranked[:-1]
    if not larger.all():
        classes = np.concatenate([[0], np.cumsum(larger)])
        order = np.sort((classes << 32) + order) & 0xFFFFFFFF
    return order


def by_exact_ratio(target: Array, draft: Array) -> np.ndarray[Any, Any]:
    """Return the tokens with d > 0 by t/d ascending, ties by index: object arrays [V] of whole numbers ≥ 0.

    Rounding a ratio to a float preserves order, so only tokens of one float need an exact comparison.
    """
    tokens = np.flatnonzero(draft != 0)
    t, d = target[tokens].tolist(), draft[tokens].tolist()
    rounded = np.array([_rounded(x, y) for x, y in zip(t, d, strict=True)])
    order = np.argsort(rounded, kind="stable")
    rounded = rounded[order]
    edges = np.flatnonzero(np.concatenate([[True], rounded[1:] != rounded[:-1], [True]]))
    wide = np.flatnonzero(np.diff(edges) > 1)
    # Two unequal ratios are at least 1/d² apart, so floor(2^shift · t/d) with 2^shift ≥ d² orders them exactly.
    shift = 2 * max(d).bit_length() if len(wide) else 0
    for run in wide:
        low, high = edges[run], edges[run + 1]
        order[low:high] = sorted(order[low:high].tolist(), key=lambda place: (t[place] << shift) // d[place])
    return tokens[order]


def best_prefixes(order: RatioOrder, ks: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    """Return the optimum of k i.i.d. drafts, min_i [1 − P_i^k + T_i], for ascending ks, and the least such i."""
    values, places = np.full(len(ks), np.inf), np.zeros(len(ks), dtype=np.int64)
    _search(order.draft_below, order.draft_above, order.target_below, ks, values, places)
    return values, places


def in_units(tops: Array, draft: Array) -> Array:
    """Return tops/draft, [n]; on floats in units of 2^100."""
    return tops / draft if is_exact(draft) else tops / (draft / UNIT)


def unit_of(masses: Array) -> Any:
    """Return the unit that ratios of these masses are kept in: 2^100 on floats, 1 on Fractions, as a factor."""
    return 1 if is_exact(masses) else UNIT


def running_sums(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the sums of the first i values, i = 0..n, of float64 values [n] ≥ 0: each within a relative 2·2^-53."""
    sums = np.empty(len(values) + 1)
    _running_sums(np.ascontiguousarray(values, dtype=np.float64), sums)
    return sums


def _exact(target: Array, draft: Array) -> RatioOrder:
    if any(isinstance(mass, Symbol) for mass in (*target, *draft)):  # no common denominator: compared one by one
        drawn = [token for token in range(len(draft)) if draft[token] != 0]
        tokens = np.array(sorted(drawn, key=lambda token: target[token] / draft[token]))
    else:
        tokens = by_exact_ratio(Counts.of(target).numerators, Counts.of(draft).numerators)
    t, d = target[tokens], draft[tokens]
    zero, rest = np.array([Fraction(0)], dtype=object), np.delete(target, tokens).sum() + Fraction(0)
    below = [np.concatenate([zero, np.cumsum(masses)]) for masses in (t, d)]
    above = [np.concatenate([zero, np.cumsum(masses[::-1])])[::-1] for masses in (t, d)]
    return RatioOrder(tokens, t, d, below[0], below[1], above[0] + rest, above[1])


def _rounded(top: int, bottom: int) -> float:
    try:
        return top / bottom
    except OverflowError:
        return float("inf")  # a run of its own, put in order exactly


@kernel
def _cumulate(target: Any, draft: Any, tokens: Any, masses: Any, below: Any, above: Any) -> None:
    """Gather, and sum from both ends, in units of each law's own total, which is the last of the sums.

    Kahan's sum of n positive terms is within (2·2^-53 + O(n·2^-106)) of the true one (Higham, Accuracy and Stability,
    4.8); so is the total, whose inverse and the product with it add a unit each.
    """
    size, never = len(tokens), (0.0, 0.0)
    if size < len(target):
        for token in range(len(target)):
            if draft[token] == 0:
                never = _plus(never, target[token])
    for i in range(size):
        masses[0, i], masses[1, i] = target[tokens[i]], draft[tokens[i]]
    low_t, low_d, high_t, high_d = (0.0, 0.0), (0.0, 0.0), never, (0.0, 0.0)
    below[0, 0], below[1, 0], above[0, size], above[1, size] = 0.0, 0.0, never[0], 0.0
    for i in range(size):
        last = size - 1 - i
        low_t, low_d = _plus(low_t, masses[0, i]), _plus(low_d, masses[1, i])
        high_t, high_d = _plus(high_t, masses[0, last]), _plus(high_d, masses[1, last])
        below[0, i + 1], below[1, i + 1] = low_t[0], low_d[0]
        above[0, last], above[1, last] = high_t[0], high_d[0]
    scales = 1 / above[0, 0], 1 / above[1, 0]
    for law in range(2):
        masses[law] *= scales[law]
        below[law] *= scales[law]
        above[law] *= scales[law]
    # What these sums are by definition.
    below[1, size], above[0, 0], above[1, 0] = 1.0, 1.0, 1.0
    if never[0] == 0:
        below[0, size] = 1.0


@kernel
def _running_sums(values: Any, sums: Any) -> None:
    total = (0.0, 0.0)
    sums[0] = 0.0
    for i in range(len(values)):
        total = _plus(total, values[i])
        sums[i + 1] = total[0]


@inner_kernel(inline="always")
def _plus(total: Any, term: float) -> Any:
    """Add a term to a sum with its compensation (Kahan)."""
    corrected = term - total[1]
    raised = total[0] + corrected
    return raised, (raised - total[0]) - corrected


@kernel
def _search(below: Any, above: Any, target_below: Any, ks: Any, values: Any, places: Any) -> None:
    """Find for each k the least 1 − P^k + T over the prefixes: sums of terms ≥ 0, no difference."""
    for which in range(len(ks)):
        for i in range(len(below)):
            cut = outside_of(below[i], above[i], ks[which]) + target_below[i]
            if cut < values[which]:
                values[which], places[which] = cut, i


@inner_kernel
def outside_of(below: float, above: float, k: int) -> float:
    """Return 1 − P^k from P and 1 − P: (1 − P)·Σ_{j<k} P^j for small k, else through the log of the smaller of both."""
    if k > _STEPWISE:
        return -np.expm1(k * (np.log1p(-above) if above < 0.5 else np.log(below)))
    total = 1.0
    for _ in range(1, k):
        total = total * below + 1.0
    return above * total


NEAR = 2.0**-45
"""Neighbours whose float ratios differ by no more of themselves are joined: some roundings of sums of many masses."""


@dataclass(frozen=True, eq=False)
class Joined:
    """A ratio order with its tokens joined where ratios are equal: the order of the m classes, `tokens` their numbers.

    `place` [V] is the class of each token, −1 where it is never drafted; `whole` is the order of the n tokens.
    """

    order: RatioOrder
    place: np.ndarray[Any, Any]
    whole: RatioOrder

    def spread(self, masses: Array, row: Array) -> None:
        """Write the masses [m] of the classes into a row [V], each in proportion to the draft's within its class."""
        if self.order is not self.whole:
            heights = in_units(masses, self.order.draft)[self.place[self.whole.tokens]]
            masses = heights * (self.whole.draft / unit_of(heights))
        row[self.whole.tokens] = masses


def joined(order: RatioOrder, size: int) -> Joined:
    """Join the tokens of a ratio order over V = size tokens; Fractions are left as they are.

    In floats a class joins ratios that differ by 2^-45 from one to the next at most, so that n tokens which it takes
    for equal differ by a relative n·2^-45: what is planned for classes gains as much less than what is planned for
    tokens.
    """
    place = np.full(size, -1)
    if is_exact(order.draft):
        place[order.tokens] = np.arange(len(order))
        return Joined(order, place, order)
    edges = np.empty(len(order) + 1, np.int64)
    number = _classes(order.tokens, order.target, order.draft, place, edges)
    if number == len(order):
        return Joined(order, place, order)
    starts, edges = edges[:number], edges[: number + 1]
    sums = (np.add.reduceat(masses, starts) for masses in (order.target, order.draft))
    below_and_above = (order.target_below, order.draft_below, order.target_above, order.draft_above)
    classes = RatioOrder(np.arange(len(starts)), *sums, *(prefixes[edges] for prefixes in below_and_above))
    return Joined(classes, place, order)


@kernel
def _classes(tokens: Any, target: Any, draft: Any, place: Any, edges: Any) -> int:
    """Number the classes: the class of each token, and where each begins in the order; return how many there are."""
    number, last = 0, 0.0
    for at in range(len(tokens)):
        ratio = target[at] / (draft[at] / UNIT)
        if at == 0 or ratio > last * (1 + NEAR):
            edges[number] = at
            number += 1
        place[tokens[at]], last = number - 1, ratio
    edges[number] = len(tokens)
    return number
