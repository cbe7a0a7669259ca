"""What a hunt found, in tables: how many of each kind, how many wrong, how many left open and why."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.table import Table

from proofs_tests.soundness.hunt import Count

COLUMNS = ("kind", "number type", "family", "defect", "its size")


def shown(count: Count, console: Console, by: tuple[int, ...]) -> None:
    """Print one table of strata: those of COLUMNS that are asked for, with what was said in each."""
    table = Table(*(COLUMNS[place] for place in by))
    for name in ("cases", "lossless", "lossy", "fails always", "undecided", "share", "why", "wrong"):
        table.add_column(name, justify="left" if name == "why" else "right")
    for stratum, said in sorted(strata(count, by).items()):
        table.add_row(*stratum, *cells(said))
    console.print(table)


def strata(count: Count, by: tuple[int, ...]) -> dict[tuple[str, ...], Counter[str]]:
    """Add up verdicts by stratum."""
    result: dict[tuple[str, ...], Counter[str]] = {}
    for key, number in count.cases.items():
        stratum = tuple(key[place] or "none" for place in by)
        result.setdefault(stratum, Counter())[key[-1]] += number
    return result


def cells(said: Counter[str]) -> list[str]:
    total = said.total()
    reasons = {name.partition(": ")[2]: number for name, number in said.items() if name.startswith("undecided")}
    left = sum(reasons.values())
    why = ", ".join(f"{name} {number}" for name, number in sorted(reasons.items()))
    numbers = [total, said["lossless"], said["lossy"], said["nothing to judge"], left]
    return [*(f"{number:,}" for number in numbers), f"{left / total:.2%}", why, f"{said['WRONG']:,}"]


def wrong_ones(count: Count, console: Console, seed: int, most: int = 20) -> None:
    """Print wrong cases, each with the command that repeats it."""
    for one in count.wrong[:most]:
        console.rule(f"wrong: {one['case']}")
        console.print(one["fault"], one["what"], sep="\n", markup=False)
        console.print(repeated_by(seed, one["case"]), markup=False)
    if len(count.wrong) > most:
        console.print(f"… and {len(count.wrong) - most} more")


def repeated_by(seed: int, case: str) -> str:
    """Return the command that repeats one case."""
    return f".venv/bin/python -m proofs_tests.soundness --seed {seed} --case {case}"
