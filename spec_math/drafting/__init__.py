"""Draft laws over another vocabulary, or over part of one, mapped so that every verifier can take them."""

from spec_math.drafting import head_cost, intersection, union
from spec_math.drafting.intersection import Outcome
from spec_math.papers import reduced_vocabulary, speculative_vocabulary, two_vocabularies

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
