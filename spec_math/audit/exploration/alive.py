"""The generators that a process has: those that a function could draw from unseen.

Source: worked out here.
"""

from __future__ import annotations

import gc
import random
import sys
from itertools import compress
from typing import Any

import numpy as np


def generators_alive() -> list[Any]:
    """Return the generators of Python and NumPy that are alive, looking at every object: some tens of milliseconds.

    Where the collector has not aged any object since the last look, those that are younger are looked at alone. What
    was found then is kept, and so are the generators themselves. Objects that `gc.freeze` hid are thawed.

    >>> held = random.Random(0)
    >>> any(one is held for one in generators_alive()), any(one is held for one in generators_alive())
    (True, True)
    """
    aged = tuple(one["collections"] for one in gc.get_stats()[1:])
    known: list[Any] = _looked.get(aged, [])
    if gc.get_freeze_count():  # what was frozen is in no list of objects
        gc.unfreeze()
        known = []
    # Objects are aged in another way from 3.14 on.
    young = known and sys.version_info < (3, 14)
    objects = [*gc.get_objects(0), *gc.get_objects(1)] if young else gc.get_objects()
    wanted = _Wanted()
    # By type: to ask some objects for their class, as isinstance does, has effects.
    found = {id(one): one for one in (*known, *compress(objects, map(wanted.__getitem__, map(type, objects))))}
    _looked.clear()
    _looked[tuple(one["collections"] for one in gc.get_stats()[1:])] = list(found.values())
    return list(found.values())


_looked: dict[tuple[int, ...], list[Any]] = {}


class _Wanted(dict[type[Any], bool]):
    """Whether generators of a type may be drawn from unseen; those that explore made itself ask their own tape."""

    def __missing__(self, kind: type[Any]) -> bool:
        found = issubclass(kind, (random.Random, np.random.BitGenerator)) and not hasattr(kind, "of_a_run")
        self[kind] = found
        return found
