"""The coin of a whole batch: each request replays its own row of uniforms, one for each coin that it tosses.

Source: worked out here; a uniform is used as in `spec_math.chance.replay`.
"""

from __future__ import annotations

from collections.abc import Callable

from spec_math import array_draw
from spec_math.arrays import Array, array_namespace, is_exact, ones_like


class ArrayCoin:
    """The only randomness of an array formula: uniforms [B, C], of which request b takes the next at each of its coins.

    A formula that flips and draws in the order of a program consumes for each request what the program does that is
    replayed on its row. `margin` [B] is the least distance of a flip's uniform from its chance, times the mass that the
    flip divides; with `measure` that of a draw from the border of two tokens, times the mass drawn from, counts too.
    `drawn(masses, uniforms)` and `total(masses)` may be replaced by sums in another order, as a device takes them.

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
        drawn: Callable[[Array, Array], Array] = array_draw.drawn,
        total: Callable[[Array], Array] | None = None,
    ) -> None:
        self.uniforms, self.measure = uniforms, measure
        self.drawn = drawn
        self.total: Callable[[Array], Array] = total or _total
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
        uniform = self._next(tossed)
        if self.measure:
            xp = array_namespace(self.uniforms)
            far = array_draw.distance(masses, uniform) * self.total(masses)
            self.margin = xp.where(tossed, xp.minimum(self.margin, far), self.margin)
        return self.drawn(masses, uniform)

    def take(self, where: Array | None = None) -> Array:
        """Return the next uniforms [B] themselves, consumed within `where` [B] alone."""
        return self._next(self.going if where is None else self.going & where)

    def _next(self, tossed: Array) -> Array:
        xp = array_namespace(self.uniforms)
        at = xp.minimum(self.column, xp.full_like(self.column, self.uniforms.shape[1] - 1))
        self.column = xp.where(tossed, self.column + 1, self.column)
        return xp.take_along_axis(self.uniforms, at[:, None], axis=1)[:, 0]


def _total(masses: Array) -> Array:
    return array_namespace(masses).sum(array_draw.wide(masses), axis=-1)
