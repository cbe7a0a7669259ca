"""Draft laws over another vocabulary, or over part of one, mapped so that every verifier can take them."""

from spec_math.drafting import head_cost, intersection, union
from spec_math.drafting.intersection import Outcome

__all__ = ["Outcome", "head_cost", "intersection", "union"]
