"""Known bugs of real samplers as small programs, with the contract that each breaks and its exact distance."""

from spec_math.audit.zoo import (
    acceptance,
    blocks,
    controls,
    drafts,
    edges,
    kept,
    ratios,
    replay,
    residuals,
    rounds,
    rows,
    trees,
    warpers,
)
from spec_math.audit.zoo import unmodelled as _unmodelled
from spec_math.audit.zoo.specimen import Diagnosis, Specimen, diagnose, distances

FAMILIES = (
    *(drafts, acceptance, residuals, rows, trees, blocks, replay, edges, rounds),
    *(kept, ratios, warpers, _unmodelled, controls),
)
ZOO: tuple[Specimen, ...] = tuple(specimen for family in FAMILIES for specimen in family.SPECIMENS)

__all__ = ["ZOO", "Diagnosis", "Specimen", "diagnose", "distances"]
