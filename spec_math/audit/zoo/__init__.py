"""Known bugs of real samplers as small programs, with the contract that each breaks and its exact distance."""

from spec_math.audit.zoo import acceptance, blocks, controls, drafts, edges, replay, residuals, rounds, rows, trees
from spec_math.audit.zoo import unmodelled as _unmodelled
from spec_math.audit.zoo.specimen import Diagnosis, Specimen, diagnose, distances

ZOO: tuple[Specimen, ...] = tuple(
    specimen
    for family in (drafts, acceptance, residuals, rows, trees, blocks, replay, edges, rounds, _unmodelled, controls)
    for specimen in family.SPECIMENS
)

__all__ = ["ZOO", "Diagnosis", "Specimen", "diagnose", "distances"]
