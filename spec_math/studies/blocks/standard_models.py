"""Small pairs of models, exact and with zeros and ties, on which a generator of blocks is judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spec_math.arrays import Array
from spec_math.studies.positions.verdicts import pairs

Pair = tuple[Callable[[tuple[int, ...]], Array], Callable[[tuple[int, ...]], Array]]
"""A target and a draft."""

PREFIXES: tuple[tuple[int, ...], ...] = ((), (1, 0))
"""Where a block of these models may begin; after the second, other laws hold than where a prefix is forgotten."""


def models() -> list[Pair]:
    """Return pairs of models on 2 and 3 tokens, each law of them a law of the standard pairs, by the last token.

    >>> len(models()), models()[0][0](()).tolist()
    (8, [Fraction(1, 4), Fraction(3, 4)])
    """
    found: list[Pair] = []
    for size, wanted in ((2, 6), (3, 2)):
        laws = [(target, draft) for target, draft, _ in pairs() if len(target) == size]
        for place in range(wanted):
            rows = [laws[(place + step) % len(laws)] for step in range(size + 1)]
            target, draft = zip(*rows, strict=True)
            found.append((_by_last_token(target), _by_last_token(draft)))
    return found


def _by_last_token(rows: Sequence[Array]) -> Callable[[tuple[int, ...]], Array]:
    return lambda prefix: rows[prefix[-1] + 1 if prefix else 0]
