"""Units of a toy regime with all sources of the frontier."""

from __future__ import annotations

from collections.abc import Iterable

from spec_math.studies.frontier import contenders, further
from spec_math.studies.frontier.contenders import Regime, Trees
from spec_math.studies.lengths.units import Key, Units

BUDGETS = (1, 3, 6)


def levels(keys: Iterable[Key]) -> dict[Key, int]:
    """All levels of the toy regime's short blocks for each key."""
    return dict.fromkeys(keys, contenders.LONGEST)


def units_of(own: Regime, budgets: tuple[int, ...] = BUDGETS) -> Units:
    trees = Trees(own, budgets, 0)
    sources = trees, further.beams, further.noise
    models = own.models
    return Units(models.target, models.draft, models.prefixes, contenders.LONGEST, 0, sources, trees.bounds)
