"""Acceptance and deviation by group: by depth in the block, place in the text, entropy, and repetition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

COLUMNS = (
    "rows",
    "drafts",
    "accepted",
    "expected",
    "optimum",
    "variance",
    "above",
    "above variance",
    "favourite",
    "favourite variance",
)
"""Sums over a group's rows. `variance` is of expected·(1 − expected); the last four are of the bets "target above
draft" and "the favourite": what they gained, and the variance that the target's law gives that."""

ENTROPY_EDGES = (0.0, 0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
"""Nats: group g holds entropies from edge g up to the next."""

PLACES = 40
"""Group g of places holds the positions 2^g − 1 up to 2^(g+1) − 2."""


def tabulate(groups: np.ndarray[Any, Any], size: int, columns: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Return sums [size, 10] of ten columns [n] over groups [n] of rows.

    >>> tabulate(np.array([0, 0, 1]), 2, [np.ones(3)] * 10)[:, 0].tolist()
    [2.0, 1.0]
    """
    found = np.zeros((size, len(COLUMNS)))
    for place, column in enumerate(columns):
        found[:, place] = np.bincount(groups, weights=column, minlength=size)[:size]
    return found


def by_entropy(entropy: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the group of each entropy, in nats.

    >>> by_entropy(np.array([0.0, 0.3, 9.0])).tolist()
    [0, 2, 10]
    """
    return np.maximum(np.searchsorted(ENTROPY_EDGES, entropy, side="right") - 1, 0)


def by_place(position: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the group of each place in a text: 0, 1–2, 3–6, 7–14, …

    >>> by_place(np.array([0, 1, 2, 3, 6, 7])).tolist()
    [0, 1, 1, 2, 2, 3]
    """
    return np.clip(np.frexp(np.maximum(position, 0) + 1.0)[1] - 1, 0, PLACES - 1)


def place_name(group: int) -> str:
    """Return what a group of places holds, in words.

    >>> place_name(0), place_name(2)
    ('0', '3–6')
    """
    first, last = 2**group - 1, 2 ** (group + 1) - 2
    return str(first) if first == last else f"{first}–{last}"


def entropy_name(group: int) -> str:
    """Return what a group of entropies holds, in words.

    >>> entropy_name(0), entropy_name(10)
    ('0–0.1', '≥ 8')
    """
    if group == len(ENTROPY_EDGES) - 1:
        return f"≥ {ENTROPY_EDGES[group]:g}"
    return f"{ENTROPY_EDGES[group]:g}–{ENTROPY_EDGES[group + 1]:g}"
