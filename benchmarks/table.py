"""One table of ratios: what was promised, what was measured against what, in one run on one thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Row:
    """A promise: its name, the measured value with its spread, the bound, and what it was measured against."""

    name: str
    value: float
    bound: float
    unit: str
    spread: str
    against: str = ""
    at_least: bool = False

    @property
    def kept(self) -> bool:
        """Whether the promise is kept."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound


def interleaved(
    works: Sequence[Callable[[], Any]], repeats: int = 20, clock: Callable[[], float] = perf_counter
) -> list[list[float]]:
    """Time several works in turn, A B A B …, after one run of each that is not counted; seconds a work and repeat."""
    for work in works:
        work()
    seconds: list[list[float]] = [[] for _ in works]
    for _ in range(repeats):
        for place, work in enumerate(works):
            start = clock()
            work()
            seconds[place].append(clock() - start)
    return seconds


def ratio_row(name: str, works: tuple[Callable[[], Any], Callable[[], Any]], bound: float, against: str) -> Row:
    """Return the median of the pairwise ratios of two works timed in turn, with the range of the ratios."""
    ours, theirs = interleaved(works)
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    spread = f"{min(ratios):.3g}..{max(ratios):.3g}; best {min(ours) * 1e3:.3g} ms / {min(theirs) * 1e3:.3g} ms"
    return Row(name, median(ratios), bound, "×", spread, against)


def time_row(name: str, work: Callable[[], Any], bound: float, unit: str = "ms", repeats: int = 20) -> Row:
    """Return the median time of one work, with its range, in ms or µs."""
    (seconds,) = interleaved((work,), repeats)
    scale = {"s": 1.0, "ms": 1e3, "µs": 1e6}[unit]
    spread = f"{min(seconds) * scale:.3g}..{max(seconds) * scale:.3g}"
    return Row(name, median(seconds) * scale, bound, unit, spread)


def show(rows: Sequence[Row], title: str) -> bool:
    """Print the rows; return whether every promise is kept."""
    table = Table(title=title)
    for column in ("what", "measured", "bound", "kept", "spread", "against"):
        table.add_column(column, justify="right" if column in ("measured", "bound") else "left")
    for row in rows:
        sign = "≥" if row.at_least else "≤"
        kept = "[green]yes[/green]" if row.kept else "[bold red]NO[/bold red]"
        table.add_row(
            row.name, f"{row.value:.3g} {row.unit}", f"{sign} {row.bound:g} {row.unit}", kept, row.spread, row.against
        )
    Console(width=170).print(table)
    return all(row.kept for row in rows)
