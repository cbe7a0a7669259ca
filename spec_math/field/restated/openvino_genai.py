"""openvino-genai's check of drafted tokens after a text's first step, as its sampler.cpp reads: written down, not run.

Source: openvino.genai 2026.4, src/cpp/src/sampling/sampler.cpp, `validate_candidate` and the loop that calls it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import floor

Row = Sequence[float]
COINS = 101
"""The coin is one of 0, 1/100, …, 1, each as likely."""


def verify(drafts: Sequence[int], reported: Row, row: Callable[[int], Row]) -> list[int]:
    """Return the tokens that a step emits.

    `reported` is the draft's mass of each drafted token; `row(n)` is the target's law after n of them. At each place a
    token of the target's law is drawn first. Where the draft before was rejected, that token is emitted, though its
    law is the one after the rejected draft; else the draft is kept if a coin is at most its reported mass over the
    mass of the drawn token.

    >>> verify([0], [0.5], lambda n: [1.0, 0.0] if n else [0.5, 0.5])
    [0, 0]
    """
    emitted: list[int] = []
    rejected = False
    for place in range(len(drafts) + 1):
        law = row(place)
        drawn = random.choices(range(len(law)), law)[0]
        if rejected or place == len(drafts):
            return [*emitted, drawn]
        ratio = reported[place] / law[drawn]
        if random.random() < min(floor(100 * ratio) + 1, COINS) / COINS:
            emitted.append(drafts[place])
        else:
            rejected = True
    return emitted
