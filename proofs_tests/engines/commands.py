"""The command engine, as it is typed."""

from __future__ import annotations

from typer.testing import CliRunner

from spec_math.cli import app


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["engine", *arguments, "--all"], env={"COLUMNS": "160", "NO_COLOR": "1"})
    return done.exit_code, " ".join(done.output.split())
