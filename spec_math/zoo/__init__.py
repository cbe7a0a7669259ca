"""Known bugs of real samplers as small programs, with the contract that each breaks and its exact distance."""

from typing import TYPE_CHECKING

from spec_math.lazy import lazily

if TYPE_CHECKING:
    from spec_math.zoo.corpus import ZOO
    from spec_math.zoo.specimen import Diagnosis, Specimen, diagnose, distances

__getattr__ = lazily(
    __name__,
    {"spec_math.zoo.corpus": ("ZOO",), "spec_math.zoo.specimen": ("Diagnosis", "Specimen", "diagnose", "distances")},
)

__all__ = ["ZOO", "Diagnosis", "Specimen", "diagnose", "distances"]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
