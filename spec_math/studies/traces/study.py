"""Recorded speculation audited: shards side by side, and on from where an interrupted audit stopped."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spec_math.audit.traces.result import ShardResult
from spec_math.audit.traces.run import KEPT, audit_shards, cluster, find_shards, threads
from spec_math.audit.traces.shard_audit import TOLERANCE
from spec_math.audit.traces.store import Store
from spec_math.result import Note, Result
from spec_math.studies.arguments import Progress
from spec_math.studies.traces.default import VARIANTS, write_default
from spec_math.studies.traces.table import result_of


@dataclass(frozen=True)
class TraceRequest:
    """Shards, or the embedded default with one of its bugs; `kept` is the folder to go on from."""

    paths: tuple[Path, ...] = ()
    kept: Path = Path("out/trace/shards")
    alpha: float = 1e-6
    tolerance: float = TOLERANCE
    scheduler: str | None = None
    workers: int | None = None
    bug: str | None = None


def study(request: TraceRequest, progress: Progress) -> Result:
    """Audit recorded speculation.

    Raises:
        ValueError, OSError: bad input, or no shard that could be audited. KeyboardInterrupt: saying what is kept.

    >>> study(TraceRequest(alpha=2.0), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --alpha, the false-positive rate, lies in (0, 1); got 2.0
    """
    _check(request)
    if request.paths:
        shards = find_shards(request.paths)
        source = f"{len(shards):,} shard(s) from {', '.join(map(str, request.paths))}"
        return _audited(request, shards, source, progress)
    with tempfile.TemporaryDirectory() as folder:
        bug = request.bug or "none"
        step = progress("recording the default", 1)
        shards = write_default(Path(folder), bug)
        step(1)
        source = f"two n-gram models of CPython's documentation; {VARIANTS[bug].wrong or 'a right verifier'}"
        # The default is recorded anew each time, so that nothing of it is worth keeping.
        return _audited(replace(request, kept=Path(folder) / "kept"), shards, source, progress)


def _check(request: TraceRequest) -> None:
    if not 0 < request.alpha < 1:
        raise ValueError(f"--alpha, the false-positive rate, lies in (0, 1); got {request.alpha}")
    if not 0 <= request.tolerance < 1:
        raise ValueError(f"--tolerance, a total variation, lies in [0, 1); got {request.tolerance}")
    if request.bug is not None and request.paths:
        raise ValueError("--bug is for the embedded default: leave it out with shards, or the shards with it")
    if request.bug is not None and request.bug not in VARIANTS:
        raise ValueError(f"--bug takes one of {', '.join(VARIANTS)}; got {request.bug!r}")
    if request.workers is not None and request.workers < 1:
        raise ValueError(f"--workers must be at least 1; got {request.workers}")


def _audited(request: TraceRequest, shards: Sequence[Path], source: str, progress: Progress) -> Result:
    step = progress("auditing shards", len(shards))
    seen = {"kept": 0, "before": 0}

    def done(_: Path, result: ShardResult | None, reason: str) -> None:
        seen["kept"] += result is not None
        seen["before"] += reason == KEPT
        step(1)

    store = Store(request.kept, request.tolerance)
    try:
        with _executor(request) as executor:
            summary = audit_shards(shards, executor, request.tolerance, store, done)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"interrupted; {seen['kept']} of {len(shards)} shards are kept, and the same command goes on"
        ) from None
    result = result_of(summary, request.alpha, source)
    if not seen["before"]:
        return result
    said = Note(f"{seen['before']} of {len(shards)} shards had been audited before; they are in {request.kept}")
    return replace(result, notes=(*result.notes, said))


def _executor(request: TraceRequest) -> AbstractContextManager[Any]:
    if request.scheduler is not None:
        return cluster(request.scheduler)
    return threads(request.workers or os.cpu_count() or 1)
