"""`prove --scheme` refuted right samplers, and proved leaking ones, whose random numbers it did not see."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from proofs_tests.soundness.verifiers_with_hidden_randomness import NAMES
from spec_math.cli import app

pytest.importorskip("z3")

HERE = "proofs_tests.soundness.verifiers_with_hidden_randomness"


@pytest.mark.parametrize("more", [(), ("--k", "1")], ids=["unasked", "asked"])
@pytest.mark.parametrize("name", NAMES)
def test_a_verifier_that_draws_from_more_than_its_coin_is_left_open(name: str, more: tuple[str, ...]) -> None:
    arguments = ["prove", "--scheme", f"{HERE}:{name}", "--tokens", "2", "--jobs", "1", *more]
    result = CliRunner().invoke(app, arguments)
    output = " ".join(result.output.split())
    assert result.exit_code == 3, output
    assert "it draws from more than its coin" in output
    assert "refuted" not in output
