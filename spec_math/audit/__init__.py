"""Audits of samplers that were not written against a coin: exact distributions, sequential tests, known bugs."""

from typing import TYPE_CHECKING

from spec_math.lazy import face

if TYPE_CHECKING:
    from spec_math.audit.coupled import CoupledTest as CoupledTest
    from spec_math.audit.coupled import Difference as Difference
    from spec_math.audit.coupled import coupled_sample_size as coupled_sample_size
    from spec_math.audit.coupled import coupled_test as coupled_test
    from spec_math.pathwise.atom import ExploreError as ExploreError
    from spec_math.pathwise.atom import UnseenRandomnessError as UnseenRandomnessError
    from spec_math.pathwise.bisect import law_by_bisection as law_by_bisection
    from spec_math.pathwise.bisect import thresholds as thresholds
    from spec_math.pathwise.exploration import Explored as Explored
    from spec_math.pathwise.exploration import Partial as Partial
    from spec_math.pathwise.exploration import as_generator as as_generator
    from spec_math.pathwise.exploration import explore as explore
    from spec_math.pathwise.tape import OWN_GRID as OWN_GRID
    from spec_math.pathwise.tape import LeakError as LeakError
    from spec_math.samplers.call import Call as Call
    from spec_math.samplers.case import Case as Case
    from spec_math.samplers.counts import Counted as Counted
    from spec_math.samplers.counts import check_sampler as check_sampler
    from spec_math.samplers.counts import judge_counts as judge_counts
    from spec_math.samplers.drafter import check_drafter as check_drafter
    from spec_math.samplers.drafter import check_drafter_program as check_drafter_program
    from spec_math.samplers.judgement import Judgement as Judgement
    from spec_math.samplers.judgement import judge as judge
    from spec_math.samplers.likeness import Likeness as Likeness
    from spec_math.samplers.likeness import likenesses as likenesses
    from spec_math.samplers.smallest import smallest as smallest
    from spec_math.samplers.subject import Subject as Subject
    from spec_math.samplers.subject import subject_of as subject_of
    from spec_math.sequential.bank import bank as bank
    from spec_math.sequential.contexts import ContextsTest as ContextsTest
    from spec_math.sequential.contexts import context_stopping_times as context_stopping_times
    from spec_math.sequential.contexts import contexts_test as contexts_test
    from spec_math.sequential.dirichlet import pooled_variation as pooled_variation
    from spec_math.sequential.dirichlet import pools as pools
    from spec_math.sequential.evidence import Guarantee as Guarantee
    from spec_math.sequential.evidence import NotRejected as NotRejected
    from spec_math.sequential.evidence import product_of_evidence as product_of_evidence
    from spec_math.sequential.identity_test import IdentityTest as IdentityTest
    from spec_math.sequential.identity_test import identity_test as identity_test
    from spec_math.sequential.identity_test import stopping_times as stopping_times
    from spec_math.sequential.sample_size import detectable_tv as detectable_tv
    from spec_math.sequential.sample_size import gap_detected as gap_detected
    from spec_math.sequential.sample_size import sample_size as sample_size
    from spec_math.sequential.sample_size import sequential_detectable_tv as sequential_detectable_tv
    from spec_math.sequential.sample_size import sequential_sample_size as sequential_sample_size
    from spec_math.sequential.tolerant import TolerantTest as TolerantTest
    from spec_math.sequential.tolerant import tolerant_test as tolerant_test
    from spec_math.zoo import ZOO as ZOO
    from spec_math.zoo.specimen import Diagnosis as Diagnosis
    from spec_math.zoo.specimen import Specimen as Specimen
    from spec_math.zoo.specimen import diagnose as diagnose
    from spec_math.zoo.specimen import distances as distances

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "spec_math.audit.coupled": ("CoupledTest", "Difference", "coupled_sample_size", "coupled_test"),
        "spec_math.pathwise.atom": ("ExploreError", "UnseenRandomnessError"),
        "spec_math.pathwise.bisect": ("law_by_bisection", "thresholds"),
        "spec_math.pathwise.exploration": ("Explored", "Partial", "as_generator", "explore"),
        "spec_math.pathwise.tape": ("OWN_GRID", "LeakError"),
        "spec_math.sequential.bank": ("bank",),
        "spec_math.sequential.contexts": ("context_stopping_times", "ContextsTest", "contexts_test"),
        "spec_math.sequential.evidence": ("Guarantee", "NotRejected", "product_of_evidence"),
        "spec_math.sequential.identity_test": ("stopping_times", "IdentityTest", "identity_test"),
        "spec_math.sequential.dirichlet": ("pooled_variation", "pools"),
        "spec_math.sequential.sample_size": (
            "detectable_tv",
            "gap_detected",
            "sample_size",
            "sequential_detectable_tv",
            "sequential_sample_size",
        ),
        "spec_math.sequential.tolerant": ("TolerantTest", "tolerant_test"),
        "spec_math.zoo": ("ZOO",),
        "spec_math.zoo.specimen": ("Diagnosis", "Specimen", "diagnose", "distances"),
        "spec_math.samplers.call": ("Call",),
        "spec_math.samplers.case": ("Case",),
        "spec_math.samplers.counts": ("Counted", "check_sampler", "judge_counts"),
        "spec_math.samplers.drafter": ("check_drafter", "check_drafter_program"),
        "spec_math.samplers.judgement": ("Judgement", "judge"),
        "spec_math.samplers.likeness": ("Likeness", "likenesses"),
        "spec_math.samplers.smallest": ("smallest",),
        "spec_math.samplers.subject": ("Subject", "subject_of"),
    },
)
