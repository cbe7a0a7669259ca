"""Several drafters for one target: what each accepts alone, what both do in turn, and the bracket of what any could."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from math import isnan
from typing import Any

import numpy as np
from rich.table import Table

from spec_math.distribution import overlap
from spec_math.report.comparison import SAMPLED_MASSES
from spec_math.report.law_files import LawFileError
from spec_math.report.positions import FLOAT, Positions
from spec_math.report.tally import Tally
from spec_math.token_level import optimal, several_drafters


@dataclass
class DraftersComparison:
    """Means over evenly spaced positions, by what was done; `bracket` holds the two ends of the optimum together."""

    labels: tuple[str, ...]
    sampled: int = 0
    rows: dict[str, Tally] = field(default_factory=dict[str, Tally])
    bracket: tuple[Tally, Tally] = field(default_factory=lambda: (Tally(), Tally()))


def compare_drafters(
    streams: Sequence[Positions], labels: Sequence[str], progress: Callable[[int], None]
) -> DraftersComparison:
    """Compare drafters of one target at evenly spaced positions, one draft from each.

    Each stream holds the target with one of the drafts. Every order of testing the drafts in turn is listed.

    Raises:
        LawFileError: the streams differ in positions or vocabulary.

    >>> from spec_math.report.positions import from_rows
    >>> half = lambda start, stop: np.full((stop - start, 2), 0.5)
    >>> streams = [from_rows(half, half, (3, 2))] * 2
    >>> compare_drafters(streams, ("a", "b"), lambda done: None).rows["a then b"].mean
    1.0
    """
    first = streams[0]
    if any((other.count, other.size) != (first.count, first.size) for other in streams):
        shapes = "; ".join(f"{stream.source}: {stream.count} × {stream.size}" for stream in streams)
        raise LawFileError(f"all drafts need the target's positions and vocabulary; got {shapes}")
    result = DraftersComparison(tuple(labels))
    step = max(1, first.count // max(8, SAMPLED_MASSES // first.size))
    for target, drafts in _sampled(streams, step, progress):
        result.sampled += 1
        for name, value in _values(target, drafts, result.labels):
            result.rows.setdefault(name, Tally()).add(np.array([value]))
        found = several_drafters.optimum(target, drafts)
        for tally, value in zip(result.bracket, (found.lower, found.upper), strict=True):
            tally.add(np.array([value]))
    return result


def drafters_table(result: DraftersComparison) -> Table:
    """Return the comparison of drafters as a rich table.

    >>> drafters_table(DraftersComparison(("a", "b"))).row_count
    0
    """
    table = Table(title=f"One draft from each drafter, at {result.sampled:,} evenly spaced positions")
    for column, justify in (("drafts", "left"), ("membership", "right"), ("±", "right")):
        table.add_column(column, justify="right" if justify == "right" else "left")
    for name, tally in result.rows.items():
        table.add_row(name, f"{tally.mean:.4f}", _error(tally))
    if result.sampled:
        low, high = result.bracket
        table.add_section()
        ends = f"{low.mean:.4f}" if high.mean - low.mean < 5e-5 else f"{low.mean:.4f} to {high.mean:.4f}"
        table.add_row(f"optimum of {' and '.join(result.labels)}", ends, _error(high), style="bold")
    return table


def _error(tally: Tally) -> str:
    return "—" if isnan(tally.error) else f"{tally.error:.4f}"


def _sampled(
    streams: Sequence[Positions], step: int, progress: Callable[[int], None]
) -> Iterator[tuple[FLOAT, list[FLOAT]]]:
    for batches in zip(*(stream.batches(8) for stream in streams), strict=True):
        start = batches[0].start
        for row in range(-start % step, len(batches[0].targets), step):
            target = batches[0].targets[row]
            yield target / target.sum(), [batch.drafts[row] / batch.drafts[row].sum() for batch in batches]
        progress(len(batches[0].targets))


def _values(target: FLOAT, drafts: list[FLOAT], labels: Sequence[str]) -> Iterator[tuple[str, Any]]:
    k = len(drafts)
    for label, draft in zip(labels, drafts, strict=True):
        yield f"{label} alone, one draft", overlap(target, draft)
        yield f"optimum of {k} drafts from {label}", optimal.acceptance(target, draft, k)
    for order in permutations(range(k)):
        name = " then ".join(labels[place] for place in order)
        yield name, several_drafters.acceptance(target, [drafts[place] for place in order])
