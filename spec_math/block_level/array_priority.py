"""The laws of many priorities in [0, 1] at once: uniform pieces side by side, cut where a node's tokens meet.

The array form of `priority_law`: rows are nodes, all with as many pieces, of which some may have no mass or no width.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from spec_math.arrays import Array, array_namespace, divide, ones_like, zeros_like
from spec_math.block_level.array_sums import chord, running_max, running_sum, sums_at, sums_below


class Pieces(NamedTuple):
    """Laws on [0, 1]: masses [R, m] between the edges [R, m + 1], ascending from 0 to 1; a mass is spread evenly.

    >>> import numpy as np
    >>> everywhere(np.ones(1)).edges.tolist()
    [[0.0, 1.0]]
    """

    edges: Array
    masses: Array

    def mean_power(self, size: Array, most: int) -> Array:
        """Return E[k U^(k−1)], [R], for each row's own k, `size` [R], at most `most`."""
        return (self.masses * chord(self.edges[:, :-1], self.edges[:, 1:], size, most)).sum(1)


class Cut(NamedTuple):
    """Laws cut at quantiles: `edges` [R, n + 1] of priorities, `widths` [R, n] between them in quantiles.

    `cell` [R, n] is the stretch of quantiles that a piece lies in, and `places` [R, M + 1] the priorities at its ends.
    """

    edges: Array
    widths: Array
    cell: Array
    places: Array

    def slopes(self, size: Array, most: int) -> Array:
        """Return the mean of k U^(k−1) over each of the M stretches, [R, M]: as means of positive terms.

        A stretch that floats cannot tell from a point has the slope of the place it stands at.
        """
        many = self.places.shape[1] - 1
        rises = chord(self.edges[:, :-1], self.edges[:, 1:], size, most)
        at_place = chord(self.places[:, :-1], self.places[:, 1:], size, most)
        return divide(sums_at(self.widths * rises, self.cell, many), sums_at(self.widths, self.cell, many), at_place)

    def given(self, density: Array) -> Pieces:
        """Return the law of this density [R, M] over the quantiles; where floats see no mass, the law that was cut."""
        xp = array_namespace(density)
        masses = self.widths * xp.take_along_axis(density, self.cell, axis=1)
        total = masses.sum(1)[:, None]
        return Pieces(self.edges, divide(masses, total, self.widths))


def everywhere(like: Array) -> Pieces:
    """Return the uniform law on [0, 1] for each row of an array [R].

    >>> from spec_math.arrays import exact
    >>> everywhere(exact([1])).masses.tolist()
    [[Fraction(1, 1)]]
    """
    xp = array_namespace(like)
    one = ones_like(like)[:, None]
    return Pieces(xp.concat([one - one, one], axis=1), one)


def cut(law: Pieces, ends: Array) -> Cut:
    """Cut laws at the quantiles [R, M + 1], ascending from 0 to 1.

    >>> import numpy as np
    >>> cut(everywhere(np.ones(1)), np.array([[0.0, 0.25, 1.0]])).places.tolist()
    [[0.0, 0.25, 1.0]]
    """
    xp = array_namespace(ends)
    below = sums_below(law.masses)
    below = below / below[:, -1:]
    pieces, stretches = law.masses.shape[1], ends.shape[1] - 1
    stops = xp.concat([below[:, 1:], ends[:, 1:]], axis=1)
    order = xp.argsort(stops, axis=1, stable=True)
    upper = xp.take_along_axis(stops, order, axis=1)
    own = xp.astype(order < pieces, order.dtype)
    # How many pieces, and how many stretches, have ended before this one begins.
    piece = xp.minimum(running_sum(own) - own, xp.full_like(order, pieces - 1))
    cell = xp.minimum(running_sum(1 - own) - (1 - own), xp.full_like(order, stretches - 1))
    start, low, high = (
        xp.take_along_axis(rows, piece, axis=1) for rows in (below, law.edges[:, :-1], law.edges[:, 1:])
    )
    pace = divide(high - low, xp.take_along_axis(law.masses / law.masses.sum(1)[:, None], piece, axis=1), low - low)
    # Rounding must not carry a priority past the end of its piece.
    at = xp.where(own > 0, high, xp.minimum(low + (upper - start) * pace, high))
    edges = running_max(xp.concat([law.edges[:, :1], at], axis=1))
    lower = xp.concat([zeros_like(upper[:, :1]), upper[:, :-1]], axis=1)
    back = xp.argsort(order, axis=1)
    places = xp.take_along_axis(edges, back[:, pieces:] + 1, axis=1)
    return Cut(edges, upper - lower, cell, xp.concat([edges[:, :1], places], axis=1))


def winner(edges: Array, masses: Array, there: Array) -> Array:
    """Return, for independent priorities of the laws of K chains, the probability [B, K] that each is the highest.

    Edges [B, K, m + 1], masses [B, K, m], `there` [B, K] which of the chains take part. Between neighbouring edges of
    any law every distribution function is linear, so that the integrand is a polynomial with coefficients ≥ 0.

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> two = exact([[[0, "1/2", 1], [0, "1/2", 1]]]), exact([[["1/2", "1/2"], [0, 1]]])
    >>> winner(*two, np.array([[True, True]])).tolist()
    [[Fraction(1, 4), Fraction(3, 4)]]
    """
    xp = array_namespace(edges)
    chains, ends = edges.shape[1:]
    flat = edges.reshape(len(edges), -1)
    order = xp.argsort(flat, axis=1, stable=True)
    marks = xp.take_along_axis(flat, order, axis=1)
    widths = marks[:, 1:] - marks[:, :-1]
    reached: list[Any] = []
    shares: list[Any] = []
    for chain in range(chains):
        own = xp.astype(order[:, :-1] // ends == chain, order.dtype)
        piece = running_sum(own) - 1
        inside = (piece >= 0) & (piece < ends - 1) & there[:, chain, None]
        piece = xp.where(inside, piece, 0)
        span = edges[:, chain, 1:] - edges[:, chain, :-1]
        density = divide(masses[:, chain], span, zeros_like(span))
        share = widths * xp.take_along_axis(density, piece, axis=1)
        share = xp.where(inside, share, zeros_like(share))
        before = sums_below(share)[:, :-1]
        # A place without a chain is below all others.
        reached.append(xp.where(there[:, chain, None], before, ones_like(before)))
        shares.append(share)
    lower, upper = _products(reached, shares), _products(reached[::-1], shares[::-1])[::-1]
    chances = [(share * _integral(low, high)).sum(1) for share, low, high in zip(shares, lower, upper, strict=True)]
    return xp.stack(chances, axis=1)


def _products(constants: list[Any], slopes: list[Any]) -> list[list[Any]]:
    """Return the polynomials Π_{i<j} (constant_i + slope_i θ) for every j, by their coefficients."""
    found = [[ones_like(constants[0])]]
    for constant, slope in zip(constants[:-1], slopes[:-1], strict=True):
        last = found[-1]
        inner = [last[at] * constant + last[at - 1] * slope for at in range(1, len(last))]
        found.append([last[0] * constant, *inner, last[-1] * slope])
    return found


def _integral(first: list[Any], second: list[Any]) -> Any:
    """Integrate the product of two polynomials from 0 to 1."""
    total = zeros_like(first[0])
    for i, ours in enumerate(first):
        inner = zeros_like(total)
        for j, theirs in enumerate(second):
            inner = inner + theirs / (i + j + 1)
        total = total + ours * inner
    return total
