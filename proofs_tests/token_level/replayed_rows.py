"""Random rows of laws with drafted tokens, and the programs that are replayed on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.arrays import exact
from spec_math.chance import Coin, replay
from spec_math.scheme import Emission, Scheme


def weights(rng: np.random.Generator, shape: tuple[int, ...], kind: str) -> Any:
    """Whole numbers: small ones, with zeros and ties, or far apart; every row has some mass."""
    found = rng.integers(0, 4, shape)
    if kind == "far":
        found = 3 ** rng.integers(0, 12, shape) * (rng.random(shape) < 0.8)
    if kind == "one-hot":
        found = np.zeros(shape, dtype=np.int64)
    place = rng.integers(shape[-1], size=shape[:-1])
    np.put_along_axis(found, place[..., None], 1 + rng.integers(0, 3, (*shape[:-1], 1)), -1)
    return found


def coins(scheme: Scheme, k: int) -> int:
    assert scheme.coins is not None
    return scheme.coins(k)


def laws(found: Any) -> Any:
    """Whole numbers divided by their sums, as Fractions."""
    return exact(found.astype(object)) / found.sum(-1, keepdims=True).astype(object)


class Drawing:
    """A coin that draws drafts."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def flip(self, p: Any) -> bool:
        return bool(self.rng.random() < p)

    def draw(self, masses: Any) -> int:
        floats = np.array(masses, dtype=np.float64)
        return int(self.rng.choice(len(floats), p=floats / floats.sum()))


class Watching:
    """A coin that replays a row, and keeps the least distance of a uniform from a threshold, times nothing."""

    def __init__(self, uniforms: Any) -> None:
        self.uniforms, self.used, self.distance = list(uniforms), 0, 1.0

    def _next(self) -> Any:
        self.used += 1
        return self.uniforms[self.used - 1]

    def flip(self, p: Any) -> bool:
        uniform = self._next()
        self.distance = min(self.distance, abs(float(uniform) - float(p)))
        return replay(lambda coin: coin.flip(p), [uniform])

    def draw(self, masses: Any) -> int:
        uniform = self._next()
        listed = np.array(getattr(masses, "masses", masses), dtype=np.float64)
        borders = np.cumsum(listed)[listed > 0] / listed.sum()
        self.distance = min(self.distance, float(np.abs(borders - float(uniform)).min()))
        return replay(lambda coin: coin.draw(masses), [uniform])


def emitted(scheme: Scheme, coin: Coin, tokens: Any, target: Any, draft: Any) -> Emission:
    listed = tuple(int(token) for token in tokens if token >= 0)
    if not listed:
        return Emission(coin.draw(target), accepted=False)
    assert scheme.emit is not None
    return scheme.emit(coin, listed, target, draft)
