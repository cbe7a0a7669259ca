"""The evidence of a sequential test: its log, its guarantee, its verdict at any time, and running tests.

Source: e-processes as in Ville 1939 and Shafer and Vovk 2019.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.scheme import is_index
from spec_math.verdict import Lossy


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
        """The promise of the test for the draws so far; worked out when asked for, as one may look after each draw."""
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


def log_shares(first: int, second: int = 0) -> Array:
    """Return the logs of equal shares of 1 [first + second]: half for the first and half for the second, if any.

    >>> np.exp(log_shares(2, 1)).round(12).tolist()
    [0.25, 0.25, 0.5]
    """
    if not second:
        return np.full(first, -math.log(first))
    return -np.log(np.repeat([2.0 * first, 2.0 * second], [first, second]))


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


class RunningTest(ABC):
    """A test that may be looked at after every draw: it alarms where its evidence first reaches 1/alpha, for good.

    The law: under the claim the evidence is a non-negative martingale, or a supermartingale, from 1, so that it reaches
    1/alpha at some look with probability alpha at most (Ville).

    Raises:
        ValueError: alpha lies outside (0, 1).

    >>> from spec_math.sequential.identity_test import identity_test
    >>> test = identity_test(["1/2", "1/2"], 0.05)
    >>> isinstance(test, RunningTest), round(test.threshold, 3)
    (True, 2.996)
    """

    def __init__(self, alpha: Any) -> None:
        self.alpha = level(alpha)
        self.samples = 0
        self.log_peak = 0.0
        self.alarm: int | None = None

    @property
    @abstractmethod
    def log_evidence(self) -> float:
        """The log of the evidence now."""

    @abstractmethod
    def promise(self, samples: int | None = None, power: float = 0.99) -> Guarantee:
        """Return what the test promises for that many draws, by default those so far."""

    @abstractmethod
    def refuted(self) -> Lossy:
        """Return what an alarm says, with a counterexample where there is one."""

    @property
    def threshold(self) -> float:
        """The log of the evidence at which the test alarms, log 1/alpha."""
        return -math.log(self.alpha)

    @property
    def evidence(self) -> float:
        """The evidence now on the ordinary scale; under the claim its mean is at most 1."""
        return ordinary(self.log_evidence)

    @property
    def verdict(self) -> Lossy | NotRejected:
        """`Lossy` once the evidence has reached 1/alpha at a look, and ever after; else `NotRejected`."""
        return NotRejected(self.samples, self.log_evidence, self.promise) if self.alarm is None else self.refuted()

    def looked(self, draws: int, peak: float, first: int) -> None:
        """Note draws that were looked at one by one: the highest log evidence, and the place of the first alarm, or −1.

        >>> from spec_math.sequential.identity_test import identity_test
        >>> test = identity_test(["1/2", "1/2"], 0.05)
        >>> test.looked(10, 4.0, 6)
        >>> test.samples, test.alarm
        (10, 7)
        """
        if first >= 0 and self.alarm is None:
            self.alarm = self.samples + first + 1
        self.samples += draws
        self.log_peak = max(self.log_peak, peak)

    def look_once(self, draws: int) -> None:
        """Note a batch of draws that has been taken in, and look at the evidence after it.

        >>> from spec_math.sequential.identity_test import identity_test
        >>> test = identity_test(["1/2", "1/2"], 0.05)
        >>> test.look_once(10)
        >>> test.samples, test.alarm
        (10, None)
        """
        now = self.log_evidence
        self.looked(draws, now, draws - 1 if now >= self.threshold else -1)


class OneLawTest(RunningTest):
    """A test of draws that are claimed to have one target law [V], in shares of its sum.

    Raises:
        ValueError: alpha lies outside (0, 1).

    >>> from spec_math.sequential.tolerant import tolerant_test
    >>> test = tolerant_test(["1/4", "3/4"], 0.05, 0.1)
    >>> test.update_many([0, 0, 0, 1])
    >>> isinstance(test, OneLawTest), test.furthest_off()
    (True, (0, 0.75))
    """

    def __init__(self, target: Array, alpha: Any) -> None:
        super().__init__(alpha)
        self.target = target

    @property
    @abstractmethod
    def counts(self) -> Array:
        """The number of draws of each token [V]."""

    @abstractmethod
    def update_many(self, tokens: Any) -> None:
        """Take in draws [n] in the order they were made, and look after each."""

    def update(self, token: Any) -> None:
        """Take in one draw and look.

        Raises:
            TypeError, ValueError: the token is not an index of the law.
        """
        if not is_index(token):
            raise TypeError(f"a token is an index; got {token!r} of type {type(token).__name__}")
        self.update_many([token])

    def furthest_off(self) -> tuple[int, float]:
        """Return the token whose share of the draws is furthest from the target's, and that share."""
        shares = self.counts / max(self.samples, 1)
        token = int(np.argmax(np.abs(shares - self.target)))
        return token, float(shares[token])
