"""Findings on each engine, in one file of JSON: written one by one, so that a run that is stopped goes on."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from shutil import which

from spec_math.field.engine import Archive, Engine, Repository, Restated
from spec_math.field.judging import Found
from spec_math.field.worker import judged_apart
from spec_math.files.whole import write_whole

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


class ArchiveError(RuntimeError):
    """An archive cannot be had, or is not the one that was pinned."""


def kept_under() -> Path:
    """Return where archives are kept: $SPEC_MATH_CACHE, or .cache/spec_math of the user's home.

    >>> kept_under().name
    'field'
    """
    return Path(os.environ.get("SPEC_MATH_CACHE") or Path.home() / ".cache" / "spec_math") / "field"


def unpacked(archive: Archive, under: Path | None = None) -> Path:
    """Return the folder that holds a pinned archive unpacked; it is downloaded where it is not there yet.

    Nothing of it is run and none of its dependencies is had.

    Raises:
        ArchiveError: it cannot be downloaded, or its sha256 is not the one that was pinned.
    """
    under = under or kept_under()
    folder = under / f"{archive.package}-{archive.version}"
    if (folder / ".whole").is_file():
        return folder
    file = under / "archives" / archive.file
    if not file.is_file():
        _download(archive, file.parent)
    check(archive, file)
    folder.mkdir(parents=True, exist_ok=True)
    if archive.file.endswith((".whl", ".zip")):
        with zipfile.ZipFile(file) as whole:
            whole.extractall(folder, [name for name in whole.namelist() if name.endswith((".py", ".pyi", ".json"))])
    else:
        with tarfile.open(file) as whole:
            whole.extractall(folder, [one for one in whole if one.name.endswith(".py")], filter="data")
    (folder / ".whole").touch()
    return folder


def check(archive: Archive, file: Path) -> None:
    """Check that a file is the archive that was pinned.

    Raises:
        ArchiveError: its sha256 is another.
    """
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != archive.sha256:
        raise ArchiveError(
            f"{file} has the sha256 {found}, where {archive.sha256} is pinned for {archive.package} {archive.version}"
        )


def _download(archive: Archive, into: Path) -> None:
    into.mkdir(parents=True, exist_ok=True)
    wanted = f"{archive.package}=={archive.version}"
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
    command += ["--only-binary", ":all:", *_platform(archive.file), "--dest", str(into), wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not (into / archive.file).is_file():
        last = (done.stderr.strip().splitlines() or ["another file came"])[-1]
        raise ArchiveError(f"{wanted} cannot be downloaded as {archive.file}: {last}")


@cache
def newest(package: str) -> str | None:
    """Return the newest version of a package that the index has for this Python, or None where it does not say."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "index", "versions", package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"\(([^()]+)\)", done.stdout.partition("\n")[0])
    return found[1] if done.returncode == 0 and found else None


def _platform(file: str) -> list[str]:
    """Return the options that ask for a wheel of another platform, as its name says it."""
    python, _, platform = file.removesuffix(".whl").split("-")[-3:]
    if platform == "any":
        return []
    asked = [option for one in platform.split(".") for option in ("--platform", one)]
    version = ["--python-version", python.removeprefix("cp")] if python.startswith("cp") else []
    return [*asked, *version]
