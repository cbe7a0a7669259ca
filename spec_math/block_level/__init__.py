"""Verifiers of blocks and trees: generators, the exact laws of what they emit, and tokens per call of the target."""

from spec_math.block_level import (
    block,
    chain,
    chain_priorities,
    comparison,
    cost,
    delayed,
    hierarchical,
    jacobi,
    length,
    likeliest_tree,
    multi_path,
    optimum,
    planned_tree,
    spectr,
    stochastic_beam,
    target_only,
    traversal,
    tree_monte_carlo,
    univer,
    without_replacement,
)
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.emitted import emitted_law, target_law
from spec_math.block_level.lossless import check_lossless_block

__all__ = [
    "Conditionals",
    "block",
    "chain",
    "chain_priorities",
    "check_lossless_block",
    "comparison",
    "cost",
    "delayed",
    "emitted_law",
    "hierarchical",
    "jacobi",
    "length",
    "likeliest_tree",
    "multi_path",
    "optimum",
    "planned_tree",
    "spectr",
    "stochastic_beam",
    "target_law",
    "target_only",
    "traversal",
    "tree_monte_carlo",
    "univer",
    "without_replacement",
]
