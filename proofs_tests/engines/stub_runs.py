"""Audits of the stub engine on pairs of tables: how soon a planted bug is found, and how often a right one alarms.

`python -m proofs_tests.engines.stub_runs bugs` and `… right 1000` print the numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

from spec_math.engines.pair import Pair, PairShape, tables
from spec_math.engines.protocol import Engine
from spec_math.engines.questions import CaseRun
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


def main(arguments: Sequence[str]) -> None:
    """Print what is asked for."""
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
