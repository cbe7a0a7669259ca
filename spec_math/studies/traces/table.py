"""An audited trace as a result: claims with their evidence, acceptance and deviation by group, and three pictures."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from spec_math.arrays import SUM_BOUND
from spec_math.invariants import Watch
from spec_math.mean import Mean
from spec_math.result import Column, Curve, Panel, Picture, Result, Row, Table, columns, curve, sentences, under_heads
from spec_math.result import rows as rows_of
from spec_math.traces import Evidence, Summary
from spec_math.traces.result import STAKES
from spec_math.traces.row_kernel import EMITTED
from spec_math.traces.shard_audit import COLUMNS, entropy_name, place_name

CLAIM_COLUMNS = (
    *columns(("claim", "evidence now", "highest", "verdict")),
    *columns(("log evidence", "highest log evidence"), "number", "nats", shown=False),
    Column("refuted", "flag", shown=False),
)
GROUP_COLUMNS = (
    Column("rows by", shown=False),
    Column("group", heading=" "),
    Column("drafts", "count"),
    Column("realised", "mean", "probability"),
    *columns(("predicted", "optimum"), "number", "probability"),
    Column("rows", "count"),
    *columns(("t > d", "favourite"), "mean", "excess over the target's probability"),
)
MEANINGS = under_heads(
    {
        "Evidence": "The wealth of a gambler who starts with 1 and bets, token after token, that the claim is wrong. "
        "If the claim is right, the wealth ever reaches N with probability at most 1/N.",
        "Predicted": "The acceptance of the named verification, computed from the recorded distributions: the overlap "
        "Σ min(t, d) for maximal coupling, Σ t·d for sample and match, t(draft) for a one-hot draft.",
        "Optimum": "Σ min(t, d), the largest acceptance of any verifier of one draft at a position.",
        "In a loop": "Tokens at the end of a run of eight tokens that their text in the same shard held before.",
        "Drafts have the reported distribution": "A verifier divides by the distribution that the drafter reports. If "
        "drafts come from another one, the output is wrong although the verifier is right.",
    }
)


def result_of(summary: Summary, alpha: float, source: str) -> Result:
    """Return an audited trace as a result.

    The exit code is 1 where a contract is broken, 2 where a shard was left out, 3 where the rows are too few to refute
    anything.

    Raises:
        BrokenInvariantError: two numbers contradict each other; both are named.

    >>> from spec_math.traces.recorder import toy_shard
    >>> from spec_math.traces import merge
    >>> from spec_math.traces.shard_audit import audit_opened
    >>> result_of(merge([audit_opened(toy_shard())]), 1e-6, "a toy").finding
    'Nothing in this trace refutes losslessness. It has 1.802 tokens a call of the target.'
    """
    watch(summary).hold()
    number = Column("what", shown=False), Column("number", "count", shown=False)
    counts = Table("counts", "What was counted", number, rows_of(summary.counts.items()))
    skipped = Table("skipped", "Shards left out", (Column("shard"), Column("reason")), rows_of(summary.skipped))
    title, finding = f"An audited trace: {source}", _finding(summary, alpha)
    tables = _claims(summary, alpha), _groups(summary), counts, *([skipped] if summary.skipped else [])
    said = *sentences(notes(summary, alpha)), *sentences(summary.examples, "rows to look at")
    code = 1 if summary.lossy(alpha) else 2 if summary.skipped else 3 if detectable(summary, alpha) >= 1 else 0
    return Result("trace", title, finding, tables, pictures(summary, alpha), said, MEANINGS, code)


def notes(summary: Summary, alpha: float) -> list[str]:
    """Return what the tables need said beside them.

    >>> from spec_math.traces.recorder import toy_shard
    >>> from spec_math.traces import merge
    >>> from spec_math.traces.shard_audit import audit_opened
    >>> notes(merge([audit_opened(toy_shard())]), 1e-6)[0]
    '200 tokens in 111 target calls, 1.802 a call; V = 4; 1 shard(s).'
    """
    counts = summary.counts
    found = [
        f"{counts['rows']:,} tokens in {counts['blocks']:,} target calls, {_a_call(summary):.3f} a call; "
        f"V = {summary.size:,}; {summary.shards:,} shard(s).",
        f"A right engine is refuted with probability {alpha:g} at most, over all claims and at any time. This trace is "
        f"long enough to detect a feature that is off by about {detectable(summary, alpha):.2g} or more. The test "
        f"misses errors that keep the means of all {len(EMITTED)} features, and random numbers shared by positions.",
    ]
    if summary.accepted is None:
        found.append(
            "The trace is of blocks, so only drafts at depth 0 are judged: later ones are recorded only if the block "
            "reached them. 'Predicted' is the acceptance of verification by position; no acceptance is claimed."
        )
    length, text = summary.loop
    repeated = groups(summary.by_repetition, str)
    if length and len(repeated) == 2:
        share = repeated[1].rows / counts["rows"]
        found.append(
            f"{share:.1%} of the tokens end a run of eight that their text held before. The longest such run has "
            f"{length:,} tokens, in request {text}. Loops are easy to draft for, so compare speed on other texts."
        )
    names = ("bad target rows", "bad draft rows", "impossible tokens", "impossible drafts", "contradictions")
    odd = [f"{counts[name]:,} {name}" for name in names if counts[name]]
    if odd:
        found.append(f"Also found: {', '.join(odd)}.")
    return found


def pictures(summary: Summary, alpha: float) -> tuple[Picture, ...]:
    """Return the pictures of a trace: the evidence, where drafts are accepted, and the deviation of tokens.

    >>> from spec_math.traces.recorder import toy_shard
    >>> from spec_math.traces import merge
    >>> from spec_math.traces.shard_audit import audit_opened
    >>> [picture.name for picture in pictures(merge([audit_opened(toy_shard())]), 1e-6)]
    ['evidence', 'acceptance', 'deviation']
    """
    found = list(all_groups(summary).items())[:3]
    rows = tuple(float(row) for row, _ in summary.emitted.curve)
    ends = (rows[0], rows[-1]) if rows else (0.0, 1.0)
    evidence = (
        Curve("evidence", rows, tuple(value / LN10 for _, value in summary.emitted.curve)),
        Curve(f"alarm, α = {alpha:g} in all", ends, (-log(summary.share(alpha)) / LN10,) * 2, style="guide"),
    )
    return (
        Picture(
            "evidence",
            "Evidence against losslessness",
            "The wealth of bets against the target's distribution, token after token. The line of a right engine stays "
            f"low: it ever crosses the dotted line with probability at most {alpha:g}. That of a wrong engine rises.",
            (Panel(evidence, "tokens", "evidence, powers of ten"),),
        ),
        Picture(
            "acceptance",
            "Where drafts are accepted",
            "Realised acceptance with two standard errors, predicted acceptance, and the optimum for one draft. If "
            "predicted is below the optimum, another verification would be faster. Some bars miss by chance; only the "
            "evidence shows a fault.",
            tuple(_accepted(kind, [group for group in held if group.drafts]) for kind, held in found),
        ),
        Picture(
            "deviation",
            "Where tokens deviate from the target",
            "Excess frequency of tokens with t > d, and of the target's most probable token, each with two standard "
            "errors. For a right engine about one bar in twenty misses 0.",
            tuple(_deviation(kind, held) for kind, held in found),
        ),
    )


def _accepted(kind: str, held: list[Group]) -> Panel:
    places = tuple(float(place) for place in range(len(held)))
    curves = (
        curve("realised", {place: group.realised for place, group in enumerate(held)}, "points"),
        Curve("predicted", places, tuple(group.expected for group in held)),
        Curve("optimum", places, tuple(group.optimum for group in held), style="bound"),
    )
    return Panel(curves, kind, "acceptance", ticks=tuple(group.name for group in held), limits=(0.0, 1.02))


def _deviation(kind: str, held: list[Group]) -> Panel:
    curves = (
        curve("t > d", {place: group.above for place, group in enumerate(held)}, "points"),
        curve("the target's favourite", {place: group.favourite for place, group in enumerate(held)}, "points"),
        Curve("a right engine", (0.0, max(1.0, len(held) - 1.0)), (0.0, 0.0), style="guide"),
    )
    return Panel(curves, kind, "excess over the target", ticks=tuple(group.name for group in held))


def _claims(summary: Summary, alpha: float) -> Table:
    rows: list[Row] = []
    for claim in claims(summary, alpha):
        logs = claim.evidence.log, claim.evidence.highest
        verdict, mark = ("refuted", "wrong") if claim.refuted else ("not refuted", "")
        rows.append(Row((claim.name, *map(powers_of_ten, logs), verdict, *logs, claim.refuted), mark))
    title = f"Evidence against each claim of the trace; a claim is refuted from {1 / summary.share(alpha):,.0f} on"
    return Table("claims", title, CLAIM_COLUMNS, tuple(rows))


def _groups(summary: Summary) -> Table:
    rows: list[Row] = []
    for kind, held in all_groups(summary).items():
        for group in held:
            drafted = (group.realised, group.expected, group.optimum) if group.drafts else (None, None, None)
            others = group.rows, group.above, group.favourite
            rows.append(Row((kind, group.name, group.drafts, *drafted, *others), group=kind))
    title = "Acceptance of drafts: realised, predicted and optimal; and deviation from the target"
    return Table("groups", title, GROUP_COLUMNS, tuple(rows))


def _a_call(summary: Summary) -> float:
    return summary.counts["rows"] / max(1, summary.counts["blocks"])


def _finding(summary: Summary, alpha: float) -> str:
    left = f" {len(summary.skipped):,} shard(s) could not be read." if summary.skipped else ""
    if summary.lossy(alpha):
        return f"The engine of this trace is not lossless, or breaks a claim.{left}"
    if detectable(summary, alpha) >= 1:
        judged = summary.counts["rows"] - summary.counts["bad target rows"]
        return f"Undecided: {judged:,} tokens with a distribution are too few for a test at α = {alpha:g}.{left}"
    a_call = f"{_a_call(summary):.3f} tokens a call of the target"
    return f"Nothing in this trace refutes losslessness. It has {a_call}.{left}"


LN10 = log(10)


class Claim(NamedTuple):
    """A claim about the trace, the evidence against it, and whether that refutes it."""

    name: str
    evidence: Evidence
    refuted: bool


class Group(NamedTuple):
    """Rows of one kind: acceptance realised, predicted and best, with the deviation of the realised one.

    `above` and `favourite` are by how much more often than the target says a token with t > d was emitted, and the
    target's favourite, each with the standard error that the target's law gives.
    """

    name: str
    rows: int
    drafts: int
    realised: Mean
    expected: float
    optimum: float
    above: Mean
    favourite: Mean


def claims(summary: Summary, alpha: float) -> list[Claim]:
    """Return what is claimed of a trace, in the order of its weight; right claims are refuted with `alpha` in all.

    >>> from spec_math.traces.recorder import toy_shard
    >>> from spec_math.traces import merge
    >>> from spec_math.traces.shard_audit import audit_opened
    >>> [claim.refuted for claim in claims(merge([audit_opened(toy_shard())]), 1e-6)]
    [False, False, False]
    """
    claimed = {
        "emitted tokens have the target's distribution": summary.emitted,
        "drafts have the distribution reported with them": summary.drafted,
        f"drafts are accepted as {' and '.join(summary.verifications)} would": summary.accepted,
    }
    each = summary.share(alpha)
    return [Claim(name, held, held.alarms(each)) for name, held in claimed.items() if held is not None]


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
    >>> groups(np.array([[4, 4, 2, 2.5, 3, 0.9, 0, 0, 0, 0]]), str)[0].realised.value
    0.5
    """
    found: list[Group] = []
    for number, sums in enumerate(table.tolist()):
        held = dict(zip(COLUMNS, sums, strict=True))
        rows, drafts = int(held["rows"]), int(held["drafts"])
        if rows:
            of = [held[name] / drafts if drafts else float("nan") for name in ("accepted", "expected", "optimum")]
            realised = Mean(of[0], deviation(int(held["accepted"]), drafts), drafts)
            above = Mean(held["above"] / rows, sqrt(held["above variance"]) / rows, rows)
            favourite = Mean(held["favourite"] / rows, sqrt(held["favourite variance"]) / rows, rows)
            found.append(Group(name_of(number), rows, drafts, realised, of[1], of[2], above, favourite))
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


COUNTED = "no more drafts are accepted than there are, and no more drafts judged than rows"
PREDICTED = "no verifier is predicted to accept more than the optimum, nor the optimum more than every draft"
ADDS_UP = "rows add up to the same, however they are grouped"


def watch(summary: Summary) -> Watch:
    """Return what contradicts itself in an audited trace.

    Counts are held exactly. Predictions are sums over drafts of numbers that a stored law's gap, 2^-7 at most, moves by
    as much; other sums of n float64 terms up to 1 agree within n·(n + 2)·2^-53 for n rows.

    >>> from spec_math.traces import merge
    >>> from spec_math.traces.recorder import toy_shard
    >>> from spec_math.traces.shard_audit import audit_opened
    >>> watch(merge([audit_opened(toy_shard())])).found
    {}
    """
    result = Watch()
    tables = {
        "depth in the block": summary.by_depth,
        "entropy": summary.by_entropy,
        "place in the text": summary.by_place,
        "repetition": summary.by_repetition,
    }
    for name, table in tables.items():
        rows, drafts, accepted, expected, optimum = table.T[:5]
        for sides in ((accepted, drafts), (drafts, rows), (0.0, accepted)):
            result.at_most(COUNTED, f"groups by {name}", sides, 0.0)
        # n drafts at most: a bound for each group by the largest of them.
        slack = 2 * SUM_BOUND["float16"] * max(1.0, float(drafts.max()))
        for sides in ((expected, optimum), (optimum, drafts), (0.0, expected)):
            result.at_most(PREDICTED, f"groups by {name}", sides, slack)
    totals = {name: table.sum(axis=0) for name, table in tables.items()}
    first = totals["depth in the block"]
    for name, total in totals.items():
        for place, column in enumerate(COLUMNS[:5]):
            rows = float(first[0])
            bound = 0.0 if place < 3 else rows * (rows + 2) * 2.0**-53
            result.at_most(ADDS_UP, f"{column} by {name}", (np.abs(total[place] - first[place]), 0.0), bound)
    return result
