"""How far a long exploration is: the paths walked, the mass that they hold, and about how many there are in all.

Source: worked out here.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

LOGGER = logging.getLogger("spec_math.audit.exploration")
"""Who listens to it at the level INFO is told every five seconds; the command `audit` does."""

EVERY = 5.0
"""Seconds before the first word, and between two."""


class Estimate:
    """Tells a logger, every five seconds, how far an exploration is.

    >>> told, seconds = [], iter([0.0, 4.0, 6.0, 8.0])
    >>> estimate = Estimate(told.append, lambda: next(seconds))
    >>> for paths in (10, 20, 30):
    ...     estimate.at(paths, lambda: 0.01 * paths)
    >>> told
    ['20 paths in 6 s hold 0.2 of the mass: about 100 paths and 30 s in all']
    """

    def __init__(self, tell: Callable[[str], None] = LOGGER.info, now: Callable[[], float] = time.monotonic) -> None:
        self._tell, self._now = tell, now
        self._begun = self._told = now()

    def at(self, paths: int, mass: Callable[[], float]) -> None:
        """Take in how many paths were walked and how to sum the mass that they hold."""
        now = self._now()
        if now - self._told < EVERY:
            return
        self._told = now
        self._tell(said(paths, mass(), now - self._begun))


def said(paths: int, mass: float, seconds: float) -> str:
    """Say how far an exploration is; what is left is taken to be like what was walked.

    >>> said(1200, 0.25, 6.0)
    '1,200 paths in 6 s hold 0.25 of the mass: about 4,800 paths and 24 s in all'
    """
    so_far = f"{paths:,} paths in {seconds:,.0f} s hold {mass:.3g} of the mass"
    if mass <= 0:
        return so_far
    return f"{so_far}: about {paths / mass:,.0f} paths and {seconds / mass:,.0f} s in all"
