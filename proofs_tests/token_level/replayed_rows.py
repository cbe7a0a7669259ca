"""Random rows of laws with drafted tokens, and the programs that are replayed on them."""

from __future__ import annotations

from typing import Any, NamedTuple

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


class Replayed(NamedTuple):
    """What the program emits for one request, how many uniforms it uses, and how close one came to a threshold."""

    outcome: tuple[int, bool, int]
    distance: float


def replayed(scheme: Scheme, given: tuple[Any, Any, Any, Any]) -> list[Replayed]:
    """The program replayed on each row."""
    found: list[Replayed] = []
    for target, draft, tokens, uniforms in zip(*given, strict=True):
        watching = Watching(uniforms)
        token, accepted = emitted(scheme, watching, tokens, target, draft)
        found.append(Replayed((token, accepted, watching.used), watching.distance))
    return found


def decided(decide: Any, given: tuple[Any, Any, Any, Any]) -> tuple[Any, Any, Any]:
    """What an array formula emits for each request, whether that was accepted, and how many uniforms it used."""
    target, draft, tokens, uniforms = given
    coin = ArrayCoin(uniforms)
    token, accepted = decide(coin, tokens, target, draft)
    return token, accepted, coin.column


def parted(found: tuple[Any, Any, Any], wanted: list[Replayed], bound: float) -> int:
    """Rows that lie further than the bound from a threshold, and where formula and program part or use other coins."""
    outcomes = zip(*(each.tolist() for each in found), strict=True)
    pairs = zip(outcomes, wanted, strict=True)
    return sum(want.distance > bound and outcome != want.outcome for outcome, want in pairs)


def differing(decide: Any, scheme: Scheme, given: tuple[Any, Any, Any, Any], bound: float = -1.0) -> int:
    """The same of a formula on some rows, and of the program replayed on them."""
    return parted(decided(decide, given), replayed(scheme, given), bound)


def floats(given: tuple[Any, Any, Any, Any], seed: int) -> tuple[Any, Any, Any, Any]:
    """The same laws as floats, on uniforms of their own."""
    target, draft, tokens, uniforms = given
    rng = np.random.default_rng(seed)
    return target.astype(np.float64), draft.astype(np.float64), tokens, rng.random(uniforms.shape)
