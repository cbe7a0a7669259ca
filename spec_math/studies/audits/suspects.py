"""`spec-math audit --suspects FOLDER`: functions that may be verifiers, each with the command that would judge it."""

from __future__ import annotations

from pathlib import Path

from spec_math.audit.suspects import suspects
from spec_math.result import Column, Result, Row, Table, counted
from spec_math.studies.arguments import Progress


def study(folder: Path, told: Progress) -> Result:
    """List the functions under a folder that draw and compare; nothing is run.

    Raises:
        ValueError: there is no such folder or file.

    >>> study(Path("nowhere"), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: there is no folder nowhere
    """
    if not folder.exists():
        raise ValueError(f"there is no folder {folder}")
    done = told("reading", 1)
    found = suspects(folder)
    done(1)
    rows = tuple(Row((f"{one.file}:{one.line}", ", ".join(one.draws), one.command)) for one in found)
    columns = Column("where"), Column("draws by"), Column("command")
    functions = counted(len(found), "function")
    draw = "draws random numbers and compares" if len(found) == 1 else "draw random numbers and compare"
    said = f"{functions} under {folder} {draw}; none was run."
    return Result(
        "suspects", f"What may be a verifier under {folder}", said, (Table("suspects", "Functions", columns, rows),)
    )
