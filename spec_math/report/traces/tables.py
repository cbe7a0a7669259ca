"""An audited trace as tables and as JSON: what is claimed, what the evidence says, and where acceptance is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, log, sqrt
from typing import Any

from rich.table import Table

from spec_math.audit.traces import Evidence, Summary
from spec_math.audit.traces.bets import STAKES
from spec_math.audit.traces.row_kernel import EMITTED
from spec_math.audit.traces.tally import COLUMNS, entropy_name, place_name

LN10 = log(10)


@dataclass(frozen=True)
class Claim:
    """A claim about the trace, the evidence against it, and whether that refutes it."""

    name: str
    evidence: Evidence
    refuted: bool


@dataclass(frozen=True)
class Group:
    """Rows of one kind: acceptance realised, foretold and best, with the deviation of the realised one.

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

    >>> from spec_math.audit.traces.recorder import toy_shard
    >>> from spec_math.audit.traces import merge
    >>> from spec_math.audit.traces.shard_audit import audit_opened
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

    >>> from spec_math.audit.traces.recorder import toy_shard
    >>> from spec_math.audit.traces import merge
    >>> from spec_math.audit.traces.shard_audit import audit_opened
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
    for the number of bets that share the wealth.

    >>> from spec_math.audit.traces.recorder import toy_shard
    >>> from spec_math.audit.traces import merge
    >>> from spec_math.audit.traces.shard_audit import audit_opened
    >>> round(detectable(merge([audit_opened(toy_shard(2_000))]), 1e-6), 3)
    0.071
    """
    bets = 2 * len(EMITTED) * len(STAKES)
    return min(1.0, sqrt(log(bets / summary.share(alpha)) / (2 * max(1, summary.counts["rows"]))))


def powers_of_ten(log_evidence: float) -> str:
    """Return evidence on the ordinary scale, as a power of ten where it is large.

    >>> powers_of_ten(0.0), powers_of_ten(100.0), powers_of_ten(float("inf"))
    ('1.00', '10^43.4', 'infinite')
    """
    if not isfinite(log_evidence):
        return "infinite"
    power = log_evidence / LN10
    return f"{10**power:.2f}" if abs(power) < 3 else f"10^{power:.1f}"


def claims_table(summary: Summary, alpha: float) -> Table:
    """Return the claims as a rich table.

    >>> from spec_math.audit.traces.recorder import toy_shard
    >>> from spec_math.audit.traces import merge
    >>> from spec_math.audit.traces.shard_audit import audit_opened
    >>> claims_table(merge([audit_opened(toy_shard())]), 1e-6).row_count
    3
    """
    table = Table(title=f"Evidence against what the trace claims; refuted from {1 / summary.share(alpha):,.0f} on")
    for heading in ("claim", "evidence now", "highest", "verdict"):
        table.add_column(heading, justify="left" if heading in ("claim", "verdict") else "right")
    for claim in claims(summary, alpha):
        verdict = "[bold red]refuted[/bold red]" if claim.refuted else "[green]not refuted[/green]"
        found = claim.evidence
        table.add_row(claim.name, powers_of_ten(found.log), powers_of_ten(found.highest), verdict)
    return table


def acceptance_table(summary: Summary) -> Table:
    """Return acceptance by depth, entropy, place and repetition as a rich table.

    >>> from spec_math.audit.traces.recorder import toy_shard
    >>> from spec_math.audit.traces import merge
    >>> from spec_math.audit.traces.shard_audit import audit_opened
    >>> acceptance_table(merge([audit_opened(toy_shard())])).row_count > 4
    True
    """
    table = Table(title="Acceptance of drafts: realised, foretold, and the most that any verifier of one draft accepts")
    table.add_column("rows by")
    for heading in ("", "drafts", "realised", "±", "foretold", "optimum"):
        table.add_column(heading, justify="right")
    for kind, found in all_groups(summary).items():
        table.add_section()
        for number, group in enumerate(found):
            if group.drafts:
                cells = [f"{value:.4f}" for value in (group.accepted, group.error, group.expected, group.optimum)]
                table.add_row("" if number else kind, group.name, f"{group.drafts:,}", *cells)
    return table


def notes(summary: Summary, alpha: float) -> list[str]:
    """Return what the tables need said beside them.

    >>> from spec_math.audit.traces.recorder import toy_shard
    >>> from spec_math.audit.traces import merge
    >>> from spec_math.audit.traces.shard_audit import audit_opened
    >>> notes(merge([audit_opened(toy_shard())]), 1e-6)[0]
    '200 tokens in 111 target calls, 1.802 a call; V = 4; 1 shard(s).'
    """
    counts = summary.counts
    a_call = counts["rows"] / max(1, counts["blocks"])
    found = [
        f"{counts['rows']:,} tokens in {counts['blocks']:,} target calls, {a_call:.3f} a call; V = {summary.size:,}; "
        f"{summary.shards:,} shard(s).",
        f"A right engine is refuted with probability {alpha:g} at most, in all claims, however often one looks. So "
        f"many tokens find a feature of the law that is off by about {detectable(summary, alpha):.2g} or more; a law "
        f"that keeps the means of all {len(EMITTED)} features is not seen, nor are random numbers that two positions share.",
    ]
    if summary.accepted is None:
        found.append(
            "The trace is of blocks: drafts are judged at depth 0 alone, as later ones are recorded only where the "
            "block got there, and no acceptance is promised; 'foretold' is what verification by position accepts."
        )
    length, text = summary.loop
    repeated = groups(summary.by_repetition, str)
    if length and len(repeated) == 2:
        share = repeated[1].rows / counts["rows"]
        found.append(
            f"{share:.1%} of the tokens end eight that their text has held before; the longest such run has {length:,} "
            f"tokens, in request {text}. Loops are easy to draft for: compare speed elsewhere."
        )
    names = ("bad target rows", "bad draft rows", "impossible tokens", "impossible drafts", "contradictions")
    odd = [f"{counts[name]:,} {name}" for name in names if counts[name]]
    if odd:
        found.append(f"Found on the way: {', '.join(odd)}.")
    return found


def as_json(summary: Summary, alpha: float) -> str:
    """Return everything as JSON; infinite evidence is the text "infinite", a share of nothing null.

    >>> from spec_math.audit.traces.recorder import toy_shard
    >>> from spec_math.audit.traces import merge
    >>> from spec_math.audit.traces.shard_audit import audit_opened
    >>> json.loads(as_json(merge([audit_opened(toy_shard())]), 1e-6))["counts"]["rows"]
    200
    """
    content = {
        "alpha": alpha,
        "alpha of each claim": summary.share(alpha),
        "lossy": summary.lossy(alpha),
        "claims": {
            claim.name: {
                "refuted": claim.refuted,
                "log evidence": _number(claim.evidence.log),
                "highest log evidence": _number(claim.evidence.highest),
            }
            for claim in claims(summary, alpha)
        },
        "detectable": detectable(summary, alpha),
        "counts": summary.counts,
        "shards": summary.shards,
        "skipped": dict(summary.skipped),
        "examples": summary.examples,
        "verification": summary.verifications,
        "longest loop": {"tokens": summary.loop[0], "request": summary.loop[1]},
        "groups": {kind: [_shown(group) for group in found] for kind, found in all_groups(summary).items()},
        "curve": summary.emitted.curve,
    }
    return json.dumps(content, indent=1, ensure_ascii=False)


def _number(value: float) -> float | str:
    return value if isfinite(value) else "infinite"


def _shown(group: Group) -> dict[str, Any]:
    return {name: None if value != value else value for name, value in vars(group).items()}
