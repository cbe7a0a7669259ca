"""Several tokens per call of the target: generators of blocks, their exact laws, and what a block is worth."""

from spec_math.block_level import (
    block,
    chain,
    chain_priorities,
    comparison,
    cost,
    length,
    multi_path,
    optimum,
    spectr,
    traversal,
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
    "emitted_law",
    "length",
    "multi_path",
    "optimum",
    "spectr",
    "target_law",
    "traversal",
    "without_replacement",
]
