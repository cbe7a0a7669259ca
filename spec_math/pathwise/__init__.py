"""The exact distribution of what unmodified Python returns: it is run along every path of its random numbers."""

from typing import TYPE_CHECKING

from spec_math.lazy import face

if TYPE_CHECKING:
    from spec_math.pathwise.atom import ExploreError as ExploreError
    from spec_math.pathwise.atom import UnseenRandomnessError as UnseenRandomnessError
    from spec_math.pathwise.bisect import law_by_bisection as law_by_bisection
    from spec_math.pathwise.bisect import thresholds as thresholds
    from spec_math.pathwise.exploration import Explored as Explored
    from spec_math.pathwise.exploration import Partial as Partial
    from spec_math.pathwise.exploration import explore as explore
    from spec_math.pathwise.tape import OWN_GRID as OWN_GRID
    from spec_math.pathwise.tape import LeakError as LeakError

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "spec_math.pathwise.atom": ("ExploreError", "UnseenRandomnessError"),
        "spec_math.pathwise.bisect": ("law_by_bisection", "thresholds"),
        "spec_math.pathwise.exploration": ("Explored", "Partial", "explore"),
        "spec_math.pathwise.tape": ("OWN_GRID", "LeakError"),
    },
)
