"""Audit results of shards kept in a folder, so that no shard is audited twice."""

from __future__ import annotations

import hashlib
from pathlib import Path
from zipfile import BadZipFile

from spec_math.audit.traces.result import ShardResult
from spec_math.files.whole import write_whole

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
