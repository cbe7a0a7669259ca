"""Verifiers of one position, a file for each: how drafts are drawn, the program, its closed forms."""

from spec_math.scheme import Scheme
from spec_math.token_level import (
    bounds,
    draft_law,
    greedy,
    hub,
    k_sequential,
    one_hot,
    optima,
    optimal,
    plan,
    pooled_priority,
    recursive,
    sample_and_match,
    shared_noise,
    single,
    transport,
    without_replacement,
)

SCHEMES: tuple[Scheme, ...] = (
    single.SCHEME,
    one_hot.SCHEME,
    sample_and_match.SCHEME,
    k_sequential.SCHEME,
    recursive.SCHEME,
    without_replacement.SCHEME,
    greedy.SCHEME,
    hub.SCHEME,
    pooled_priority.INDEPENDENT,
    pooled_priority.WITHOUT_REPLACEMENT,
)

__all__ = [
    "SCHEMES",
    "bounds",
    "draft_law",
    "greedy",
    "hub",
    "k_sequential",
    "one_hot",
    "optima",
    "optimal",
    "plan",
    "pooled_priority",
    "recursive",
    "sample_and_match",
    "shared_noise",
    "single",
    "transport",
    "without_replacement",
]
