"""Shapes of trees that a rule takes, and batches as floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from proofs_tests.block_level import tree_batches
from proofs_tests.block_level.tree_batches import Batch, chains, random_parents
from spec_math.block_level import tree_rules
from spec_math.block_level.tree_rules import TreeRule

PRIORITIES = (tree_rules.PRIORITIES, tree_rules.ROUNDED_PRIORITIES)


def shapes(rule: TreeRule, rng: np.random.Generator, many: int, largest: int) -> list[Any]:
    """Parents that the rule takes: chains side by side where it selects one, else any."""
    if rule in PRIORITIES:  # their Fractions are long
        return [chains(2, 3), *(chains(int(rng.integers(1, 5)), int(rng.integers(1, 3))) for _ in range(many // 6))]
    if rule.chains:
        return [chains(int(rng.integers(1, 5)), int(rng.integers(1, 4))) for _ in range(many)]
    if rule.siblings == "one":
        return [chains(1, int(rng.integers(1, largest + 1))) for _ in range(many)]
    return [random_parents(rng, int(rng.integers(1, largest + 1))) for _ in range(many)]


def floats(given: Batch, seed: int) -> Batch:
    """The same trees with laws of floats, on uniforms of their own."""
    models = tuple(
        tree_batches.Rows(tuple(row.astype(np.float64) for row in model.rows), model.end) for model in given.models
    )
    wide = [each.astype(np.float64) for each in (given.targets, given.drafts)]
    uniforms = np.random.default_rng(seed).random(given.uniforms.shape)
    return given._replace(targets=wide[0], drafts=wide[1], uniforms=uniforms, models=models)
