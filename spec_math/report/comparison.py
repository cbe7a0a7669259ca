"""The main job: membership and acceptance of every scheme, and the optimum, averaged over many positions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spec_math.report.positions import FLOAT, Batch, Positions
from spec_math.scheme import Scheme
from spec_math.token_level import without_replacement
from spec_math.token_level.optimal import acceptance_without_replacement, acceptances_without_replacement
from spec_math.token_level.streamed import STREAMED, Chunk

SAMPLED_MASSES = 2**17
"""How many masses of a side the costly columns look at: that many / V positions, evenly spaced, at least 4."""

CAPACITY = 256
"""Positions whose answers are added to the means together."""

PATHS = 2
"""Sampled rejections a position, where an acceptance has too many terms to be summed."""


@dataclass
class Tally:
    """A running mean over positions, with its standard error.

    Where only some positions are looked at, the mean is that of an `anchor` known at every position plus the mean
    difference to it over those (the difference estimator of survey sampling): differences spread far less than values.

    >>> tally = Tally()
    >>> tally.add(np.array([0.0, 1.0]))
    >>> tally.mean, tally.count
    (0.5, 2)
    """

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    anchor: Tally | None = None
    differences: Tally | None = None

    def add(self, values: FLOAT, anchors: FLOAT | None = None) -> None:
        """Take in values [n], and the anchor's values at the same positions where there is an anchor."""
        self.count += len(values)
        # Plain floats: a NumPy call a chunk and column would cost more than the few additions do.
        for value in values.tolist():
            self.total += value
            self.squares += value * value
        if anchors is not None:
            self.differences = self.differences or Tally()
            self.differences.add(values - anchors)

    @property
    def mean(self) -> float:
        """The mean so far."""
        if self.anchor is None or self.differences is None:
            return self.total / self.count
        return self.anchor.mean + self.differences.mean

    @property
    def error(self) -> float:
        """The standard error of the mean, the positions taken as independent; 0 for a single one."""
        if self.anchor is None or self.differences is None:
            return (self.variance / self.count) ** 0.5
        every = max(self.anchor.count, self.count)
        return (self.variance / every + (1 / self.count - 1 / every) * self.differences.variance) ** 0.5

    @property
    def variance(self) -> float:
        """The variance of the values taken in, over n − 1; 0 for a single one."""
        if self.count < 2:
            return 0.0
        return max(self.squares - self.total**2 / self.count, 0.0) / (self.count - 1)


@dataclass
class Line:
    """One scheme of a comparison: per k its membership and acceptance, and whether every position was looked at."""

    name: str
    membership: dict[int, Tally] = field(default_factory=dict[int, Tally])
    acceptance: dict[int, Tally] = field(default_factory=dict[int, Tally])
    optimum: str = "optimum, i.i.d. drafts"
    sampled: bool = False
    note: str = ""


@dataclass(frozen=True)
class Hardest:
    """The position where even the optimum accepts least, with its laws [V]."""

    position: int
    optimum: float
    target: FLOAT
    draft: FLOAT


@dataclass
class Comparison:
    """What `compare` found: a line a scheme and a line an optimum, over `count` positions of V tokens."""

    source: str
    count: int
    size: int
    ks: tuple[int, ...]
    lines: list[Line]
    optima: list[Line]
    sum_error: float
    sampled: int
    hardest: Hardest | None = None

    def gap(self, line: Line, k: int) -> float | None:
        """Return how much more the optimum of the same drafts accepts."""
        best = next((o for o in self.optima if o.name == line.optimum), None)
        if best is None or k not in best.membership or k not in line.membership or not line.membership[k].count:
            return None
        return best.membership[k].mean - line.membership[k].mean


def compare(
    positions: Positions, schemes: Iterable[Scheme], ks: tuple[int, ...], progress: Callable[[int], None], seed: int = 0
) -> Comparison:
    """Average membership and acceptance of schemes over positions, in one pass and in bounded memory.

    Schemes with a streamed closed form look at every position; the others, and the optimum without replacement, at
    evenly spaced ones. progress is called with the number of positions done; seed is for the sampled acceptance of
    recursive rejection without replacement.

    >>> from spec_math.report.positions import from_rows
    >>> from spec_math import SCHEMES
    >>> halves = from_rows(lambda a, b: np.full((b - a, 2), 0.5), lambda a, b: np.full((b - a, 2), 0.5), (3, 2))
    >>> result = compare(halves, SCHEMES, (1, 2), lambda done: None)
    >>> result.lines[0].membership[1].mean
    1.0
    """
    lines = [_line(scheme, ks) for scheme in schemes]
    costly = [(line, scheme) for line, scheme in zip(lines, schemes, strict=True) if scheme.name not in STREAMED]
    optima = [Line(f"optimum, {kind}", optimum=f"optimum, {kind}") for kind in ("i.i.d. drafts", "without replacement")]
    optima[0].membership = {k: Tally() for k in ks}
    optima[1].membership = {k: Tally(anchor=optima[0].membership[k]) for k in ks}
    optima[1].sampled = True
    for line, _ in costly:
        for k in line.membership:
            line.membership[k].anchor = line.acceptance[k].anchor = optima[0].membership.get(k)
    wanted = max(4, SAMPLED_MASSES // positions.size)
    step = max(1, positions.count // wanted)
    rng = np.random.default_rng(seed)
    result = Comparison(positions.source, positions.count, positions.size, ks, lines, optima, 0.0, 0)
    chunk = Chunk(positions.size, ks, CAPACITY)
    for batch in positions.batches(chunk_rows(positions.size)):
        if chunk.rows + len(batch.targets) > CAPACITY:
            _flush(chunk, lines, optima[0])
        first = chunk.rows
        chunk.take(batch.targets, batch.drafts)
        best = [chunk.by_k(1, k)[first:] for k in ks]
        result.hardest = _harder(result.hardest, batch, best[-1])
        for row in _sampled_rows(batch, step):
            target, draft = _law_of(batch.targets[row]), _law_of(batch.drafts[row])
            result.sampled += 1
            anchors = {k: column[row] for k, column in zip(ks, best, strict=True)}
            known = dict(zip(ks, acceptances_without_replacement(target, draft, ks), strict=True))
            for line, scheme in costly:
                _add_costly(line, _costly_values(scheme, (target, draft), known, rng), anchors)
            for k in ks:
                optima[1].membership[k].add(np.array([known[k]]), np.array([anchors[k]]))
        result.sum_error = max(result.sum_error, batch.sum_error)
        progress(len(batch.targets))
    _flush(chunk, lines, optima[0])
    return result


def _flush(chunk: Chunk, lines: list[Line], optimum: Line) -> None:
    """Add a full chunk to the means: a call a column and chunk, not a call a column and position."""
    for line in lines:
        if line.name in STREAMED:
            _add_streamed(line, chunk)
    for k, tally in optimum.membership.items():
        tally.add(chunk.by_k(1, k))
    chunk.clear()


def chunk_rows(size: int) -> int:
    """Return how many positions are read together: about 2^16 masses a side, so that they stay in a core's own cache.

    >>> chunk_rows(4_000)
    16
    """
    return min(max(1, 2**16 // size), CAPACITY)


def _line(scheme: Scheme, ks: tuple[int, ...]) -> Line:
    kind = "without replacement" if "without replacement" in scheme.name else "i.i.d. drafts"
    line = Line(scheme.name, optimum=f"optimum, {kind}", sampled=scheme.name not in STREAMED)
    for k in ks if scheme.drafts is None else (scheme.drafts,):
        line.membership[k], line.acceptance[k] = Tally(), Tally()
    return line


def _add_streamed(line: Line, chunk: Chunk) -> None:
    for k in line.membership:
        accepted, member = chunk.values(line.name, k)
        line.acceptance[k].add(accepted)
        line.membership[k].add(member)


def _harder(known: Hardest | None, batch: Batch, optimum: FLOAT) -> Hardest:
    row = int(optimum.argmin())
    if known is not None and known.optimum <= optimum[row]:
        return known
    laws = _law_of(batch.targets[row]), _law_of(batch.drafts[row])
    return Hardest(batch.start + row, float(optimum[row]), *laws)


def _sampled_rows(batch: Batch, step: int) -> range:
    first = -batch.start % step
    return range(first, len(batch.targets), step)


def _law_of(masses: FLOAT) -> FLOAT:
    return masses / masses.sum()


Values = Callable[[int], tuple[float, float]]


def _add_costly(line: Line, values: Values, anchors: dict[int, float]) -> None:
    for k in line.membership:
        accepted, member = values(k)
        if member != member:  # NaN: a user's verifier that cannot be enumerated at this size is judged, not averaged
            continue
        anchor = np.array([anchors[k]]) if k in anchors else None
        line.acceptance[k].add(np.array([accepted]), anchor)
        line.membership[k].add(np.array([member]), anchor)


def _costly_values(scheme: Scheme, laws: tuple[FLOAT, FLOAT], known: dict[int, float], rng: Any) -> Values:
    target, draft = laws

    def values(k: int) -> tuple[float, float]:
        if scheme.membership is acceptance_without_replacement and k in known:
            return known[k], known[k]
        if scheme.acceptance is without_replacement.acceptance and len(target) ** min(k, len(target)) > 10_000:
            value = without_replacement.estimate(target, draft, k, PATHS, rng).value
            return value, value
        accepted = float(scheme.acceptance(target, draft, k))
        same = scheme.acceptance is scheme.membership
        return accepted, accepted if same else float(scheme.membership(target, draft, k))

    return values
