"""Laws and tests that the files on the identity test share."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from spec_math.arrays import exact
from spec_math.audit import ZOO
from spec_math.block_level.lossless import emitted_law, target_law
from spec_math.zoo import toy

SKEWED = exact(["1/2", "1/4", "1/6", "1/12"])
DRAFT = exact(["1/8", "1/2", "1/4", "1/8"])


@cache
def joint(name: str) -> tuple[dict[tuple[int, ...], Fraction], dict[tuple[int, ...], Fraction]]:
    specimen = next(one for one in ZOO if one.name == name)
    return (
        emitted_law(specimen.generate, specimen.target, toy.HORIZON, specimen.rounds),  # type: ignore[arg-type]
        target_law(specimen.target, toy.HORIZON),
    )
