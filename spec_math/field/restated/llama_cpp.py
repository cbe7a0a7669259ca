"""The stochastic check of llama.cpp's example `speculative`, for one drafted sequence: written down, not run.

Source: llama.cpp, examples/speculative/speculative.cpp, `main`; common/sampling.cpp for the order of its filters.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

Row = Sequence[float]
Candidates = list[tuple[int, float]]
"""Tokens with their masses, the likeliest first, as the sampler's filters leave them."""


def candidates(law: Row, top_k: int, top_p: float, heat: float) -> Candidates:
    """Return what the filters leave of a law: top-k, then top-p, then the temperature.

    >>> candidates([0.25, 0.5, 0.25], 2, 1.0, 1.0)
    [(1, 0.6666666666666666), (0, 0.3333333333333333)]
    """
    listed = sorted(((token, mass) for token, mass in enumerate(law) if mass > 0), key=lambda one: -one[1])[:top_k]
    whole, reached, many = sum(mass for _, mass in listed), 0.0, 0
    while many < len(listed) and reached < top_p:
        reached += listed[many][1] / whole
        many += 1
    heated = [(token, mass ** (1 / heat)) for token, mass in listed[:many]]
    whole = sum(mass for _, mass in heated)
    return [(token, mass / whole) for token, mass in heated]


def draft_token(listed: Candidates) -> int:
    """Return the token that is drafted from the draft's candidates.

    >>> draft_token([(1, 0.75), (0, 0.25)])
    1
    """
    return listed[0][0]


def verify(drafts: Sequence[int], reported: Sequence[Candidates], row: Callable[[int], Candidates]) -> list[int]:
    """Return the tokens that a step emits; `row(n)` are the target's candidates after n of the drafts.

    >>> verify([0], [[(0, 1.0)]], lambda n: [(n, 1.0)])
    [0, 1]
    """
    for place, token in enumerate(drafts):
        target, draft = row(place), reported[place]
        if random.random() <= _mass(target, token) / _mass(draft, token):
            continue
        target, draft = sorted(target), sorted(draft)
        left = [max(0.0, mass - (draft[i][1] if i < len(draft) else 0.0)) for i, (_, mass) in enumerate(target)]
        return [*drafts[:place], _drawn([token for token, _ in target], left)]
    target = row(len(drafts))
    return [*drafts, _drawn([token for token, _ in target], [mass for _, mass in target])]


def _mass(listed: Candidates, token: int) -> float:
    return next((mass for one, mass in listed if one == token), 0.0)


def _drawn(tokens: Sequence[int], masses: Sequence[float]) -> int:
    return random.choices(tokens, masses)[0]
