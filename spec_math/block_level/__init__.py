"""Verifiers of blocks and trees: generators, the exact distribution of what they emit, and tokens per call.

A name is loaded when it is first used; every module of this folder is one, too.
"""

from typing import TYPE_CHECKING

from spec_math.lazy import lazily

if TYPE_CHECKING:
    from spec_math.block_level import (
        block,
        chain,
        chain_priorities,
        length,
        multi_path,
        optimum,
        planned_tree,
        spectr,
        stochastic_beam,
        target_only,
        traversal,
        univer,
        without_replacement,
    )
    from spec_math.block_level.conditionals import Conditionals
    from spec_math.block_level.lossless import check_lossless_block, emitted_law, target_law

__getattr__ = lazily(
    __name__,
    {
        "spec_math.block_level.conditionals": ("Conditionals",),
        "spec_math.block_level.lossless": ("check_lossless_block", "emitted_law", "target_law"),
    },
)

__all__ = [
    "Conditionals",
    "block",
    "chain",
    "chain_priorities",
    "check_lossless_block",
    "emitted_law",
    "length",
    "multi_path",
    "optimum",
    "planned_tree",
    "spectr",
    "stochastic_beam",
    "target_law",
    "target_only",
    "traversal",
    "univer",
    "without_replacement",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
