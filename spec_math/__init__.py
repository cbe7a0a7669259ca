"""Is this speculative decoder lossless, and how much faster could any be? Computed exactly.

What is named here is loaded when it is first used: `import spec_math` alone loads nothing.
"""

from typing import TYPE_CHECKING

from spec_math.lazy import lazily

if TYPE_CHECKING:
    from spec_math.arrays import exact, proportional_to
    from spec_math.block_level.lossless import check_lossless_block
    from spec_math.chance import Coin, Cumulative, law, replay, sample
    from spec_math.distribution import overlap, residual, total_variation
    from spec_math.scheme import Emission, Scheme
    from spec_math.token_level.schemes import SCHEMES
    from spec_math.verdict import Lossless, Lossy, Undecided, check_lossless

__getattr__ = lazily(
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

__all__ = [
    "SCHEMES",
    "Coin",
    "Cumulative",
    "Emission",
    "Lossless",
    "Lossy",
    "Scheme",
    "Undecided",
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


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
