"""Random rows of laws with drafted tokens, and the programs that are replayed on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.array_coin import ArrayCoin
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


def batch(scheme: Scheme, k: int, seed: int, rows: int = 40, size: int = 4) -> tuple[Any, Any, Any, Any]:
    """Targets, drafts, ragged tokens and uniforms, of Fractions: zeros, ties, one-hot and equal laws."""
    rng = np.random.default_rng([seed, k, size])
    t = weights(rng, (rows, size), "near" if seed % 2 else "far")
    d = weights(rng, (rows, size), ("near", "far", "one-hot")[seed % 3])
    same = rng.random(rows) < 0.1
    d[same] = t[same]
    target, draft = laws(t), laws(d)
    tokens = np.full((rows, scheme.drafts or k), -1)
    for row in range(rows):
        drawn = scheme.draw(Drawing(rng), draft[row], k if row % 5 else max(1, k - 1))
        tokens[row, : len(drawn)] = drawn
        if row % 11 == 7:
            tokens[row] = -1
    uniforms = exact(rng.integers(0, 12, (rows, coins(scheme, k)))) / 12
    return target, draft, tokens, uniforms


def differing(decide: Any, scheme: Scheme, given: tuple[Any, Any, Any, Any], bound: float = -1.0) -> int:
    """Rows that lie further than the bound from a threshold, and where formula and program part or use other coins."""
    target, draft, tokens, uniforms = given
    coin = ArrayCoin(uniforms)
    token, accepted = decide(coin, tokens, target, draft)
    wrong = 0
    for row in range(len(tokens)):
        watching = Watching(uniforms[row])
        want = emitted(scheme, watching, tokens[row], target[row], draft[row])
        same = (int(token[row]), bool(accepted[row]), int(coin.column[row])) == (*want, watching.used)
        wrong += watching.distance > bound and not same
    return wrong


def floats(given: tuple[Any, Any, Any, Any], seed: int) -> tuple[Any, Any, Any, Any]:
    """The same laws as floats, on uniforms of their own."""
    target, draft, tokens, uniforms = given
    rng = np.random.default_rng(seed)
    return target.astype(np.float64), draft.astype(np.float64), tokens, rng.random(uniforms.shape)
