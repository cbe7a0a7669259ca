"""Requests whose uniforms lie on the thresholds of the replayed program, or a few steps beside them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from proofs_tests.token_level.replayed_rows import Drawing, Watching, coins, emitted
from spec_math.array_coin import ArrayCoin
from spec_math.chance import replay
from spec_math.scheme import Scheme

STEPS = (0.0, 2.0**-53, 2.0**-51, 2.0**-48, 2.0**-44, 2.0**-40)


class Compared(NamedTuple):
    """A request: the formula's margin, the program's least distance from a threshold, and whether the two part."""

    margin: float
    distance: float
    parted: bool


class OnThreshold:
    """A coin whose uniforms lie on the program's own thresholds or a few steps beside them, and are written down."""

    def __init__(self, rng: np.random.Generator, steps: Any = STEPS) -> None:
        self._rng, self._steps, self.uniforms = rng, steps, list[float]()

    def flip(self, p: Any) -> bool:
        uniform = self._beside(float(p) if 0 < p < 1 else float(self._rng.random()))
        return replay(lambda coin: coin.flip(p), [uniform])

    def draw(self, masses: Any) -> int:
        sums = np.cumsum(np.array(getattr(masses, "masses", masses), dtype=np.float64))
        uniform = self._beside(float(self._rng.choice(sums / sums[-1])))
        return replay(lambda coin: coin.draw(masses), [uniform])

    def _beside(self, threshold: float) -> float:
        step = float(self._rng.choice(self._steps)) * float(self._rng.choice([-1, 1]))
        # A step out of [0, 1) is taken to the other side.
        found = threshold + step if 0 <= threshold + step < 1 else threshold - step
        self.uniforms.append(float(np.clip(found, 0.0, 1 - 2.0**-53)))
        return self.uniforms[-1]


def laws(rng: np.random.Generator, rows: int, size: int) -> tuple[Any, Any]:
    """Targets and drafts [rows, size] of positive masses, near and far."""
    target, draft = rng.exponential(size=(2, rows, size)) ** rng.choice([1, 4], (1, rows, 1))
    target, draft = (each / each.sum(-1, keepdims=True) for each in (target, draft))
    return target, draft


def differing(scheme: Scheme, rows: int, size: int, k: int, steps: Any = STEPS) -> list[Compared]:
    """Formula and program on each request."""
    rng = np.random.default_rng([size, k])
    target, draft = laws(rng, rows, size)
    tokens, uniforms = np.full((rows, scheme.drafts or k), -1), np.full((rows, coins(scheme, k)), 0.5)
    wanted: list[tuple[float, tuple[int, bool]]] = []
    for row in range(rows):
        drawn = scheme.draw(Drawing(rng), draft[row], k)
        tokens[row, : len(drawn)] = drawn
        coin = OnThreshold(rng, steps)
        answer = emitted(scheme, coin, tokens[row], target[row], draft[row])
        uniforms[row, : len(coin.uniforms)] = coin.uniforms
        watching = Watching(coin.uniforms)
        assert emitted(scheme, watching, tokens[row], target[row], draft[row]) == answer
        wanted.append((watching.distance, tuple(answer)))
    measured = ArrayCoin(uniforms, measure=True)
    assert scheme.decide is not None
    found = scheme.decide(measured, tokens, target, draft)
    same = [(int(token), bool(accepted)) for token, accepted in zip(*found, strict=True)]
    rows_of = zip(measured.margin, same, wanted, strict=True)
    return [Compared(float(margin), distance, one != other) for margin, one, (distance, other) in rows_of]
