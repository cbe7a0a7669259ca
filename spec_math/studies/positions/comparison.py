"""The main job: the acceptance of every scheme, and the optimum, averaged over many positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from spec_math.distribution import cut
from spec_math.invariants import (
    ABOVE_OPTIMUM,
    MONOTONE,
    PROBABILITY,
    TEST_ABOVE_ACCEPTANCE,
)
from spec_math.scheme import Optimum, Scheme
from spec_math.studies.positions.lines import Comparison, Hardest, Line, optimum_line, scheme_line
from spec_math.studies.positions.sampled_positions import Sampled, add_sampled, law_of, recheck, watch_estimates
from spec_math.studies.positions.stream import FLOAT, Batch, Positions
from spec_math.studies.positions.verdicts import Verdicts
from spec_math.token_level.optimal import INDEPENDENT, WITHOUT_REPLACEMENT
from spec_math.token_level.streamed import Chunk, rounding

SAMPLED_MASSES = 2**17
"""How many masses of a side the costly columns look at: that many / V positions, evenly spaced, at least 4."""

CAPACITY = 256
"""Positions whose answers are added to the means together."""

RECHECKED = 2
"""Positions whose streamed values are computed a second way."""


def compare(
    positions: Positions, schemes: Sequence[Scheme], ks: tuple[int, ...], progress: Callable[[int], None], seed: int = 0
) -> Comparison:
    """Average the acceptance of schemes over positions, in one pass and in bounded memory.

    Schemes with a streamed closed form look at every position; the others, and the optimum without replacement, at
    evenly spaced ones. progress is called with the number of positions done; seed is for the sampled acceptance of
    recursive rejection without replacement. `watch.hold` of the result is called before any of it is shown.

    >>> from spec_math.studies.positions.stream import from_rows
    >>> from spec_math import SCHEMES
    >>> halves = from_rows(lambda a, b: np.full((b - a, 2), 0.5), lambda a, b: np.full((b - a, 2), 0.5), (3, 2))
    >>> result = compare(halves, SCHEMES, (1, 2), lambda done: None)
    >>> result.lines[0].acceptance[1].mean
    1.0
    """
    lines = [scheme_line(scheme, ks) for scheme in schemes]
    optima = [optimum_line(kind, ks) for kind in kinds(schemes)]
    _anchor([*lines, *optima[1:]], optima[0])
    wanted = max(4, SAMPLED_MASSES // positions.size)
    step = max(1, positions.count // wanted)
    rng = np.random.default_rng(seed)
    result = Comparison(positions.source, positions.count, positions.size, ks, lines, optima)
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
            at = Sampled(batch, row, {k: float(chunk.optimum(k)[0][first + row]) for k in ks})
            add_sampled(result, at, rng)
            if result.sampled <= RECHECKED:
                recheck(result, at, chunk, first + row)
        result.sum_error = max(result.sum_error, batch.sum_error)
        progress(len(batch.targets))
    _flush(chunk, result, flushed)
    watch_estimates(result)
    return result


def compare_judged(
    positions: Positions, verdicts: Verdicts, ks: tuple[int, ...], progress: Callable[[int], None], seed: int = 0
) -> Comparison:
    """Compare the schemes that were judged, and fail where numbers of the right ones contradict each other.

    Raises:
        BrokenInvariantError: naming the claim, the scheme, the position, both numbers and the gap.

    >>> from spec_math.studies.positions.stream import from_rows
    >>> halves = from_rows(lambda a, b: np.full((b - a, 2), 0.5), lambda a, b: np.full((b - a, 2), 0.5), (3, 2))
    >>> compare_judged(halves, {}, (1,), lambda done: None).optima[0].acceptance[1].mean
    1.0
    """
    result = compare(positions, list(verdicts), ks, progress, seed)
    # A lossy verifier may well exceed the optimum, and a wrong formula anything: their lines say so.
    result.watch.hold(lambda subject: not isinstance(subject, Scheme) or verdicts[subject].right)
    return result


def kinds(schemes: Sequence[Scheme]) -> list[Optimum]:
    """Return the optima that get a line: those of i.i.d. drafts and of drafts without replacement, and others.

    An optimum that a scheme reaches by definition is the line of that scheme already.

    >>> from spec_math import SCHEMES
    >>> [kind.drafts for kind in kinds(SCHEMES)]
    ['i.i.d. drafts', 'without replacement']
    """
    found = [INDEPENDENT, WITHOUT_REPLACEMENT]
    reached = {scheme.acceptance for scheme in schemes}
    for scheme in schemes:
        kind = scheme.optimum
        if kind is not None and kind not in found and kind.at not in reached and scheme.drafts is None:
            found.append(kind)
    return found


def chunk_rows(size: int) -> int:
    """Return how many positions are read together: about 2^16 masses a side, so that they stay in a core's own cache.

    >>> chunk_rows(4_000)
    16
    """
    return min(max(1, 2**16 // size), CAPACITY)


def _anchor(lines: Sequence[Line], anchor: Line) -> None:
    for line in lines:
        if line.sampled:
            for tallies in (line.acceptance, line.test_acceptance):
                for k, tally in tallies.items():
                    tally.anchor = anchor.acceptance.get(k)


def _flush(chunk: Chunk, result: Comparison, first: int) -> int:
    """Add a full chunk to the means: a call a column and chunk, not a call a column and position; return its size."""
    rows = chunk.rows
    if rows:
        for line in result.lines:
            if line.scheme is not None and line.scheme.streamed is not None:
                _add_streamed(line, chunk, result, first)
        for line in result.optima:
            if line.kind is not None and line.kind.streamed is not None:
                for k, tally in line.acceptance.items():
                    tally.add(line.kind.streamed(chunk, k)[0])
                _watch_order(line, {k: line.kind.streamed(chunk, k)[0] for k in line.acceptance}, result, first)
    chunk.clear()
    return rows


def _add_streamed(line: Line, chunk: Chunk, result: Comparison, first: int) -> None:
    scheme, watch = line.scheme, result.watch
    if scheme is None or scheme.streamed is None:
        return
    found: dict[int, FLOAT] = {}
    for k in line.acceptance:
        accepted, tested = scheme.streamed(chunk, k)
        line.acceptance[k].add(accepted)
        line.test_acceptance[k].add(tested)
        found[k] = accepted
        bound = 2 * rounding(result.size, k)
        watch.at_most(PROBABILITY, scheme, (accepted, 1.0), bound, first, k)
        watch.at_most(PROBABILITY, scheme, (0.0, tested), bound, first, k)
        if tested is not accepted:
            watch.at_most(TEST_ABOVE_ACCEPTANCE, scheme, (tested, accepted), bound, first, k)
        kind = scheme.optimum
        if kind is not None and kind.streamed is not None:
            best = accepted if kind.streamed is scheme.streamed else kind.streamed(chunk, k)[0]
            line.gaps[k].add(cut(best - accepted, bound))
            watch.at_most(ABOVE_OPTIMUM, scheme, (accepted, best), bound, first, k)
    if scheme.monotone:
        _watch_order(line, found, result, first)


def _watch_order(line: Line, values: dict[int, FLOAT], result: Comparison, first: int) -> None:
    ks = sorted(values)
    for fewer, more in pairwise(ks):
        bound = 2 * rounding(result.size, more)
        result.watch.at_most(MONOTONE, line.scheme or line.name, (values[fewer], values[more]), bound, first, more)


def _harder(known: Hardest | None, batch: Batch, optimum: FLOAT) -> Hardest:
    row = int(optimum.argmin())
    if known is not None and known.optimum <= optimum[row]:
        return known
    laws = law_of(batch.targets[row]), law_of(batch.drafts[row])
    return Hardest(batch.start + row, float(optimum[row]), *laws)
