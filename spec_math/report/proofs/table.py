"""Proofs for every law as a table in the terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from spec_math.symbolic import Proof

_STYLE = {"proved": "green", "refuted": "bold red", "open": "yellow"}


def terminal_table(proofs: Sequence[Proof]) -> Table:
    """Return proofs as a rich table: theorem, scope, regions, laws that it was tried on, verdict, time in seconds.

    >>> terminal_table([Proof("one token: lossless", "all laws", "proved", 7, 0, 2, 0.1)]).row_count
    1
    """
    table = Table(title="Proved for every law: ties, zeros and all")
    table.add_column("theorem")
    table.add_column("scope")
    table.add_column("regions", justify="right")
    table.add_column("impossible", justify="right")
    table.add_column("tried", justify="right")
    table.add_column("verdict")
    table.add_column("seconds", justify="right")
    before = None
    for proof in proofs:
        shown = proof.name if proof.name != before else ""
        before = proof.name
        verdict = Text(proof.verdict, style=_STYLE[proof.verdict])
        counts = f"{proof.regions:,}", f"{proof.discarded:,}", f"{proof.tried:,}"
        table.add_row(Text(shown), Text(proof.scope), *counts, verdict, f"{proof.seconds:.1f}")
    return table


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


def code_of(proofs: Sequence[Proof]) -> int:
    """Return the exit code of proofs: 1 where one is refuted, 3 where one is left open and none refuted, else 0.

    >>> code_of([Proof("one token: lossless", "all laws", "proved", 7, 0, 2, 0.1)])
    0
    """
    verdicts = {proof.verdict for proof in proofs}
    return 1 if "refuted" in verdicts else 3 if "open" in verdicts else 0


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


def as_json(proofs: Sequence[Proof]) -> str:
    """Return proofs as JSON: a list of objects, a counterexample as its masses in words.

    >>> json.loads(as_json([Proof("one token: lossless", "all laws", "proved", 7, 0, 2, 0.1)]))[0]["verdict"]
    'proved'
    """
    return json.dumps([_row(proof) for proof in proofs], indent=1, ensure_ascii=False) + "\n"


def _row(proof: Proof) -> dict[str, Any]:
    row: dict[str, Any] = {
        "theorem": proof.name,
        "scope": proof.scope,
        "verdict": proof.verdict,
        "regions": proof.regions,
        "outside": proof.outside,
        "discarded": proof.discarded,
        "tried": proof.tried,
        "seconds": round(proof.seconds, 3),
    }
    if proof.counterexample is not None:
        row["counterexample"] = {name: _written(value) for name, value in proof.counterexample.parameters.items()}
        row["verdict of the counterexample"] = str(proof.counterexample.verdict)
    if proof.reason:
        row["reason"] = proof.reason
    if proof.undecided is not None:
        row["undecided"] = proof.undecided.value
    return row


def _written(value: Any) -> Any:
    return [str(mass) for mass in value] if isinstance(value, np.ndarray) else str(value)
