"""The coin of a whole batch: each request replays its own row of uniforms, one for each coin that it tosses.

A uniform is used as in `spec_math.chance.replay`; the draw of one token from each of many rows of masses stands first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spec_math.arrays import Array, array_namespace, is_exact, ones_like, zeros_like

UNIT = 2.0**-53


def drawn(masses: Array, uniforms: Array) -> Array:
    """Return for each row the first i with v_0 + … + v_i > u · Σv, a token of mass > 0; −1 where a row has no mass.

    Masses [B, V] that need not sum to 1, uniforms [B] in [0, 1); tokens [B]. Sums are taken in float64, and in any
    order: where an order of summing makes running sums fall, or rounding leaves none above u · Σv, it is still a token
    that has mass, the last one at worst. Exact on Fractions.

    >>> from spec_math.arrays import exact
    >>> drawn(exact([["1/4", 0, "3/4"], [0, 0, 0]]), exact(["1/4", "1/4"])).tolist()
    [2, -1]
    """
    xp = array_namespace(masses)
    if type(masses) is np.ndarray and not is_exact(masses):
        found = _searched(wide(masses), uniforms)
        if (found < masses.shape[-1]).all():
            return found
    sums = _sums(masses)
    places = xp.arange(masses.shape[-1], device=masses.device)
    there = masses > 0
    hit = there & (sums > uniforms[:, None] * sums[:, -1:])
    beyond = masses.shape[-1]
    first = xp.min(xp.where(hit, places, beyond), axis=-1)
    last = xp.max(xp.where(there, places, -1), axis=-1)
    return xp.where(first < beyond, first, last)


def _searched(masses: Array, uniforms: Array) -> Array:
    """Return the same first i [B] by bisection of running sums that do not fall; V where none is above u · Σv."""
    sums = masses.cumsum(axis=-1)
    bars = uniforms * sums[:, -1]
    return np.array([row.searchsorted(bar, "right") for row, bar in zip(sums, bars, strict=True)], dtype=np.int64)


def distance(masses: Array, uniforms: Array) -> Array:
    """Return for each row how far its uniform lies from the nearest border between two tokens, |u − Σ_{j≤i} v_j / Σv|.

    Masses [B, V], uniforms [B]; distances [B] on the scale of the uniform, 1 where a row has no mass.

    >>> from spec_math.arrays import exact
    >>> distance(exact([["1/4", "3/4"]]), exact(["1/2"])).tolist()
    [Fraction(1, 4)]
    """
    xp = array_namespace(masses)
    sums = _sums(masses)
    one = 1 + 0 * sums
    # A sum of 0 is no border: it is 0 in any arithmetic.
    borders = xp.where(sums > 0, sums, -one) / xp.where(sums[:, -1:] > 0, sums[:, -1:], one)
    far = abs(uniforms[:, None] - borders)
    return far.min(axis=-1) if is_exact(far) else xp.min(far, axis=-1)


def rounding(size: int) -> float:
    """Return the distance beyond which float64 decides as a replayed program does, whatever the order of its sums.

    With u = 2^-53 and V masses: a running sum, its total and their product with the uniform are within a relative
    (2V − 1)u of those of the given masses; a program also divides each mass by their sum, so that it is within
    (2V + 1)u. Borders are at most 1, so that all is decided alike at a distance of more than (4V + 2)u as computed
    here. A chance ρ/(ρ + 1 − w) moves by a quarter of the relative error of ρ at most, which is less. 6u more cover the
    squares of these errors for V ≤ 2^26.

    >>> rounding(4) == 24 * 2.0**-53
    True
    """
    return (4 * size + 8) * UNIT


def running_sums(masses: Array) -> Array:
    """Return the masses [B, V + 1] of the first i tokens, i = 0..V, in float64 where they float.

    >>> from spec_math.arrays import exact
    >>> running_sums(exact([["1/4", "3/4"]])).tolist()
    [[Fraction(0, 1), Fraction(1, 4), Fraction(1, 1)]]
    """
    sums = _sums(masses)
    return array_namespace(sums).concat([zeros_like(sums[:, :1]), sums], axis=-1)


def wide(values: Array) -> Array:
    """Return floating arrays in float64, exact ones as they are.

    >>> import numpy as np
    >>> wide(np.array([0.5], dtype=np.float32)).dtype.name
    'float64'
    """
    xp = array_namespace(values)
    return values if is_exact(values) else xp.astype(values, xp.float64, copy=False)


def _sums(masses: Array) -> Array:
    xp = array_namespace(masses)
    return xp.cumsum(masses, axis=-1) if is_exact(masses) else xp.cumulative_sum(wide(masses), axis=-1)


def taken(rows: Array, at: Array) -> Any:
    """Return one entry [R] of each row [R, n].

    >>> import numpy as np
    >>> taken(np.array([[5, 6], [7, 8]]), np.array([1, 0])).tolist()
    [6, 7]
    """
    return array_namespace(rows).take_along_axis(rows, at[:, None], axis=-1)[:, 0]


class ArrayCoin:
    """The only randomness of an array formula: uniforms [B, C], of which request b takes the next at each of its coins.

    A formula that flips and draws in the order of a program consumes for each request what the program does that is
    replayed on its row. `margin` [B] is the least distance of a flip's uniform from its chance, times the mass that the
    flip divides; with `measure` that of a draw from the border of two tokens, times the mass drawn from, counts too.
    `drawn(masses, uniforms)` and `total(masses)` may be replaced by sums in another order, as a device takes them.
    With `last_draws` a draw takes the last column, as kernels for chains lay uniforms out.

    >>> from spec_math.arrays import exact
    >>> coin = ArrayCoin(exact([["1/4", "3/4"], ["1/2", 0]]))
    >>> chance = exact(["1/2", "1/2"])
    >>> coin.flip(chance).tolist(), coin.flip(chance, where=chance < 0).tolist(), coin.column.tolist()
    ([True, False], [False, False], [1, 1])
    """

    def __init__(
        self,
        uniforms: Array,
        measure: bool = False,
        drawn: Callable[[Array, Array], Array] = drawn,
        total: Callable[[Array], Array] | None = None,
        last_draws: bool = False,
    ) -> None:
        self.uniforms, self.measure, self.last_draws = uniforms, measure, last_draws
        self.drawn = drawn
        self.total: Callable[[Array], Array] = total or row_sums
        xp = array_namespace(uniforms)
        self.one = ones_like(uniforms[:, 0])
        self.margin = self.one
        self.going = self.one > 0
        self.column = xp.astype(self.going, xp.int64) * 0 if not is_exact(uniforms) else (self.going * 0).astype(int)

    def flip(self, chance: Array, where: Array | None = None, scale: Array | None = None) -> Array:
        """Return [B] whether the next uniform is below the chance [B]; False, without a coin, outside `where` [B]."""
        tossed = self.going if where is None else self.going & where
        uniform = self._next(tossed)
        if self.measure:
            xp = array_namespace(self.uniforms)
            # A chance far above 1 is as good as 2, and stays finite.
            far = abs(uniform - xp.minimum(chance, self.one + self.one))
            far = far if scale is None else far * scale
            self.margin = xp.where(tossed, xp.minimum(self.margin, far), self.margin)
        return tossed & (uniform < chance)

    def draw(self, masses: Array, where: Array | None = None) -> Array:
        """Return [B] the token that the next uniform draws from masses [B, V]; outside `where` any, without a coin."""
        tossed = self.going if where is None else self.going & where
        uniform = self.take(where)
        if self.measure:
            xp = array_namespace(self.uniforms)
            far = distance(masses, uniform) * self.total(masses)
            self.margin = xp.where(tossed, xp.minimum(self.margin, far), self.margin)
        return self.drawn(masses, uniform)

    def take(self, where: Array | None = None) -> Array:
        """Return the uniforms [B] of a draw themselves, consumed within `where` [B] alone."""
        if self.last_draws:
            return self.uniforms[:, -1]
        return self._next(self.going if where is None else self.going & where)

    def _next(self, tossed: Array) -> Array:
        xp = array_namespace(self.uniforms)
        at = xp.minimum(self.column, xp.full_like(self.column, self.uniforms.shape[1] - 1))
        self.column = xp.where(tossed, self.column + 1, self.column)
        return xp.take_along_axis(self.uniforms, at[:, None], axis=1)[:, 0]


def row_sums(masses: Array) -> Array:
    """Return the sums of rows [..., V], added up in float64 where they are floats.

    >>> row_sums(np.array([[0.25, 0.5]], dtype=np.float32)).tolist()
    [0.75]
    """
    return array_namespace(masses).sum(wide(masses), axis=-1)
