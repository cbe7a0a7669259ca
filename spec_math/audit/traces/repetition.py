"""Repetition loops in a text: the tokens that complete a stretch that occurred in the same text before.

A model that loops is easy to draft for, so that speculation looks fast on text that nobody wants.
"""

from __future__ import annotations

from typing import Any

import numpy as np

STRETCH = 8
"""Tokens that must have followed each other before, in the same text and shard, for the last of them to count."""


def repeats(tokens: np.ndarray[Any, Any], texts: np.ndarray[Any, Any], stretch: int = STRETCH) -> np.ndarray[Any, Any]:
    """Return [n] whether each token ends a stretch that its text has already held; rows of a text in their order.

    >>> repeats(np.array([1, 2, 1, 2, 1]), np.zeros(5, dtype=int), stretch=2).tolist()
    [False, False, False, True, True]
    """
    order = np.argsort(texts, kind="stable")
    found = np.zeros(len(tokens), dtype=bool)
    if len(tokens) < stretch:
        return found
    token, text = tokens[order], texts[order]
    windows = np.lib.stride_tricks.sliding_window_view(token, stretch)
    ends = np.flatnonzero(text[stretch - 1 :] == text[: len(text) - stretch + 1])
    # Equal stretches of one text are told from different ones by their 64-bit mixture; the first of each is no repeat.
    keys = _mixed(np.concatenate([text[ends, None], windows[ends]], axis=1))
    _, first = np.unique(keys, return_index=True)
    again = np.ones(len(keys), dtype=bool)
    again[first] = False
    found[order[ends + stretch - 1]] = again
    return found


def longest_run(repeated: np.ndarray[Any, Any], texts: np.ndarray[Any, Any]) -> tuple[int, int]:
    """Return the length of the longest run of repeated tokens of one text, and that text; (0, −1) where none is.

    >>> longest_run(np.array([True, True, False, True]), np.array([7, 7, 7, 7]))
    (2, 7)
    """
    order = np.argsort(texts, kind="stable")
    again, text = repeated[order], texts[order]
    best, of, run = 0, -1, 0
    for place in np.flatnonzero(again).tolist():
        goes_on = place > 0 and again[place - 1] and text[place - 1] == text[place]
        run = run + 1 if goes_on else 1
        if run > best:
            best, of = run, int(text[place])
    return best, of


def _mixed(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Mix each row's integers into 64 bits (the steps of splitmix64); n rows meet by chance with n²/2^65."""
    keys = np.zeros(len(rows), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in rows.T:
            keys = (keys ^ column.astype(np.int64).view(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
            keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            keys ^= keys >> np.uint64(31)
    return keys
