"""The command writes table and pictures, and bad requests are sentences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proofs_tests.studies.frontier.toy_models import DRAFT, TABLES, TARGET, quiet
from spec_math.cli import app
from spec_math.studies.blocks.comparison import BlockModels
from spec_math.studies.costs import parsed
from spec_math.studies.frontier.contenders import at
from spec_math.studies.frontier.study import FrontierRequest, parsed_temperatures, study


def test_the_command_writes_table_and_picture(tmp_path: Path) -> None:
    for name, rows in (("t", TARGET), ("d", DRAFT)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"rows": rows, "context": 1}))
    arguments = ["frontier", "--target", f"{tmp_path}/t.json", "--draft", f"{tmp_path}/d.json", "--samples", "16"]
    answer = CliRunner().invoke(app, [*arguments, "--nodes", "2,4", "--temperature", "1,.5", "--out", f"{tmp_path}/o"])
    assert answer.exit_code == 0, answer.output
    assert {path.suffix for path in (tmp_path / "o").iterdir()} == {".html", ".json", ".csv", ".tex", ".svg", ".pdf"}
    assert "mean top-1 mass 0.50" in answer.output
    wrong = CliRunner().invoke(app, [*arguments[:-1], "0"])
    assert (wrong.exit_code, "at least 1" in wrong.output) == (2, True)


def test_bad_requests_are_sentences() -> None:
    with pytest.raises(ValueError, match="come together"):
        study(FrontierRequest(target=Path("t.json")), quiet)
    for text in ("", "x", "0", "-1", "inf"):
        with pytest.raises(ValueError, match="--temperature"):
            parsed_temperatures(text)
    with pytest.raises(ValueError, match="positive and finite"):
        at("toy", BlockModels(*TABLES, ((),), 3, ""), 0)
    with pytest.raises(ValueError, match="--batch"):
        parsed("", 0)
