"""Archives of the package index, pinned by hash: downloaded when asked for, kept, and unpacked but not installed."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from functools import cache
from pathlib import Path

from torch_bridge.engines.source import Archive


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
