"""Points of laws, and what symbols are worth there."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from proofs_tests.strategies import laws
from spec_math.symbolic import Theorem
from spec_math.symbolic.number import Number
from spec_math.symbolic.points import evaluated


def coordinates(parameters: Any) -> tuple[Fraction, ...]:
    """The coordinates of laws and scalars: all masses but the last of each law."""
    return tuple(
        mass for each in parameters for mass in (each[:-1].tolist() if isinstance(each, np.ndarray) else [each])
    )


def worth(value: Any, point: tuple[Fraction, ...]) -> Fraction:
    """The value of a symbolic number at a point."""
    if not isinstance(value, Number):
        return Fraction(value)
    return evaluated(value.value.top, point) / evaluated(value.value.bottom, point)


def parameters(theorem: Theorem) -> st.SearchStrategy[tuple[Any, ...]]:
    """Laws and scalars for a theorem: tied, equal, with zeros and with masses of 2^-60."""

    @st.composite
    def drawn(draw: st.DrawFn) -> tuple[Any, ...]:
        listed: list[Any] = []
        for size in theorem.laws.values():
            alike = [law for law in listed if len(law) == size]
            copied = alike and draw(st.integers(0, 3)) == 0
            listed.append(draw(st.sampled_from(alike)).copy() if copied else draw(laws(size)))
        scalars = st.fractions(min_value=1, max_value=4, max_denominator=8)
        return (*listed, *[draw(scalars) for _ in theorem.scalars])

    return drawn()
