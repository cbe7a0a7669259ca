"""`SCHEMES`: the rules of one position, a record each."""

from __future__ import annotations

from spec_math.scheme import Scheme
from spec_math.token_level import (
    greedy,
    hub,
    k_sequential,
    one_hot,
    pooled_priority,
    recursive,
    sample_and_match,
    single,
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
