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

RULES: tuple[Rule, ...] = (
    ensemble.RULE,
    lenience.RULE,
    mentored.RULE,
    cactus.RULE,
    typical.RULE,
    fuzzy.RULE,
    cascade.RULE,
    relaxed_top.RULE,
    thresholds.RULE,
)
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
