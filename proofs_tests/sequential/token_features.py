"""The features of a token and the bugs' likelihood ratios as array formulas, on Fractions and floats alike."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from spec_math.arrays import Array, divide, is_exact, ones_like
from spec_math.distribution import descending_rank
from spec_math.sequential.bets import CLIP, CONTEXT_BUGS, FEATURES


def _clipped(top: Array, bottom: Array, clip: int) -> Array:
    full = ones_like(top) * (Fraction(clip) if is_exact(top) else float(clip))
    return np.minimum(divide(top, bottom, full), full) / clip


def _where(true: Array, like: Array) -> Array:
    return np.where(true, ones_like(like), like - like)


FORMULAS: dict[str, Callable[[Array, Array], Array]] = {
    "t > d": lambda t, d: _where(t > d, t),
    "top 1": lambda t, _: _where(descending_rank(t) < 1, t),
    "top 4": lambda t, _: _where(descending_rank(t) < 4, t),
    "t/d to 4": lambda t, d: _clipped(t, d, CLIP),
    "d/t to 4": lambda t, d: _clipped(d, t, CLIP),
    "d/t to 1": lambda t, d: _clipped(d, t, 1),
    "acceptance deficit": lambda t, d: ones_like(t) - _clipped(t, d, 1),
}
"""The features [V] of a target and a draft [V], by name."""


def centred(target: Array, draft: Array) -> Array:
    """Return each feature less its mean under the target, [F, V], from laws [V] already checked.

    The law: Σ t·row = 0 for every row, so that a bet 1 ± λ·row has mean 1 under the target.
    """
    rows = [FORMULAS[name](target, draft) for name in FEATURES]
    return np.array([row - (target * row).sum() for row in rows])


def likelihood_ratios(target: Array, draft: Array) -> Array:
    """Return a/t for the law a of each bug of `CONTEXT_BUGS`, [B, V]; 0 where t = 0, which no draw of the target meets.

    The law: Σ t·row = 1 where a has no mass beside the target's, and at most 1 else.
    """
    emitted = [bug.emitted(target, draft) for bug in CONTEXT_BUGS]
    return np.array([divide(law, target, target - target) for law in emitted])
