"""Drafts without replacement as a race of clocks: token x rings at an Exp(d_x) time, and the first k to ring are S.

For H a prefix, c = 1 − d(H), and N_H(s) the number of tokens of H that have rung by time s,

    P(S ⊄ H) = ∫ c e^{−cs} P(N_H(s) < k) ds :   the first token outside H rings before the k-th of H.

The integral is taken by Gauss-Legendre quadrature on [0, 1], [1, 2], [2, 4], …, 2^last, all prefixes in one pass.

Truncation. 2^last is the first power of two by which fewer than k tokens ring with probability < 2^-60: what lies
beyond it is at most that, for every H. Quadrature. With N nodes on an interval of half-width w, the error is at most
4w times the distance of the integrand to the polynomials of degree 2N − 1, so at most w·8M·4^(1−2N)/3, where M bounds
it on the Bernstein ellipse ρ = 4 (Trefethen, Approximation Theory and Practice, Theorem 8.2).
On [L, 2L] the ellipse lies in Re s ≥ 0.4375 L with |s|/Re s ≤ κ = 1.336. There |e^{−ds}| = e^{−d Re s} and
|1 − e^{−ds}| ≤ (|s|/Re s)·(1 − e^{−d Re s}), so the integrand is at most κ^(k−1) times its value at Re s, which is
below c e^{−0.4375 cL}; and Σ_L L·c e^{−0.4375 cL} ≤ 4.2 over the powers of two. On [0, 1] it is at most 2, as
|e^{−z}| + |1 − e^{−z}| ≤ exp(2 (Re z)⁻ + |Im z|). In all: (23 κ^(k−1) + 11)·16^−N, and N is chosen to keep this below
2^-51.

Rounding. The integrand is linear in each token's pair (e^{−ds}, 1 − e^{−ds}), with coefficients in [0, 1], and sums
only terms ≥ 0: a token adds at most its pair's error and two roundings, less than (20 + 2·last)·2^-53 together.
"""

from __future__ import annotations

from math import ceil, exp, factorial, log
from typing import Any

import numba
import numpy as np

from spec_math.arrays import Array

_TAIL = 2.0**-60
_KAPPA = 1.336
_TAYLOR = np.array([(-1.0) ** i / factorial(i + 1) for i in range(15)])
"""(1 − e^{−y})/y to y^14: for y ≤ 1/2 the rest is below 2^-15/16!, less than 2^-59 of the whole."""
_UNDERFLOWN = 800.0
"""e^{−800} is 0 in float64."""


def outside(draft: Array, above: Array, k: int) -> Array:
    """Return P(S ⊄ prefix i) for i = 0..n, 2 ≤ k < n: draft [n] in the order of the prefixes, above [n + 1] its tails.

    Float64, within (20 + 2·last)·n·2^-53 + 2^-51 (see above). O(n k N last).

    >>> thirds = np.full(3, 1 / 3)
    >>> outside(thirds, np.array([1, 2 / 3, 1 / 3, 0]), 2).round(12).tolist()
    [1.0, 1.0, 0.666666666667, 0.0]
    """
    result = np.zeros(len(draft) + 1)
    _outside(draft, above, k, _grid(draft, k), result)
    return result


def gains(draft: Array, above: Array, k: int) -> Array:
    """Return g_{i+1} − g_i, g_i = P(S ⊆ prefix i), for i = 0..n − 1, as integrals of terms ≥ 0.

    With B the first i tokens and y the next, the k-th of B + y to ring before all others is y itself, or a token of B
    after y has rung: d ∫ e^{−cs} P(N_B = k−1) ds + ∫ e^{−(c−d)s} (1 − e^{−ds}) ρ(s) ds, where ρ is the density of the
    (k−1)-th ring of B. Arrays, cost and rounding as `outside`; the quadrature error is (k−1)·last times as large at
    most, since s·ρ(s) ≤ k − 1.

    >>> gains(np.full(3, 1 / 3), np.array([1, 2 / 3, 1 / 3, 0]), 2).round(12).tolist()
    [0.0, 0.333333333333, 0.666666666667]
    """
    result = np.zeros(len(draft))
    _gains(draft, above, k, _grid(draft, k), result)
    return result


def _grid(draft: Array, k: int) -> tuple[Array, Array, int]:
    """Return the nodes of [0, 1] and of [1, 2], their weights over the nodes, and the number of intervals."""
    size = ceil(log((23 * _KAPPA ** (k - 1) + 11) * 2.0**51) / log(16))
    points, widths = np.polynomial.legendre.leggauss(size)
    nodes = np.stack([(points + 1) / 2, (points + 3) / 2])
    last = 0
    # As many rings as a Poisson process of the same rate has are the most there can be: a cheap start.
    while exp(-(2.0**last)) * sum(2.0 ** (last * j) / factorial(j) for j in range(min(k, 150))) >= _TAIL:
        last += 1
    while _fewer(draft, k, last) >= _TAIL:
        last += 1
    return nodes, widths / 2 / nodes, last + 1


@numba.njit(cache=True)
def _fewer(draft: Any, k: int, last: int) -> float:
    """Return the probability that fewer than k tokens have rung by the time 2^last."""
    rung = np.zeros(k)
    rung[0] = 1.0
    for mass in draft:
        q = -np.expm1(-np.ldexp(mass, last))
        for j in range(k - 1, 0, -1):
            rung[j] = (1 - q) * rung[j] + q * rung[j - 1]
        rung[0] *= 1 - q
    return rung.sum()


@numba.njit(cache=True, error_model="numpy")
def _outside(draft: Any, above: Any, k: int, grid: Any, result: Any) -> None:
    nodes, weights, blocks = grid
    shape = (blocks, nodes.shape[1])
    q, e, alive, rung = np.empty(shape), np.empty(shape), np.empty(shape), np.zeros((k, *shape))
    rung[0] = 1.0
    few, terms = np.empty(shape[1]), np.empty(shape[1])
    for i in range(len(draft) + 1):
        _exponentials(above[i], nodes, q, alive)
        terms[:] = 0.0
        time = 1.0
        for b in range(blocks):
            rate = above[i] * time
            if rate > _UNDERFLOWN:
                break
            few[:] = rung[0, b]
            for j in range(1, k):
                few += rung[j, b]
            for node in range(shape[1]):
                terms[node] += rate * alive[b, node] * few[node] * nodes[min(b, 1), node] * weights[min(b, 1), node]
            time *= 2.0 if b else 1.0
        result[i] = terms.sum()
        if i < len(draft):
            _exponentials(draft[i], nodes, q, e)
            _ring(q, e, rung)


@numba.njit(cache=True, error_model="numpy")
def _gains(draft: Any, above: Any, k: int, grid: Any, result: Any) -> None:
    nodes, weights, blocks = grid
    shape = (blocks, nodes.shape[1])
    q, e, rung, rate = np.empty(shape), np.empty(shape), np.zeros((k, *shape)), np.zeros((k, *shape))
    alive, alive_next, terms = np.empty(shape), np.empty(shape), np.empty(shape[1])
    rung[0] = 1.0
    _exponentials(above[0], nodes, q, alive)
    for i in range(len(draft)):
        _exponentials(above[i + 1], nodes, q, alive_next)
        _exponentials(draft[i], nodes, q, e)
        terms[:] = 0.0
        time = 1.0
        for b in range(blocks):
            x = draft[i] * time
            for node in range(shape[1]):
                at = nodes[min(b, 1), node] * x if x < _UNDERFLOWN else 0.0
                term = (
                    at * alive[b, node] * rung[k - 1, b, node] + alive_next[b, node] * q[b, node] * rate[k - 1, b, node]
                )
                terms[node] += term * weights[min(b, 1), node]
                e_at = at * e[b, node]
                for j in range(k - 1, 0, -1):
                    rate[j, b, node] = (
                        e[b, node] * rate[j, b, node] + q[b, node] * rate[j - 1, b, node] + e_at * rung[j - 1, b, node]
                    )
            time *= 2.0 if b else 1.0
        result[i] = terms.sum()
        _ring(q, e, rung)
        alive, alive_next = alive_next, alive


@numba.njit(cache=True)
def _ring(q: Any, e: Any, rung: Any) -> None:
    """Add a token to the law of the number of rings: it has rung with chance q = 1 − e."""
    for j in range(len(rung) - 1, 0, -1):
        for b in range(q.shape[0]):
            for node in range(q.shape[1]):
                rung[j, b, node] = e[b, node] * rung[j, b, node] + q[b, node] * rung[j - 1, b, node]
    rung[0] *= e


@numba.njit(cache=True)
def _exponentials(mass: float, nodes: Any, q: Any, e: Any) -> None:
    """Fill q = 1 − e^{−mass·s} and e = e^{−mass·s} at the nodes s of every interval: by squaring from [1, 2] on.

    q' = q(2 − q) adds a unit to the relative error and never amplifies it; squaring e would, where e is near 1.
    """
    for b in range(q.shape[0]):
        if b < 2 or mass < 2.0**-900:
            mass *= 2.0 if b > 1 else 1.0  # exact, also on denormals
            _near_zero(mass, nodes[min(b, 1)], q[b], e[b])
            continue
        for node in range(q.shape[1]):
            before = q[b - 1, node]
            doubled = before * (2.0 - before)
            q[b, node] = doubled
            e[b, node] = 1.0 - doubled if doubled < 0.9 else e[b - 1, node] * e[b - 1, node]


@numba.njit(cache=True)
def _near_zero(mass: float, nodes: Any, q: Any, e: Any) -> None:
    """Fill q = 1 − e^{−x}, e = e^{−x} for x = mass·node in [0, 2]: the series at x/4, doubled twice."""
    q[:] = _TAYLOR[-1]
    for i in range(len(_TAYLOR) - 2, -1, -1):
        for node in range(len(nodes)):
            q[node] = q[node] * (mass * nodes[node] * 0.25) + _TAYLOR[i]
    for node in range(len(nodes)):
        once = q[node] * (mass * nodes[node] * 0.25)
        twice = once * (2.0 - once)
        q[node] = twice * (2.0 - twice)
        e[node] = 1.0 - q[node]
