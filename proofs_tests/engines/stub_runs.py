"""Audits of the stub engine on pairs of tables: how soon a planted bug is found, and how often a right one alarms.

`python -m proofs_tests.engines.stub_runs bugs`, `… right 1000` and `… power 5` print the numbers; the last one is the
table of docs/engines.md.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import chisquare

from spec_math.engines.pair import Pair, PairShape, tables
from spec_math.engines.protocol import Engine
from spec_math.engines.questions import CELLS, CaseRun
from spec_math.engines.report import status, suspect, told
from spec_math.engines.stub import BUGS, Stub
from spec_math.engines.study import EngineRequest, audit_engine, cases_of
from spec_math.studies.arguments import no_progress

SIZE, SAMPLES = 16, 4500
MOST = 20_000
"""Tokens that a bug may take."""


class Found(NamedTuple):
    """Tokens asked for until the first failure, or None; all tokens; what failed: case, status, words; the suspect."""

    first: int | None
    total: int
    failures: list[tuple[str, str, str]]
    suspect: str | None


def hunt(engine: Engine, seed: int, alpha: float = 1e-6, samples: int = SAMPLES) -> Found:
    """Ask an engine every question about a pair of this seed."""
    request = EngineRequest("stub", matrix=True, samples=samples)
    runs = audit_engine(engine, pair_of(seed), cases_of(request, engine.about), (alpha, seed), no_progress)
    return found(runs)


def found(runs: Sequence[CaseRun]) -> Found:
    before, first = 0, None
    for run in runs:
        if run.failures and first is None:
            first = before + min(failure.tokens for failure in run.failures)
        before += run.tokens
    failed = [run for run in runs if run.failures]
    failures = [(run.case.name, status(run), told(run)) for run in failed]
    return Found(first, before, failures, suspect(failed))


def pair_of(seed: int) -> Pair:
    return tables(PairShape(size=SIZE, seed=seed))


def right_runs(number: int, samples: int, first_seed: int = 0) -> list[int]:
    """The seeds of right runs at level .01 that raise an alarm."""
    seeds = range(first_seed, first_seed + number)
    return [seed for seed in seeds if hunt(Stub(pair_of(seed), seed=seed), seed, 0.01, samples).first is not None]


def chi_square(seed: int, bug: str) -> tuple[bool, float, int]:
    """Result of a chi-square of every token on the same texts: whether it rejects, the distance, and the tokens.

    The number of tokens is fixed beforehand. Each case has one test of its sixteen cells, at its share of 10^-6. The
    distance is the largest total variation of the cells of a case from uniform, less what noise alone has on average.
    """
    request = EngineRequest("stub", matrix=True, samples=SAMPLES)
    stub = Stub(pair_of(seed), bug)
    # At this level no sequential test alarms, so that no case ends early.
    runs = audit_engine(stub, pair_of(seed), cases_of(request, stub.about), (1e-300, seed), no_progress)
    rejected, most = False, 0.0
    for run in runs:
        counts = np.asarray(run.tests["distribution", "by probability"].counts, dtype=float)  # type: ignore[union-attr]
        cells, n = counts[:CELLS], counts.sum()
        impossible = counts[CELLS:].sum() > 0
        p = 0.0 if impossible else float(chisquare(cells).pvalue)
        rejected |= p * len(runs) < 1e-6
        noise = 0.4 * (CELLS / n) ** 0.5
        most = max(most, 0.5 * float(np.abs(counts / n - np.array([1 / CELLS] * CELLS + [0.0])).sum()) - noise)
    return rejected, most, sum(run.tokens for run in runs)


def power(seeds: Sequence[int]) -> None:
    """Print a row a bug: distance, median tokens to the alarm, and what the chi-square finds."""
    wide = max(map(len, BUGS))
    for bug in BUGS:
        first = [hunt(Stub(pair_of(seed), bug), seed).first for seed in seeds]
        fixed = [chi_square(seed, bug) for seed in seeds]
        met = sorted(tokens for tokens in first if tokens is not None)
        middle = f"{met[len(met) // 2]:,} ({met[0]:,} to {met[-1]:,})" if met else "none"
        distance = float(np.median([row[1] for row in fixed]))
        cells = bug, f"{distance:.2f}", f"{len(met)} of {len(seeds)}", middle
        found = f"{sum(row[0] for row in fixed)} of {len(seeds)}", f"{int(np.median([row[2] for row in fixed])):,}"
        _ = sys.stdout.write(f"| {cells[0]:{wide}} | {' | '.join([*cells[1:], *found])} |\n")
        _ = sys.stdout.flush()


def main(arguments: Sequence[str]) -> None:
    """Print what is asked for."""
    if arguments[0] == "power":
        power(range(1, int(arguments[1]) + 1))
        return
    if arguments[0] == "right":
        number = int(arguments[1])
        alarms: list[int] = []
        for start in range(0, number, 50):
            alarms += right_runs(50, 500, start)
            _ = sys.stdout.write(f"{start + 50} right runs: {len(alarms)} alarms, seeds {alarms}\n")
            _ = sys.stdout.flush()
        return
    for seed in map(int, arguments[1:] or ["1"]):
        for bug in BUGS:
            one = hunt(Stub(pair_of(seed), bug), seed)
            _ = sys.stdout.write(f"{seed} {bug:20} {one.first} of {one.total}: {one.failures[:1]} {one.suspect}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
