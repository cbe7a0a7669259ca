"""What was found of each engine, in one file of JSON: written one by one, so that a run that is stopped goes on."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import which

from spec_math.files.whole import write_whole
from torch_bridge.engines.engine import Engine
from torch_bridge.engines.source import Archive, Repository, Restated
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
        ArchiveError: the archive cannot be had, no copy of the repository was named, or the copy has no commit.
    """
    match engine.source:
        case Archive() as kept:
            return unpacked(kept), {"package": kept.package, "version": kept.version, "sha256": kept.sha256}
        case Restated(version):
            return ROOT, {"restated": version}
        case Repository(name):
            folder = sources.get(name) or sources.get(engine.name)
    if folder is None:
        raise ArchiveError(f"{name} is no package: name your copy, --source {name}=DIR")
    return folder, {"repository": name, "commit": _commit(folder)}


def _commit(folder: Path) -> str:
    """Return the commit of a copy: what its file `.commit` holds, or what git says of the checkout."""
    marked = folder / ".commit"
    if marked.is_file() and (commit := marked.read_text(encoding="utf-8").strip()):
        return commit
    asked = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    if which("git") and (commit := subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()):
        return commit
    lacking = "is no git checkout and no file .commit in it says one" if folder.is_dir() else "is no folder"
    raise ArchiveError(
        f"a verdict on a copy of a repository is recorded with the commit; {folder} {lacking}: name a checkout, or "
        "write the commit of the copy into its .commit"
    )


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
