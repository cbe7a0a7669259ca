"""Several drafters for one target: what each accepts alone, what both do in turn, and the bracket of what any could."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import numpy as np

from spec_math.distribution import overlap
from spec_math.files.law_files import LawFileError
from spec_math.result import Column, Result, Row, Table, sentences
from spec_math.studies.positions.comparison import SAMPLED_MASSES
from spec_math.studies.positions.stream import FLOAT, Positions
from spec_math.studies.positions.tally import Tally
from spec_math.token_level import optimal
from spec_math.token_level.optimum import several_drafters


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

    >>> from spec_math.studies.positions.stream import from_rows
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


def result_of_drafters(found: DraftersComparison) -> Result:
    """Return the comparison of drafters as a result.

    >>> result_of_drafters(DraftersComparison(("a", "b"))).table("drafters").rows
    ()
    """
    rows = [Row((name, tally.estimate, None)) for name, tally in found.rows.items()]
    finding = "No position was looked at."
    if found.sampled:
        low, high = found.bracket
        rows.append(Row((f"optimum of {' and '.join(found.labels)}", high.estimate, low.estimate), "best"))
        best = max(found.rows, key=lambda name: found.rows[name].mean)
        finding = (
            f"Take {best}: it keeps {found.rows[best].mean:.3f}; no verifier of both keeps more than {high.mean:.3f}."
        )
    title = f"One draft from each drafter, at {found.sampled:,} evenly spaced positions"
    columns = (
        Column("drafts"),
        Column("acceptance", "mean", "probability"),
        Column("at least", "mean", "probability"),
    )
    notes = sentences(["The optimum lies between 'at least' and its acceptance, which is an upper end."])
    return Result("drafters", title, finding, (Table("drafters", title, columns, tuple(rows)),), notes=notes)


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
