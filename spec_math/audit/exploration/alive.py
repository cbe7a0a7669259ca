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

    Where the collector has not aged any object since the last look, those that are younger are looked at alone, and
    what was found then is found again; a generator that nobody else holds by now is let go. Objects that `gc.freeze`
    hid are thawed.

    >>> held = random.Random(0)
    >>> any(one is held for one in generators_alive()), any(one is held for one in generators_alive())
    (True, True)
    """
    if _forget not in gc.callbacks:
        gc.callbacks.append(_forget)
    aged = _aged()
    # Objects are aged in another way from 3.14 on.
    known = _held_elsewhere(_looked.get(aged, [])) if sys.version_info < (3, 14) else []
    _looked.clear()
    if gc.get_freeze_count():  # what was frozen is in no list of objects
        gc.unfreeze()
        known = []
    # A list that is made before the young are listed would list itself, and hold all of them until it is collected.
    objects = gc.get_objects(0) + gc.get_objects(1) if known else []
    if not known or _aged() != aged:
        objects = gc.get_objects()
    wanted = _Wanted()
    # By type: to ask some objects for their class, as isinstance does, has effects.
    found = {id(one): one for one in (*known, *compress(objects, map(wanted.__getitem__, map(type, objects))))}
    # Where something is aged meanwhile, the next look is at all.
    _looked[aged] = list(found.values())
    return list(found.values())


_looked: dict[tuple[int, ...], list[Any]] = {}
"""What was found, by how often the collector had aged objects. It is held here, as NumPy's have no weak references."""


def _aged() -> tuple[int, ...]:
    return tuple(one["collections"] for one in gc.get_stats()[1:])


def _forget(phase: str, info: dict[str, int]) -> None:
    """Let go of what was found before older objects are collected: it is of no use after, and may be garbage."""
    if phase == "start" and info["generation"] > 0:
        _looked.clear()


def _references(listed: list[Any]) -> list[int]:
    return [sys.getrefcount(one) for one in listed]


_ALONE = _references([random.Random(0)])[0]
"""How many references are counted to what a list alone holds."""


def _held_elsewhere(listed: list[Any]) -> list[Any]:
    return [one for one, references in zip(listed, _references(listed), strict=True) if references > _ALONE]


class _Wanted(dict[type[Any], bool]):
    """Whether generators of a type may be drawn from unseen; those that explore made itself ask their own tape."""

    def __missing__(self, kind: type[Any]) -> bool:
        found = issubclass(kind, (random.Random, np.random.BitGenerator)) and not hasattr(kind, "of_a_run")
        self[kind] = found
        return found
