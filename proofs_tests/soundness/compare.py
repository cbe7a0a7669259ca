"""A verdict of the library beside what the oracle found: right, wrong (and why), or left open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from proofs_tests.soundness.oracle import Emitted, as_fraction
from spec_math.verdict import Lossless, Lossy, Undecided


@dataclass(frozen=True)
class Truth:
    """What a program emits in exact arithmetic (`ideal`) and in its own numbers (`run`), beside the target's law.

    `slack` is what the sums of stored laws leave open, `rounding` what the program's number type explains at most, and
    `mirrored` how far the oracle's own sums may be from the program's. `cap` is the most that a verdict
    may forgive. A coin is `strict`: it refuses what is not a number, where libraries each do something else. With
    `off_sums` masses whose sum is off are drawn from on purpose: of floats a coin may refuse them, or divide.
    `as_stored` is asked in doubt: exact arithmetic on the stored masses, among which rounding may have made ties.
    """

    ideal: Emitted
    run: Emitted
    wanted: dict[Any, Fraction]
    slack: float = 0.0
    rounding: float = 0.0
    mirrored: float = 0.0
    strict: bool = True
    cap: float = 1e-4
    off_sums: bool = False
    as_stored: Callable[[], Emitted] | None = None

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
    if verdict.bound > truth.cap:
        return f"Lossless(bound={verdict.bound:.3g}) forgives more than {truth.cap:g}"
    off = float(truth.run_distance)
    explained = truth.rounding + truth.slack + float(truth.run.gap) * (truth.run.coins + 1)
    if off > explained:
        return f"Lossless, but the total variation is {off:.6g}; rounding explains at most {explained:.3g}"
    if off > verdict.bound + truth.mirrored:
        return f"Lossless(bound={verdict.bound:.3g}), but the total variation is {off:.6g}"
    return ""


def _fault_of_lossy(verdict: Lossy, truth: Truth, masses: bool) -> str:
    ideal, run = truth.ideal, truth.run
    broken = (
        run.failed or ideal.failed or (ideal.gap and not truth.rounding) or (truth.off_sums and verdict.emitted is None)
    )
    explained = not truth.ideal_distance and truth.run_distance <= truth.rounding + truth.slack
    if not broken and explained and _lossless_as_stored(truth):
        return f"Lossy ({verdict.reason[:200]}), but the program is lossless"
    if not masses:
        return ""
    if verdict.emitted is None:
        return "" if broken else f"Lossy without masses ({verdict.reason[:200]}), but no path of the program breaks"
    key = verdict.tokens if verdict.tokens is not None else (verdict.token,)
    allowed = truth.mirrored + truth.slack
    for name, said, known in (
        ("emitted", verdict.emitted, (run.law, ideal.law)),
        ("target", verdict.target, (truth.wanted,)),
    ):
        masses = [law.get(key, Fraction(0)) for law in known]
        if all(abs(float(as_fraction(said) - mass)) > allowed for mass in masses) and not run.gap:
            return f"Lossy, but token {key} is {name} with probability {masses[0]}, not {said}"
    return ""


def _lossless_as_stored(truth: Truth) -> bool:
    if truth.as_stored is None:
        return True
    rounded = 0.0 if truth.strict else truth.mirrored
    return distance(truth.as_stored().law, truth.wanted) <= truth.slack + rounded
