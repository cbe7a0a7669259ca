"""The exact distribution of what unmodified Python returns: it is run along every path of its random numbers."""

from typing import TYPE_CHECKING

from spec_math.lazy import lazily

if TYPE_CHECKING:
    from spec_math.pathwise.atom import ExploreError, UnseenRandomnessError
    from spec_math.pathwise.bisect import law_by_bisection, thresholds
    from spec_math.pathwise.exploration import Explored, Partial, explore
    from spec_math.pathwise.tape import OWN_GRID, LeakError

__getattr__ = lazily(
    __name__,
    {
        "spec_math.pathwise.atom": ("ExploreError", "UnseenRandomnessError"),
        "spec_math.pathwise.bisect": ("law_by_bisection", "thresholds"),
        "spec_math.pathwise.exploration": ("Explored", "Partial", "explore"),
        "spec_math.pathwise.tape": ("OWN_GRID", "LeakError"),
    },
)

__all__ = [
    "OWN_GRID",
    "ExploreError",
    "Explored",
    "LeakError",
    "Partial",
    "UnseenRandomnessError",
    "explore",
    "law_by_bisection",
    "thresholds",
]
