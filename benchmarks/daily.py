"""Processor time of what is run every day: `compare` on a hundred positions, and the report, in fresh processes.

Run from the project's folder: python -m benchmarks.daily
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.table import Row, show

RUN = "from spec_math.cli import main; main()"


def processor_seconds(arguments: list[str], kernels: Path | None = None) -> float:
    """Run a command once; return the seconds of all processors together, with its kernels kept in a folder."""
    kept = {} if kernels is None else {"NUMBA_CACHE_DIR": str(kernels)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        check=True,
        capture_output=True,
        cwd=Path(__file__).parents[1],
        env={**os.environ, **kept},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(name: str, seconds: list[float], bound: float, against: str) -> Row:
    """Return the median of some runs, with their range."""
    return Row(name, median(seconds), bound, "s", f"{min(seconds):.3g}..{max(seconds):.3g}", against)


def rows(repeats: int = 3) -> list[Row]:
    """Measure both commands with their kernels on disk, and `compare` where none is."""
    with tempfile.TemporaryDirectory() as folder:
        compare = ["compare", "--positions", "100"]
        report = ["report", "--out", str(Path(folder) / "report.html")]
        cold = [processor_seconds(compare, Path(folder) / f"kernels{number}") for number in range(repeats)]
        processor_seconds(compare)
        warm = [processor_seconds(compare) for _ in range(repeats)]
        processor_seconds(report)
        made = [processor_seconds(report) for _ in range(repeats)]
    return [
        row("compare --positions 100", warm, 4, "processor time, kernels on disk"),
        row("compare --positions 100, first run", cold, 12, "processor time, no kernel on disk"),
        row("report", made, 25, "processor time, kernels on disk"),
    ]


if __name__ == "__main__":
    sys.exit(not show(rows(), "Daily commands"))
