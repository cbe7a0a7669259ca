"""What all sequential tests share: counting draws, keeping the highest evidence, and an alarm that stays.

Source: e-processes as in Ville 1939.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

from spec_math.audit.sequential.evidence import Guarantee, NotRejected, level, ordinary
from spec_math.verdict import Lossy


class RunningTest(ABC):
    """A test that may be looked at after every draw: it alarms where its evidence first reaches 1/alpha, for good.

    The law: under the claim the evidence is a non-negative martingale, or a supermartingale, from 1, so that it reaches
    1/alpha at some look with probability alpha at most (Ville).

    Raises:
        ValueError: alpha lies outside (0, 1).

    >>> from spec_math.audit.sequential.identity_test import identity_test
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

        >>> from spec_math.audit.sequential.identity_test import identity_test
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

        >>> from spec_math.audit.sequential.identity_test import identity_test
        >>> test = identity_test(["1/2", "1/2"], 0.05)
        >>> test.look_once(10)
        >>> test.samples, test.alarm
        (10, None)
        """
        self.samples += draws
        now = self.log_evidence
        self.log_peak = max(self.log_peak, now)
        if self.alarm is None and now >= self.threshold:
            self.alarm = self.samples
