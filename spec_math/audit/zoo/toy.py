"""The toy case that every known bug runs on: five tokens, three target rows, two drafted tokens, laws by position."""

from __future__ import annotations

import numpy as np

from spec_math.arrays import Array, exact, proportional_to

LOOKAHEAD = 2
HORIZON = 3
"""Specimens are judged on the joint law of three tokens, the target completing short blocks."""

_TARGET = (
    ("0.75781518", "0.04836624", "0.00285983", "0.17619516", "0.01476356"),
    ("0.01930981", "0.28816313", "0.55310398", "0.05349670", "0.08592641"),
    ("0.05513431", "0.17728877", "0.03732686", "0.70319307", "0.02705696"),
)
_DRAFT = (
    ("0.32088310", "0.11415404", "0.46717176", "0.07003759", "0.02775354"),
    ("0.09051140", "0.46157259", "0.21263996", "0.16602837", "0.06924767"),
)
# Rounded to eight digits, a row is off by up to 3e-8: it is divided by its sum.
TARGET: tuple[Array, ...] = tuple(proportional_to(exact(row)) for row in _TARGET)
DRAFT: tuple[Array, ...] = tuple(proportional_to(exact(row)) for row in _DRAFT)

DRAFT_LOGITS = np.array(
    [
        [0.18359375, -0.84765625, 0.55859375, -1.3359375, -2.265625],
        [0.5546875, 2.1875, 1.40625, 1.1640625, 0.287109375],
    ]
)
"""The draft's logits as bfloat16 holds them; before rounding, their softmax is DRAFT."""


def target(prefix: tuple[int, ...]) -> Array:
    """Return the target's law [5] after a prefix: its row for that length, over and over.

    >>> target((0, 0, 0)) is target(())
    True
    """
    return TARGET[len(prefix) % len(TARGET)]


def draft(prefix: tuple[int, ...]) -> Array:
    """Return the draft's law [5] after a prefix: its row for that length, over and over.

    >>> draft((0, 0)) is draft(())
    True
    """
    return DRAFT[len(prefix) % len(DRAFT)]
