"""The run of a command: consoles for output and for errors, errors as sentences, exit codes for scripts.

Exit codes: 0 lossless or done, 1 lossy, 2 bad input, 3 undecided, 70 a fault of this library, which says nothing about
what was judged, 130 interrupted, 141 whoever read the output left.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from spec_math.cli.interrupt import INTERRUPTED, interruptible
from spec_math.cli.options import ALL

if TYPE_CHECKING:
    from rich.console import Console

    from spec_math.result import Result
    from spec_math.studies.arguments import Progress

FAULT = 70
"""The exit code of a fault of ours: Python's own, 1, would read as lossy."""

NOBODY_READS = 141
"""The exit code where a pipe was closed before all was shown, as a shell has it: 1 would read as lossy."""

PIPE = 140
"""Columns where the output is no terminal and COLUMNS says nothing."""

FILES = 4
"""So many files that were written are named in one line."""


def study(work: Callable[[Progress], Result], out: Path | None, written: Callable[[], object] | None = None) -> None:
    """Do a study, show its result, write it where --out says, and leave with its exit code.

    `written` is called once all files are there.

    Raises:
        typer.Exit: always, with the code: the result's, 2 for bad input, 130 where it was interrupted.
    """

    def whole(console: Console, progress: Any) -> int:
        from spec_math.render.output import check_out, write
        from spec_math.render.terminal import MOST, show

        check_out(out)
        result = work(progress_of(progress))
        progress.stop()
        # Files first: a reader of the table may close the pipe.
        paths = write(result, out)
        if written is not None:
            written()
        show(result, console, None if ALL.get() else MOST, _told_of(paths))
        return result.exit_code

    run(whole)


def _told_of(paths: list[Path]) -> list[str]:
    """Say which files were written; of many in one line."""
    told = [f"wrote {path}" for path in paths]
    return told if len(told) < FILES else [f"wrote {len(paths)} files: {', '.join(map(str, paths))}"]


def run(work: Callable[[Console, Any], int]) -> None:
    """Do the work with a console and a progress bar, and leave with its exit code; bad input leaves with 2.

    Code that was loaded and ends the process, as a script does at its end, leaves with 2 too: its own code may be 0.
    Numbers that contradict each other leave with 3: nothing is decided, and nothing is shown. Where whoever reads the
    output has left, as head does, it leaves with 141 and says nothing.

    Raises:
        typer.Exit: always, with the code.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console, complaints = console_on(sys.stdout), console_on(sys.stderr)
    # The bar goes to standard error, so that a piped table stays clean; none where nobody watches.
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=complaints, transient=True, disable=not complaints.is_terminal)
    try:
        with progress, interruptible():
            code = work(console, progress)
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # rich leaves so; files are written by then
            raise typer.Exit(NOBODY_READS) from None
        said = f"the code that was loaded ended the process (exit code {error.code}); nothing was judged"
        complaints.print(f"[bold red]error:[/bold red] {said}", soft_wrap=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt as stopped:
        complaints.print(str(stopped) or "interrupted; nothing was written", markup=False, soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        raise typer.Exit(_told(error, complaints)) from error
    raise typer.Exit(code)


def _told(error: Exception, complaints: Console) -> int:
    """Say what went wrong, and return the exit code: 2 for bad input, 3 for a contradiction, 70 for a fault of ours."""
    from spec_math.invariants import BrokenInvariantError

    contradiction = isinstance(error, BrokenInvariantError)
    bad_input = isinstance(error, ValueError | TypeError | OSError | LookupError)
    if isinstance(error, KeyError | IndexError) or not (bad_input or contradiction):
        # No model raises the first two.
        complaints.print(traceback.format_exc(), markup=False, soft_wrap=True)
        complaints.print("a fault of spec_math: nothing is said about what was judged")
        return FAULT
    complaints.print("[bold red]error:[/bold red]", end=" ")
    complaints.print("; ".join([_said(error), *getattr(error, "__notes__", [])]), markup=False, soft_wrap=True)
    return 3 if contradiction else 2


def _said(error: Exception) -> str:
    """Return what an error says; of a file that is not there its path, and not the system's number for that."""
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"{error.filename}: there is no such file"
    if isinstance(error, IsADirectoryError) and error.filename is not None:
        return f"{error.filename}: this is a folder, and a file is needed"
    if isinstance(error, NotADirectoryError) and error.filename is not None:
        return f"{error.filename}: what stands before the last name is no folder"
    return str(error)


def progress_of(progress: Any) -> Progress:
    """Return the way in which work tells a progress bar how far it is."""

    def task(what: str, steps: int) -> Callable[[int], None]:
        number = progress.add_task(what, total=steps)
        return lambda done: progress.advance(number, done)

    return task


def console_on(stream: Any) -> Console:
    """Return the console of a stream, without pictures for words, and as wide as its terminal or COLUMNS."""
    from rich.console import Console

    # Names are shown as they are: rich would put a picture for the :x: of "mine.py:x: no function".
    console = Console(file=stream, highlight=False, emoji=False)
    if console.is_terminal or os.environ.get("COLUMNS", "").isdigit():
        return console
    return Console(file=stream, highlight=False, emoji=False, width=PIPE)
