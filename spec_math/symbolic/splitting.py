"""Split all laws into regions on which a statement has one verdict each, by running it with symbols.

Source: worked out here; regions are discarded by z3, de Moura and Bjorner 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from spec_math.symbolic import signs
from spec_math.symbolic.number import Number, number
from spec_math.symbolic.points import Points
from spec_math.symbolic.region import EmptyRegion, Region, Space, Split
from spec_math.symbolic.theorem import Counterexample, Theorem, decided, tried
from spec_math.verdict import Reason, Undecided

TRIED = 40
"""How many rational laws of a region are tried for a counterexample."""
ENOUGH = 3
"""After so many laws on which the statement gives no verdict, no more are tried."""


class Judged(NamedTuple):
    """A region, and what the statement says of all its laws: a verdict, or None outside of its hypotheses."""

    region: Region
    verdict: Any


def regions(theorem: Theorem) -> Iterator[Judged]:
    """Split the laws of a theorem into regions with one verdict each; every law lies in exactly one of them.

    >>> from fractions import Fraction
    >>> from spec_math import check_lossless
    >>> from spec_math.token_level import single
    >>> def statement(target, draft):
    ...     return check_lossless(single.verify, target, draft)
    >>> law_pairs = Theorem("maximal coupling", "all laws on 2 tokens", statement, {"t": 2, "d": 2})
    >>> sum(region.holds((Fraction(1, 2), Fraction(1, 3))) for region, _ in regions(law_pairs))
    1
    """
    return judged(theorem, opened(theorem))


def judged(theorem: Theorem, root: Region, watch: Callable[[int, int], None] | None = None) -> Iterator[Judged]:
    """Split a region as `regions` does; `watch` is called with how many regions are judged, and how many wait.

    Raises:
        Spent: the time of the region's space is used up.

    >>> least = Theorem("", "", lambda law: min(law) <= max(law), {"t": 2})
    >>> all(verdict for _, verdict in judged(least, opened(least)))
    True
    """
    waiting, done = [root], 0
    while waiting:
        root.space.look_at_the_clock()
        region = waiting.pop()
        try:
            verdict = _followed(theorem, region, waiting)
        except Split as split:
            waiting += reversed(region.parts(split))
            continue
        except EmptyRegion:
            continue
        held = verdict is None or bool(verdict)
        # A chance that is 0 here was followed, perhaps, or no law is here at all. A point that refutes tells at once.
        if not held and not region.strict and not isinstance(counterexample(theorem, region), Counterexample):
            if not region.impossible():
                waiting.append(region.made_strict())
            continue
        done += 1
        yield Judged(region, verdict)
        if watch is not None:
            watch(done, len(waiting))


def opened(theorem: Theorem, limit: float | None = None) -> Region:
    """Return the region of all laws of a theorem; `limit` is in seconds of processor time from now.

    >>> sorted(map(str, opened(Theorem("", "", print, {"t": 2}, ("s",))).conditions))
    ['s - 1', 't(0)', 't(0) - 1']
    """
    sizes = list(theorem.laws.values())
    names = [f"{name}({token})" for name, size in theorem.laws.items() for token in range(size - 1)]
    points = Points(sizes, len(theorem.scalars))
    space = Space([*names, *theorem.scalars], points, limit)
    ring = space.field.ring
    conditions: dict[Any, int] = {}
    place = 0
    for size in sizes:
        rest = ring.number(-1)
        for variable in ring.variables[place : place + size - 1]:
            conditions[variable] = signs.NONNEGATIVE
            rest = ring.plus(rest, variable)
        if size > 1:
            conditions[rest] = signs.NONPOSITIVE
        place += size - 1
    for variable in ring.variables[place:]:
        conditions[ring.plus(variable, ring.number(-1))] = signs.NONNEGATIVE
    return Region(space, conditions, space.field.variables, np.arange(len(points)))


def counterexample(theorem: Theorem, region: Region) -> Counterexample | Undecided | None:
    """Look for rational laws of the region on which the statement, run with Fractions, is false.

    Raises:
        Spent: the time of the region's space is used up.

    >>> positive = Theorem("", "", lambda law: law[0] > 0, {"t": 2})
    >>> print(counterexample(positive, opened(positive)))
    t = (0, 1): False
    """
    left_open: list[Undecided] = []
    for point in islice(region.points(), TRIED):
        region.space.look_at_the_clock()
        answer = tried(theorem, point)
        if isinstance(answer, Counterexample):
            return answer
        if answer is not None:
            left_open.append(answer)
        if len(left_open) == ENOUGH:
            break
    return left_open[0] if left_open else None


def _followed(theorem: Theorem, region: Region, waiting: list[Region]) -> Any:
    """Run the statement with the symbols of a region; one that asks them for what they have not is left open.

    A question with two answers may leave the region smaller, and the rest of it waiting.
    """
    region.running, region.later = True, waiting
    try:
        verdict = decided(theorem, [number(value, region) for value in region.values])
        if isinstance(verdict, Number):
            verdict = bool(verdict)
    except Split:
        if region.refused is None:
            raise
        verdict = None
    finally:
        region.running, region.later = False, None
    if region.refused is not None:  # caught on its way here, perhaps: what came after it is worth nothing
        return Undecided(Reason.NOT_JUDGED, str(region.refused))
    if region.open is not None:
        raise region.open
    return verdict
