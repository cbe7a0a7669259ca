"""Looks for generators against looks at every object, in a process of its own, which holds few objects."""

from __future__ import annotations

import gc
import random
from typing import Any

import numpy as np

from spec_math.pathwise.generators import generators_alive


class Cyclic(random.Random):
    """A generator that holds itself: only the collector can end it."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.itself = self


MAKES = (random.Random, Cyclic, np.random.default_rng, np.random.PCG64, np.random.MT19937, np.random.RandomState)
THRESHOLDS = {"as Python does": (700, 10, 10), "never": (0, 10, 10)}
"""When the collector looks by itself."""


def of_all_objects() -> set[int]:
    """The same by looking at every object, each time, through classes as isinstance sees them."""
    kinds = random.Random, np.random.BitGenerator
    return {id(one) for one in gc.get_objects() if issubclass(type(one), kinds) and not hasattr(one, "of_a_run")}


def differences(steps: int) -> int:
    """Let generators come and go, in every order with looks and collections of each generation, followed or not.

    Return how often a look found others than a look at every object.
    """
    order, held, off = random.Random(0), list[Any](), 0
    for step in range(steps):
        held.append(order.choice(MAKES)(step))
        if order.random() < 0.5:
            del held[order.randrange(len(held))]
        if order.random() < 0.3:
            gc.collect(order.choice((0, 1, 1, 1, 2)))
        if order.random() < 0.05:
            gc.freeze()
            gc.unfreeze()
        if order.random() < 0.05:
            gc.callbacks.clear()
        if order.random() < 0.3:
            off += {id(one) for one in generators_alive()} != of_all_objects()
    gc.freeze()
    return off + ({id(one) for one in generators_alive()} != of_all_objects())


def told() -> dict[str, int]:
    """Return the differences for each way in which the collector looks."""
    found: dict[str, int] = {}
    for name, threshold in THRESHOLDS.items():
        gc.set_threshold(*threshold)
        found[name] = differences(100)
    return found
