"""Small models of blocks as files, which several tests of commands read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proofs_tests.studies.block_tables import DRAFT, TARGET


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    for name, rows in (("t", TARGET), ("d", DRAFT)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"rows": rows, "context": 1}))
    gap = {prefix: row for prefix, row in TARGET.items() if prefix != "1"}
    (tmp_path / "gap.json").write_text(json.dumps({"rows": gap, "context": 1}))
    (tmp_path / "pair.json").write_text(json.dumps({"rows": {"": ["1/2", "1/2"]}, "context": 0}))
    (tmp_path / "over.json").write_text(json.dumps({"rows": {"": ["1/2", "1/2", "1/2"]}, "context": 0}))
    (tmp_path / "end.json").write_text(json.dumps({"rows": {"": ["1/2", "1/4", "1/4"]}, "context": 0, "end": 2}))
    return tmp_path
