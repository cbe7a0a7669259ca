"""What stands in many places, looked at once for all that ask what stands where.

Source: our own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from spec_math.audit.exploration.stand_ins import Place, all_held


class Looked:
    """Places, and what stood in each when they were looked at, by identity and by type: no object is kept alive.

    >>> one, other = ({"a": print}, "a"), ({"b": 3.5}, "b")
    >>> looked = Looked([one, other])
    >>> looked.that_hold({id(print)}) == [one], looked.of_types({float}) == [other], looked.that_hold({0})
    (True, True, [])
    """

    def __init__(self, where: Sequence[Place]) -> None:
        values = all_held(where)
        # Types too by their identity: a metaclass may keep its classes from being hashed.
        self._where, self._numbers, self._types = where, list(map(id, values)), list(map(id, map(type, values)))
        self._all = {*self._numbers, *self._types}

    def that_hold(self, numbers: Collection[int]) -> list[Place]:
        """Return the places in which one of these objects stands, told by id()."""
        return self._among(self._numbers, self._all.intersection(numbers))

    def of_types(self, types: Collection[type[Any]]) -> list[Place]:
        """Return the places in which an object of one of these types stands."""
        return self._among(self._types, self._all.intersection(map(id, types)))

    def _among(self, row: Sequence[int], wanted: set[int]) -> list[Place]:
        return [place for place, one in zip(self._where, row, strict=True) if one in wanted] if wanted else []
