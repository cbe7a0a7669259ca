"""Somebody else's sampler: its exact law, what breaks in it, and the bugs that are known."""

from spec_math.audit.atom import ExploreError
from spec_math.audit.bisect import law_by_bisection, thresholds
from spec_math.audit.drafter import check_drafter, check_drafter_program
from spec_math.audit.explore import Explored, Partial, as_generator, explore
from spec_math.audit.tape import OWN_GRID, LeakError
from spec_math.audit.zoo import ZOO, Diagnosis, Specimen, diagnose, distances

__all__ = [
    "OWN_GRID",
    "ZOO",
    "Diagnosis",
    "ExploreError",
    "Explored",
    "LeakError",
    "Partial",
    "Specimen",
    "as_generator",
    "check_drafter",
    "check_drafter_program",
    "diagnose",
    "distances",
    "explore",
    "law_by_bisection",
    "thresholds",
]
