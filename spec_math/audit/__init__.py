"""Audits of samplers that were not written against a coin: exact distributions, sequential tests, known bugs."""

from typing import TYPE_CHECKING

from spec_math.lazy import lazily

if TYPE_CHECKING:
    from spec_math.audit.coupled import CoupledTest, Difference, coupled_sample_size, coupled_test
    from spec_math.pathwise.atom import ExploreError, UnseenRandomnessError
    from spec_math.pathwise.bisect import law_by_bisection, thresholds
    from spec_math.pathwise.exploration import Explored, Partial, as_generator, explore
    from spec_math.pathwise.tape import OWN_GRID, LeakError
    from spec_math.samplers.call import Call
    from spec_math.samplers.case import Case
    from spec_math.samplers.counts import Counted, check_sampler, judge_counts
    from spec_math.samplers.drafter import check_drafter, check_drafter_program
    from spec_math.samplers.judgement import Judgement, judge
    from spec_math.samplers.likeness import Likeness, likenesses
    from spec_math.samplers.smallest import smallest
    from spec_math.samplers.subject import Subject, subject_of
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
    from spec_math.zoo import ZOO
    from spec_math.zoo.specimen import Diagnosis, Specimen, diagnose, distances

__getattr__ = lazily(
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


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
