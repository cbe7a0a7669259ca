"""Verifiers of blocks and trees: generators, the exact distribution of what they emit, and tokens per call.

A name is loaded when it is first used; every module of this folder is one, too.
"""

from typing import TYPE_CHECKING

from spec_math.lazy import face

if TYPE_CHECKING:
    from spec_math.block_level import block as block
    from spec_math.block_level import chain as chain
    from spec_math.block_level import chain_priorities as chain_priorities
    from spec_math.block_level import length as length
    from spec_math.block_level import multi_path as multi_path
    from spec_math.block_level import optimum as optimum
    from spec_math.block_level import planned_tree as planned_tree
    from spec_math.block_level import spectr as spectr
    from spec_math.block_level import stochastic_beam as stochastic_beam
    from spec_math.block_level import target_only as target_only
    from spec_math.block_level import traversal as traversal
    from spec_math.block_level import univer as univer
    from spec_math.block_level import without_replacement as without_replacement
    from spec_math.block_level.conditionals import Conditionals as Conditionals
    from spec_math.block_level.lossless import check_lossless_block as check_lossless_block
    from spec_math.block_level.lossless import emitted_law as emitted_law
    from spec_math.block_level.lossless import target_law as target_law

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "spec_math.block_level": (
            "block",
            "chain",
            "chain_priorities",
            "length",
            "multi_path",
            "optimum",
            "planned_tree",
            "spectr",
            "stochastic_beam",
            "target_only",
            "traversal",
            "univer",
            "without_replacement",
        ),
        "spec_math.block_level.conditionals": ("Conditionals",),
        "spec_math.block_level.lossless": ("check_lossless_block", "emitted_law", "target_law"),
    },
)
