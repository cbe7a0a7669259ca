"""Audits of samplers that were not written against a coin: exact laws, sequential tests, traces, known bugs."""

from spec_math.audit.call import Call
from spec_math.audit.case import Case
from spec_math.audit.counts import Counted, check_sampler, judge_counts
from spec_math.audit.coupled import CoupledTest, Difference, coupled_sample_size, coupled_test
from spec_math.audit.drafter import check_drafter, check_drafter_program
from spec_math.audit.judgement import Judgement, judge
from spec_math.audit.likeness import Likeness, likenesses
from spec_math.audit.smallest import smallest
from spec_math.audit.subject import Subject, subject_of
from spec_math.pathwise.atom import ExploreError, UnseenRandomnessError
from spec_math.pathwise.bisect import law_by_bisection, thresholds
from spec_math.pathwise.exploration import Explored, Partial, as_generator, explore
from spec_math.pathwise.tape import OWN_GRID, LeakError
from spec_math.sequential.bank import bank
from spec_math.sequential.contexts import ContextsTest, context_stopping_times, contexts_test
from spec_math.sequential.dirichlet import pooled_variation, pools
from spec_math.sequential.evidence import Guarantee, NotRejected, product_of_evidence
from spec_math.sequential.identity_test import IdentityTest, identity_test, stopping_times
from spec_math.sequential.sample_size import (
    detectable_tv,
    gap_detected,
    sample_size,
    sequential_detectable_tv,
    sequential_sample_size,
)
from spec_math.sequential.tolerant import TolerantTest, tolerant_test
from spec_math.zoo import ZOO, Diagnosis, Specimen, diagnose, distances

__all__ = [
    "OWN_GRID",
    "ZOO",
    "Call",
    "Case",
    "ContextsTest",
    "Counted",
    "CoupledTest",
    "Diagnosis",
    "Difference",
    "ExploreError",
    "Explored",
    "Guarantee",
    "IdentityTest",
    "Judgement",
    "LeakError",
    "Likeness",
    "NotRejected",
    "Partial",
    "Specimen",
    "Subject",
    "TolerantTest",
    "UnseenRandomnessError",
    "as_generator",
    "bank",
    "check_drafter",
    "check_drafter_program",
    "check_sampler",
    "context_stopping_times",
    "contexts_test",
    "coupled_sample_size",
    "coupled_test",
    "detectable_tv",
    "diagnose",
    "distances",
    "explore",
    "gap_detected",
    "identity_test",
    "judge",
    "judge_counts",
    "law_by_bisection",
    "likenesses",
    "pooled_variation",
    "pools",
    "product_of_evidence",
    "sample_size",
    "sequential_detectable_tv",
    "sequential_sample_size",
    "smallest",
    "stopping_times",
    "subject_of",
    "thresholds",
    "tolerant_test",
]
