"""Audit of many shards side by side: in threads of this process, or on the workers of a Dask cluster.

A shard is one task, and its result is sums. A worker that is lost costs its shard again and nothing else; a shard that
cannot be read is tried again, then named and left out. Leaving it out keeps the evidence valid, since whether a file
can be read says nothing about the tokens in it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from pathlib import Path
from zipfile import BadZipFile

from spec_math.files.whole import write_whole
from spec_math.traces.result import ShardResult, Summary, merge
from spec_math.traces.schema import TraceError
from spec_math.traces.shard_audit import CHECKS, TOLERANCE, audit_shard
from spec_math.traces.shard_file import ENDINGS

TRIES = 3
"""How often a shard is tried where reading fails or a worker is lost; a shard that is broken is not tried again."""

MANY = 1_000
"""Shards from which on the evidence is looked at once a shard: results are then ten kilobytes each.

What was kept with more looks is taken as it is: they are points of the curve, and change nothing else."""

AHEAD = 512
"""Shards that are handed out at a time."""

KEPT = "audited before"

Done = Callable[[Path, ShardResult | None, str], None]


def no_progress(shard: Path, result: ShardResult | None, reason: str) -> None:
    """Report no progress.

    >>> no_progress(Path("a"), None, "")
    """


def find_shards(paths: Sequence[str | Path]) -> list[Path]:
    """Return the shards among files and folders, in the order given, a folder's by name.

    Raises:
        TraceError: a path that is not there, or no shard at all.

    >>> find_shards(["nowhere"])
    Traceback (most recent call last):
    spec_math.traces.schema.TraceError: nowhere: there is no such file or folder
    """
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            found += sorted(file for file in path.iterdir() if file.suffix in ENDINGS and not file.name.startswith("."))
        elif path.is_file():
            found.append(path)
        else:
            raise TraceError(f"{path}: there is no such file or folder")
    if not found:
        raise TraceError(f"{', '.join(map(str, paths))}: no shards there; they end in {' or '.join(ENDINGS)}")
    return list(dict.fromkeys(found))


@contextmanager
def cluster(address: str) -> Generator[Executor]:
    """Hold an executor on the Dask cluster whose scheduler listens at an address; its workers must see the shards.

    Raises:
        ModuleNotFoundError: distributed is not installed.
        OSError: nobody listens there.

    >>> with cluster("nowhere"):  # doctest: +SKIP
    ...     pass
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ModuleNotFoundError(
            "a cluster is reached through Dask, which is not installed; install the extra: "
            "pip install 'spec_math[traces]', or leave out --scheduler for threads"
        ) from error
    with Client(address, timeout="10s") as client, client.get_executor(pure=False) as executor:
        yield executor


def audit_shards(
    shards: Sequence[Path],
    executor: Executor,
    tolerance: float = TOLERANCE,
    store: Store | None = None,
    done: Done = no_progress,
) -> Summary:
    """Audit shards on an executor and add up what they say, in the order of the shards whatever comes first.

    Threads in this process do: the compiled passes hold no lock.
    With a store, what is kept there is not computed again, and each result is kept as soon as it is there.
    `done(shard, result, reason)` hears of each shard; the result is None where it was left out, for the reason, and the
    reason is KEPT where it was not computed again.

    Raises:
        TraceError: no shard could be audited; the reasons are in the message.

    >>> import tempfile
    >>> from spec_math.traces.shard_file import write_shard
    >>> from spec_math.traces.recorder import Engine, by_position, record
    >>> import numpy as np
    >>> half = lambda prefix: np.array([0.5, 0.5])
    >>> columns = record(Engine(half, half, by_position()), 1, 20, np.random.default_rng(0))
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as executor:
    ...     shard = write_shard(Path(folder) / "a.safetensors", columns, lookahead=4)
    ...     audit_shards([shard], executor).counts["rows"]
    20
    """
    checks = CHECKS if len(shards) <= MANY else 1
    results: dict[Path, ShardResult] = {}
    reasons: dict[Path, str] = {}
    for shard in shards:
        kept = None if store is None else store.load(shard)
        if kept is not None:
            results[shard] = kept
            done(shard, kept, KEPT)
    waiting = [shard for shard in reversed(shards) if shard not in results]
    tries = dict.fromkeys(waiting, 0)
    running: dict[Future[ShardResult], Path] = {}
    try:
        while running or waiting:
            while waiting and len(running) < AHEAD:
                shard = waiting.pop()
                tries[shard] += 1
                running[executor.submit(audit_shard, shard, tolerance, checks)] = shard
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                shard = running.pop(future)
                result, reason, hopeless = _outcome(future)
                if result is None and not hopeless and tries[shard] < TRIES:
                    waiting.append(shard)
                    continue
                if result is None:
                    reasons[shard] = reason if hopeless else f"{reason} (tried {tries[shard]} times)"
                else:
                    results[shard] = result
                    if store is not None:
                        store.keep(shard, result)
                done(shard, result, reasons.get(shard, ""))
    except BaseException:
        for future in running:
            future.cancel()
        raise
    if not results:
        raise TraceError("no shard could be audited: " + "; ".join(reasons[shard] for shard in shards))
    left_out = [(shard.name, reasons[shard]) for shard in shards if shard in reasons]
    return merge([results[shard] for shard in shards if shard in results], left_out)


def _outcome(future: Future[ShardResult]) -> tuple[ShardResult | None, str, bool]:
    """Return the result, or the reason for its absence, and whether another try is pointless."""
    try:
        return future.result(), "", False
    except (TraceError, ModuleNotFoundError) as error:
        return None, str(error), True
    except Exception as error:  # a lost worker raises what its library likes
        # Dask hands the task of a lost worker to another one by itself; what has cost it several is not worth more.
        return None, f"{type(error).__name__}: {error}", type(error).__name__ == "KilledWorker"


FORM = 1
"""Raised when results change their meaning: older ones are then computed anew."""


class Store:
    """A folder of results, one file a shard; a changed shard, or another tolerance, has another file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     shard = Path(folder) / "a.safetensors"
    ...     _ = shard.write_bytes(b"")
    ...     Store(Path(folder) / "kept", 0.0).load(shard) is None
    True
    """

    def __init__(self, folder: Path, tolerance: float) -> None:
        self.folder = folder
        self._tolerance = tolerance
        folder.mkdir(parents=True, exist_ok=True)

    def load(self, shard: Path) -> ShardResult | None:
        """Return the result that is kept of a shard as it is now, or None."""
        try:
            return ShardResult.from_bytes(self._place(shard).read_bytes())
        except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile):
            # Missing, or broken by whatever broke the run before: the shard is audited again.
            return None

    def keep(self, shard: Path, result: ShardResult) -> None:
        """Keep a result, whole or not at all.

        Raises:
            OSError: the folder cannot be written.
        """
        write_whole(self._place(shard), result.to_bytes())

    def _place(self, shard: Path) -> Path:
        """Name the file by everything that the result depends on; a shard's content by its size and time."""
        status = shard.stat()
        said = f"{shard.resolve()}|{status.st_size}|{status.st_mtime_ns}|{self._tolerance!r}|{FORM}"
        return self.folder / f"{shard.stem}-{hashlib.sha256(said.encode()).hexdigest()[:16]}.npz"
