"""Verdicts on coarse floats, confirmed in float64: the one rule of every judge on what rounding is forgiven.

In half precision rounding explains as much as a real fault: one answer in a hundred replaced by another token. Asked
again with the same laws in float64, rounding explains nothing, and the fault is still there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from spec_math.float_allowance import AT_MOST
from spec_math.verdict_values import Lossless, Lossy, Reason, Undecided, Verdict

EXACT = 1e-12
"""A total variation that needs no second look: float64 would not tell it from 0."""


def confirmed(
    verdict: Verdict, distance: Any, finer: Callable[[], Verdict], laws: str = "numbers in float64"
) -> Verdict:
    """Return the verdict on a program in a coarse type, at a total variation, after it was asked again in float64.

    What rounding alone explains is lossless there too, and stays Lossless. What is lossy there is Lossy. Where float64
    cannot tell, Lossless stays up to `AT_MOST`, which every type is forgiven, and becomes Undecided above it.

    >>> from spec_math.verdict_values import Lossless, Lossy
    >>> confirmed(Lossless(4, 0.01), 0.009, lambda: Lossy("token 3")).reason
    'with numbers in float64, token 3'
    >>> bool(confirmed(Lossless(4, 0.01), 0.009, lambda: Lossless(4)))
    True
    """
    rounded = isinstance(verdict, Undecided) and verdict.reason is Reason.ROUNDING
    if not rounded and not (isinstance(verdict, Lossless) and distance > EXACT):
        return verdict
    asked = finer()
    if isinstance(asked, Lossy):
        return replace(asked, reason=f"with {laws}, {asked.reason}")
    if rounded or isinstance(asked, Lossless) or distance <= AT_MOST:
        return verdict
    said = f"the total variation is {float(distance):.3g}, which rounding explains; with {laws} it is undecided"
    return Undecided(Reason.ROUNDING, f"{said}: {getattr(asked, 'explanation', '')}")
