"""What `spec-math trace` does: audit shards side by side, resume where it stopped, print, and write the page."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from spec_math.audit.traces.result import ShardResult, Summary
from spec_math.audit.traces.run import KEPT, audit_shards, cluster, find_shards, threads
from spec_math.audit.traces.shard_audit import TOLERANCE
from spec_math.audit.traces.store import Store
from spec_math.files.whole import check_writable, write_whole
from spec_math.report.traces.default import VARIANTS, write_default
from spec_math.report.traces.page import page
from spec_math.report.traces.pictures import pictures
from spec_math.report.traces.tables import acceptance_table, as_json, claims_table, notes

INTERRUPTED = 130


@dataclass(frozen=True)
class TraceRequest:
    """What `spec-math trace` was asked."""

    paths: tuple[Path, ...] = ()
    out: Path = Path("out/trace")
    alpha: float = 1e-6
    tolerance: float = TOLERANCE
    scheduler: str | None = None
    workers: int | None = None
    bug: str | None = None


def trace(request: TraceRequest, console: Console, progress: Progress) -> int:
    """Audit, print and write; the exit code is 1 where a contract is broken, 2 where a shard could not be read.

    Raises:
        ValueError, OSError: bad input, or no shard that could be audited.

    >>> trace(TraceRequest(alpha=2.0), Console(), Progress(disable=True))
    Traceback (most recent call last):
    ValueError: --alpha, the rate of false alarms, lies in (0, 1); got 2.0
    """
    if not 0 < request.alpha < 1:
        raise ValueError(f"--alpha, the rate of false alarms, lies in (0, 1); got {request.alpha}")
    if not 0 <= request.tolerance < 1:
        raise ValueError(f"--tolerance, a total variation, lies in [0, 1); got {request.tolerance}")
    if request.bug is not None and request.paths:
        raise ValueError("--bug is for the embedded default: leave it out with shards, or the shards with it")
    if request.bug is not None and request.bug not in VARIANTS:
        raise ValueError(f"--bug takes one of {', '.join(VARIANTS)}; got {request.bug!r}")
    if request.workers is not None and request.workers < 1:
        raise ValueError(f"--workers must be at least 1; got {request.workers}")
    check_writable(request.out)
    if request.paths:
        shards = find_shards(request.paths)
        return _audited(
            request, shards, f"{len(shards):,} shard(s) from {', '.join(map(str, request.paths))}", console, progress
        )
    with tempfile.TemporaryDirectory() as folder:
        return _default(request, Path(folder), console, progress)


def _default(request: TraceRequest, folder: Path, console: Console, progress: Progress) -> int:
    bug = request.bug or "none"
    task = progress.add_task("recording the default", total=1)
    shards = write_default(folder, bug)
    progress.advance(task)
    wrong = VARIANTS[bug].wrong
    source = f"Two n-gram models of CPython's documentation; {wrong or 'a right verifier'}."
    return _audited(request, shards, source, console, progress)


def _audited(request: TraceRequest, shards: Sequence[Path], source: str, console: Console, progress: Progress) -> int:
    task = progress.add_task("auditing shards", total=len(shards))
    heard = {"kept": 0, "before": 0}

    def done(shard: Path, result: ShardResult | None, reason: str) -> None:
        heard["kept"] += result is not None
        heard["before"] += reason == KEPT
        progress.advance(task)
        if result is None:
            console.print(Text(f"left out {shard.name}: {reason}", style="yellow"), soft_wrap=True)

    # The default is recorded anew each time, so that nothing of it is worth keeping.
    kept = request.out / "shards" if request.paths else shards[0].parent / "kept"
    store = Store(kept, request.tolerance)
    try:
        with _executor(request) as executor:
            summary = audit_shards(shards, executor, request.tolerance, store, done)
    except KeyboardInterrupt:
        sentence = f"interrupted; {heard['kept']} of {len(shards)} shards are kept, and the same command goes on"
        console.print(Text(sentence))
        return INTERRUPTED
    if heard["before"]:
        console.print(Text(f"{heard['before']} of {len(shards)} shards had been audited before; they are in {kept}"))
    return _told(request, summary, source, console)


def _executor(request: TraceRequest) -> AbstractContextManager[Any]:
    if request.scheduler is not None:
        return cluster(request.scheduler)
    return threads(request.workers or os.cpu_count() or 1)


def _told(request: TraceRequest, summary: Summary, source: str, console: Console) -> int:
    console.print(claims_table(summary, request.alpha))
    console.print(acceptance_table(summary))
    for line in [*notes(summary, request.alpha), *summary.examples]:
        console.print(Text(line))
    drawn = pictures(summary, request.alpha)
    files = {
        "trace.json": as_json(summary, request.alpha),
        "trace.html": page(summary, drawn, request.alpha, source),
        "evidence.svg": drawn[0].svg,
    }
    for name, content in files.items():
        console.print(Text(f"wrote {write_whole(request.out / name, content)}"))
    if summary.lossy(request.alpha):
        return 1
    return 2 if summary.skipped else 0
