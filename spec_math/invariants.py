"""Invariants that numbers must satisfy before they are shown: a contradiction is an error that names both numbers.

A claim has the form `lower ≤ upper + bound`, the bound being what the rounding of both sides can explain, or what
sampling can at a stated false-positive rate. Where claims are watched over many positions, the worst is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import log, sqrt
from typing import Any

import numpy as np

ABOVE_OPTIMUM = "no scheme exceeds the optimum of its own drafts"
TEST_ABOVE_ACCEPTANCE = "a test accepts no more often than the emitted token is a draft"
PROBABILITY = "a probability lies in [0, 1]"
GAP = "the mean gap is the mean optimum less the mean acceptance"
MONOTONE = "more drafts are never worse"
TWO_WAYS = "the streamed value is the closed form's"
PROPORTION = "masses in proportion have one answer"
SHIFT_INVARIANCE = "softmax does not change when all logits are raised by one number"
ONE_ERROR = "equal values have one standard error"
REPLACEMENT = "drafts without replacement are no worse than i.i.d. drafts"

RATE = 1e-12
"""The false-positive rate of a claim about sampled values: so seldom does one fail though the numbers are right."""


class BrokenInvariantError(ArithmeticError):
    """Two numbers that contradict each other: a fault of the numbers or of a formula, and nothing is shown of them."""


@dataclass(frozen=True)
class Contradiction:
    """A claim `lower ≤ upper + bound` that does not hold: of what, where, and both numbers."""

    claim: str
    subject: str
    place: str
    lower: float
    upper: float
    bound: float

    def __str__(self) -> str:
        return (
            f"invariant broken: {self.claim}; {self.subject}{self.place}: {self.lower!r} against {self.upper!r}, "
            f"{self.lower - self.upper:.3g} too much, of which rounding or sampling explains {self.bound:.3g}; no "
            "table is shown, as its numbers contradict each other"
        )


@dataclass
class Watch:
    """The worst contradiction of each claim about each subject, over all positions looked at.

    A subject is anything with a name: a scheme, or a text.

    >>> watch = Watch()
    >>> watch.at_most(PROBABILITY, "maximal coupling", (np.array([0.5, 1.25]), 1.0), 0.0, 10)
    >>> watch.hold()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    spec_math.invariants.BrokenInvariantError: invariant broken: a probability lies in [0, 1]; maximal ...
    """

    found: dict[tuple[str, Any, int | None], Contradiction] = field(default_factory=dict[Any, Contradiction])

    def at_most(
        self,
        claim: str,
        subject: Any,
        sides: tuple[Any, Any],
        bound: float,
        first: int | None = None,
        k: int | None = None,
    ) -> None:
        """Claim that the first side is at most the second within a bound, arrays [n] from position `first` on."""
        lower, upper = sides
        excess = np.atleast_1d(lower - upper)
        if excess.max() <= bound:
            return
        row = int(excess.argmax())
        known = self.found.get((claim, subject, k))
        if known is not None and not excess[row] > known.lower - known.upper:
            return
        place = "" if first is None else f" at position {first + row}"
        place += "" if k is None else f", k = {k}"
        form = getattr(subject, "streamed", None)
        place += "" if form is None else f", computed by {form.__module__}.{form.__qualname__}"
        low, high = (float(np.atleast_1d(side)[row if np.ndim(side) else 0]) for side in sides)
        self.found[claim, subject, k] = Contradiction(claim, getattr(subject, "name", subject), place, low, high, bound)

    def agree(self, claim: str, subject: Any, sides: tuple[Any, Any], bound: float, first: int | None, k: int) -> None:
        """Claim that two sides agree within a bound."""
        self.at_most(claim, subject, sides, bound, first, k)
        self.at_most(claim, subject, (sides[1], sides[0]), bound, first, k)

    def hold(self, trusted: Callable[[Any], bool] = lambda _: True) -> None:
        """Fail where a claim about a trusted subject does not hold; a lossy verifier may well exceed its optimum.

        Raises:
            BrokenInvariantError: naming the claim, the subject, the position, both numbers and the gap.
        """
        for (_, subject, _), contradiction in self.found.items():
            if trusted(subject):
                raise BrokenInvariantError(str(contradiction))


def hoeffding(draws: int, span: float = 1.0) -> float:
    """Return how far a mean of independent draws from an interval of this span exceeds its expectation at RATE.

    Hoeffding: P(mean − expectation ≥ ε) ≤ exp(−2 n ε²/span²), for draws that need not have one law.

    >>> round(hoeffding(10_000), 3)
    0.037
    """
    return span * sqrt(log(1 / RATE) / (2 * draws))
