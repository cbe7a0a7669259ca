"""The smallest case on which a known bug shows: its laws, how many drafts and rounds, and the exact distance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from spec_math.arrays import Array, exact
from spec_math.audit.zoo import toy
from spec_math.audit.zoo.engine import Generate, Rows, Text


@dataclass(frozen=True)
class Laws:
    """What a program runs on: rows [V] of target and draft by position, over and over, and the drafts of a round."""

    targets: tuple[Array, ...]
    drafts: tuple[Array, ...]
    lookahead: int = 1

    def target(self, prefix: Text) -> Array:
        """Return the target's law [V] after a prefix.

        >>> TOY.target(()) is toy.TARGET[0]
        True
        """
        return self.targets[len(prefix) % len(self.targets)]

    def draft(self, prefix: Text) -> Array:
        """Return the draft's law [V] after a prefix.

        >>> TOY.draft((0, 0)) is toy.DRAFT[0]
        True
        """
        return self.drafts[len(prefix) % len(self.drafts)]


TOY = Laws(toy.TARGET, toy.DRAFT, toy.LOOKAHEAD)


def laws(target: Sequence[Any], draft: Sequence[Any], lookahead: int = 1) -> Laws:
    """Return laws without context, from masses as `exact` takes them.

    >>> laws(["1/2", "1/2"], ["3/4", "1/4"]).draft((0,)).tolist()
    [Fraction(3, 4), Fraction(1, 4)]
    """
    return Laws((exact(target),), (exact(draft),), lookahead)


def as_it_is(given: Laws) -> Rows:
    """Return the target's rows as what is wanted: a request without options.

    >>> as_it_is(TOY)(()) is toy.TARGET[0]
    True
    """
    return given.target


@dataclass(frozen=True)
class SmallCase:
    """The first of the small cases on which a bug shows: its laws, and how far off the first `horizon` tokens are.

    `program` is the bug on any laws, and `wanted` what a request's options make of a target's rows. Small cases go by
    drafts, tokens and denominators, as `audit.small_cases` has them.
    """

    program: Callable[[Laws], Generate]
    laws: Laws
    horizon: int
    distance: Fraction
    wanted: Callable[[Laws], Rows] = as_it_is
