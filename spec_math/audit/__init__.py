"""Somebody else's sampler: its exact law, what breaks in it, and the bugs that are known."""

from spec_math.audit.atom import ExploreError
from spec_math.audit.bank import bank
from spec_math.audit.bisect import law_by_bisection, thresholds
from spec_math.audit.contexts import ContextsTest, contexts_test
from spec_math.audit.drafter import check_drafter, check_drafter_program
from spec_math.audit.evidence import Promise, Unrefuted, product
from spec_math.audit.explore import Explored, Partial, as_generator, explore
from spec_math.audit.identity_test import IdentityTest, identity_test
from spec_math.audit.sample_size import (
    detectable_tv,
    gap_detected,
    sample_size,
    sequential_detectable_tv,
    sequential_sample_size,
)
from spec_math.audit.tape import OWN_GRID, LeakError
from spec_math.audit.zoo import ZOO, Diagnosis, Specimen, diagnose, distances

__all__ = [
    "OWN_GRID",
    "ZOO",
    "ContextsTest",
    "Diagnosis",
    "ExploreError",
    "Explored",
    "IdentityTest",
    "LeakError",
    "Partial",
    "Promise",
    "Specimen",
    "Unrefuted",
    "as_generator",
    "bank",
    "check_drafter",
    "check_drafter_program",
    "contexts_test",
    "detectable_tv",
    "diagnose",
    "distances",
    "explore",
    "gap_detected",
    "identity_test",
    "law_by_bisection",
    "product",
    "sample_size",
    "sequential_detectable_tv",
    "sequential_sample_size",
    "thresholds",
]
