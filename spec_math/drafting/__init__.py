"""Drafts over another vocabulary, or part of one: each a map to a law that every verifier takes."""

from spec_math.drafting import (
    head_cost,
    intersection,
    low_rank,
    redistribution,
    speculative,
    static,
    subset_bounds,
    union,
)
from spec_math.drafting.outcome import Outcome

__all__ = [
    "Outcome",
    "head_cost",
    "intersection",
    "low_rank",
    "redistribution",
    "speculative",
    "static",
    "subset_bounds",
    "union",
]
