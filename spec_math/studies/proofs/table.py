"""Proofs for every law as a result: a row a theorem, what it took, and why one is not proved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spec_math.result import Column, Curve, Mark, Panel, Picture, Result, Row, Table, sentences
from spec_math.studies.proofs.codes import code_of
from spec_math.studies.proofs.drafts import Found, exit_code, finding, not_taken
from spec_math.symbolic import Proof

COLUMNS = (
    Column("theorem"),
    Column("scope"),
    Column("regions", "count"),
    Column("impossible", "count"),
    Column("tried", "count", "laws"),
    Column("verdict"),
    Column("seconds", "number", "s", digits=1),
    Column("outside", "count", shown=False),
    Column("counterexample", shown=False),
    Column("reason", shown=False),
    Column("undecided", shown=False),
)

LAW_COLUMNS = (
    Column("theorem", shown=False),
    Column("scope", shown=False),
    Column("law", shown=False),
    Column("token", "count", shown=False),
    Column("mass", "fraction", shown=False),
)

_MARKS: dict[str, Mark] = {"proved": "", "refuted": "wrong", "open": "faint"}


def result_of(proofs: Sequence[Proof], findings: Sequence[Found], said: str) -> Result:
    """Return proofs as a result; `findings` are verifiers whose numbers of drafts were not asked for.

    >>> result_of([Proof("one token: lossless", "all laws", "proved", 7, 0, 2, 0.1)], [], "All.").exit_code
    0
    """
    failed = [proof for proof in proofs if not (findings and not_taken(proof))]
    codes = [exit_code(found) for found in findings] or [code_of(proofs)]
    told = list(map(finding, findings))
    notes = failures(failed) + ([said] if told else [])
    return Result(
        "proofs",
        "Proved for every law: ties, zeros and all",
        "\n".join(told) or said,
        (Table("proofs", "What is proved, on how many regions", COLUMNS, tuple(map(_row, proofs))), *_laws(proofs)),
        (picture(proofs),),
        sentences(notes),
        exit_code=1 if 1 in codes else max(codes),
    )


def picture(proofs: Sequence[Proof]) -> Picture:
    """Return the seconds of each proof against its regions.

    >>> len(picture([Proof("one token: lossless", "all laws", "proved", 7, 0, 2, 0.1)]).panels[0].curves)
    1
    """
    curves: list[Curve] = []
    for verdict in _MARKS:
        held = [proof for proof in proofs if proof.verdict == verdict and proof.regions]
        if held:
            seconds = tuple(proof.seconds for proof in held)
            curves.append(Curve(verdict, tuple(float(proof.regions) for proof in held), seconds, style="points"))
    panel = Panel(tuple(curves), "regions", "seconds", log_x=True)
    caption = "Each point is a theorem: on every region the program takes one path, for all laws that lie there."
    return Picture("proofs", "What a proof takes", caption, (panel,))


def failures(proofs: Sequence[Proof]) -> list[str]:
    """Say of each theorem that is not proved why: its counterexample, or what was left open.

    >>> failures([Proof("one token: lossless", "all laws", "open", 7, 0, 2, 0.1, reason="x < y")])
    ['one token: lossless (all laws) is open: x < y']
    """
    lines: list[str] = []
    for proof in (proof for proof in proofs if not proof):
        why = [str(part) for part in (proof.counterexample, proof.reason) if part]
        lines.append(f"{proof.name} ({proof.scope}) is {proof.verdict}: {'; '.join(why)}")
    return lines


def summary(proofs: Sequence[Proof], seconds: float, seed: int) -> str:
    """Say in one line what came of all proofs.

    >>> summary([Proof("one token: lossless", "all laws", "proved", 7, 0, 2, 0.1, tried=40)], 1.5, seed=13)
    '1 of 1 theorems proved on 7 regions (2 impossible ones discarded by proof), tried on 40 laws (seed 13), 1.5 s'
    """
    regions, discarded = sum(proof.regions for proof in proofs), sum(proof.discarded for proof in proofs)
    return (
        f"{sum(map(bool, proofs))} of {len(proofs)} theorems proved on {regions:,} regions "
        f"({discarded:,} impossible ones discarded by proof), tried on {sum(proof.tried for proof in proofs):,} laws "
        f"(seed {seed}), {seconds:.1f} s"
    )


def _laws(proofs: Sequence[Proof]) -> list[Table]:
    """The laws of all counterexamples, for files: a row a mass."""
    rows = [
        Row((proof.name, proof.scope, name, *cell))
        for proof in proofs
        if proof.counterexample is not None
        for name, value in proof.counterexample.parameters.items()
        for cell in (enumerate(value.tolist()) if isinstance(value, np.ndarray) else [(None, value)])
    ]
    return [Table("counterexamples", "The laws of the counterexamples", LAW_COLUMNS, tuple(rows))] if rows else []


def _row(proof: Proof) -> Row:
    cells = (
        proof.name,
        proof.scope,
        proof.regions,
        proof.discarded,
        proof.tried,
        proof.verdict,
        round(proof.seconds, 3),
        proof.outside,
        str(proof.counterexample or ""),
        proof.reason,
        "" if proof.undecided is None else proof.undecided.value,
    )
    return Row(cells, _MARKS[proof.verdict])
