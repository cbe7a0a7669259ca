"""The search over releases finds where a failure came or went, and says what could not be tried."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from spec_math.engines import releases
from spec_math.engines.releases import environment, turned

VERSIONS = [f"0.{number}" for number in range(20)]


@pytest.mark.parametrize("came", range(1, 20))
def test_the_release_is_found_in_few_tries(came: int) -> None:
    turn = turned(VERSIONS, lambda version: VERSIONS.index(version) >= came)
    assert str(turn) == f"The failure came between 0.{came - 1} and 0.{came}."
    assert len(turn.tried) <= 7


def test_releases_that_cannot_be_tried_are_passed_over_and_named() -> None:
    missing = {"0.0", "0.9", "0.10", "0.19"}
    turn = turned(VERSIONS, lambda version: None if version in missing else VERSIONS.index(version) < 10)
    assert str(turn).startswith("The failure went between 0.8 and 0.11 (")
    assert "0.9, 0.10" in str(turn)
    assert str(turned(VERSIONS, lambda _: None)) == "No release of this span could be tried."
    assert str(turned(VERSIONS, lambda _: True)) == "It fails from 0.0 to 0.19, as far as was tried."


def test_an_environment_is_made_once_and_its_failure_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def noted(command: Sequence[str]) -> str:
        ran.append(" ".join(command[1:]))
        return ""

    monkeypatch.setattr(releases, "ran", noted)
    (tmp_path / "vllm-0.1").mkdir()
    python = environment("vllm", "0.1", tmp_path)
    assert python == str(tmp_path / "vllm-0.1" / "bin" / "python")
    assert [line.split()[2] for line in ran] == ["--clear", "install", "uninstall"]
    assert environment("vllm", "0.1", tmp_path) == python
    assert len(ran) == 3
    monkeypatch.undo()
    with pytest.raises(ValueError, match="exit"):
        releases.ran(["python3", "-c", "import sys; sys.exit(3)"])
