"""Where an engine's code was had, or its rule: a pinned archive, a copy of a repository, or what was written down.

Source: worked out here.
"""

from __future__ import annotations

from typing import NamedTuple


class Archive(NamedTuple):
    """A file of the package index, pinned: the package, its version, and the file's name and sha256."""

    package: str
    version: str
    file: str
    sha256: str


class Repository(NamedTuple):
    """A repository that is no package, as OWNER/NAME: it is judged from a copy that the user names."""

    name: str


class Restated(NamedTuple):
    """A package and version whose own code cannot be run: `torch_bridge.restated` writes its rule down."""

    version: str


Source = Archive | Repository | Restated
"""Where an engine's code, or its rule, was had."""
