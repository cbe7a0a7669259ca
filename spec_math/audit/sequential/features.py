"""Bounded features of a token that a test can bet on, computed from its target and draft rows alone."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from spec_math.arrays import Array, divide, is_exact, ones_like
from spec_math.audit.sequential.bank import BUGS
from spec_math.distribution import descending_rank

CLIP = 4
"""Ratios beyond it count as it."""


class Feature(NamedTuple):
    """A feature by name: values in [0, 1], of shape [V], from a target and a draft [V]."""

    name: str
    of: Callable[[Array, Array], Array]


def _where(true: Array, like: Array) -> Array:
    return np.where(true, ones_like(like), like - like)


def _clipped(top: Array, bottom: Array, clip: int) -> Array:
    full = ones_like(top) * (Fraction(clip) if is_exact(top) else float(clip))
    return np.minimum(divide(top, bottom, full), full) / clip


def _above(t: Array, d: Array) -> Array:
    return _where(t > d, t)


def _top_1(t: Array, _d: Array) -> Array:
    return _where(descending_rank(t) < 1, t)


def _top_4(t: Array, _d: Array) -> Array:
    return _where(descending_rank(t) < 4, t)


def _target_over_draft(t: Array, d: Array) -> Array:
    return _clipped(t, d, CLIP)


def _draft_over_target(t: Array, d: Array) -> Array:
    return _clipped(d, t, CLIP)


def _draft_over_target_to_1(t: Array, d: Array) -> Array:
    return _clipped(d, t, 1)


def _deficit(t: Array, d: Array) -> Array:
    return ones_like(t) - _clipped(t, d, 1)


FEATURES: tuple[Feature, ...] = (
    Feature("t > d", _above),
    Feature("top 1", _top_1),
    Feature("top 4", _top_4),
    Feature("t/d to 4", _target_over_draft),
    Feature("d/t to 4", _draft_over_target),
    Feature("d/t to 1", _draft_over_target_to_1),
    Feature("acceptance deficit", _deficit),
)
"""The bet on "d/t to 1" at full stake, 1 + min(1, d/t) − Σ min(t, d), is the likelihood ratio of M11 itself."""

CONTEXT_BUGS = tuple(bug for bug in BUGS if bug.sums)
"""Bugs whose likelihood ratio at a token needs a few sums over the vocabulary: cheap enough for every draw."""


def centred(target: Array, draft: Array) -> Array:
    """Return each feature less its mean under the target, [F, V], from laws [V] already checked.

    The law: Σ t·row = 0 for every row, so that a bet 1 ± λ·row has mean 1 under the target.

    >>> from spec_math.arrays import exact
    >>> centred(exact(["1/4", "3/4"]), exact(["1/2", "1/2"]))[0].tolist()
    [Fraction(-3, 4), Fraction(1, 4)]
    """
    rows = [feature.of(target, draft) for feature in FEATURES]
    return np.array([row - (target * row).sum() for row in rows])


def likelihood_ratios(target: Array, draft: Array) -> Array:
    """Return a/t for the law a of each bug of `CONTEXT_BUGS`, [B, V]; 0 where t = 0, which no draw of the target meets.

    The law: Σ t·row = 1 where a has no mass beside the target's, and at most 1 else.

    >>> from spec_math.arrays import exact
    >>> likelihood_ratios(exact(["1/4", "3/4"]), exact(["1/2", "1/2"]))[1].tolist()
    [Fraction(2, 1), Fraction(2, 3)]
    """
    emitted = [bug.emitted(target, draft) for bug in CONTEXT_BUGS]
    return np.array([divide(law, target, target - target) for law in emitted])
