"""The race of `exponential_clocks` octave by octave of time, for laws of every kind: [0, 1], [1, 2], [2, 4], …, 2^last.

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

from math import exp, factorial, lgamma, log
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.kernels import inner_kernel, kernel

TAIL = 2.0**-60
"""How much of the race is cut off."""
_NODES = 16
"""Gauss-Legendre nodes an interval; a constant, so that the loops over them are vector instructions."""
_TAYLOR = np.array([(-1.0) ** i / factorial(i + 1) for i in range(15)])
"""(1 − e^{−y})/y to y^14: for y ≤ 1/2 the rest is below 2^-15/16!, less than 2^-59 of the whole."""
_UNDERFLOWN = 800.0
"""e^{−800} is 0 in float64."""


def outsides(draft: Array, above: Array, ks: list[int]) -> Array:
    """Return `outsides` for ascending ks by the octaves of time, whatever the law.

    >>> outsides(np.full(3, 1 / 3), np.array([1, 2 / 3, 1 / 3, 0]), [2]).round(12).tolist()
    [[1.0, 1.0, 0.666666666667, 0.0]]
    """
    found = np.zeros((len(ks), len(draft) + 1))
    _outside(draft, above, np.array(ks), grid(draft, ks[-1]), found)
    return found


def gains(draft: Array, above: Array, k: int) -> Array:
    """Return `gains` by the octaves of time, whatever the law.

    >>> gains(np.full(3, 1 / 3), np.array([1, 2 / 3, 1 / 3, 0]), 2).round(12).tolist()
    [0.0, 0.333333333333, 0.666666666667]
    """
    result = np.zeros(len(draft))
    _gains(draft, above, k, grid(draft, k), result)
    return result


def grid(draft: Array, k: int) -> tuple[Array, Array, int]:
    """Return the nodes of [0, 1] and of [1, 2], their weights, and the number of intervals.

    >>> grid(np.full(3, 1 / 3), 2)[2]
    8
    """
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

    >>> float(round(fewer(np.array([0.5, 0.5]), 1, 2.0), 6))
    0.135335
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
                    for lane in range(lanes):
                        few[lane] += rung[j * lanes + lane]
                counted = ks[m]
                terms[:] = 0.0
                rate = above[i]
                for b in range(blocks):
                    if rate > _UNDERFLOWN:
                        break
                    for node in range(_NODES):
                        terms[node] += rate * alive[b * _NODES + node] * few[b * _NODES + node]
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
                rate[row + lane] = (
                    e[lane] * (rate[row + lane] + at[lane] * rung[row - lanes + lane])
                    + q[lane] * rate[row - lanes + lane]
                )
        _ring(q, e, rung)
        alive, alive_next = alive_next, alive


@inner_kernel
def _ring(q: Any, e: Any, rung: Any) -> None:
    """Add a token to the law of the number of rings: it has rung with chance q = 1 − e."""
    lanes = len(q)
    for row in range(len(rung) - lanes, 0, -lanes):
        for lane in range(lanes):
            rung[row + lane] = e[lane] * rung[row + lane] + q[lane] * rung[row - lanes + lane]
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
    for lane in range(first, lanes):
        q[lane] = q[lane - _NODES] * (2.0 - q[lane - _NODES])
    while mass < 0.25 and first < lanes:
        mass, first = 2.0 * mass, first + _NODES
    for lane in range(first):
        e[lane] = 1.0 - q[lane]
    for lane in range(first, lanes):
        e[lane] = e[lane - _NODES] * e[lane - _NODES]


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
