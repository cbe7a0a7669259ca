"""How long the command line and the library take to start, against what they cannot do without.

Run from the project's folder: python -m benchmarks.start_up
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.table import Row, ratio_row, show

COMMAND = "from spec_math.cli import main; import sys; sys.argv = ['spec-math', '--help']; main()"


def run(code: str) -> Callable[[], object]:
    """Return a run of some code in a fresh interpreter; a help page leaves with 0 too."""

    def work() -> object:
        return subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, cwd=Path(__file__).parents[1]
        )

    return work


def rows() -> list[Row]:
    """Measure every promise."""
    return [
        ratio_row(
            "spec-math --help", (run(COMMAND), run("import typer, rich.console")), 4, "importing typer and rich.console"
        ),
        ratio_row("import spec_math", (run("import spec_math"), run("import numpy")), 1, "importing NumPy"),
        ratio_row(
            "import spec_math, SCHEMES, check_lossless",
            (run("from spec_math import SCHEMES, check_lossless"), run("import numpy")),
            7,
            "importing NumPy",
        ),
    ]


if __name__ == "__main__":
    sys.exit(not show(rows(), "Start-up"))
