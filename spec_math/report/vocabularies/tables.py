"""A comparison of vocabularies as tables in the terminal, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from rich.table import Table

from spec_math.mean import Mean
from spec_math.report.vocabularies.comparison import DrafterLines, MethodLine, VocabularyComparison, advice

COLUMNS: tuple[str, ...] = (
    "drafter",
    "method",
    "lossless",
    "acceptance",
    "acceptance standard error",
    "lookahead",
    "tokens per call",
    "tokens standard error",
    "drafter calls",
    "speed-up",
    "acceptance, exact",
    "tokens, exact",
    "Table 4 asks for",
)

_HOW = {
    "exact": "Everything is added up exactly.",
    "Monte Carlo": "Acceptances are computed, but for that of TokenTiming; it and tokens per call are sampled, the "
    "verifier's coins averaged out.",
    "laws": "Acceptances are computed; of tokens per call, laws alone say those of one draft token.",
}


def terminal_tables(result: VocabularyComparison) -> list[Table]:
    """Return the comparison as rich tables, one a drafter, with a row a method.

    >>> from spec_math.mean import known
    >>> nothing = known(0)
    >>> terminal_tables(VocabularyComparison("models", 2, 1, 0.05, (), nothing, "exact"))
    []
    """
    tables: list[Table] = []
    for drafter in result.drafters:
        table = Table(title=f"{drafter.name}: {drafter.size:,} tokens, {drafter.shared:,} of them the target's")
        table.add_column("method")
        for heading in ("accepts first", "±", "draft tokens", "tokens per call", "±", "drafter calls", "speed-up"):
            table.add_column(heading, justify="right")
        table.add_column("Table 4 asks for")
        for line in drafter.lines:
            table.add_row(*_cells(line), style="" if line.lossless else "red")
        tables.append(table)
    return tables


def footnotes(result: VocabularyComparison) -> list[str]:
    """Return what the table needs said below it: how the numbers were found, and Table 4's advice for each drafter.

    >>> from spec_math.mean import known
    >>> nothing = known(0)
    >>> footnotes(VocabularyComparison("models", 2, 1, 0.05, (), nothing, "exact"))[0]
    'Everything is added up exactly.'
    """
    errors = ""
    if result.positions > 1:
        errors = (
            " ± is a standard error over positions that lie evenly in the text: it describes their spread and promises "
            "no coverage. The lookahead is chosen on the same samples, which favours it a little."
        )
    notes = [f"{_HOW[result.how]}{errors}", *result.notes]
    notes.append(
        f"Speed-up: tokens per call / (1 + drafter calls · {result.draft_cost:g}), at the lookahead that suits each "
        "method best: a drafter call costs so much of a target call (--draft-cost)."
    )
    for drafter in result.drafters:
        notes += [f"{drafter.name}: {sentence}" for sentence in advice(drafter, result.surest)]
    return notes


def as_rows(result: VocabularyComparison) -> list[dict[str, Any]]:
    """Return one record a drafter and method, for CSV and JSON.

    >>> from spec_math.mean import known
    >>> nothing = known(0)
    >>> as_rows(VocabularyComparison("models", 2, 1, 0.05, (), nothing, "exact"))
    []
    """
    return [_record(drafter, line) for drafter in result.drafters for line in drafter.lines]


def as_csv(result: VocabularyComparison) -> str:
    """Return the records as CSV with a header.

    >>> from spec_math.mean import known
    >>> nothing = known(0)
    >>> as_csv(VocabularyComparison("models", 2, 1, 0.05, (), nothing, "exact"))[:15]
    'drafter,method,'
    """
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows(as_rows(result))
    return stream.getvalue()


def as_json(result: VocabularyComparison) -> str:
    """Return the comparison as JSON: what was compared, the drafters, the records, the advice.

    >>> from spec_math.mean import known
    >>> nothing = known(0)
    >>> json.loads(as_json(VocabularyComparison("models", 2, 1, 0.05, (), nothing, "exact")))["target tokens"]
    2
    """
    content = {
        "source": result.source,
        "target tokens": result.size,
        "positions": result.positions,
        "draft cost": result.draft_cost,
        "how": _HOW[result.how],
        "drafters": [_about(drafter, result) for drafter in result.drafters],
        "rows": as_rows(result),
    }
    return json.dumps(content, indent=2, ensure_ascii=False)


def _cells(line: MethodLine) -> list[str]:
    tokens = line.tokens
    return [
        line.method if line.lossless else f"{line.method} (lossy)",
        *_value(line.acceptance),
        str(line.lookahead) if line.lookahead is not None else "—" if tokens is None else "as needed",
        *_value(tokens),
        "—" if line.calls is None else f"{line.calls:,.6g}",
        "—" if line.speed_up is None else f"{line.speed_up:.3f}",
        line.needs.partition(":")[0].partition(";")[0],
    ]


def _value(found: Mean | None) -> tuple[str, str]:
    if found is None:
        return "—", ""
    return f"{found.value:.4f}", f"{found.error:.4f}" if found.samples > 1 else ""


def _error(found: Mean | None) -> float | None:
    """Return the standard error, None where it is not known."""
    return None if found is None or found.error != found.error else found.error


def _record(drafter: DrafterLines, line: MethodLine) -> dict[str, Any]:
    acceptance, tokens = line.acceptance, line.tokens
    exact = (*line.exact, "", "")
    values = (
        drafter.name,
        line.method,
        line.lossless,
        acceptance.value if acceptance else None,
        _error(acceptance),
        line.lookahead,
        tokens.value if tokens else None,
        _error(tokens),
        line.calls,
        line.speed_up,
        exact[0] or None,
        exact[1] or None,
        line.needs,
    )
    return dict(zip(COLUMNS, values, strict=True))


def _about(drafter: DrafterLines, result: VocabularyComparison) -> dict[str, Any]:
    return {
        "name": drafter.name,
        "tokens": drafter.size,
        "shared tokens": drafter.shared,
        "draft mass on shared tokens": drafter.shared_mass.value,
        "drafted texts that begin with no target token": drafter.untokenisable.value,
        "laws that psi asks for": str(drafter.psi_calls),
        "bias of TokenTiming as printed": [
            {
                "draft tokens": bias.lookahead,
                "total variation": bias.value.value,
                "at least, with 99 %": bias.certain,
                "kind": "exact" if bias.exact else "a bound from below, sampled",
            }
            for bias in drafter.biases
        ],
        "advice": advice(drafter, result.surest),
    }
