"""What Python's `random` itself makes of the arguments of a draw: which it refuses, and how it looks up weights."""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from spec_math.audit.exploration.atom import Atom, ExploreError
from spec_math.audit.exploration.clock import Clock
from spec_math.audit.exploration.uniform import Uniform, rational, uniform

_LEAST = Fraction(1, 1 << 1000)
"""Weights that sum to less are rounded beyond what a verdict forgives."""

_CORE: Any = random.Random.__mro__[1]
_PLAIN = vars(random.Random)
_NAMES = ("randrange", "randint", "choice", "choices", "sample", "expovariate", "_randbelow")
_ASIDE: Any = type("Aside", (_CORE,), {name: _PLAIN[name] for name in _NAMES})()
"""Python's own methods, as they are before a run, on a generator that is nobody's."""


def check(name: str, *args: Any, **kwargs: Any) -> None:
    """Refuse the arguments of a draw that Python refuses.

    Raises:
        Exception: what Python raises.

    >>> check("randrange", 3)
    """
    getattr(_ASIDE, name)(*args, **kwargs)


def check_weights(population: Any, weights: Sequence[Any] | None, totals: Any) -> None:
    """Refuse what random.choices refuses, where no weight is itself a random number; `totals` are what it was given.

    Raises:
        TypeError, ValueError: as Python does.

    >>> check_weights([0, 1], [1, 2], None)
    """
    sums = totals if isinstance(totals, Sequence) else ()  # Python refuses an iterator, and none of it is taken here
    if not any(isinstance(one, Uniform | Clock) for one in (*(weights or ()), *sums)):
        _ASIDE.choices(population, weights, cum_weights=totals)


def looked_up(atom: Atom, weights: Sequence[Any], summed: bool) -> int:
    """Return the place among weights, or among their sums, that a uniform falls into, as random.choices finds it.

    Raises:
        ExploreError: the weights are next to nothing.

    >>> from spec_math.audit.exploration.tape import Tape
    >>> looked_up(Atom(Tape(), "u", None), [0, 1], False)
    1
    """
    sums = [rational(mass, atom) for mass in weights]
    sums = sums if summed else list(accumulate(sums))
    if sums[-1] < _LEAST:
        raise ExploreError(f"explore does not follow choices by weights that sum to {float(sums[-1])}")
    if sums[0] >= 0 and all(low <= high for low, high in pairwise(sums)):
        return atom.cell(sums, f"choices by {atom.name}")
    return bisect(sums, uniform(atom) * sums[-1], 0, len(sums) - 1)  # sums that do not rise are searched all the same
