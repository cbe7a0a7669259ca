"""A comparison as a table in the terminal, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
import json
from math import isnan
from typing import Any

from rich.table import Table

from spec_math.report.lines import Comparison, Line
from spec_math.report.tally import Tally
from spec_math.report.verdicts import SchemeVerdict, Verdicts

COLUMNS: tuple[str, ...] = (
    "scheme",
    "k",
    "membership",
    "membership standard error",
    "acceptance",
    "acceptance standard error",
    "gap to optimum",
    "positions",
    "verdict",
)


def terminal_table(result: Comparison, verdicts: Verdicts) -> Table:
    """Return the comparison as a rich table: membership a k, the acceptance beside it where it differs.

    >>> import numpy as np
    >>> from spec_math import SCHEMES
    >>> from spec_math.report.comparison import compare
    >>> from spec_math.report.positions import from_rows
    >>> half = lambda start, stop: np.full((stop - start, 2), 0.5)
    >>> result = compare(from_rows(half, half, (3, 2)), SCHEMES[:1], (1,), lambda done: None)
    >>> terminal_table(result, {}).row_count
    3
    """
    largest = max(result.ks)
    table = Table(title=f"Membership: the chance that the emitted token is among k drafts\n{result.source}")
    table.add_column("scheme")
    for k in result.ks:
        table.add_column(f"k = {k}", justify="right")
    for heading in ("±", f"gap, k = {largest}"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for line in result.lines:
        verdict = _verdict(line, verdicts)
        gap = _gap(result, line, largest, verdicts)
        said = "" if gap is None else f"{gap:.4f}"
        style = "red" if verdict is not None and str(verdict) != "lossless" else ""
        cells = [_cell(line.membership, k) for k in result.ks]
        table.add_row(_marked(line), *cells, _error(line), said, str(verdict or "not judged"), style=style)
        if _differs(line):
            cells = [_cell(line.acceptance, k) for k in result.ks]
            table.add_row("  of which a test accepts", *cells, "", "", "", style="dim")
    table.add_section()
    for line in result.optima:
        cells = [_cell(line.membership, k) for k in result.ks]
        table.add_row(_marked(line), *cells, _error(line), "", "none accepts more", style="bold")
    return table


def footnotes(result: Comparison, verdicts: Verdicts) -> list[str]:
    """Return what the table needs said below it: sampled columns, the largest sum error, counterexamples.

    >>> import numpy as np
    >>> from spec_math import SCHEMES
    >>> from spec_math.report.comparison import compare
    >>> from spec_math.report.positions import from_rows
    >>> half = lambda start, stop: np.full((stop - start, 2), 0.5)
    >>> result = compare(from_rows(half, half, (3, 2)), SCHEMES[:1], (1,), lambda done: None)
    >>> footnotes(result, {})[1]  # doctest: +ELLIPSIS
    '* looked at 3 evenly spaced positions only; what ...'
    """
    notes = [
        f"{result.count:,} positions, V = {result.size:,}; largest sum error met: {result.sum_error:.2g}; "
        "± is a line's largest standard error, over positions; gaps are to the optimum of the scheme's own drafts.",
    ]
    if any(line.sampled for line in [*result.lines, *result.optima]):
        notes.append(
            f"* looked at {result.sampled:,} evenly spaced positions only; what is shown is the optimum for i.i.d. "
            "drafts over all positions plus the mean difference to it over those."
        )
    for scheme, found in verdicts.items():
        if not found.verdict:
            notes.append(f"{scheme.name}: {found.verdict}\n  counterexample: {found.counterexample}")
        elif found.formula_fault:
            notes.append(f"{scheme.name}: {found.formula_fault}\n  counterexample: {found.counterexample}")
    judged = [found for found in verdicts.values() if str(found) == "lossless"]
    if judged:
        notes.append(f"lossless: exactly, on each of {judged[0].pairs} small pairs of laws, its formulas with it.")
    return notes


def as_rows(result: Comparison, verdicts: Verdicts) -> list[dict[str, Any]]:
    """Return one record a scheme and k, for CSV, JSON and pictures.

    >>> import numpy as np
    >>> from spec_math import SCHEMES
    >>> from spec_math.report.comparison import compare
    >>> from spec_math.report.positions import from_rows
    >>> half = lambda start, stop: np.full((stop - start, 2), 0.5)
    >>> result = compare(from_rows(half, half, (3, 2)), SCHEMES[:1], (1,), lambda done: None)
    >>> [(row["scheme"], row["membership"]) for row in as_rows(result, {})][0]
    ('maximal coupling', 1.0)
    """
    records: list[dict[str, Any]] = []
    for line in [*result.lines, *result.optima]:
        for k, member in line.membership.items():
            if not member.count:
                continue
            accepted = line.acceptance.get(k)
            values = (
                line.name,
                k,
                member.mean,
                _known(member.error),
                accepted.mean if accepted else None,
                _known(accepted.error) if accepted else None,
                _gap(result, line, k, verdicts),
                member.count,
                str(_verdict(line, verdicts) or ""),
            )
            records.append(dict(zip(COLUMNS, values, strict=True)))
    return records


def as_csv(result: Comparison, verdicts: Verdicts) -> str:
    """Return the records as CSV with a header.

    >>> import numpy as np
    >>> from spec_math import SCHEMES
    >>> from spec_math.report.comparison import compare
    >>> from spec_math.report.positions import from_rows
    >>> half = lambda start, stop: np.full((stop - start, 2), 0.5)
    >>> result = compare(from_rows(half, half, (3, 2)), SCHEMES[:1], (1,), lambda done: None)
    >>> as_csv(result, {}).splitlines()[1]
    'maximal coupling,1,1.0,0.0,1.0,0.0,0.0,3,'
    """
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows(as_rows(result, verdicts))
    return stream.getvalue()


def as_json(result: Comparison, verdicts: Verdicts) -> str:
    """Return the comparison as JSON: what was compared, and the records.

    >>> import numpy as np
    >>> from spec_math import SCHEMES
    >>> from spec_math.report.comparison import compare
    >>> from spec_math.report.positions import from_rows
    >>> half = lambda start, stop: np.full((stop - start, 2), 0.5)
    >>> result = compare(from_rows(half, half, (3, 2)), SCHEMES[:1], (1,), lambda done: None)
    >>> json.loads(as_json(result, {}))["positions"]
    3
    """
    content = {
        "source": result.source,
        "positions": result.count,
        "vocabulary": result.size,
        "largest sum error": result.sum_error,
        "positions of sampled columns": result.sampled,
        "rows": as_rows(result, verdicts),
        "counterexamples": {s.name: f"{v.verdict} {v.counterexample}" for s, v in verdicts.items() if not v.verdict},
    }
    return json.dumps(content, indent=2, ensure_ascii=False)


def _verdict(line: Line, verdicts: Verdicts) -> SchemeVerdict | None:
    return None if line.scheme is None else verdicts.get(line.scheme)


def _gap(result: Comparison, line: Line, k: int, verdicts: Verdicts) -> float | None:
    """Return the gap to the optimum of lossless verifiers, which a lossy one does not have."""
    verdict = _verdict(line, verdicts)
    return None if verdict is not None and not verdict.right else result.gap(line, k)


def _marked(line: Line) -> str:
    return f"{line.name} *" if line.sampled else line.name


def _cell(tallies: dict[int, Tally], k: int) -> str:
    return f"{tallies[k].mean:.4f}" if k in tallies and tallies[k].count else "—"


def _error(line: Line) -> str:
    errors = [error for tally in line.membership.values() if tally.count and not isnan(error := tally.error)]
    return f"{max(errors):.4f}" if errors else ""


def _known(error: float) -> float | None:
    return None if isnan(error) else error


def _differs(line: Line) -> bool:
    pairs = [(line.membership[k], line.acceptance[k]) for k in line.acceptance if line.acceptance[k].count]
    return any(abs(member.mean - accepted.mean) > 1e-9 for member, accepted in pairs)
