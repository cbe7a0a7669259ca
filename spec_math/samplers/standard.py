"""Standard cases: small pairs of distributions and of models, in Fractions, on which every verifier is judged."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

from spec_math.arrays import Array, exact, proportional_to

Pair = tuple[Any, Any]
"""A target and a draft: distributions [V], rows of distributions by position, or models."""

PREFIXES: tuple[tuple[int, ...], ...] = ((), (1, 0))
"""Where a block of these models may begin; after the second, other laws hold than where a prefix is forgotten."""


@cache
def pairs() -> tuple[tuple[Array, Array, int], ...]:
    """Return (target, draft, k) in Fractions, V ≤ 4, k ≤ 3, with equal, disjoint, tied and one-hot distributions."""
    fixed: list[tuple[list[Any], list[Any], int]] = [
        (["1/4", "3/4"], ["1/2", "1/2"], 1),
        (["4/10", "6/10"], ["3/4", "1/4"], 2),
        ([0, 1], [1, 0], 2),
        (["1/2", "1/2", 0], ["1/2", "1/2", 0], 3),
        (["1/3", "1/3", "1/3"], ["1/6", "1/3", "1/2"], 3),
        (["1/2", 0, "1/2", 0], [0, "1/2", 0, "1/2"], 3),
    ]
    found = [(exact(target), exact(draft), k) for target, draft, k in fixed]
    rng = random.Random(0)
    for number in range(42):
        size = rng.randint(2, 4)
        target, draft = (proportional_to([1 + rng.randint(-1, 6) for _ in range(size - 1)] + [1]) for _ in range(2))
        found.append((target, draft, 1 + number % 3))
    return tuple(found)


def chains(lookahead: int) -> list[Pair]:
    """Return rows by position, target [L + 1, V] and draft [L, V], each row one of the pairs on 2 or 3 tokens."""
    rows = [[(row[0], row[1]) for row in rows] for rows in _rows_of_models(lookahead + 1)]
    return [([target for target, _ in row], [draft for _, draft in row[:-1]]) for row in rows]


def standard_models() -> list[Pair]:
    """Return pairs of models on 2 and 3 tokens, each law of them a law of the standard pairs, by the last token."""
    return [by_last_token(rows) for rows in _rows_of_models()]


def _rows_of_models(wanted: int | None = None) -> list[list[Pair]]:
    """Return rows of pairs on one vocabulary each: V + 1 of them, or as many as are wanted."""
    found: list[list[Pair]] = []
    for size, models in ((2, 6), (3, 2)):
        laws = [(target, draft) for target, draft, _ in pairs() if len(target) == size]
        rows = size + 1 if wanted is None else wanted
        found += [[laws[(place + step) % len(laws)] for step in range(rows)] for place in range(models)]
    return found


def block_cases() -> list[tuple[Any, Any, tuple[tuple[int, ...], ...]]]:
    """Return models with the prefixes after which a block begins: the standard ones, then wider and ending ones."""
    four = [law for law in pairs() if len(law[0]) == 4]
    rows = [four[place % len(four)] for place in range(5)]
    five = [(exact(target), exact(draft)) for target, draft in _FIVE]
    return [
        *((*pair, PREFIXES) for pair in standard_models()),
        (*by_last_token(rows), ((), _LONG)),
        (*by_last_token(five), ((), _LONG[:7])),
        (*by_last_token(rows[:2], end=1), ((), (0,) * 13)),
        (*by_last_token(five, end=4), ((), (1, 0))),
    ]


_LONG = (1, 0, 2, 3, 0, 1, 1, 3, 2, 0, 0, 1, 2)
_FIVE = (
    (("1/6", "1/3", 0, "1/6", "1/3"), (0, 0, "1/4", "1/4", "1/2")),
    (("1/2", 0, "1/4", "1/4", 0), (0, "1/2", 0, 0, "1/2")),
    ((0, "1/5", "2/5", 0, "2/5"), ("1/2", "1/2", 0, 0, 0)),
    (("1/3", 0, 0, "2/3", 0), (0, 0, 0, "1/3", "2/3")),
    ((0, 0, "1/2", "1/4", "1/4"), (0, 0, "1/2", 0, "1/2")),
    (("1/4", "1/4", 0, 0, "1/2"), ("3/4", 0, 0, "1/4", 0)),
)
"""Distributions of targets and drafts on five tokens, sparse so that few paths are walked."""


class ByLastToken:
    """A model whose distributions [V] follow from the last token, taken in turn; `end` is the token after the text."""

    def __init__(self, rows: Sequence[Array], end: int | None = None) -> None:
        self._rows, self.end = rows, end

    def __call__(self, prefix: tuple[int, ...]) -> Array:
        """Return the distribution after a prefix."""
        return self._rows[(prefix[-1] + 1 if prefix else 0) % len(self._rows)]


def by_last_token(rows: Sequence[Any], end: int | None = None) -> tuple[ByLastToken, ByLastToken]:
    """Return the target and the draft of pairs of distributions [V], each by the last token."""
    return ByLastToken([row[0] for row in rows], end), ByLastToken([row[1] for row in rows], end)
