"""The specimens of the zoo by their names."""

from __future__ import annotations

from spec_math.audit import ZOO, Specimen


def name_of(specimen: Specimen) -> str:
    return specimen.name


def by_name(name: str) -> Specimen:
    return next(specimen for specimen in ZOO if specimen.name == name)
