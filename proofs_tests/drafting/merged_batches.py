"""Random batches of drafts over another vocabulary."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from proofs_tests.token_level.replayed_rows import Drawing, coins, laws, weights
from spec_math import SCHEMES
from spec_math.arrays import exact
from spec_math.scheme import Scheme

forms = pytest.mark.parametrize(
    "scheme", [scheme for scheme in SCHEMES if scheme.decide is not None], ids=lambda scheme: scheme.name
)


def batch(scheme: Scheme, k: int, seed: int, rows: int = 40) -> tuple[Any, ...]:
    """Targets [B, 5], drafts [B, 4], tokens, uniforms, and maps [B, 4] of each request: of Fractions."""
    rng = np.random.default_rng([seed, k])
    target, draft = laws(weights(rng, (rows, 5), "near")), laws(weights(rng, (rows, 4), ("near", "far")[seed % 2]))
    tokens = np.full((rows, scheme.drafts or k), -1)
    places = np.array([rng.permutation(5)[:4] for _ in range(rows)])
    places[rng.random(places.shape) < 0.3] = -1
    for row in range(rows):
        drawn = scheme.draw(Drawing(rng), draft[row], k)
        tokens[row, : len(drawn)] = drawn if row % 9 else -1
    uniforms = exact(rng.integers(0, 12, (rows, coins(scheme, k) + 1))) / 12
    return target, draft, tokens, uniforms, places
