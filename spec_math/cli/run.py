"""Run one command: a console for what is said, another for complaints, errors as sentences, exit codes for scripts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


def run(work: Callable[[Console, Progress], int]) -> None:
    """Do the work with a console and a progress bar, and leave with its exit code; bad input leaves with 2.

    Raises:
        typer.Exit: always, with the code.

    >>> try:
    ...     run(lambda console, progress: 0)
    ... except typer.Exit as left:
    ...     left.exit_code
    0
    """
    console, complaints = _console(sys.stdout), _console(sys.stderr)
    # The bar goes to standard error, so that a piped table stays clean; none where nobody watches.
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=complaints, transient=True, disable=not complaints.is_terminal)
    try:
        with progress:
            code = work(console, progress)
    except (ValueError, TypeError, OSError, LookupError) as error:
        if isinstance(error, KeyError | IndexError):  # no model says so: a fault of ours
            raise
        complaints.print("[bold red]error:[/bold red]", end=" ")
        complaints.print("; ".join([str(error), *getattr(error, "__notes__", [])]), markup=False, soft_wrap=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        complaints.print("interrupted; nothing was written")
        raise typer.Exit(130) from None
    raise typer.Exit(code)


def _console(stream: Any) -> Console:
    console = Console(file=stream, highlight=False)
    return console if console.is_terminal else Console(file=stream, highlight=False, width=140)
