"""Is this speculative decoder lossless, and how much faster could any be? Computed exactly.

What is named here is loaded when it is first used: `import spec_math` alone loads nothing.
"""

from typing import TYPE_CHECKING

from spec_math.lazy import face

if TYPE_CHECKING:
    from spec_math.arrays import exact as exact
    from spec_math.arrays import proportional_to as proportional_to
    from spec_math.block_level.lossless import check_lossless_block as check_lossless_block
    from spec_math.chance import Coin as Coin
    from spec_math.chance import Cumulative as Cumulative
    from spec_math.chance import law as law
    from spec_math.chance import replay as replay
    from spec_math.chance import sample as sample
    from spec_math.distribution import overlap as overlap
    from spec_math.distribution import residual as residual
    from spec_math.distribution import total_variation as total_variation
    from spec_math.scheme import Emission as Emission
    from spec_math.scheme import Scheme as Scheme
    from spec_math.token_level.schemes import SCHEMES as SCHEMES
    from spec_math.verdict import Lossless as Lossless
    from spec_math.verdict import Lossy as Lossy
    from spec_math.verdict import Undecided as Undecided
    from spec_math.verdict import check_lossless as check_lossless

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "spec_math.arrays": ("exact", "proportional_to"),
        "spec_math.block_level.lossless": ("check_lossless_block",),
        "spec_math.chance": ("Coin", "Cumulative", "law", "replay", "sample"),
        "spec_math.distribution": ("overlap", "residual", "total_variation"),
        "spec_math.scheme": ("Emission", "Scheme"),
        "spec_math.token_level.schemes": ("SCHEMES",),
        "spec_math.verdict": ("Lossless", "Lossy", "Undecided", "check_lossless"),
    },
)
