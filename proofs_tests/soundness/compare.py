"""A verdict of the library beside what the oracle found: right, wrong (and why), or left open."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from proofs_tests.soundness.oracle import Emitted, as_fraction
from spec_math.verdict import Lossless, Lossy, Undecided


@dataclass(frozen=True)
class Truth:
    """What a program emits in exact arithmetic (`ideal`) and in its own numbers (`run`), beside the target's law.

    `slack` is what the sums of stored laws leave open, `rounding` what the program's number type explains at most, and
    `mirrored` how far the oracle's own sums may be from the program's. A coin is `strict`: it refuses what is not a
    number, where libraries each do something else.
    """

    ideal: Emitted
    run: Emitted
    wanted: dict[Any, Fraction]
    slack: float = 0.0
    rounding: float = 0.0
    mirrored: float = 0.0
    strict: bool = True

    @property
    def ideal_distance(self) -> Fraction:
        return distance(self.ideal.law, self.wanted)

    @property
    def run_distance(self) -> Fraction:
        return distance(self.run.law, self.wanted)


def distance(one: dict[Any, Fraction], other: dict[Any, Fraction]) -> Fraction:
    gaps = sum((abs(one.get(key, 0) - other.get(key, 0)) for key in one.keys() | other.keys()), Fraction(0))
    # What failed is missing from a law: the larger side is the total variation.
    return max(gaps / 2, sum((max(Fraction(0), other[key] - one.get(key, 0)) for key in other), Fraction(0)))


def fault_of(verdict: Any, truth: Truth, masses: bool = True) -> str:
    """Say what is wrong with a verdict; nothing where it is right or left open. An assertion gives no `masses`."""
    if isinstance(verdict, Undecided) or (truth.run.unclear and not truth.strict):
        return ""
    if isinstance(verdict, Lossless):
        return _fault_of_lossless(verdict, truth)
    if isinstance(verdict, Lossy):
        return _fault_of_lossy(verdict, truth, masses)
    return f"no verdict but {verdict!r}"


def _fault_of_lossless(verdict: Lossless, truth: Truth) -> str:
    if truth.run.failed:
        return f"Lossless, but the program fails with probability {float(truth.run.failed):.3g}"
    if truth.run.gap and not truth.rounding:
        return f"Lossless, but masses that are off by {truth.run.gap} were drawn from"
    off = float(truth.run_distance)
    if off > verdict.bound + truth.mirrored:
        return f"Lossless(bound={verdict.bound:.3g}), but the total variation is {off:.6g}"
    return ""


def _fault_of_lossy(verdict: Lossy, truth: Truth, masses: bool) -> str:
    ideal, run = truth.ideal, truth.run
    broken = run.failed or ideal.failed or ideal.gap > truth.slack
    off = max(float(truth.ideal_distance) - truth.slack, float(truth.run_distance) - truth.rounding - truth.slack)
    if not broken and off <= 0:
        return f"Lossy ({verdict.reason[:200]}), but the program is lossless"
    if not masses:
        return ""
    if verdict.emitted is None:
        return "" if broken else f"Lossy without masses ({verdict.reason[:200]}), but no path of the program breaks"
    key = verdict.tokens if verdict.tokens is not None else (verdict.token,)
    allowed = truth.mirrored + truth.slack
    for name, said, known in (("emitted", verdict.emitted, run.law), ("target", verdict.target, truth.wanted)):
        true = known.get(key, Fraction(0))
        if abs(float(as_fraction(said) - true)) > allowed and not run.gap:
            return f"Lossy, but token {key} is {name} with probability {true}, not {said}"
    return ""
