"""`spec-math audit NAME`: a public engine is downloaded, judged in a process of its own, and shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spec_math.field.cases import sweep
from spec_math.field.catalogue import named
from spec_math.field.engine import Edit
from spec_math.field.judging import Found
from spec_math.field.recorded import ArchiveError, source_of
from spec_math.field.worker import WorkerError, judged_apart
from spec_math.result import Column, Note, Result, Row, Table

CODES = {"lossless": 0, "lossy": 1, "raises": 1, "undecided": 3}


def study(name: str, source: Path | None, replaced: Sequence[tuple[str, str]], told: Any) -> Result:
    """Judge the engines of a name and say what was found; the exit code is that of the worst: 0, 1 lossy, 3 undecided.

    Raises:
        ValueError: there is no engine of the name, or its source cannot be had.
    """
    edits = tuple(Edit(*edit) for edit in replaced)
    found: list[Found] = []
    for engine in named(name):
        sources = {} if source is None else {engine.name: source}
        try:
            root, pinned = source_of(engine, sources)
            done = told(f"judging {engine.name}", len([*sweep(engine)]) + 3)
            found.append({**pinned, **judged_apart(engine, root, lambda _, done=done: done(1), edits)})
        except (ArchiveError, WorkerError) as error:
            raise ValueError(str(error)) from error
    words = [one["verdict"] for one in found]
    worst = max(words, key=lambda word: (CODES[word] == 1, CODES[word]))
    said = "; ".join(f"{one['name']}: {one['verdict']}" for one in found)
    text = f"{said}. Drafts, options and distributions as below; nothing was sampled."
    tables = tuple(_table(one) for one in found)
    notes = tuple(Note(said, one["name"]) for one in found for said in _said(one, bool(edits)))
    return Result("engine", f"{name}: {worst}", text, tables, notes=notes, exit_code=CODES[worst])


def _table(found: Found) -> Table:
    columns = (Column("case"), Column("verdict"), Column("paths", "count"), Column("first token"), Column("distance"))
    rows = [
        Row((one["case"], one["verdict"], one.get("paths", 0), one.get("first token", ""), one.get("distance", "")))
        for one in [*found["smallest"], *found["cases"]]
    ]
    return Table(found["name"].replace(" ", "-"), f"{found['name']}, {found['rule']}", columns, tuple(rows))


def _said(found: Found, edited: bool) -> list[str]:
    control = found["control"]
    said = [f"{one['verdict']} at {one['case']}: {one['reason']}" for one in found["smallest"] if "reason" in one]
    said += [one["cause"] for one in found["defects"]]
    said += [f"with {old!r} => {new!r} it is lossless" for one in found["defects"] for old, new in one["mend"]]
    if not edited:
        said.append(f"control: with {control['edit'][0]!r} => {control['edit'][1]!r} it is {control['verdict']}")
    return said
