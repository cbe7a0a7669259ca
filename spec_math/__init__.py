"""Is this speculative decoder lossless, and how much faster could any be? Computed exactly.

What is named here is loaded when it is first used: `import spec_math` alone loads nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spec_math.arrays import exact, proportional_to
    from spec_math.block_level.lossless import check_lossless_block
    from spec_math.chance import Coin, Cumulative, law, replay, sample
    from spec_math.distribution import overlap, residual, total_variation
    from spec_math.scheme import Emission, Scheme
    from spec_math.token_level import SCHEMES
    from spec_math.verdict import Lossless, Lossy, Undecided, check_lossless

_MODULES = {
    "arrays": ("exact", "proportional_to"),
    "block_level.lossless": ("check_lossless_block",),
    "chance": ("Coin", "Cumulative", "law", "replay", "sample"),
    "distribution": ("overlap", "residual", "total_variation"),
    "scheme": ("Emission", "Scheme"),
    "token_level": ("SCHEMES",),
    "verdict": ("Lossless", "Lossy", "Undecided", "check_lossless"),
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}

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


def __getattr__(name: str) -> Any:
    """Load a name where it is defined, or a package by its own name, as in spec_math.token_level."""
    if name in _PLACES:
        found = getattr(import_module(f"spec_math.{_PLACES[name]}"), name)
        globals()[name] = found
        return found
    if not name.startswith("_"):
        try:
            return import_module(f"spec_math.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"spec_math.{name}":
                raise
    raise AttributeError(f"module 'spec_math' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
