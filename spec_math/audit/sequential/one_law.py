"""What the sequential tests share whose draws all have one target law.

Source: worked out here.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.audit.sequential.running_test import RunningTest
from spec_math.scheme import is_index


class OneLawTest(RunningTest):
    """A test of draws that are claimed to have one target law [V], in shares of its sum.

    Raises:
        ValueError: alpha lies outside (0, 1).

    >>> from spec_math.audit.sequential.tolerant import tolerant_test
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
        """How often each token was drawn [V]."""

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
