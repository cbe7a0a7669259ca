"""Claims of theorems other than losslessness: that what a program does is what a formula gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spec_math.number_types import as_text


@dataclass(frozen=True)
class Holds:
    """The claim is true of these laws."""

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True)
class Fails:
    """The claim is false of these laws: `what` is `found` by the program, where the formula says `wanted`."""

    what: str
    found: Any
    wanted: Any

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return f"{self.what} is {as_text(self.found)}, not {as_text(self.wanted)}"


def equal(pairs: Mapping[str, tuple[Any, Any]]) -> Holds | Fails:
    """Compare what a program does with what a formula says, {what: (program, formula)}.

    >>> str(equal({"the acceptance": (1, 2)}))
    'the acceptance is 1, not 2'
    """
    for what, (found, wanted) in pairs.items():
        if found != wanted:
            return Fails(what, found, wanted)
    return Holds()
