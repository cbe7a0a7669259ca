"""One position of a comparison looked at closely: columns without a streamed form, and streamed ones a second way."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Any

import numpy as np

from spec_math.distribution import cut
from spec_math.invariants import (
    ABOVE_OPTIMUM,
    MONOTONE,
    PROBABILITY,
    PROPORTION,
    REPLACEMENT,
    TEST_ABOVE_ACCEPTANCE,
    TWO_WAYS,
    hoeffding,
)
from spec_math.scheme import Optimum, Scheme
from spec_math.studies.positions.lines import Comparison, Line
from spec_math.studies.positions.stream import FLOAT, Batch
from spec_math.token_level import SCHEMES
from spec_math.token_level.optimal import INDEPENDENT, WITHOUT_REPLACEMENT
from spec_math.token_level.optimum import prefix_law
from spec_math.token_level.streamed import Chunk, rounding

PATHS = 2
"""Sampled rejections a position, where an acceptance has too many terms to be summed."""

TERMS = 10_000
"""An acceptance with an estimate is summed exactly where V^k is at most so many."""

RECHECKED_DRAFTS = 1_000
"""A streamed value is computed a second way for at most so many drafts: some closed forms take a pass for each."""


@dataclass(frozen=True)
class Sampled:
    """A row of a batch, and the streamed optimum of i.i.d. drafts there for each k."""

    batch: Batch
    row: int
    anchors: dict[int, float]

    @property
    def position(self) -> int:
        """The position's number."""
        return self.batch.start + self.row

    def laws(self) -> tuple[FLOAT, FLOAT]:
        """Return target and draft [V]."""
        return law_of(self.batch.targets[self.row]), law_of(self.batch.drafts[self.row])


def law_of(masses: FLOAT) -> FLOAT:
    """Divide masses [V] by their sum.

    >>> law_of(np.array([1.0, 3.0])).tolist()
    [0.25, 0.75]
    """
    return masses / masses.sum()


def add_sampled(result: Comparison, at: Sampled, rng: Any) -> None:
    """Take one position into every line that has no streamed form.

    >>> from spec_math.studies.positions.lines import Comparison, optimum_line
    >>> half = np.array([[1.0, 1.0]])
    >>> result = Comparison("halves", 1, 2, (1,), [], [optimum_line(WITHOUT_REPLACEMENT, (1,))])
    >>> add_sampled(result, Sampled(Batch(0, half, half, 0.0), 0, {1: 1.0}), np.random.default_rng(0))
    >>> result.optima[0].acceptance[1].mean
    1.0
    """
    laws = at.laws()
    known: dict[Optimum, dict[int, float]] = {INDEPENDENT: at.anchors}
    for line in [*result.optima, *result.lines]:
        if line.sampled and line.kind is not None and line.kind not in known:
            asked = tuple(k for k in result.ks if line.kind.most is None or k <= line.kind.most or k >= result.size)
            known[line.kind] = dict(zip(asked, map(float, line.kind.all(*laws, asked)), strict=True))
    for line in result.optima:
        if line.sampled and line.kind is not None:
            for k, value in known[line.kind].items():
                line.acceptance[k].add(np.array([value]), np.array([at.anchors[k]]))
            _watch_optimum(result, line.kind, known, at.position)
    for line in result.lines:
        if line.sampled and line.scheme is not None:
            for k in line.acceptance:
                _add(result, line, line.scheme, k, (at, laws, known.get(line.scheme.optimum or INDEPENDENT, {}), rng))


def _add(result: Comparison, line: Line, scheme: Scheme, k: int, given: Any) -> None:
    if line.failed:
        return
    at, laws, known, rng = given
    try:
        found = _values(scheme, laws, k, known, rng)
    except (Exception, SystemExit) as error:  # whatever a user's verifier or formula raises
        if scheme in SCHEMES:
            raise
        line.fail(at.position, error)
        return
    if found is None:
        return
    accepted, tested, exact, runs = found
    anchor = np.array([at.anchors[k]]) if k in at.anchors else None
    line.acceptance[k].add(np.array([accepted]), anchor, runs)
    line.test_acceptance[k].add(np.array([tested]), anchor, runs)
    bound = 2 * rounding(result.size, k) + prefix_law.rounding(result.size)
    place = at.position, k
    result.watch.at_most(PROBABILITY, scheme, (accepted, 1.0), bound, *place)
    result.watch.at_most(PROBABILITY, scheme, (0.0, tested), bound, *place)
    result.watch.at_most(TEST_ABOVE_ACCEPTANCE, scheme, (tested, accepted), bound, *place)
    if scheme.optimum is not None and k in known:
        gap = np.array([known[k] - accepted])
        line.gaps[k].add(cut(gap, bound) if exact else gap, runs=runs)
        if exact:
            result.watch.at_most(ABOVE_OPTIMUM, scheme, (accepted, known[k]), bound, *place)


def _values(
    scheme: Scheme, laws: tuple[FLOAT, FLOAT], k: int, known: dict[int, float], rng: Any
) -> tuple[float, float, bool, int] | None:
    """Return acceptance and test acceptance, whether they are closed forms, and how often a program was run for them.

    None where there is no value.
    """
    size = len(laws[0])
    if scheme.optimum is not None and scheme.acceptance is scheme.optimum.at:
        return (known[k], known[k], True, 0) if k in known else None
    if scheme.estimate is None or min(k, size) * log(size) <= log(TERMS):
        accepted = float(scheme.acceptance(*laws, k))
        if accepted == accepted:
            separate = scheme.test_acceptance is not scheme.acceptance
            return accepted, float(scheme.test_acceptance(*laws, k)) if separate else accepted, True, 0
        if scheme.estimate is None:
            return None
    # A user's verifier that cannot be enumerated at this size is run.
    found = scheme.estimate(*laws, k, PATHS, rng)
    runs = found.samples if found.samples > PATHS else 0
    return found.value, found.value, False, runs


def _watch_optimum(result: Comparison, kind: Optimum, known: dict[Optimum, dict[int, float]], position: int) -> None:
    values, bound = known[kind], prefix_law.rounding(result.size) + 2 * rounding(result.size, max(result.ks))
    name = f"the optimum, {kind.drafts},"
    ks = sorted(values)
    for k in ks:
        result.watch.at_most(PROBABILITY, name, (values[k], 1.0), bound, position, k)
        result.watch.at_most(PROBABILITY, name, (0.0, values[k]), bound, position, k)
        if kind is WITHOUT_REPLACEMENT:
            result.watch.at_most(REPLACEMENT, name, (known[INDEPENDENT][k], values[k]), bound, position, k)
    for fewer, more in pairwise(ks):
        result.watch.at_most(MONOTONE, name, (values[fewer], values[more]), bound, position, more)


def recheck(result: Comparison, at: Sampled, chunk: Chunk, row: int) -> None:
    """Compute the streamed values of one position a second way, by closed forms, and a third from scaled masses.

    >>> from spec_math import SCHEMES
    >>> from spec_math.studies.positions.lines import Comparison, scheme_line
    >>> half, chunk = np.array([[1.0, 1.0]]), Chunk(2, (1,))
    >>> chunk.take(half, half)
    >>> result = Comparison("halves", 1, 2, (1,), [scheme_line(SCHEMES[0], (1,))], [])
    >>> recheck(result, Sampled(Batch(0, half, half, 0.0), 0, {1: 1.0}), chunk, 0)
    >>> result.watch.hold()
    """
    target, draft = at.laws()
    # The same laws with sums that float32 does not hold; upwards, as no mass, down to denormals, is rounded so.
    again = Chunk(result.size, result.ks, 1)
    again.take(target[None] * 2.0**150, draft[None] * 2.0**200)
    for line in result.lines:
        scheme = line.scheme
        if scheme is None or scheme.streamed is None:
            continue
        for k in line.acceptance:
            streamed, scaled = (
                [float(side[place]) for side in scheme.streamed(source, k)]
                for source, place in ((chunk, row), (again, 0))
            )
            bound = 2 * rounding(result.size, k)
            forms = (scheme.acceptance, scheme.test_acceptance) if k <= RECHECKED_DRAFTS else ()
            for value, other in zip(streamed, scaled, strict=True):
                result.watch.agree(PROPORTION, scheme, (value, other), bound, at.position, k)
            # Where every kept draft was accepted by a test, both forms are one.
            by_form = {form: float(form(target, draft, k)) for form in dict.fromkeys(forms)}
            for value, form in zip(streamed, forms, strict=False):
                result.watch.agree(TWO_WAYS, scheme, (value, by_form[form]), bound, at.position, k)


def watch_estimates(result: Comparison) -> None:
    """Hold means of sampled values against the mean optimum, within what sampling explains at its stated rate.

    >>> from spec_math.studies.positions.lines import Comparison
    >>> watch_estimates(Comparison("nothing", 0, 2, (1,), [], []))
    """
    for line in result.lines:
        if line.scheme is not None and line.scheme.estimate is not None:
            for k, gap in line.gaps.items():
                if gap.count:
                    bound = hoeffding(gap.runs or gap.count * PATHS) + prefix_law.rounding(result.size)
                    result.watch.at_most(ABOVE_OPTIMUM, line.scheme, (-gap.mean, 0.0), bound, None, k)
