"""Pools of tokens for large vocabularies, chosen from the target and the draft before any token is seen.

Source: worked out here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.arrays import Array, count
from spec_math.audit.sequential.dirichlet import shares_of


def pools(target: Any, draft: Any = None, groups: int = 32) -> Array:
    """Return a pool for each token [V], 0, 1, …, at most `groups` of them, from the laws alone.

    Half of the pools are the target's likeliest tokens, one each. The others go through the rest in the order of t/d
    (without a draft, of t), cut into pieces of about equal target mass: what a verifier does wrong depends on t/d, so
    it moves mass between these pools rather than within them. Floats are ordered as they are; ties by the index.

    A test on pools needs the draws of that many tokens and not of V, and sees the total variation between pools,
    `pooled_variation`. As pools are settled before the draws, its false-alarm rate is what it was.

    Raises:
        TypeError, ValueError: a law is not a probability distribution, the shapes differ, or groups is not an integer
            of at least 2.

    >>> pools(["1/2", "1/8", "1/8", "1/8", "1/8"], ["1/4", "1/4", "1/4", "1/8", "1/8"], groups=3).tolist()
    [0, 1, 1, 2, 2]
    """
    t = shares_of(target)
    d = t if draft is None else shares_of(draft, "draft")
    if d.shape != t.shape:
        raise ValueError(f"target and draft must have one shape; target has {t.shape}, draft has {d.shape}")
    if count(groups, "groups") < 2:
        raise ValueError(f"groups must be at least 2, so that there is something to compare; got {groups}")
    labels = np.empty(len(t), dtype=np.int64)
    order = np.argsort(-t, kind="stable")
    singles = min(groups // 2, len(t))
    labels[order[:singles]] = np.arange(singles)
    rest = np.sort(order[singles:])
    with np.errstate(divide="ignore", invalid="ignore"):
        keys = t[rest] if draft is None else np.where(d[rest] > 0, t[rest] / d[rest], np.inf)
    rest = rest[np.argsort(keys, kind="stable")]
    # A token belongs to the piece that the middle of its own mass falls into.
    masses = t[rest]
    middles = np.cumsum(masses) - masses / 2
    pieces = groups - singles
    total = masses.sum()
    labels[rest] = singles + (np.minimum(middles * pieces // total, pieces - 1).astype(np.int64) if total > 0 else 0)
    return labels


def pooled_variation(target: Any, law: Any, labels: Any) -> float:
    """Return the total variation of a law from the target that pools [V] leave to be seen.

    Raises:
        TypeError, ValueError: a law is not a probability distribution, or the shapes differ.

    >>> pooled_variation(["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], [0, 1, 1])
    0.25
    >>> pooled_variation(["1/2", "1/4", "1/4"], ["1/2", "1/2", 0], [0, 1, 1])
    0.0
    """
    t, a, given = shares_of(target), shares_of(law, "law"), np.asarray(labels)
    if not t.shape == a.shape == given.shape:
        raise ValueError(f"target, law and pools must have one shape; got {t.shape}, {a.shape} and {given.shape}")
    return float(np.abs(np.bincount(given, a) - np.bincount(given, t)).sum() / 2)
