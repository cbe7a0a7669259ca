"""The definitions of the theory, compiled once for all processes of a session."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from proofs_tests.formal import rocq


@pytest.fixture(scope="session")
def definitions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the definitions that the ties need, compiled; Rocq is installed where this is asked for."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "rocq"
    return rocq.definitions(folder, ("instances", "instances_of_blocks", "controls"))
