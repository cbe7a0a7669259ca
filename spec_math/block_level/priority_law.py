"""The law of a priority in [0, 1]: uniform pieces side by side, refined token by token down a drafted chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spec_math.arrays import Array, is_exact, ones_like, zeros_like
from spec_math.block_level.quantile_walks import fast_means, fast_mixture, means, mixture
from spec_math.kernels import kernel


@dataclass(frozen=True)
class PriorityLaw:
    """A law on [0, 1] made of uniform pieces: masses [m] > 0 on the intervals from low [m] to high [m], ascending.

    The intervals do not overlap; there may be gaps between them. Fractions or float64.

    >>> from spec_math.arrays import exact
    >>> PriorityLaw(exact(["1/4", "3/4"]), exact([0, "1/2"]), exact(["1/2", 1])).mean_power(2)
    Fraction(5, 4)
    """

    masses: Array
    low: Array
    high: Array

    def mean_power(self, k: int) -> Any:
        """Return E[k U^(k−1)]: how much likelier than its draft a chain of this priority is to be the highest of k.

        >>> from spec_math.arrays import exact
        >>> uniform(exact([1])).mean_power(3)
        Fraction(1, 1)
        """
        return (self.masses * chord(self.low, self.high, k)).sum()

    def slopes(self, ends: Array, k: int) -> Array:
        """Return the mean of k U^(k−1) over each of n consecutive stretches of quantiles, which end at `ends` [n].

        With Φ(p) = ∫_0^p k U(q)^(k−1) dq, U(q) the quantile of q, these are its chords
        (Φ(P_i) − Φ(P_{i−1})) / (P_i − P_{i−1}), as means of positive terms: no difference of Φ is taken.

        >>> from spec_math.arrays import exact
        >>> uniform(exact([1])).slopes(exact(["1/4", 1]), 2).tolist()
        [Fraction(1, 4), Fraction(5, 4)]
        """
        found = zeros_like(ends)
        walk = means if is_exact(ends) else fast_means
        walk((self.masses, self.low, self.high), self.above, ends, k, found)
        return found

    def given(self, weights: Array, starts: Array, stops: Array) -> PriorityLaw:
        """Return the mixture, with these weights [r], of this law given that its quantile lies in (start, stop].

        The stretches of quantiles are nested, the innermost first: the pools of one token.

        >>> from spec_math.arrays import exact
        >>> uniform(exact([1])).given(exact(["1/2", "1/2"]), exact([0, 0]), exact(["1/2", 1])).masses.tolist()
        [Fraction(3, 4), Fraction(1, 4)]
        """
        made = np.empty((3, len(self.masses) + 2 * len(weights)), weights.dtype)
        walk = mixture if is_exact(weights) else fast_mixture
        pieces, stretches = (self.masses, self.low, self.high), (weights, starts, stops)
        number = walk(pieces, self.above, stretches, _least_width(weights), made)
        if number == 0:
            return PriorityLaw(made[0, :1], *_near(made[2, :1]))
        masses, low, high = made[:, :number]
        return PriorityLaw(masses, low, high)

    @cached_property
    def above(self) -> Array:
        """The quantiles [m] at which the pieces end, the last of them 1."""
        above = np.cumsum(self.masses)
        return above / above[-1]


def uniform(like: Array) -> PriorityLaw:
    """Return the uniform law on [0, 1], in the number type of an array.

    >>> from spec_math.arrays import exact
    >>> uniform(exact([1])).high.tolist()
    [Fraction(1, 1)]
    """
    one = ones_like(like[:1])
    return PriorityLaw(one, one - one, one)


def winner(laws: Sequence[PriorityLaw]) -> Array:
    """Return, for independent priorities U_1..U_k of these laws, the probability [k] that each is the highest.

    The law: P(U_j highest) = ∫ Π_{i≠j} F_i(u) dF_j(u). Between neighbouring ends of pieces every F_i is linear, so that
    the integrand is a polynomial with positive coefficients: exact on Fractions, free of cancellation in floats.

    >>> from spec_math.arrays import exact
    >>> law = uniform(exact([1]))
    >>> winner([law, law.given(exact([1]), exact(["1/2"]), exact([1]))]).tolist()
    [Fraction(1, 4), Fraction(3, 4)]
    """
    edges = np.unique(np.concatenate([ends for law in laws for ends in (law.low, law.high)]))
    masses = np.stack([_masses_between(law, edges) for law in laws])
    chances, power = zeros_like(masses[:, 0]), masses[:, 0].copy()
    kernel = _integrate if is_exact(masses) else _compiled_integrate
    kernel(masses, zeros_like(chances), power, chances)
    return chances


def mixed(parts: Sequence[tuple[Any, PriorityLaw]]) -> PriorityLaw:
    """Return the mixture of laws, each with its weight.

    >>> from fractions import Fraction
    >>> from spec_math.arrays import exact
    >>> law = uniform(exact([1]))
    >>> low = law.given(exact([1]), exact([0]), exact(["1/2"]))
    >>> mixed([(Fraction(1, 3), low), (Fraction(2, 3), law)]).masses.tolist()
    [Fraction(2, 3), Fraction(1, 3)]
    """
    edges = np.unique(np.concatenate([ends for _, law in parts for ends in (law.low, law.high)]))
    masses = np.stack([weight * _masses_between(law, edges) for weight, law in parts]).sum(0)
    there = masses > 0
    return _joined(masses[there], edges[:-1][there], edges[1:][there])


def chord(low: Array, high: Array, k: int) -> Array:
    """Return Σ_{j<k} low^j high^(k−1−j): the slope of x^k from low to high, without a difference.

    >>> from spec_math.arrays import exact
    >>> chord(exact(["1/2", "1/2"]), exact([1, "1/2"]), 3).tolist()
    [Fraction(7, 4), Fraction(3, 4)]
    """
    total = power = ones_like(low)
    for _ in range(k - 1):
        power = power * low
        total = total * high + power
    return total


def _masses_between(law: PriorityLaw, edges: Array) -> Array:
    lower, upper = edges[:-1], edges[1:]
    piece = np.maximum(np.searchsorted(law.low, lower, side="right") - 1, 0)
    inside = (law.low[piece] <= lower) & (upper <= law.high[piece])
    shares = law.masses[piece] * ((upper - lower) / (law.high - law.low)[piece])
    return np.where(inside, shares, zeros_like(shares))


def _integrate(masses: Any, reached: Any, power: Any, chances: Any) -> None:
    """Add up the cells. Within one, at the fraction θ of its width, F_i = reached_i + masses_i·θ."""
    k, cells = masses.shape
    for cell in range(cells):
        for j in range(k):
            if masses[j, cell] == 0:
                continue
            power[0], degree = masses[j, cell], 0
            for i in range(k):
                if i == j:
                    continue
                grows = masses[i, cell] != 0
                if grows:
                    power[degree + 1] = power[degree] * masses[i, cell]
                for at in range(degree, 0, -1):
                    power[at] = power[at] * reached[i]
                    if grows:
                        power[at] = power[at] + power[at - 1] * masses[i, cell]
                power[0] = power[0] * reached[i]
                if grows:
                    degree += 1
            for at in range(degree + 1):
                chances[j] += power[at] / (at + 1)
        for j in range(k):
            reached[j] += masses[j, cell]


def _joined(masses: Array, low: Array, high: Array) -> PriorityLaw:
    """Join the pieces that floats cannot tell from a point to the one below them, if there is one."""
    wide = high - low > _least_width(low)
    if wide.all():
        return PriorityLaw(masses, low, high)
    if not wide.any():
        return PriorityLaw(masses.sum(keepdims=True), *_near(high[-1:]))
    joined = zeros_like(masses[wide])
    np.add.at(joined, np.maximum(np.cumsum(wide) - 1, 0), masses)
    return PriorityLaw(joined, low[wide], high[wide])


def _least_width(like: Array) -> Any:
    """Return what an interval must exceed, so that in floats neither 1/width nor a density overflows."""
    return 0 if is_exact(like) else 2.0**-960


def _near(place: Array) -> tuple[Array, Array]:
    """Return an interval of floats that ends at a place, no wider than needed: what has no width of its own."""
    high = np.maximum(place, 2.0**-900)
    return high * (1 - 2.0**-50), high


_compiled_integrate = kernel(_integrate)
