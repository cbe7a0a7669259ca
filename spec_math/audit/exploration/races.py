"""The joint law of the winners of several races of the same exponential clocks, run at different rates."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

Bounds = list[list[Fraction]]
"""bounds[a][b] is the r of the condition s_a ≥ r·s_b; 0 where there is no such condition."""


def joint(rates: Sequence[Sequence[Fraction]], winners: Sequence[int]) -> Fraction:
    """Return P(argmin E/rates[j] = winners[j] for all j), for independent exponentials E of rate 1, in rationals.

    The law: let Y be the set of winners, s_y the noise of y in Y, and R(i, y) the largest rates[j][i] / rates[j][y]
    over the races that y won. All E_i ≥ R(i, y)·s_y, so that the chance is ∫ exp(−Σ s_y − Σ_i max_y R(i, y)·s_y) ds
    over i outside Y and the s > 0 with s_y ≥ R(y, z)·s_z. A rate of 0 never wins.

    >>> half, one, none = Fraction(1, 2), Fraction(1), Fraction(0)
    >>> joint([[half, half], [one, none]], [1, 0])
    Fraction(1, 2)
    """
    if any(race[x] == 0 for race, x in zip(rates, winners, strict=True)):
        return Fraction(0)
    found = sorted(set(winners))
    needs = [
        [max(race[i] / race[y] for race, x in zip(rates, winners, strict=True) if x == y) for y in found]
        for i in range(len(rates[0]))
    ]
    bounds = _closed([[needs[y][b] if y != found[b] else Fraction(0) for b in range(len(found))] for y in found])
    if bounds is None:
        return Fraction(0)
    # Tokens whose needs are proportional have their maximum at one place: they count as one.
    merged: dict[tuple[Fraction, ...], Fraction] = {}
    slopes = [Fraction(1)] * len(found)
    for i, row in enumerate(needs):
        if i in found:
            continue
        places = [b for b, need in enumerate(row) if need]
        if len(places) == 1:
            slopes[places[0]] += row[places[0]]
        elif places:
            size = sum(row, Fraction(0))
            direction = tuple(need / size for need in row)
            merged[direction] = merged.get(direction, Fraction(0)) + size
    return _over_cells(bounds, slopes, list(merged.items()))


def _over_cells(
    bounds: Bounds, slopes: list[Fraction], left: Sequence[tuple[tuple[Fraction, ...], Fraction]]
) -> Fraction:
    """Add up the integral over the cells in which each maximum of those left is at one place."""
    if not left:
        return _integral(bounds, slopes)
    (direction, size), *rest = left
    total = Fraction(0)
    for place, need in enumerate(direction):
        inside = _largest_at(bounds, place, direction) if need else None
        if inside is not None:
            raised = [slope + (size * need if b == place else 0) for b, slope in enumerate(slopes)]
            total += _over_cells(inside, raised, rest)
    return total


def _integral(bounds: Bounds, slopes: Sequence[Fraction]) -> Fraction:
    """Return ∫ exp(−slopes·s) ds over the s > 0 that keep the bounds, which are closed.

    One variable at a time: ∫ exp(−c·s) ds = (exp(−c·L) − exp(−c·U))/c from its largest lower bound L to its least upper
    bound U, each of which is r·s_b for one b in each cell of the others. An empty L is 0, an empty U infinite.
    """
    last = len(slopes) - 1
    if last == 0:
        return 1 / slopes[0]
    slope = slopes[last]
    below = bounds[last][:last]
    # s_b ≥ r·s_last bounds it from above by s_b/r.
    above = [1 / bounds[b][last] if bounds[b][last] else Fraction(0) for b in range(last)]
    rest = [row[:last] for row in bounds[:last]]
    total = Fraction(0) if any(below) else _integral(rest, slopes[:last])
    for place, factor in enumerate(below):
        inside = _largest_at(rest, place, below) if factor else None
        if inside is not None:
            total += _integral(inside, _raised(slopes[:last], place, slope * factor))
    # The least of the factor·s_b is where 1/factor is the largest: bounds of s_place from above.
    for place, factor in enumerate(above):
        inside = _least_at(rest, place, above) if factor else None
        if inside is not None:
            total -= _integral(inside, _raised(slopes[:last], place, slope * factor))
    return total / slope


def _raised(slopes: Sequence[Fraction], place: int, by: Fraction) -> list[Fraction]:
    return [slope + (by if b == place else 0) for b, slope in enumerate(slopes)]


def _largest_at(bounds: Bounds, place: int, factors: Sequence[Fraction]) -> Bounds | None:
    """Add the conditions factors[place]·s_place ≥ factors[b]·s_b; None where no volume is left."""
    tighter = [list(row) for row in bounds]
    for b, factor in enumerate(factors):
        if b != place:
            tighter[place][b] = max(tighter[place][b], factor / factors[place])
    return _closed(tighter)


def _least_at(bounds: Bounds, place: int, factors: Sequence[Fraction]) -> Bounds | None:
    """Add the conditions factors[place]·s_place ≤ factors[b]·s_b for the b with a factor."""
    tighter = [list(row) for row in bounds]
    for b, factor in enumerate(factors):
        if b != place and factor:
            tighter[b][place] = max(tighter[b][place], factors[place] / factor)
    return _closed(tighter)


def _closed(bounds: Bounds) -> Bounds | None:
    """Return bounds with all that follow from two of them; None where they leave no volume."""
    size = len(bounds)
    for through, a, b in product(range(size), repeat=3):
        bounds[a][b] = max(bounds[a][b], bounds[a][through] * bounds[through][b])
    if any(bounds[a][a] >= 1 for a in range(size)):
        return None
    for a in range(size):
        bounds[a][a] = Fraction(0)
    return bounds
