"""An audited trace in groups: what is claimed, what the evidence says, and where acceptance is lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, log, sqrt
from typing import Any

from spec_math.traces import Evidence, Summary
from spec_math.traces.result import STAKES
from spec_math.traces.row_kernel import EMITTED
from spec_math.traces.shard_audit import COLUMNS, entropy_name, place_name

LN10 = log(10)


@dataclass(frozen=True)
class Claim:
    """A claim about the trace, the evidence against it, and whether that refutes it."""

    name: str
    evidence: Evidence
    refuted: bool


@dataclass(frozen=True)
class Group:
    """Rows of one kind: acceptance realised, predicted and best, with the deviation of the realised one.

    `above` and `favourite` are by how much more often than the target says a token with t > d was emitted, and the
    target's favourite, each with the standard error that the target's law gives.
    """

    name: str
    rows: int
    drafts: int
    accepted: float
    error: float
    expected: float
    optimum: float
    above: tuple[float, float]
    favourite: tuple[float, float]


def claims(summary: Summary, alpha: float) -> list[Claim]:
    """Return what is claimed of a trace, in the order of its weight; right claims are refuted with `alpha` in all.

    >>> from spec_math.traces.recorder import toy_shard
    >>> from spec_math.traces import merge
    >>> from spec_math.traces.shard_audit import audit_opened
    >>> [claim.refuted for claim in claims(merge([audit_opened(toy_shard())]), 1e-6)]
    [False, False, False]
    """
    each = summary.share(alpha)
    found = [
        Claim("emitted tokens have the target's law", summary.emitted, summary.emitted.alarms(each)),
        Claim("drafts have the law reported with them", summary.drafted, summary.drafted.alarms(each)),
    ]
    if summary.accepted is not None:
        name = f"drafts are accepted as {' and '.join(summary.verifications)} would"
        found.append(Claim(name, summary.accepted, summary.accepted.alarms(each)))
    return found


def deviation(accepted: int, drafts: int) -> float:
    """Return the standard deviation of the share that is accepted, given the counts; NaN without drafts.

    It is that of Laplace's rule, with every share as likely before: not 0 where all were accepted, or none.

    >>> round(deviation(50, 100), 3), round(deviation(10, 10), 3)
    (0.049, 0.077)
    """
    if not drafts:
        return float("nan")
    return sqrt((accepted + 1) * (drafts - accepted + 1) / (drafts + 3)) / (drafts + 2)


def groups(table: Any, name_of: Callable[[int], str]) -> list[Group]:
    """Return the groups of a table of sums that hold rows.

    >>> import numpy as np
    >>> groups(np.array([[4, 4, 2, 2.5, 3, 0.9, 0, 0, 0, 0]]), str)[0].accepted
    0.5
    """
    found: list[Group] = []
    for number, sums in enumerate(table.tolist()):
        held = dict(zip(COLUMNS, sums, strict=True))
        rows, drafts = int(held["rows"]), int(held["drafts"])
        if rows:
            of = [held[name] / drafts if drafts else float("nan") for name in ("accepted", "expected", "optimum")]
            error = deviation(int(held["accepted"]), drafts)
            above = held["above"] / rows, sqrt(held["above variance"]) / rows
            favourite = held["favourite"] / rows, sqrt(held["favourite variance"]) / rows
            found.append(Group(name_of(number), rows, drafts, of[0], error, of[1], of[2], above, favourite))
    return found


def all_groups(summary: Summary) -> dict[str, list[Group]]:
    """Return the groups of each kind, by the kind's name.

    >>> from spec_math.traces.recorder import toy_shard
    >>> from spec_math.traces import merge
    >>> from spec_math.traces.shard_audit import audit_opened
    >>> len(all_groups(merge([audit_opened(toy_shard())]))["depth in the block"])
    3
    """
    return {
        "depth in the block": groups(summary.by_depth, str),
        "entropy of the target, nats": groups(summary.by_entropy, entropy_name),
        "place in the text": groups(summary.by_place, place_name),
        "repetition": groups(summary.by_repetition, ("elsewhere", "in a loop").__getitem__),
    }


def detectable(summary: Summary, alpha: float) -> float:
    """Return the shift of a feature's mean that this many rows show with about even odds.

    A bet of the best stake grows by m²/2v a row, v ≤ 1/4 being the variance of a feature in [0, 1]; it must make up
    for the number of bets that share the wealth. Rows that were left out show nothing; 1 where no shift is shown.

    >>> from spec_math.traces.recorder import toy_shard
    >>> from spec_math.traces import merge
    >>> from spec_math.traces.shard_audit import audit_opened
    >>> round(detectable(merge([audit_opened(toy_shard(2_000))]), 1e-6), 3)
    0.071
    """
    bets = 2 * len(EMITTED) * len(STAKES)
    rows = summary.counts["rows"] - summary.counts["bad target rows"]
    return min(1.0, sqrt(log(bets / summary.share(alpha)) / (2 * max(1, rows))))


def powers_of_ten(log_evidence: float) -> str:
    """Return evidence on the ordinary scale, as a power of ten where it is large.

    >>> powers_of_ten(0.0), powers_of_ten(100.0), powers_of_ten(float("inf"))
    ('1.00', '10^43.4', 'infinite')
    """
    if not isfinite(log_evidence):
        return "infinite"
    power = log_evidence / LN10
    return f"{10**power:.2f}" if abs(power) < 3 else f"10^{power:.1f}"
