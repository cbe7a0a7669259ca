"""Is this speculative decoder lossless, and how much faster could any be? Computed exactly."""

from spec_math.arrays import exact, proportional_to
from spec_math.block_level.lossless import check_lossless_block
from spec_math.chance import Coin, Cumulative, law, replay, sample
from spec_math.distribution import overlap, residual, total_variation
from spec_math.scheme import Emission, Scheme
from spec_math.token_level import SCHEMES
from spec_math.verdict import Lossless, Lossy, check_lossless

__all__ = [
    "SCHEMES",
    "Coin",
    "Cumulative",
    "Emission",
    "Lossless",
    "Lossy",
    "Scheme",
    "check_lossless",
    "check_lossless_block",
    "exact",
    "law",
    "overlap",
    "proportional_to",
    "replay",
    "residual",
    "sample",
    "total_variation",
]
