"""A comparison over positions: the acceptance of every scheme, the optimum, and the gap between them, as means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import log, nan
from typing import Any, NamedTuple

import numpy as np

from spec_math.distribution import cut
from spec_math.invariants import (
    ABOVE_OPTIMUM,
    GAP,
    MONOTONE,
    ONE_ERROR,
    PROBABILITY,
    PROPORTION,
    REPLACEMENT,
    TEST_ABOVE_ACCEPTANCE,
    TWO_WAYS,
    Watch,
    hoeffding,
)
from spec_math.mean import Mean
from spec_math.scheme import Optimum, Scheme, Streamed
from spec_math.studies.positions.stream import FLOAT, Batch, Positions
from spec_math.studies.positions.verdicts import Verdicts
from spec_math.token_level import SCHEMES
from spec_math.token_level.optimal import INDEPENDENT, WITHOUT_REPLACEMENT
from spec_math.token_level.optimum import prefix_law
from spec_math.token_level.streamed import Chunk, rounding

SAMPLED_MASSES = 2**17
"""How many masses of a side the costly columns look at: that many / V positions, evenly spaced, at least 4."""

CAPACITY = 256
"""Positions whose answers are added to the means together."""

RECHECKED, RECHECKED_DRAFTS = 2, 1_000
"""Positions, and the most drafts, for which streamed values are computed a second way."""

PATHS = 2
"""Sampled rejections a position, where an acceptance has too many terms to be summed."""

TERMS = 10_000
"""An acceptance with an estimate is summed exactly where V^k is at most so many."""

CONFIDENCE = 0.99
"""How often the interval of what was run holds the truth, at least."""

SLACK = 2.0**-48
"""More than rounding changes a variance of numbers in [0, 1]: each sum is off by a few 2^-53 of the count."""


@dataclass
class Tally:
    """A running mean over positions, with its standard error.

    Where only some positions are looked at, the mean is that of an `anchor` known at every position plus the mean
    difference to it over those (the difference estimator of survey sampling): differences spread far less than values.
    `beside` tallies the anchor's values at these positions, and the differences to them.
    """

    anchor: Tally | None = None
    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    runs: int = 0
    beside: tuple[Tally, Tally] | None = None

    def add(self, values: FLOAT, anchors: FLOAT | None = None, runs: int = 0) -> None:
        """Take in values [n], and the anchor's values at the same positions where there is an anchor.

        `runs` is by how many runs of a program a value was estimated, each of which gave 0 or 1 or a difference to it.
        """
        self.runs += runs
        self.count += len(values)
        self.total += float(values.sum())
        self.squares += float(values @ values)
        if anchors is not None:
            self.beside = self.beside or (Tally(), Tally())
            self.beside[0].add(anchors)
            self.beside[1].add(values - anchors)

    @property
    def mean(self) -> float:
        """The mean so far."""
        if self.anchor is None or self.beside is None:
            return self.total / self.count
        return self.anchor.mean + self.beside[1].mean

    @property
    def error(self) -> float:
        """The standard error of the mean, the positions taken as independent; NaN for one, which knows no spread.

        The variance of a value is the anchor's over all positions, plus what the values vary more than the anchor over
        those looked at. It is at least (σ(anchor) − σ(differences))². So a column that differs nowhere from its anchor
        has the anchor's standard error.
        """
        if self.anchor is None or self.beside is None:
            return (self.variance / self.count) ** 0.5
        every = max(self.anchor.count, self.count)
        seen, apart = (tally.variance for tally in self.beside)
        least = (self.anchor.variance**0.5 - apart**0.5) ** 2
        spread = max(self.anchor.variance + (self.variance - seen), least)
        return (spread / every + (1 / self.count - 1 / every) * apart) ** 0.5

    @property
    def error_bound(self) -> float:
        """Most distance of the squared error from the anchor's: |σ(v)² − σ(anchor)²| ≤ σ(d) (2 σ(anchor) + σ(d))."""
        if self.anchor is None or self.beside is None:
            return 0.0
        seen, apart = (tally.variance for tally in self.beside)
        spread = (apart + SLACK) ** 0.5 * (2 * max(self.anchor.variance, seen) ** 0.5 + (apart + SLACK) ** 0.5)
        return (spread + SLACK) / self.anchor.count + apart / self.count

    @property
    def estimate(self) -> Mean | None:
        """The mean with its standard error and the number of positions looked at; None where there were none.

        Of runs, with an interval for the mean over these very positions, missed in one of a hundred: by Hoeffding a
        mean of N independent numbers, each in an interval of length 1, is off by √(ln(2/0.01)/(2N)) at most.
        """
        if not self.count:
            return None
        if not self.runs:
            return Mean(self.mean, self.error, self.count)
        reach = (log(2 / (1 - CONFIDENCE)) / (2 * self.runs)) ** 0.5
        value = self.total / self.count
        # Acceptances lie in [0, 1], and so do the gaps of what is lossless.
        low, high = min(max(value - reach, 0.0), value), max(min(value + reach, 1.0), value)
        return Mean(value, self.error, self.count, low, high, CONFIDENCE)

    @property
    def variance(self) -> float:
        """The variance of the values taken in, over n − 1; NaN for a single one."""
        if self.count < 2:
            return nan
        return max(self.squares - self.total**2 / self.count, 0.0) / (self.count - 1)


class Values(NamedTuple):
    """A column at positions [n]: its acceptance, that of its tests, the optimum of its drafts, and the anchor there.

    `exact` says that they are closed forms; `runs`, by how many runs of a program they were estimated.
    """

    accepted: FLOAT
    tested: FLOAT
    best: FLOAT | None = None
    anchors: FLOAT | None = None
    exact: bool = True
    runs: int = 0


@dataclass
class Line:
    """A row of a comparison: one scheme or one optimum, with its means a k, and its gap to the optimum.

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

    @property
    def form(self) -> Streamed | None:
        """The closed form over many positions, where there is one."""
        held = self.scheme or self.kind
        return None if held is None else held.streamed

    @property
    def sampled(self) -> bool:
        """True if only some positions are looked at: there is no form of it over many positions."""
        return self.form is None

    def gap(self, k: int) -> Mean | None:
        """Return how much more the optimum of the scheme's own drafts accepts on average; None where it is unknown."""
        return self.gaps[k].estimate if k in self.gaps else None

    def bound(self, size: int, k: int) -> float:
        """Return how far two values of this line and its optimum may contradict each other by rounding."""
        return 2 * rounding(size, k) + (prefix_law.rounding(size) if self.sampled else 0.0)

    def take(self, k: int, values: Values, watch: Watch, bound: float, first: int) -> None:
        """Add values at positions from `first` on to the means and the gap, and watch that they do not contradict."""
        accepted, tested, best = values[:3]
        claims: list[tuple[str, Any, Any]] = [(PROBABILITY, accepted, 1.0), (PROBABILITY, 0.0, tested)]
        self.acceptance[k].add(accepted, values.anchors, values.runs)
        if self.scheme is not None:
            self.test_acceptance[k].add(tested, values.anchors, values.runs)
            claims.append((TEST_ABOVE_ACCEPTANCE, tested, accepted))
        if best is not None:
            self.gaps[k].add(cut(best - accepted, bound) if values.exact else best - accepted, runs=values.runs)
            if values.exact:
                claims.append((ABOVE_OPTIMUM, accepted, best))
        for claim, lower, upper in claims:
            watch.at_most(claim, self.scheme or self.name, (lower, upper), bound, first, k)

    def fail(self, position: int, error: BaseException) -> None:
        """Forget what was found: at this position the verifier, or its formula, raised an error."""
        self.failed = f"{self.name} fails at position {position}: {type(error).__name__}: {error}"
        for tallies in (self.acceptance, self.test_acceptance, self.gaps):
            tallies.update({k: Tally() for k in tallies})


def line_of(held: Scheme | Optimum, ks: tuple[int, ...], anchor: Line | None = None) -> Line:
    """Return the empty line of a scheme or an optimum, for each k, or for the number of drafts that a scheme fixes."""
    if isinstance(held, Scheme):
        line = Line(held.name, held.optimum, held)
        ks = ks if held.drafts is None else (held.drafts,)
    else:
        line = Line(f"optimum, {held.drafts}", held)
    for k in ks:
        anchored = anchor.acceptance.get(k) if anchor is not None and line.sampled else None
        line.acceptance[k] = Tally(anchored)
        if line.scheme is not None:
            line.test_acceptance[k], line.gaps[k] = Tally(anchored), Tally()
    return line


class Hardest(NamedTuple):
    """The position where even the optimum of i.i.d. drafts is least, with its laws [V]."""

    position: int
    optimum: float
    target: FLOAT
    draft: FLOAT


@dataclass
class Facts:
    """Means over the positions: the target's largest mass, its entropy in nats, and the overlap Σ min(t, d)."""

    largest: Tally = field(default_factory=Tally)
    entropy: Tally = field(default_factory=Tally)
    overlap: Tally = field(default_factory=Tally)

    def take(self, batch: Batch, overlaps: FLOAT) -> None:
        """Take in positions with their overlaps [n].

        The entropy of masses m of the sum S is log S − Σ m log m / S: nothing is divided but sums.
        """
        targets, logs, largest = batch.targets, batch.target_logs, np.ones(len(batch.targets))
        if logs is None:
            largest = targets.max(axis=1)
            logs = np.maximum(targets, 5e-324)
            np.log(logs, out=logs)
        sums = targets.sum(axis=1)
        with np.errstate(invalid="ignore"):
            products = np.einsum("ij,ij->i", targets, logs)
        if np.isnan(products).any():  # 0 · −inf: whatever finite number a mass of 0 is multiplied with, it adds nothing
            products = np.einsum("ij,ij->i", targets, np.maximum(logs, -1e300))
        self.largest.add(largest / sums)
        self.entropy.add(np.log(sums) - products / sums)
        self.overlap.add(overlaps)

    def __str__(self) -> str:
        if not self.largest.count:
            return ""
        return (
            f"On average, the target's largest probability is {self.largest.mean:.3f}, its entropy "
            f"{self.entropy.mean:.2f} nats, and its overlap with the draft {self.overlap.mean:.3f}."
        )


@dataclass
class Comparison:
    """Schemes and optima compared over `count` positions of V tokens: a line each.

    `watch` knows which of the numbers contradict each other: `watch.hold` comes before any of them is shown.
    """

    source: str
    count: int
    size: int
    ks: tuple[int, ...]
    lines: list[Line]
    optima: list[Line]
    watch: Watch = field(default_factory=Watch)
    facts: Facts = field(default_factory=Facts)
    sum_error: float = 0.0
    sampled: int = 0
    hardest: Hardest | None = None

    def watch_order(self, line: Line, values: dict[int, FLOAT], first: int) -> None:
        """Watch that values by k, at positions from `first` on, do not fall as k grows."""
        for fewer, more in pairwise(sorted(values)):
            sides = values[fewer], values[more]
            self.watch.at_most(MONOTONE, line.scheme or line.name, sides, line.bound(self.size, more), first, more)


def compare(
    positions: Positions, schemes: Sequence[Scheme], ks: tuple[int, ...], progress: Callable[[int], None], seed: int = 0
) -> Comparison:
    """Average the acceptance of schemes over positions, in one pass and in bounded memory.

    Schemes with a streamed closed form look at every position; the others, and the optimum without replacement, at
    evenly spaced ones. progress is called with the number of positions done; seed is for the sampled acceptance of
    recursive rejection without replacement. `watch.hold` of the result is called before any of it is shown.
    """
    independent, *others = kinds(schemes)
    anchor = line_of(independent, ks)
    optima = [anchor, *(line_of(kind, ks, anchor) for kind in others)]
    lines = [line_of(scheme, ks, anchor) for scheme in schemes]
    result = Comparison(positions.source, positions.count, positions.size, ks, lines, optima)
    step = max(1, positions.count // max(4, SAMPLED_MASSES // positions.size))
    rng = np.random.default_rng(seed)
    chunk, flushed = Chunk(positions.size, ks, CAPACITY), 0
    for batch in positions.batches(chunk_rows(positions.size)):
        if chunk.rows + len(batch.targets) > CAPACITY:
            flushed += _flush(chunk, result, flushed)
        first = chunk.rows
        chunk.take(batch.targets, batch.drafts)
        result.facts.take(batch, chunk.overlap(1)[0][first:])
        result.hardest = _harder(result.hardest, batch, chunk.optimum(ks[-1])[0][first:])
        for row in range(-batch.start % step, len(batch.targets), step):
            result.sampled += 1
            laws = _law(batch.targets[row]), _law(batch.drafts[row])
            _add_sampled(result, laws, {k: chunk.optimum(k)[0][[first + row]] for k in ks}, batch.start + row, rng)
            if result.sampled <= RECHECKED:
                _recheck(result, laws, batch.start + row, chunk, first + row)
        result.sum_error = max(result.sum_error, batch.sum_error)
        progress(len(batch.targets))
    _flush(chunk, result, flushed)
    _watch_means(result)
    return result


def compare_judged(
    positions: Positions, verdicts: Verdicts, ks: tuple[int, ...], progress: Callable[[int], None], seed: int = 0
) -> Comparison:
    """Compare the schemes that were judged, and fail where numbers of the right ones contradict each other.

    Raises:
        BrokenInvariantError: naming the claim, the scheme, the position, both numbers and the gap.
    """
    result = compare(positions, list(verdicts), ks, progress, seed)
    # A lossy verifier may well exceed the optimum, and a wrong formula anything: their lines say so.
    result.watch.hold(lambda subject: not isinstance(subject, Scheme) or verdicts[subject].right)
    return result


def kinds(schemes: Sequence[Scheme]) -> list[Optimum]:
    """Return the optima that get a line: those of i.i.d. drafts and of drafts without replacement, and others.

    An optimum that a scheme reaches by definition is the line of that scheme already.
    """
    found = [INDEPENDENT, WITHOUT_REPLACEMENT]
    reached = {scheme.acceptance for scheme in schemes}
    for scheme in schemes:
        kind = scheme.optimum
        if kind is not None and kind not in found and kind.at not in reached and scheme.drafts is None:
            found.append(kind)
    return found


def chunk_rows(size: int) -> int:
    """Return how many positions are read together: about 2^19 masses a side."""
    return min(max(1, 2**19 // size), CAPACITY)


def _flush(chunk: Chunk, result: Comparison, first: int) -> int:
    """Add a full chunk to the means: a call a column and chunk, not a call a column and position; return its size."""
    rows = chunk.rows
    for line in (*result.lines, *result.optima) if rows else ():
        form = line.form
        if form is None:
            continue
        best = line.kind.streamed if line.scheme is not None and line.kind is not None else None
        found: dict[int, FLOAT] = {}
        for k in line.acceptance:
            found[k], tested = form(chunk, k)
            optimum = None if best is None else found[k] if best is form else best(chunk, k)[0]
            line.take(k, Values(found[k], tested, optimum), result.watch, line.bound(result.size, k), first)
        if line.scheme is None or line.scheme.monotone:
            result.watch_order(line, found, first)
    chunk.clear()
    return rows


def _add_sampled(
    result: Comparison, laws: tuple[FLOAT, FLOAT], anchors: dict[int, FLOAT], position: int, rng: Any
) -> None:
    """Take one position into every line that has no streamed form; `anchors` is the optimum of i.i.d. drafts there."""
    known: dict[Optimum | None, dict[int, FLOAT]] = {INDEPENDENT: anchors}
    for line in [*result.optima, *result.lines]:
        kind = line.kind
        if line.sampled and kind is not None and kind not in known:
            wanted = sorted({*result.ks, *line.acceptance})
            asked = tuple(k for k in wanted if k <= (kind.most or k) or k >= result.size)
            known[kind] = {k: np.array([float(x)]) for k, x in zip(asked, kind.all(*laws, asked), strict=True)}
    for line in [line for line in result.optima if line.sampled]:
        values = known[line.kind]
        for k, value in values.items():
            bound = line.bound(result.size, k)
            line.take(k, Values(value, value, None, anchors[k]), result.watch, bound, position)
            if line.kind is WITHOUT_REPLACEMENT:
                result.watch.at_most(REPLACEMENT, line.name, (anchors[k], value), bound, position, k)
        result.watch_order(line, values, position)
    for line in [line for line in result.lines if line.sampled]:
        for k in line.acceptance if not line.failed else ():
            best = known.get(line.kind or INDEPENDENT, {}).get(k)
            try:
                values = _values(line, laws, k, best, rng)
            except (Exception, SystemExit) as error:  # whatever a user's verifier or formula raises
                if line.scheme in SCHEMES:
                    raise
                line.fail(position, error)
                break
            if values is not None:
                bound = line.bound(result.size, k)
                line.take(k, values._replace(anchors=anchors.get(k)), result.watch, bound, position)


def _values(line: Line, laws: tuple[FLOAT, FLOAT], k: int, best: FLOAT | None, rng: Any) -> Values | None:
    """Return a scheme's values at one position with laws [V]: by closed forms, else by runs; None where it has none."""
    scheme, size = line.scheme, len(laws[0])
    if scheme is None:
        return None
    best_of_own = best if scheme.optimum is not None else None
    if scheme.optimum is not None and scheme.acceptance is scheme.optimum.at:
        return None if best is None else Values(best, best, best)
    if scheme.estimate is None or min(k, size) * log(size) <= log(TERMS):
        accepted = np.array([float(scheme.acceptance(*laws, k))])
        if accepted[0] == accepted[0]:
            separate = scheme.test_acceptance is not scheme.acceptance
            tested = np.array([float(scheme.test_acceptance(*laws, k))]) if separate else accepted
            return Values(accepted, tested, best_of_own)
        if scheme.estimate is None:
            return None
    # A user's verifier that cannot be enumerated at this size is run.
    found = scheme.estimate(*laws, k, PATHS, rng)
    value, runs = np.array([found.value]), found.samples if found.samples > PATHS else 0
    return Values(value, value, best_of_own, exact=False, runs=runs)


def _recheck(result: Comparison, laws: tuple[FLOAT, FLOAT], position: int, chunk: Chunk, row: int) -> None:
    """Compute the streamed values of one position a second way, by closed forms, and a third from scaled masses."""
    # The same laws with sums that float32 does not hold; upwards, as no mass, down to denormals, is rounded so.
    again = Chunk(result.size, result.ks, 1)
    again.take(laws[0][None] * 2.0**150, laws[1][None] * 2.0**200)
    for line in result.lines:
        scheme = line.scheme
        if scheme is None or scheme.streamed is None:
            continue
        for k in line.acceptance:
            bound = line.bound(result.size, k)
            streamed = [float(side[row]) for side in scheme.streamed(chunk, k)]
            scaled = [float(side[0]) for side in scheme.streamed(again, k)]
            forms = (scheme.acceptance, scheme.test_acceptance) if k <= RECHECKED_DRAFTS else ()
            # Where every kept draft was accepted by a test, both forms are one.
            by_form = {form: float(form(*laws, k)) for form in dict.fromkeys(forms)}
            for value, other in zip(streamed, scaled, strict=True):
                result.watch.agree(PROPORTION, scheme, (value, other), bound, position, k)
            for value, form in zip(streamed, forms, strict=False):
                result.watch.agree(TWO_WAYS, scheme, (value, by_form[form]), bound, position, k)


def _watch_means(result: Comparison) -> None:
    """Watch the means: gaps and sampled means against the mean optimum, and the standard errors of anchored ones."""
    best = {(line.kind, k): tally for line in result.optima for k, tally in line.acceptance.items()}
    for line in (*result.lines, *result.optima):
        for k, gap in line.gaps.items():
            parts = line.acceptance[k], gap, best.get((line.kind, k), Tally())
            if gap.count == parts[0].count == parts[2].count > 0:
                accepted, missed, most = (each.total / each.count for each in parts)
                result.watch.agree(GAP, line.scheme, (accepted + missed, most), line.bound(result.size, k), None, k)
        if line.scheme is not None and line.scheme.estimate is not None:
            for k, gap in line.gaps.items():
                if gap.count:
                    bound = hoeffding(gap.runs or gap.count * PATHS) + prefix_law.rounding(result.size)
                    result.watch.at_most(ABOVE_OPTIMUM, line.scheme, (-gap.mean, 0.0), bound, None, k)
        for k, tally in line.acceptance.items():
            if tally.anchor is not None and tally.count > 1:
                apart = abs(tally.error**2 - tally.anchor.error**2)
                result.watch.at_most(ONE_ERROR, line.name, (apart, 0.0), tally.error_bound, None, k)


def _harder(known: Hardest | None, batch: Batch, optimum: FLOAT) -> Hardest:
    row = int(optimum.argmin())
    if known is not None and known.optimum <= optimum[row]:
        return known
    return Hardest(batch.start + row, float(optimum[row]), _law(batch.targets[row]), _law(batch.drafts[row]))


def _law(masses: FLOAT) -> FLOAT:
    return masses / masses.sum()
