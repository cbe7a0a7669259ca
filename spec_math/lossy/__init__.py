"""Rules that change the law on purpose, each with its law and its distance, and the most that any rule could gain."""

from spec_math.lossy import (
    blocks,
    budget,
    cactus,
    cascade,
    distances,
    divergence_budget,
    ensemble,
    fly,
    frontier,
    fuzzy,
    joint_threshold,
    lenience,
    logarithm,
    margin,
    mentored,
    one_draft,
    options,
    relaxed_top,
    rule,
    thresholds,
    typical,
)
from spec_math.lossy.rule import Rule

_ORDER = (ensemble, lenience, mentored, cactus, typical, fuzzy, cascade, relaxed_top, thresholds)
RULES: tuple[Rule, ...] = tuple(module.RULE for module in _ORDER)
"""The published rules of one position, in the order of the tables."""

OF_LOGITS: tuple[Rule, ...] = (margin.RULE,)
"""Published rules of one position that need the target's logits, not its law alone."""

__all__ = [
    "OF_LOGITS",
    "RULES",
    "Rule",
    "blocks",
    "budget",
    "cactus",
    "cascade",
    "distances",
    "divergence_budget",
    "ensemble",
    "fly",
    "frontier",
    "fuzzy",
    "joint_threshold",
    "lenience",
    "logarithm",
    "margin",
    "mentored",
    "one_draft",
    "options",
    "relaxed_top",
    "rule",
    "thresholds",
    "typical",
]
