"""Several tokens per call of the target: generators of blocks, their exact laws, and what a block is worth."""

from spec_math.block_level import block, chain, cost, length, spectr, without_replacement
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.emitted import emitted_law, target_law
from spec_math.block_level.lossless import check_lossless_block

__all__ = [
    "Conditionals",
    "block",
    "chain",
    "check_lossless_block",
    "cost",
    "emitted_law",
    "length",
    "spectr",
    "target_law",
    "without_replacement",
]
