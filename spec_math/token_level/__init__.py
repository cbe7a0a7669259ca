"""Verifiers of one position, each a file: its drafts, its program, its closed forms."""

from spec_math.scheme import Scheme
from spec_math.token_level import (
    bounds,
    draft_law,
    greedy,
    hub,
    k_sequential,
    one_hot,
    optimal,
    plan,
    pooled_priority,
    recursive,
    sample_and_match,
    single,
    transport,
    without_replacement,
)

SCHEMES: tuple[Scheme, ...] = (
    Scheme("maximal coupling", single.draw, single.verify, single.acceptance, single.membership, single.emit, 1),
    Scheme("one-hot draft", one_hot.draw, one_hot.verify, one_hot.acceptance, one_hot.membership, one_hot.emit, 1),
    Scheme(
        "sample and match",
        sample_and_match.draw,
        sample_and_match.verify,
        sample_and_match.acceptance,
        sample_and_match.membership,
        sample_and_match.emit,
        1,
    ),
    Scheme(
        "K-SEQ at γ*",
        k_sequential.draw,
        k_sequential.verify,
        k_sequential.acceptance,
        k_sequential.membership,
        k_sequential.emit,
    ),
    Scheme(
        "recursive rejection",
        recursive.draw,
        recursive.verify,
        recursive.acceptance,
        recursive.membership,
        recursive.emit,
    ),
    Scheme(
        "recursive rejection without replacement",
        without_replacement.draw,
        without_replacement.verify,
        without_replacement.acceptance,
        without_replacement.membership,
        without_replacement.emit,
    ),
    Scheme("greedy drafts", greedy.draw, greedy.verify, greedy.acceptance, greedy.membership, greedy.emit),
    Scheme("SpecHub", hub.draw, hub.verify, hub.acceptance, hub.membership, hub.emit, 2),
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
    "optimal",
    "plan",
    "pooled_priority",
    "recursive",
    "sample_and_match",
    "single",
    "transport",
    "without_replacement",
]
