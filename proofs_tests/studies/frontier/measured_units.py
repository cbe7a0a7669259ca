"""Units of a toy regime with all sources of the frontier."""

from __future__ import annotations

from spec_math.studies.frontier import contenders, further
from spec_math.studies.frontier.contenders import Regime, Trees
from spec_math.studies.lengths.units import Units, distinct_roots

BUDGETS = (1, 3, 6)


def units_of(own: Regime, budgets: tuple[int, ...] = BUDGETS) -> Units:
    trees = Trees(own, budgets, 0)
    sources = trees, distinct_roots, further.beams, further.noise, further.plans, further.branching
    models = own.models
    return Units(models.target, models.draft, models.prefixes, contenders.LONGEST, 0, sources, trees.bounds)
