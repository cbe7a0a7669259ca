"""The formulas of rejection part from the replayed programs within the derived bound of a threshold alone, by uniforms
that are laid on the thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from proofs_tests.token_level.replayed_rows import Drawing, coins, emitted
from spec_math import SCHEMES
from spec_math.array_coin import ArrayCoin
from spec_math.chance import replay
from spec_math.scheme import Scheme
from spec_math.token_level import decide_rejection
from spec_math.token_level.rejection_rounding import bound

FORMULAS = (
    decide_rejection.decide_recursive,
    decide_rejection.decide_without_replacement,
    decide_rejection.decide_greedy,
    decide_rejection.decide_one_hot,
)
schemes = pytest.mark.parametrize(
    "scheme", [scheme for scheme in SCHEMES if scheme.decide in FORMULAS], ids=lambda scheme: scheme.name
)
STEPS = (0.0, 2.0**-53, 2.0**-51, 2.0**-48, 2.0**-44, 2.0**-40)


class OnThreshold:
    """A coin whose uniforms lie on the program's own thresholds or a few steps beside them, and are written down."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng, self.uniforms = rng, list[float]()

    def flip(self, p: Any) -> bool:
        uniform = self._beside(float(p) if 0 < p < 1 else float(self._rng.random()))
        return replay(lambda coin: coin.flip(p), [uniform])

    def draw(self, masses: Any) -> int:
        sums = np.cumsum(np.array(getattr(masses, "masses", masses), dtype=np.float64))
        uniform = self._beside(float(self._rng.choice(sums / sums[-1])))
        return replay(lambda coin: coin.draw(masses), [uniform])

    def _beside(self, threshold: float) -> float:
        step = float(self._rng.choice(STEPS)) * float(self._rng.choice([-1, 1]))
        self.uniforms.append(float(np.clip(threshold + step, 0.0, 1 - 2.0**-53)))
        return self.uniforms[-1]


def differing(scheme: Scheme, rows: int, size: int, k: int) -> list[tuple[float, bool]]:
    """The margin of each request, and whether formula and program part."""
    rng = np.random.default_rng([size, k])
    target, draft = rng.exponential(size=(2, rows, size)) ** rng.choice([1, 4], (1, rows, 1))
    target, draft = (each / each.sum(-1, keepdims=True) for each in (target, draft))
    tokens, uniforms = np.full((rows, scheme.drafts or k), -1), np.full((rows, coins(scheme, k)), 0.5)
    wanted: list[tuple[int, bool]] = []
    for row in range(rows):
        drawn = scheme.draw(Drawing(rng), draft[row], k)
        tokens[row, : len(drawn)] = drawn
        coin = OnThreshold(rng)
        wanted.append(tuple(emitted(scheme, coin, tokens[row], target[row], draft[row])))
        uniforms[row, : len(coin.uniforms)] = coin.uniforms
    measured = ArrayCoin(uniforms, measure=True)
    assert scheme.decide is not None
    found = scheme.decide(measured, tokens, target, draft)
    same = [(int(token), bool(accepted)) for token, accepted in zip(*found, strict=True)]
    return [(float(margin), one != other) for margin, one, other in zip(measured.margin, same, wanted, strict=True)]


@schemes
def test_rejection_parts_from_its_program_within_the_bound_alone(scheme: Scheme) -> None:
    for size, k in ((3, 1), (8, 3), (40, 4)):
        found = differing(scheme, 150, size, k)
        assert all(margin <= bound(size, scheme.drafts or k) for margin, parted in found if parted)


def test_uniforms_on_thresholds_are_decided_otherwise() -> None:
    """The control: without a bound the comparison fails, so that the test above looks where it matters."""
    parted = [margin for scheme in SCHEMES[4:6] for margin, other in differing(scheme, 300, 8, 3) if other]
    assert len(parted) > 3
    assert max(parted) > 0
