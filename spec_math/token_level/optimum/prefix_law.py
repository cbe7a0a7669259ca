"""The distribution of prefixes: P(all drafts fall among the first i tokens of a ratio order), i.i.d. or distinct.

Drafts without replacement are a race of clocks: token x rings at an Exp(d_x) time, and the first k to ring are S.
For H a prefix, c = 1 − d(H), and N_H(s) the number of tokens of H that have rung by time s,

    P(S ⊄ H) = ∫ c e^{−cs} P(N_H(s) < k) ds :   the first token outside H rings before the k-th of H.

The integral is taken by Gauss-Legendre quadrature, all prefixes in one pass, octave by octave of time: [0, 1], [1, 2],
[2, 4], …, 2^last.

Truncation. 2^last is the first power of two by which fewer than k tokens ring with probability < 2^-60: what lies
beyond it is at most that, for every H.

Quadrature. N nodes on an interval of half-width w miss at most 4w times the distance of the integrand to the
polynomials of degree 2N − 1, which is at most 2M ρ^(1−2N)/(ρ − 1) where M bounds it on the Bernstein ellipse ρ
(Trefethen, Approximation Theory and Practice, Theorem 8.2); take ρ = 4.
On [L, 2L] the ellipse lies in Re s ≥ 0.4375 L with |s|/Re s ≤ κ = 1.336. There |e^{−ds}| = e^{−d Re s} and
|1 − e^{−ds}| ≤ (|s|/Re s)·(1 − e^{−d Re s}), so the integrand is at most κ^(k−1) times its value at Re s, which is
below c e^{−0.4375 cL}; and Σ_L L·c e^{−0.4375 cL} ≤ 4.2 over the powers of two. On [0, 1] it is at most 2, as
|e^{−z}| + |1 − e^{−z}| ≤ exp(2 (Re z)⁻ + |Im z|). With N = 16 all intervals together miss at most
(23 κ^(k−1) + 11)·16^−16: below 2^-51 for k ≤ 21, 10^-14 at k = 32, 1.1·10^-10 at k = 64.

Rounding. The integrand is linear in each token's pair (e^{−ds}, 1 − e^{−ds}), with coefficients in [0, 1], and sums
only terms ≥ 0: a token adds at most its pair's error and two roundings, less than (20 + 2·last)·2^-53 together.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb, exp, factorial, lgamma, log
from typing import Any

import numpy as np

from spec_math.arrays import Array, count, is_exact, ones_like
from spec_math.kernels import inner_kernel, kernel
from spec_math.token_level.optimum.ratio_order import RatioOrder, running_sums

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
    """
    below, power = order.draft_below, count(k)
    outside = order.draft_above * mixed_powers(below, ones_like(below), power)
    return PrefixLaw(below**power, outside, mixed_powers(below[:-1], below[1:], power))


def mixed_powers(low: Array, high: Array, k: int) -> Array:
    """Return (high^k − low^k)/(high − low) = Σ_{j<k} low^j high^(k−1−j), by doubling: a sum of products, O(log k).

    In floats within a relative 8k·2^-53 for low and high within 3·2^-53.
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
    exponential clocks, to the bound derived above.

    Raises:
        TypeError, ValueError: k is not a positive integer; the exact recursion would need more than 10^6 terms; in
            floats k > 64, and the draft has more tokens than that.

    >>> from spec_math.arrays import exact
    >>> from spec_math.token_level.optimum.ratio_order import ratio_order
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
        inside, gained = _all_or_nothing(order), np.zeros(size)
        gained[-1] = 1.0
        outside = 1 - inside
    else:
        gained = _pair_gains(order) if k == 2 else gains(order.draft, order.draft_above, k)
        inside, outside = running_sums(gained), running_sums(gained[::-1])[::-1]
    with np.errstate(over="ignore"):
        return PrefixLaw(inside, outside, gained / order.draft)


def outsides_without_replacement(order: RatioOrder, ks: tuple[int, ...]) -> list[Array]:
    """Return 1 − g_i of `without_replacement` for several numbers of drafts, the quadrature of k ≥ 3 in one pass."""
    raced = () if is_exact(order.draft) else tuple(k for k in ks if 2 < count(k) < len(order))
    found = dict(zip(raced, outsides(order.draft, order.draft_above, raced), strict=True)) if raced else {}
    return [found[k] if k in found else without_replacement(order, k).outside for k in ks]


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


def _pair_gains(order: RatioOrder) -> Array:
    """Return d_y·(Σ_B d/(1 − d) + d(B)/(1 − d_y)): y comes second, or first."""
    odds, heaviest, others = _odds(order)
    d, below = order.draft, order.draft_below[:-1]
    result = d * running_sums(odds)[:-1] + odds * below
    result[heaviest] += d[heaviest] * (below[heaviest] / others)
    result[heaviest + 1 :] += d[heaviest] * (d[heaviest + 1 :] / others)
    return result


TAIL = 2.0**-60
"""How much of the race is cut off."""
_NODES = 16
"""Gauss-Legendre nodes an interval; a constant, so that the loops over them are vector instructions."""
_TAYLOR = np.array([(-1.0) ** i / factorial(i + 1) for i in range(15)])
"""(1 − e^{−y})/y to y^14: for y ≤ 1/2 the rest is below 2^-15/16!, less than 2^-59 of the whole."""
_UNDERFLOWN = 800.0
"""e^{−800} is 0 in float64."""
MOST = 64
"""The most drafts that the quadrature takes: its error bound grows as κ^k, to 1.1·10^-10 at 64."""


def rounding(size: int) -> float:
    """Return what an optimum without replacement of V float masses may be off by, for at most MOST drafts.

    It is 1 − g + T of one prefix, T within (V + 8)·2^-53, with `last` below 2^11, as it is for all masses of float64.
    """
    return (20 + 2 * 2**11) * (size + 8) * 2.0**-53 + 1.2e-10


def outsides(draft: Array, above: Array, ks: tuple[int, ...]) -> Array:
    """Return P(S ⊄ prefix i), i = 0..n, for several k in 2..n − 1 in one pass, [number of ks, n + 1].

    draft [n] in the order of the prefixes, above [n + 1] its tails. Float64, within (20 + 2·last)·(n + 1)·2^-53 + 2^-51
    for k ≤ 21 (see above). O(n k) times the nodes: the rings counted for the largest k serve all.
    The grid is that of the largest k; what is cut off and missed is less for smaller ones.

    Raises:
        ValueError: a k exceeds 64.
    """
    wanted = sorted(set(ks))
    _bounded(draft, wanted[-1])
    found = np.zeros((len(wanted), len(draft) + 1))
    _outside(draft, above, np.array(wanted), grid(draft, wanted[-1]), found)
    return found[[wanted.index(k) for k in ks]]


def gains(draft: Array, above: Array, k: int) -> Array:
    """Return g_{i+1} − g_i, g_i = P(S ⊆ prefix i), for i = 0..n − 1, as integrals of terms ≥ 0.

    With B the first i tokens and y the next, the k-th of B + y to ring before all others is y itself, or a token of B
    after y has rung: d ∫ e^{−cs} P(N_B = k−1) ds + ∫ e^{−(c−d)s} (1 − e^{−ds}) ρ(s) ds, where ρ is the density of the
    (k−1)-th ring of B. Arrays and cost as `outsides`. As s·ρ(s) ≤ k − 1, rounding is k times as large at most, and so
    is the quadrature error of each interval.

    Raises:
        ValueError: k exceeds 64.
    """
    found = np.zeros(len(draft))
    _gains(draft, above, _bounded(draft, k), grid(draft, k), found)
    return found


def _bounded(draft: Array, k: int) -> int:
    if k > MOST:
        raise ValueError(
            f"the clocks of drafts without replacement are computed in floats for k <= {MOST}, where their error bound "
            f"reaches 1.1e-10; got k = {k} of {len(draft)} tokens: use Fractions, or fewer drafts"
        )
    return k


def grid(draft: Array, k: int) -> tuple[Array, Array, int]:
    """Return the nodes of [0, 1] and of [1, 2], their weights, and the number of intervals."""
    points, widths = np.polynomial.legendre.leggauss(_NODES)
    last = 0
    # As many rings as a Poisson process of the same rate has are the most there can be: a cheap start.
    while _fewer_of_poisson(2.0**last, k) >= TAIL:
        last += 1
    with np.errstate(over="ignore"):  # what has rung for certain
        while fewer(np.ldexp(draft, last), k, 1.0) >= TAIL:
            last += 1
    return np.concatenate([(points + 1) / 2, (points + 3) / 2]), widths / 2, last + 1


def _fewer_of_poisson(mean: float, k: int) -> float:
    return sum(exp(j * log(mean) - mean - lgamma(j + 1)) for j in range(k))


@kernel
def fewer(draft: Any, k: int, time: float) -> float:
    """Return what bounds the probability that fewer than k tokens have rung by a time, from above.

    Tokens with x = d·time > 1/16 ring one by one. The others have products of odds e_j ≤ W^j/j!, W = Σ (e^x − 1), and
    e^x − 1 ≤ x + 0.54 x²: no exponential of theirs is taken.
    """
    rung = np.zeros(k)
    rung[0] = 1.0
    light, odds = 0.0, 0.0
    for mass in draft:
        x = mass * time
        if x > 0.0625:
            q = -np.expm1(-x)
            for j in range(k - 1, 0, -1):
                rung[j] = (1 - q) * rung[j] + q * rung[j - 1]
            rung[0] *= 1 - q
        else:
            light += x
            odds += x + 0.54 * x * x
    found, term, few = 0.0, np.exp(-light), 0.0
    for chance in rung:
        few += chance
    for j in range(k):
        found += term * few
        few -= rung[k - 1 - j]
        term *= odds / (j + 1)
    return found


@kernel
def _outside(draft: Any, above: Any, ks: Any, grid: Any, results: Any) -> None:
    nodes, weights, blocks = grid
    k = ks[-1]
    lanes = blocks * _NODES
    q, e, alive, few = np.empty(lanes), np.empty(lanes), np.empty(lanes), np.empty(lanes)
    rung = np.zeros(k * lanes)  # row j, lane by lane: the probability of j rings
    rung[:lanes] = 1.0
    terms = np.empty(_NODES)
    for i in range(len(draft) + 1):
        if above[i] > 0.0:
            _exponentials(above[i], nodes, q, alive)
            for lane in range(lanes):
                few[lane] = rung[lane]
            counted = 1
            for m in range(len(ks)):
                for j in range(counted, ks[m]):
                    row = rung[j * lanes : (j + 1) * lanes]
                    for lane in range(lanes):
                        few[lane] += row[lane]
                counted = ks[m]
                terms[:] = 0.0
                rate = above[i]
                for b in range(blocks):
                    if rate > _UNDERFLOWN:
                        break
                    living, fewer_rang = alive[b * _NODES : (b + 1) * _NODES], few[b * _NODES : (b + 1) * _NODES]
                    for node in range(_NODES):
                        terms[node] += rate * living[node] * fewer_rang[node]
                    rate *= 2.0 if b else 1.0
                results[m, i] = _product(terms, weights)
        if i < len(draft):
            _exponentials(draft[i], nodes, q, e)
            _ring(q, e, rung)


@inner_kernel
def _product(terms: Any, weights: Any) -> float:
    total = 0.0
    for node in range(len(terms)):
        total += terms[node] * weights[node]
    return total


@kernel
def _gains(draft: Any, above: Any, k: int, grid: Any, result: Any) -> None:
    nodes, weights, blocks = grid
    lanes = blocks * _NODES
    q, e, at, alive, alive_next = np.empty((5, lanes))
    rung, rate = np.zeros(k * lanes), np.zeros(k * lanes)  # row j of rate: s times the density of the j-th ring
    rung[:lanes] = 1.0
    terms, last = np.empty(_NODES), (k - 1) * lanes
    _exponentials(above[0], nodes, q, alive)
    for i in range(len(draft)):
        _exponentials(above[i + 1], nodes, q, alive_next)
        _exponentials(draft[i], nodes, q, e)
        _times(draft[i], nodes, at)
        terms[:] = 0.0
        for b in range(0, lanes, _NODES):
            for node in range(_NODES):
                lane = b + node
                terms[node] += (
                    at[lane] * alive[lane] * rung[last + lane] + alive_next[lane] * q[lane] * rate[last + lane]
                ) / nodes[_NODES * min(b, 1) + node]
        result[i] = _product(terms, weights)
        for row in range(last, 0, -lanes):
            for lane in range(lanes):
                one_less = rung[row - lanes + lane]
                rate[row + lane] = (
                    e[lane] * (rate[row + lane] + at[lane] * one_less) + q[lane] * rate[row - lanes + lane]
                )
                rung[row + lane] = e[lane] * rung[row + lane] + q[lane] * one_less
        for lane in range(lanes):
            rung[lane] *= e[lane]
        alive, alive_next = alive_next, alive


@inner_kernel
def _ring(q: Any, e: Any, rung: Any) -> None:
    """Add a token to the law of the number of rings: it has rung with chance q = 1 − e."""
    lanes = len(q)
    for row in range(len(rung) - lanes, 0, -lanes):
        own, less = rung[row : row + lanes], rung[row - lanes : row]
        for lane in range(lanes):
            own[lane] = e[lane] * own[lane] + q[lane] * less[lane]
    for lane in range(lanes):
        rung[lane] *= e[lane]


@inner_kernel
def _times(mass: float, nodes: Any, at: Any) -> None:
    """Fill x = mass·s at the nodes s of every interval; 0 where e^{−x} is 0, so that x e^{−x} is."""
    for b in range(0, len(at), _NODES):
        for node in range(_NODES):
            at[b + node] = mass * nodes[_NODES * min(b, 1) + node]
        mass *= 2.0 if b else 1.0
        if mass > _UNDERFLOWN:
            mass = 0.0


@inner_kernel
def _exponentials(mass: float, nodes: Any, q: Any, e: Any) -> None:
    """Fill q = 1 − e^{−mass·s} and e = e^{−mass·s} at the nodes s of every interval, by squaring from [1, 2] on.

    q' = q(2 − q) adds a unit to its relative error and never amplifies it; e' = e² doubles the error of e, which is why
    it starts where e leaves 1, and is 1 − q before. A mass below 2^-900 counts as none until it has been doubled.
    """
    lanes, first = len(q), 2 * _NODES
    if mass < 2.0**-900:
        q[:first] = 0.0
        while mass < 2.0**-900 and first < lanes:
            q[first : first + _NODES] = 0.0
            mass, first = 2.0 * mass, first + _NODES
        _series(mass, nodes[_NODES:], q[first - _NODES : first])
    else:
        _series(mass, nodes, q[:first])
    for block in range(first, lanes, _NODES):
        half, double = q[block - _NODES : block], q[block : block + _NODES]
        for node in range(_NODES):
            double[node] = half[node] * (2.0 - half[node])
    while mass < 0.25 and first < lanes:
        mass, first = 2.0 * mass, first + _NODES
    for lane in range(first):
        e[lane] = 1.0 - q[lane]
    for block in range(first, lanes, _NODES):
        half, double = e[block - _NODES : block], e[block : block + _NODES]
        for node in range(_NODES):
            double[node] = half[node] * half[node]


@inner_kernel
def _series(mass: float, nodes: Any, q: Any) -> None:
    """Fill q = 1 − e^{−x} for x = mass·node in [0, 2]: the series at x/4, doubled twice."""
    q[:] = _TAYLOR[-1]
    for i in range(len(_TAYLOR) - 2, -1, -1):
        for node in range(len(nodes)):
            q[node] = q[node] * (0.25 * mass * nodes[node]) + _TAYLOR[i]
    for node in range(len(nodes)):
        once = q[node] * (0.25 * mass * nodes[node])
        twice = once * (2.0 - once)
        q[node] = twice * (2.0 - twice)
