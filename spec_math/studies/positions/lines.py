"""What a comparison over positions holds: a line a scheme and a line an optimum, with their means."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log

import numpy as np

from spec_math.invariants import Watch
from spec_math.scheme import Optimum, Scheme
from spec_math.studies.positions.stream import FLOAT, Batch
from spec_math.studies.positions.tally import Tally
from spec_math.token_level.streamed import sums_of


@dataclass
class Line:
    """One scheme of a comparison, or one optimum: its means a k, and whether only some positions were looked at.

    `gaps` are against the optimum of the scheme's own drafts, position by position. A verifier that `failed` at one of
    them, as is said there, has no mean: those where it did not fail say nothing of it.
    """

    name: str
    kind: Optimum | None
    scheme: Scheme | None = None
    acceptance: dict[int, Tally] = field(default_factory=dict[int, Tally])
    test_acceptance: dict[int, Tally] = field(default_factory=dict[int, Tally])
    gaps: dict[int, Tally] = field(default_factory=dict[int, Tally])
    failed: str = ""

    def fail(self, position: int, error: BaseException) -> None:
        """Forget what was found: at this position the verifier, or its formula, raised an error.

        >>> from spec_math import SCHEMES
        >>> line = scheme_line(SCHEMES[0], (1,))
        >>> line.acceptance[1].add(np.array([0.5]))
        >>> line.fail(7, ZeroDivisionError("division by zero"))
        >>> line.failed, line.acceptance[1].count
        ('maximal coupling fails at position 7: ZeroDivisionError: division by zero', 0)
        """
        self.failed = f"{self.name} fails at position {position}: {type(error).__name__}: {error}"
        for tallies in (self.acceptance, self.test_acceptance, self.gaps):
            tallies.update({k: Tally() for k in tallies})

    @property
    def sampled(self) -> bool:
        """Whether only some positions are looked at: there is no form of it over many positions."""
        held = self.scheme or self.kind
        return held is None or held.streamed is None


@dataclass(frozen=True)
class Hardest:
    """The position where even the optimum of i.i.d. drafts is least, with its laws [V]."""

    position: int
    optimum: float
    target: FLOAT
    draft: FLOAT


@dataclass
class Facts:
    """What the laws themselves are like: the target's largest mass, its entropy in nats, and Σ min(t, d)."""

    largest: Tally = field(default_factory=Tally)
    entropy: Tally = field(default_factory=Tally)
    overlap: Tally = field(default_factory=Tally)

    def take(self, batch: Batch, overlaps: FLOAT) -> None:
        """Take in positions with their overlaps [n].

        The entropy of masses m of the sum S is log S − Σ m log m / S: nothing is divided but sums.

        >>> facts, halves = Facts(), np.array([[1.0, 1.0]])
        >>> facts.take(Batch(0, halves, halves, 0.0), np.array([0.75]))
        >>> facts.largest.mean, round(facts.entropy.mean, 4), facts.overlap.mean
        (0.5, 0.6931, 0.75)
        """
        targets, logs, largest = batch.targets, batch.target_logs, [1.0] * len(batch.targets)
        if logs is None:
            largest = targets.max(axis=1).tolist()
            logs = np.maximum(targets, 5e-324)
            np.log(logs, out=logs)
        for row, logs_of_row, most, overlap in zip(targets, logs, largest, overlaps.tolist(), strict=True):
            total, product = _sum_and_product(row, logs_of_row)
            self.largest.add_one(most / total)
            self.entropy.add_one(log(total) - product / total)
            self.overlap.add_one(overlap)

    def __str__(self) -> str:
        if not self.largest.count:
            return ""
        return (
            f"The target's largest mass is {self.largest.mean:.3f} on average, its entropy "
            f"{self.entropy.mean:.2f} nats, and its overlap with the draft {self.overlap.mean:.3f}."
        )


@dataclass
class Comparison:
    """What `compare` found: a line a scheme and a line an optimum, over `count` positions of V tokens.

    `watch` knows which of the numbers contradict each other: `watch.hold` comes before any of them is shown.
    """

    source: str
    count: int
    size: int
    ks: tuple[int, ...]
    lines: list[Line]
    optima: list[Line]
    watch: Watch = field(default_factory=Watch)
    facts: Facts = field(default_factory=lambda: Facts())
    sum_error: float = 0.0
    sampled: int = 0
    hardest: Hardest | None = None

    def gap(self, line: Line, k: int) -> float | None:
        """Return how much more the optimum of the scheme's own drafts accepts on average; None where it is unknown."""
        tally = line.gaps.get(k)
        return tally.mean if tally is not None and tally.count else None


def _sum_and_product(masses: FLOAT, logs: FLOAT) -> tuple[float, float]:
    """Return Σ m and Σ m log m; a mass of 0, whose logarithm is −inf, adds nothing."""
    total, _, product = sums_of(masses, logs)
    if product != product:
        # Whatever finite number a mass of 0 is multiplied with.
        total, _, product = sums_of(masses, np.maximum(logs, -1e300))
    return total, product


def scheme_line(scheme: Scheme, ks: tuple[int, ...]) -> Line:
    """Return the empty line of a scheme, for each k, or for the number of drafts that it fixes.

    >>> from spec_math import SCHEMES
    >>> list(scheme_line(SCHEMES[0], (1, 2)).acceptance)
    [1]
    """
    line = Line(scheme.name, scheme.optimum, scheme)
    for k in ks if scheme.drafts is None else (scheme.drafts,):
        line.acceptance[k], line.test_acceptance[k], line.gaps[k] = Tally(), Tally(), Tally()
    return line


def optimum_line(kind: Optimum, ks: tuple[int, ...]) -> Line:
    """Return the empty line of an optimum.

    >>> from spec_math.token_level.optimal import INDEPENDENT
    >>> optimum_line(INDEPENDENT, (1,)).name
    'optimum, i.i.d. drafts'
    """
    line = Line(f"optimum, {kind.drafts}", kind)
    line.acceptance = {k: Tally() for k in ks}
    return line
