"""The race of `exponential_clocks` in odds, where it is soon run: three products a draft and node, no exponential.

With w_x = e^{d_x s} − 1, the odds that token x has rung by time s, and e_j the sum of all products of j odds,

    P(S ⊄ H) = ∫ c e^{−s} Σ_{j<k} e_j(w_H) ds,
    P(S ⊆ B + y) − P(S ⊆ B) = ∫ e^{−s} [d_y e_{k−1}(w_B) + w_y D_{k−2}(B)] ds,   D_j(B) = Σ_{x∈B} d_x e_j(w_{B−x}),

where draft masses sum to 1 and c = 1 − d(H). A token joins by e_j += w e_{j−1} and D_j += w D_{j−1} + d e_j: all terms
are ≥ 0. Gauss-Legendre quadrature on one interval [0, T].

Truncation. T is such that fewer than k tokens have rung by then with probability < 2^-60: all integrals over s > T
together are no more.

Quadrature. An integrand f has e^s f(s) = h(s), a power series with coefficients ≥ 0. So |f(s)| ≤ e^{|s| − Re s} f(|s|),
and, as h rises on the real line, f(r) = f(r) ∫_r^∞ e^{r−s} ds ≤ ∫_r^∞ f = at most the whole integral. On the Bernstein
ellipse e^η of [0, T], |s| − Re s ≤ T (cosh η − 1). N nodes therefore miss at most a relative

    4T · 2 e^{T (cosh η − 1)} e^{(1 − 2N) η}/(e^η − 1)

of each integral over all s (Trefethen, Approximation Theory and Practice, Theorem 8.2, as in `clock_octaves`). N is the
least multiple of 4 at which it is below 2^-56 with sinh η = 2N/T: 44 for T = 64, and some 5 √T in general.

Rounding. The odds of d s = x are within a relative (8 + 2x)·2^-53, a product of distinct tokens' odds therefore within
(8k + 2T)·2^-53, and e^−s within (1 + T)·2^-53; each token adds three roundings to every sum of terms ≥ 0, and a node
that is off by a unit moves its integral by less than k + T of them. In all a relative (3n + 11k + 4T + 40)·2^-53.
"""

from __future__ import annotations

from functools import lru_cache
from math import asinh, cosh, exp, lgamma, log
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.kernels import inner_kernel, kernel

TAIL = 2.0**-60
"""How much of the race is cut off."""
LONGEST = 512.0
"""The largest T: e^T is a number of float64, and e^−T too."""
_MISSED = 2.0**-56
_LANES = 4
_SMALL, _TERMS = 2.0**-5, 8
"""For x ≤ 2^-5, (e^x − 1)/x is its series to x^8, the rest of which is below 2^-45/10!."""


def grid(draft: Array, k: int) -> tuple[Array, Array] | None:
    """Return the nodes in [0, T] and their weights, or nothing where k tokens may not have rung by the time 512.

    >>> nodes, weights = grid(np.full(100, 0.01), 4)
    >>> len(nodes), float(round(weights.sum(), 1))
    (40, 53.8)
    """
    time = poisson_time(k) if fewer(draft, k, LONGEST) < TAIL else 2 * LONGEST
    while time <= LONGEST and fewer(draft, k, time) >= TAIL:
        time *= 2**0.25
    return quadrature(time) if time <= LONGEST else None


def poisson_time(k: int) -> float:
    """Return the least power of 2^(1/4) by which fewer than k rings of a Poisson process are rarer than 2^-60.

    No race of clocks with this rate has more rings.

    >>> round(poisson_time(4), 1)
    53.8
    """
    time = 32.0
    while sum(exp(j * log(time) - time - lgamma(j + 1)) for j in range(k)) >= TAIL:
        time *= 2**0.25
    return time


@lru_cache(64)
def quadrature(time: float) -> tuple[Array, Array]:
    """Return nodes and weights on [0, T] that miss less than a relative 2^-56 of each integral.

    >>> quadrature(64.0)[0].size
    44
    """
    number = _LANES
    while _missed(time, number) >= _MISSED:
        number += _LANES
    points, widths = _gauss_legendre(number)
    return time * points, time * widths


def _gauss_legendre(number: int) -> tuple[Array, Array]:
    """Return nodes and weights on [0, 1], rounded: NumPy's are off by 10^-13 of themselves at 50 nodes.

    One step of Newton's in whole numbers of 2^-128, from NumPy's nodes, which squares their error of 10^-15.
    """
    one = 1 << 128
    found = np.array([int(point * 2.0**60) << 68 for point in np.polynomial.legendre.leggauss(number)[0]], dtype=object)
    square = slope = found
    for _ in range(2):
        before, value = np.array([one] * number, dtype=object), found
        for degree in range(2, number + 1):
            before, value = value, ((2 * degree - 1) * (found * value >> 128) - (degree - 1) * before) // degree
        square = one - (found * found >> 128)
        slope = number * (before - (found * value >> 128)) * one // square
        found = found - value * one // slope
    # w = 2/((1 − x²) P'(x)²), of which half lies on [0, 1].
    weights = (one << 256) // (square * slope * slope >> 128)
    return np.array([int(x + one) / (2 * one) for x in found]), np.array([int(w) / one for w in weights])


def gains(draft: Array, k: int, nodes: Array, weights: Array) -> Array:
    """Return g_{i+1} − g_i, [n], for k drafts, k ≥ 2: each within a relative `rounding`, and what the tail holds of it.

    >>> gains(np.full(3, 1 / 3), 2, *quadrature(64.0)).round(12).tolist()
    [0.0, 0.333333333333, 0.666666666667]
    """
    slopes = np.empty(len(draft))
    _slopes(draft, k, nodes, weights, slopes)
    return slopes * draft


def outsides(draft: Array, above: Array, ks: Array, nodes: Array, weights: Array) -> Array:
    """Return P(S ⊄ prefix i) for ascending ks, [number of ks, n + 1], within a relative `rounding`, and the tail.

    >>> thirds = np.full(3, 1 / 3), np.array([1, 2 / 3, 1 / 3, 0])
    >>> outsides(*thirds, np.array([2]), *quadrature(64.0)).round(12).tolist()
    [[1.0, 1.0, 0.666666666667, 0.0]]
    """
    found = np.zeros((len(ks), len(draft) + 1))
    _outsides(draft, above, ks, nodes, weights, found)
    return found


def rounding(size: int, k: int, time: float) -> float:
    """Return the relative error of an integral over n tokens and [0, T], as derived above.

    >>> rounding(1000, 4, 64.0) < 4e-13
    True
    """
    return (3 * size + 11 * k + 4 * time + 40) * 2.0**-53 + _MISSED


def _missed(time: float, number: int) -> float:
    eta = asinh(2 * number / time)
    return 8 * time * exp(time * (cosh(eta) - 1) + (1 - 2 * number) * eta) / (exp(eta) - 1)


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
def _slopes(draft: Any, k: int, nodes: Any, weights: Any, slopes: Any) -> None:
    lanes = len(nodes)
    products, densities = np.zeros((k, lanes)), np.zeros((k - 1, lanes))
    _decay(nodes, products[0])
    odds, rates, terms = np.empty(lanes), np.empty(lanes), np.empty(_LANES)
    for i in range(len(draft)):
        mass = draft[i]
        _odds(mass, nodes, rates, odds)
        terms[:] = 0.0
        _add_token(mass, (odds, rates), weights, products, densities, terms)
        slopes[i] = (terms[0] + terms[1]) + (terms[2] + terms[3])


@inner_kernel
def _add_token(mass: float, token: Any, weights: Any, products: Any, densities: Any, terms: Any) -> None:
    """Sum the integrand of a token's slope, and let it join the tokens before it."""
    (odds, rates), (k, lanes) = token, products.shape
    for at in range(0, lanes, _LANES):
        for node in range(_LANES):
            lane = at + node
            terms[node] += weights[lane] * (products[k - 1, lane] + rates[lane] * densities[k - 2, lane])
    for j in range(k - 2, 0, -1):
        for lane in range(lanes):
            densities[j, lane] += odds[lane] * densities[j - 1, lane] + mass * products[j, lane]
    for lane in range(lanes):
        densities[0, lane] += mass * products[0, lane]
    for j in range(k - 1, 0, -1):
        for lane in range(lanes):
            products[j, lane] += odds[lane] * products[j - 1, lane]


@kernel
def _outsides(draft: Any, above: Any, ks: Any, nodes: Any, weights: Any, found: Any) -> None:
    lanes, most = len(nodes), ks[-1]
    products = np.zeros((most, lanes))
    _decay(nodes, products[0])
    odds, rates, few, terms = np.empty(lanes), np.empty(lanes), np.empty(lanes), np.empty(_LANES)
    for i in range(len(draft) + 1):
        if above[i] > 0.0:
            _copy(products[0], few)
            counted = 1
            for m in range(len(ks)):
                for j in range(counted, ks[m]):
                    _add(products[j], few)
                counted = ks[m]
                _product(few, weights, terms)
                found[m, i] = above[i] * ((terms[0] + terms[1]) + (terms[2] + terms[3]))
        if i < len(draft):
            _odds(draft[i], nodes, rates, odds)
            for j in range(most - 1, 0, -1):
                _join(odds, products[j - 1], products[j])


@inner_kernel
def _odds(mass: float, nodes: Any, rates: Any, odds: Any) -> None:
    """Fill the odds w = e^{mass·s} − 1, and w/mass, which no small mass underflows."""
    lanes = len(nodes)
    top = mass * nodes[lanes - 1]
    if top > _SMALL:
        for lane in range(lanes):
            odds[lane] = np.expm1(mass * nodes[lane])
            rates[lane] = odds[lane] / mass
        return
    # As many terms of the series as the largest argument needs: the next is below 2^-55.
    terms, rest = 1, top / 2
    while rest > 2.0**-55:
        terms += 1
        rest *= top / (terms + 1)
    for lane in range(lanes):
        rates[lane] = 1.0
    for term in range(terms, 1, -1):
        for lane in range(lanes):
            rates[lane] = 1.0 + rates[lane] * (mass / term * nodes[lane])
    for lane in range(lanes):
        rates[lane] *= nodes[lane]
        odds[lane] = mass * rates[lane]


# A row that is set to a row is a loop of its own: numba compiles the error for rows of two lengths, which puts numbers
# into words, for seconds.
@inner_kernel
def _decay(nodes: Any, products: Any) -> None:
    for lane in range(len(nodes)):
        products[lane] = np.exp(-nodes[lane])


@inner_kernel
def _copy(products: Any, few: Any) -> None:
    for lane in range(len(products)):
        few[lane] = products[lane]


@inner_kernel
def _join(odds: Any, fewer_odds: Any, products: Any) -> None:
    for lane in range(len(odds)):
        products[lane] += odds[lane] * fewer_odds[lane]


@inner_kernel
def _add(products: Any, few: Any) -> None:
    for lane in range(len(products)):
        few[lane] += products[lane]


@inner_kernel
def _product(few: Any, weights: Any, terms: Any) -> None:
    terms[:] = 0.0
    for at in range(0, len(weights), _LANES):
        for lane in range(_LANES):
            terms[lane] += weights[at + lane] * few[at + lane]
