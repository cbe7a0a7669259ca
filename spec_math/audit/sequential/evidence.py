"""What a sequential test reports: log evidence, its guarantee, and a verdict that may be asked for at any time.

Source: e-processes as in Ville 1939 and Shafer and Vovk 2019.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Guarantee:
    """The guarantee of a test: its false-positive rate, what it finds with how many draws, and what it cannot see.

    `false_alarms` bounds the probability of an alarm at any time at all on a right sampler, however often one looks.
    A sampler whose law is `detectable` or more away in total variation is found within `samples` draws with probability
    `power`; None where that distance exceeds 1, so that so few draws promise nothing. `of` names the distance where it
    is another.

    Made by `NotRejected.promise`.
    """

    false_alarms: float
    detectable: float | None
    samples: int
    power: float
    undetectable: tuple[str, ...]
    of: str = "a total variation"

    def __str__(self) -> str:
        found = (
            "promises to find nothing yet"
            if self.detectable is None
            else f"finds {self.of} of {self.detectable:.3g} or more with probability {self.power:g}"
        )
        unseen = "".join(f"\n  does not see {case}" for case in self.undetectable)
        return (
            f"alarms on a right sampler with probability {self.false_alarms:g} at most, at any time; "
            f"within {self.samples:,} draws it {found}{unseen}"
        )


@dataclass(frozen=True)
class NotRejected:
    """No alarm: the draws so far do not refute the claim. That is no proof of it; `promise` says what it is worth.

    Made by `RunningTest.verdict`.
    """

    samples: int
    log_evidence: float
    promised: Callable[[int], Guarantee] = field(repr=False)

    def __bool__(self) -> bool:
        return True

    @property
    def promise(self) -> Guarantee:
        """What the test promises for the draws so far; worked out when asked for, as one may look after each draw."""
        return self.promised(self.samples)

    def __str__(self) -> str:
        return f"NotRejected after {self.samples:,} draws: {self.promise}"


def level(alpha: Any, name: str = "alpha, the rate of false alarms,") -> float:
    """Return a false-alarm rate, or another probability, as a float: a number in (0, 1).

    Raises:
        ValueError: it is outside (0, 1).

    >>> level(0.05)
    0.05
    """
    value = float(alpha)
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie in (0, 1); got {alpha}")
    return value


def log_mean(logs: Any, weights: Any) -> float:
    """Return log Σ weight · exp(log), for logs [N] and the logs of the weights [N]; −inf counts as evidence 0.

    >>> round(log_mean([0.0, 0.0], np.log([0.5, 0.5])), 12)
    0.0
    """
    terms = np.asarray(logs, dtype=float) + np.asarray(weights, dtype=float)
    top = float(terms.max())
    if math.isinf(top):
        return top
    return top + math.log(float(np.exp(terms - top).sum()))


def ordinary(log_evidence: float) -> float:
    """Return evidence on the ordinary scale; inf where a float cannot hold it.

    >>> ordinary(0.0), ordinary(1000.0)
    (1.0, inf)
    """
    return math.exp(log_evidence) if log_evidence < 709 else math.inf


def product_of_evidence(log_evidences: Sequence[float]) -> float:
    """Return the log of the product of the e-values of independent shards: the sum of their logs.

    Valid where the shards' draws are independent and each was stopped by its own draws alone: the mean of a product of
    independent e-values is the product of their means. Not valid for a choice of shards that depends on what they hold.

    Raises:
        ValueError: a log is NaN, or one shard holds +inf and another −inf.

    >>> product_of_evidence([0.5, 1.0])
    1.5
    """
    total = float(sum(log_evidences))
    if math.isnan(total):
        raise ValueError(f"logs of evidence must be numbers, and not +inf beside -inf; got {list(log_evidences)}")
    return total


def drawn_tokens(tokens: Any, size: int) -> Any:
    """Return drawn tokens as an array of indices [n]; each must lie in 0..size − 1.

    Raises:
        TypeError: they are not indices.
        ValueError: one lies outside.

    >>> drawn_tokens([0, 1], 2).tolist()
    [0, 1]
    """
    drawn = np.atleast_1d(np.asarray(tokens))
    if drawn.size and drawn.dtype.kind not in "iu":
        raise TypeError(f"tokens are indices; got an array of {drawn.dtype}")
    if drawn.size and (int(drawn.min()) < 0 or int(drawn.max()) >= size):
        bad = drawn[(drawn < 0) | (drawn >= size)][0]
        raise ValueError(f"tokens must lie in 0..{size - 1}; got {bad}")
    return drawn.astype(np.int64).reshape(-1)
