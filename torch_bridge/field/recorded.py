"""What was found of each engine, in one file of JSON: written one by one, so that a run that is stopped goes on."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from spec_math.files.whole import write_whole
from torch_bridge.engines.engine import Engine
from torch_bridge.field.archive import ArchiveError, newest, unpacked
from torch_bridge.field.judging import Found
from torch_bridge.field.worker import WorkerError, judged_apart

RECORDED = Path(__file__).parent / "recorded.json"
ROOT = Path(__file__).parent.parent.parent


def read(place: Path = RECORDED) -> dict[str, Found]:
    """Return what is recorded, by the name of the engine.

    >>> isinstance(read(), dict)
    True
    """
    return json.loads(place.read_text(encoding="utf-8")) if place.is_file() else {}


def source_of(engine: Engine, sources: Mapping[str, Path]) -> tuple[Path, Found]:
    """Return the folder of an engine's source, and what pins it: the archive's hash, or the commit of somebody's copy.

    Raises:
        ArchiveError: the archive cannot be had, or no copy of the repository was named.
    """
    if engine.archive is not None:
        kept = engine.archive
        return unpacked(kept), {"package": kept.package, "version": kept.version, "sha256": kept.sha256}
    if engine.restated:
        return ROOT, {"restated": engine.restated}
    folder = sources.get(engine.repository) or sources.get(engine.name)
    if folder is None:
        raise ArchiveError(f"{engine.repository} is no package: name your copy, --source {engine.repository}=DIR")
    asked = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    marked = folder / ".commit"
    return folder, {"repository": engine.repository, "commit": commit or marked.read_text().strip()}


def with_newest(found: Found, day: str) -> Found:
    """Add the newest version of what was judged that the package index has today."""
    version = newest(found["package"]) if "package" in found else None
    return found if version is None else {**found, "newest": {"version": version, "asked": day}}


def record(
    engine: Engine, sources: Mapping[str, Path], day: str, told: Callable[[str], None], place: Path = RECORDED
) -> Found:
    """Judge an engine and write what was found into the file, whose other entries stay.

    Raises:
        ArchiveError, WorkerError: its source cannot be had, or its process failed.
    """
    root, pinned = source_of(engine, sources)
    found = with_newest({**pinned, "judged": day, **judged_apart(engine, root, told)}, day)
    write(read(place) | {engine.name: found}, place)
    return found


def write(recorded: Mapping[str, Found], place: Path = RECORDED) -> None:
    """Write what is recorded, sorted by name."""
    _ = write_whole(place, json.dumps(dict(sorted(recorded.items())), indent=1, ensure_ascii=False) + "\n")


__all__ = ["RECORDED", "ArchiveError", "WorkerError", "read", "record", "source_of", "with_newest", "write"]
