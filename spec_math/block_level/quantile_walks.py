"""Walks up the quantiles of a priority, piece by piece: on Fractions as they stand, on floats compiled.

Source: worked out here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from spec_math.kernels import kernel


def means(pieces: Any, above: Any, ends: Any, k: int, found: Any) -> None:
    """Write the means of k U^(k−1) over the stretches of quantiles that end at `ends` [n] into `found` [n].

    A float mass may be too small to move the running sum: its stretch is a point, and has the mean of the last one
    below it that is none, or at the bottom of the first above. Pieces: masses, low and high [m]; they end at `above`.

    >>> from spec_math.arrays import exact
    >>> found = exact([0, 0])
    >>> means((exact([1]), exact([0]), exact([1])), exact([1]), exact(["1/4", 1]), 2, found)
    >>> found.tolist()
    [Fraction(1, 4), Fraction(5, 4)]
    """
    masses, lows, highs = pieces
    last, one = len(ends) - 1, above[-1]
    zero = one - one
    piece, start, at, filled = 0, zero, zero, 0
    for stretch in range(last + 1):
        end = min(ends[stretch], one) if stretch < last else one
        total, width = zero, zero
        while at < end:
            upper = min(end, above[piece])
            if upper > at:
                pace = (highs[piece] - lows[piece]) / masses[piece]
                low = lows[piece] + (at - start) * pace
                # Rounding must not carry a priority past the end of its piece.
                high = min(lows[piece] + (upper - start) * pace, highs[piece])
                slope, power = one, one
                for _ in range(k - 1):
                    power = power * low
                    slope = slope * high + power
                total, width = total + (upper - at) * slope, width + (upper - at)
                at = upper
            if at == above[piece] and at < one:
                piece, start = piece + 1, at
        if width > 0:
            found[stretch] = total / width
            if filled == 0:
                found[:stretch] = found[stretch]
            filled = stretch + 1
        elif filled > 0:
            found[stretch] = found[stretch - 1]


def mixture(pieces: Any, above: Any, stretches: Any, least: Any, made: Any) -> int:
    """Write the mixture of a law given that its quantile lies in one of nested stretches; return how many pieces it is.

    Stretches: weights, starts and stops [r], the innermost first. The density over quantiles falls from the innermost
    outwards: sums of positive terms. What is no wider than `least` counts as a point: a stretch leaves its weight to
    the next one around it, or to the last that is wider, a piece its mass to the one below it, or to the first. Where
    all are points, 0 is returned, and the mass and its place stand in the first column. `made` is [3, m + 2r].

    >>> from spec_math.arrays import exact
    >>> made, one = exact([[0] * 5] * 3), exact([1])
    >>> mixture((one, one - one, one), one, (exact(["1/2", "1/2"]), exact([0, 0]), exact(["1/2", 1])), 0, made)
    2
    >>> made[0, :2].tolist()
    [Fraction(3, 4), Fraction(1, 4)]
    """
    masses, lows, highs = pieces
    edges, density, wide = _densities(stretches, least)
    one = above[-1]
    zero = one - one
    piece, begin, number, waiting = 0, zero, 0, zero
    for cell in range(2 * wide - 1):
        at, end = max(edges[cell], zero), min(edges[cell + 1], one)
        while at < end:
            while above[piece] <= at:
                begin, piece = above[piece], piece + 1
            upper = min(end, above[piece])
            pace = (highs[piece] - lows[piece]) / masses[piece]
            low = lows[piece] + (at - begin) * pace
            # Rounding must not carry a priority past the end of its piece.
            high = min(lows[piece] + (upper - begin) * pace, highs[piece])
            mass, at = (upper - at) * density[cell], upper
            if high - low > least:
                made[0, number], made[1, number], made[2, number] = waiting + mass, low, high
                number, waiting = number + 1, zero
            elif number > 0:
                made[0, number - 1] += mass
            else:
                waiting = waiting + mass
                made[0, 0], made[2, 0] = waiting, high
    return number


@register_jitable
def _densities(stretches: Any, least: Any) -> Any:
    """Return the edges [2w] of the w stretches that are wide, ascending, and the density between them [2w − 1], and w.

    Where none is, floats get one that ends where the outermost does, no wider than needed.
    """
    weights, starts, stops = stretches
    edges, density, wide = np.empty(2 * len(weights), weights.dtype), np.empty(2 * len(weights), weights.dtype), 0
    held = weights[0] - weights[0]
    # From the middle outwards: first the stretches' own densities, then the sums of those around.
    middle = len(weights)
    for stretch in range(len(weights)):
        held = held + weights[stretch]
        width = stops[stretch] - starts[stretch]
        if width > least:
            edges[middle - 1 - wide], edges[middle + wide] = starts[stretch], stops[stretch]
            density[wide] = held / width
            held, wide = held - held, wide + 1
    if wide == 0:
        stop = max(stops[-1], 2.0**-900)
        edges[0], edges[1] = stop * (1 - 2.0**-50), stop
        density[0] = held / (edges[1] - edges[0])
        return edges, density, 1
    density[wide - 1] = density[wide - 1] + held / (edges[middle + wide - 1] - edges[middle - wide])
    for stretch in range(wide - 2, -1, -1):
        density[stretch] = density[stretch] + density[stretch + 1]
    level = density[:wide].copy()
    for stretch in range(wide):
        density[wide - 1 - stretch] = density[wide - 1 + stretch] = level[stretch]
    return edges[middle - wide : middle + wide], density, wide


fast_means = kernel(means)
fast_mixture = kernel(mixture)
