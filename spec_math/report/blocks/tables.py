"""A comparison of blocks as a table in the layout of SpecTr's Tables 2 and 4, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from rich.table import Table

from spec_math.block_level.methods import METHODS
from spec_math.mean import Mean, known
from spec_math.report.blocks.comparison import BlockComparison, Ceiling, Entry, fastest

COLUMNS: tuple[str, ...] = (
    "method",
    "K",
    "L",
    "tokens per call",
    "tokens low",
    "tokens high",
    "more than one plain chain",
    "more low",
    "more high",
    "speed-up",
    "how",
    "samples",
    "fraction",
)

LONGEST_FRACTION = 60


def terminal_table(result: BlockComparison) -> Table:
    """Return the comparison as a rich table: a row a method, K and L, with its 99 % interval.

    >>> terminal_table(BlockComparison("two tables", 2, (1,), (4,), 0, [], [])).row_count
    1
    """
    table = Table(title=f"Tokens per target call for K paths of L drafted tokens\n{result.source}")
    table.add_column("method")
    for heading in ("K", "L", "tokens per call", "99 %", "more than plain", "99 %", "speed-up"):
        table.add_column(heading, justify="right")
    table.add_column("how")
    table.add_row("plain decoding", "-", "-", "1.0000", "", "", "", "1.00", "", style="dim")
    for lookahead in result.lookaheads:
        for k in result.ks:
            table.add_section()
            for entry in result.entries:
                if (entry.k, entry.lookahead) == (k, lookahead):
                    table.add_row(*_cells(entry))
            for ceiling in result.ceilings:
                if (ceiling.k, ceiling.lookahead) == (k, lookahead):
                    table.add_row(*_ceiling_cells(ceiling), style="bold")
    return table


def footnotes(result: BlockComparison) -> list[str]:
    """Return what the table needs said below it: where its numbers are from, what is proved, what is fastest.

    >>> footnotes(BlockComparison("two tables", 2, (1,), (4,), 0, [], []))[0]
    'V = 2; everything is added up exactly.'
    """
    notes = [f"V = {result.size:,}; everything is added up exactly."]
    if any(entry.sampled for entry in result.entries):
        notes = [
            f"V = {result.size:,}; Monte Carlo: {result.samples:,} sampled blocks, drafts shared by all methods, coins "
            "averaged out. Intervals hold with 99 % each, for any models and any number of samples: they rest on the "
            "range of the draws and not on a normal limit. 'More than plain' is the difference to one chain token by "
            "token on the same drafts, and so sharper than the values."
        ]
    notes.append(
        "On any two models a block yields no less than the same chain token by token, and traversal no less than "
        "recursive rejection on the same tree; the other orders are those of these models."
    )
    if any(not ceiling.reached for ceiling in result.ceilings):
        notes.append(
            "≤: no lossless verifier of these drafts exceeds it, and perhaps none reaches it. Where it is sampled it "
            "says that i tokens are accepted no more often than a text of i tokens can be the target's and drafted."
        )
    notes += fastest_sentences(result)
    return notes


def fastest_sentences(result: BlockComparison) -> list[str]:
    """Say with which K and L each method is fastest by the latencies that SpecTr measured.

    >>> fastest_sentences(BlockComparison("two tables", 2, (1,), (4,), 0, [], []))
    []
    """
    found = [best for method in METHODS if (best := fastest(result, method.name)) is not None]
    if not found:
        return []
    ranked = sorted(found, key=lambda entry: -(entry.speed_up or 0.0))
    said = "; ".join(f"{e.method} {e.speed_up:.2f} (K = {e.k}, L = {e.lookahead})" for e in ranked)
    return [
        f"Speed-up over plain decoding by the latencies of SpecTr's Tables 1 and 3, drafting included, each method at "
        f"its best K and L: {said}."
    ]


def as_rows(result: BlockComparison) -> list[dict[str, Any]]:
    """Return one record a method, K and L, then one an optimum, for CSV and JSON.

    >>> as_rows(BlockComparison("two tables", 2, (1,), (4,), 0, [], []))
    []
    """
    rows = [_record(entry) for entry in result.entries]
    rows += [_ceiling_record(ceiling) for ceiling in result.ceilings]
    return rows


def as_csv(result: BlockComparison) -> str:
    """Return the records as CSV with a header.

    >>> as_csv(BlockComparison("two tables", 2, (1,), (4,), 0, [], [])).startswith("method,K,L,tokens per call,")
    True
    """
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows(as_rows(result))
    return stream.getvalue()


def as_json(result: BlockComparison) -> str:
    """Return the comparison as JSON: what was compared, and the records.

    >>> json.loads(as_json(BlockComparison("two tables", 2, (1,), (4,), 0, [], [])))["samples"]
    0
    """
    content = {
        "source": result.source,
        "vocabulary": result.size,
        "samples": result.samples,
        "intervals": "99 % at least, for any models and any number of samples",
        "latencies": "SpecTr, Tables 1 and 3",
        "rows": as_rows(result),
    }
    return json.dumps(content, indent=2, ensure_ascii=False)


def _cells(entry: Entry) -> list[str]:
    speed = "—" if entry.speed_up is None else f"{entry.speed_up:.2f}"
    means = [entry.tokens, entry.gain]
    values = [cell for mean in means for cell in (f"{mean.value:.4f}", _ends(mean) if entry.sampled else "")]
    if entry.gain == known(0):
        values[2:] = ["", ""]
    return [entry.method, str(entry.k), str(entry.lookahead), *values, speed, _how(entry)]


def _ceiling_cells(ceiling: Ceiling) -> list[str]:
    tokens = f"{'' if ceiling.reached else '≤ '}{ceiling.tokens.value:.4f}"
    ends = _ends(ceiling.tokens) if ceiling.tokens.samples else ""
    cells = [_named(ceiling), str(ceiling.k), str(ceiling.lookahead), tokens, ends]
    return [*cells, "", "", "", _kind(ceiling)]


def _kind(ceiling: Ceiling) -> str:
    return "optimum" if ceiling.reached else "bound"


def _ceiling_record(ceiling: Ceiling) -> dict[str, Any]:
    low, high = ceiling.tokens.interval
    return dict.fromkeys(COLUMNS) | {
        "method": _named(ceiling),
        "K": ceiling.k,
        "L": ceiling.lookahead,
        "tokens per call": ceiling.tokens.value,
        "tokens low": low,
        "tokens high": high,
        "how": f"{'optimum' if ceiling.reached else 'upper bound'}{', Monte Carlo' * bool(ceiling.tokens.samples)}",
        "samples": ceiling.tokens.samples,
        "fraction": _short(ceiling.exact),
    }


def _named(ceiling: Ceiling) -> str:
    return f"any verifier, {ceiling.drafts}"


def _ends(found: Mean) -> str:
    low, high = found.interval
    return f"{low:.3f} to {high:.3f}"


def _how(entry: Entry) -> str:
    return "Monte Carlo" if entry.sampled else "exact"


def _record(entry: Entry) -> dict[str, Any]:
    values = (
        entry.method,
        entry.k,
        entry.lookahead,
        entry.tokens.value,
        *entry.tokens.interval,
        entry.gain.value,
        *entry.gain.interval,
        entry.speed_up,
        _how(entry),
        entry.tokens.samples,
        _short(entry.exact),
    )
    return dict(zip(COLUMNS, values, strict=True))


def _short(value: Any) -> str | None:
    text = str(value)
    return text if "/" in text and len(text) <= LONGEST_FRACTION else None
