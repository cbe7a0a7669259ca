"""Known bugs of real samplers as small programs, with the contract that each breaks and its exact distance."""

from typing import TYPE_CHECKING

from spec_math.lazy import face

if TYPE_CHECKING:
    from spec_math.zoo.corpus import ZOO as ZOO
    from spec_math.zoo.specimen import Diagnosis as Diagnosis
    from spec_math.zoo.specimen import Specimen as Specimen
    from spec_math.zoo.specimen import diagnose as diagnose
    from spec_math.zoo.specimen import distances as distances

__getattr__, __dir__, __all__ = face(
    __name__,
    {"spec_math.zoo.corpus": ("ZOO",), "spec_math.zoo.specimen": ("Diagnosis", "Specimen", "diagnose", "distances")},
)
