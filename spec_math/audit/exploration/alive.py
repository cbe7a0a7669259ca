"""The generators that a process has: those that a function could draw from unseen.

Source: worked out here.
"""

from __future__ import annotations

import gc
import random
import sys
import weakref
from collections.abc import Iterable
from itertools import chain, compress
from typing import Any

import numpy as np


def generators_alive() -> list[Any]:
    """Return the generators of Python and NumPy that are alive, looking at every object: some tens of milliseconds.

    Only the first look is at all of them. From then on the young are looked at, here and before the collector ages
    them, and what was found among the old is found again; a generator that nobody else holds by now is let go. A
    collection of all objects ends that, and so does a process that takes as many new objects as it had without another
    look. Objects that `gc.freeze` hid are thawed.

    >>> held = random.Random(0)
    >>> any(one is held for one in generators_alive()), any(one is held for one in generators_alive())
    (True, True)
    """
    if _follow not in gc.callbacks:
        gc.callbacks.append(_follow)
    if gc.get_freeze_count():  # what was frozen is in no list of objects
        gc.unfreeze()
    return _of_the_young() or _of_the_young() or _of_all()  # the collector may come between, and is followed


def _of_the_young() -> list[Any]:
    record = _kept.get("record")
    found = [] if record is None else record.with_the_young()
    return _noted(found, record.aged, record.most) if record is not None and found else []


def _of_all() -> list[Any]:
    _kept.clear()  # what a record alone holds is let go of
    aged, objects = _aged(), gc.get_objects()
    return _noted(_generators(objects), aged, len(objects))


def _noted(found: list[Any], aged: tuple[int, ...], most: int) -> list[Any]:
    generators = [one for one in found if type(one) is not _Mark]
    if sys.version_info < (3, 14):  # from then on objects are aged in another way
        _kept["record"] = _Record(generators, aged, most)
    return generators


class _Mark:
    """An object that is young for as long as no object was aged unseen."""


class _Record:
    """The generators among the old objects, and some of the young, after so many collections that aged objects.

    Those of Python are held weakly. NumPy's have no weak references: they are held until the next look, or the next
    collection of all objects.
    """

    def __init__(self, found: Iterable[Any], aged: tuple[int, ...], most: int) -> None:
        self._held: dict[int, Any] = {}
        self._add(found)
        self.aged, self.most, self._looked_at = aged, most, 0
        self.mark, self.followed = _Mark(), False

    def _add(self, found: Iterable[Any]) -> None:
        for one in found:
            try:
                self._held[id(one)] = weakref.ref(one)
            except TypeError:
                self._held[id(one)] = one

    def with_the_young(self) -> list[Any]:
        """Return what is held elsewhere and what is young, with marks; nothing if the collector came between."""
        self._let_go()
        aged, held = self.aged, self._held.copy().values()
        alive = (one() if type(one) is weakref.ref else one for one in held)
        found = _generators(_young(), (one for one in alive if one is not None))
        return found if self.aged == aged == _aged() and any(one is self.mark for one in found) else []

    def _let_go(self) -> None:
        strong = [one for one in self._held.values() if type(one) is not weakref.ref]
        for number, references in zip(map(id, strong), _references(strong), strict=True):
            if references <= _ALONE + 1:
                del self._held[number]

    def follow(self) -> bool:
        """Look at the young before they are aged; say whether all that were aged before are known."""
        young = _young()
        self._looked_at += len(young)
        found = _generators(young) if self._looked_at <= self.most and self.aged == _aged() else []
        self._add(one for one in found if type(one) is not _Mark)
        self.followed = any(one is self.mark for one in found)
        return self.followed

    def aged_once_more(self) -> None:
        """Note that what was looked at has been aged."""
        self.aged, self.mark, self.followed = _aged(), _Mark(), False


_kept: dict[str, _Record] = {}
"""The record of the last look, where one is kept."""


def _follow(phase: str, info: dict[str, int]) -> None:
    """Look at what the collector is about to age. All objects that it collects are let go of: they may be garbage."""
    record = _kept.get("record")
    if record is None or info["generation"] == 0:
        return
    if phase == "start":
        if info["generation"] > 1 or not record.follow():
            _kept.clear()
    elif record.followed:
        record.aged_once_more()


def _aged() -> tuple[int, ...]:
    return tuple(one["collections"] for one in gc.get_stats()[1:])


def _young() -> list[Any]:
    # A list that is made before the young are listed would list itself, and hold all of them until it is collected.
    return gc.get_objects(0) + gc.get_objects(1)


def _references(listed: list[Any]) -> list[int]:
    return [sys.getrefcount(one) for one in listed]


_ALONE = _references([random.Random(0)])[0]
"""How many references are counted to what a list alone holds."""


def _generators(objects: list[Any], known: Iterable[Any] = ()) -> list[Any]:
    """Return the generators that are known or among some objects, each once, and marks."""
    wanted = _Wanted()
    # By type: to ask some objects for their class, as isinstance does, has effects.
    try:
        chosen = list(compress(objects, map(wanted.__getitem__, map(type, objects))))
    except TypeError:  # a class among them that its metaclass keeps from being hashed
        chosen = [one for one in objects if _is_wanted(type(one))]
    return list({id(one): one for one in chain(known, chosen)}.values())


def _is_wanted(kind: type[Any]) -> bool:
    generator = issubclass(kind, (random.Random, np.random.BitGenerator)) and not hasattr(kind, "of_a_run")
    return generator or kind is _Mark


class _Wanted(dict[type[Any], bool]):
    """Whether generators of a type may be drawn from unseen; those that explore made itself ask their own tape."""

    def __missing__(self, kind: type[Any]) -> bool:
        self[kind] = _is_wanted(kind)
        return self[kind]
