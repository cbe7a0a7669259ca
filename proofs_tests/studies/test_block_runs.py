"""One block as it happened, and text generated block by block, as the commands show them."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from proofs_tests.studies.block_tables import invoke, pair, toy
from spec_math.block_level.methods import METHODS, named
from spec_math.language import Table
from spec_math.render.terminal import show
from spec_math.studies.blocks import run as block_run
from spec_math.studies.blocks.comparison import BlockModels
from spec_math.studies.blocks.run import run, shaped
from spec_math.studies.blocks.study import FIGURE_4, BlockExample, generate


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_run_says_what_happened(method: Any) -> None:
    models, rng = pair(floats=True), np.random.default_rng(11)
    stopped = 0
    for _ in range(40):
        found = run(method, models, (), (3, 3), rng)
        assert len(found.paths) == (1 if method.one_chain else min(3, len({p[0] for p in found.paths}) + 2))
        assert found.emitted[: found.accepted] in {path[: found.accepted] for path in found.paths}
        assert len(found.emitted) == found.accepted + 1
        assert all(token != found.emitted[-1] for token in found.rejected)
        stopped += bool(found.rejected)
        if method.verifier is not None:
            assert found.shape[0] == 3
            assert list(found.shape) == sorted(found.shape, reverse=True)
            assert found.emitted[: len(found.stops)] == tuple(stop.emitted for stop in found.stops)
            for stop, after in pairwise(found.stops):
                assert len(after.candidates) == stop.candidates.count(stop.emitted)
    assert stopped > 3


def test_the_end_token_is_a_drafted_token_and_nothing_follows_it() -> None:
    model = Table({(): [0.5, 0.25, 0.25]}, context=0, end=2)
    models, rng = BlockModels(model, model, ((),), 3, ""), np.random.default_rng(1)
    ended = 0
    for _ in range(60):
        found = run(METHODS[1], models, (), (3, 1), rng)
        drafted = found.emitted == found.paths[0] and found.emitted[-1] == 2
        assert found.accepted == len(found.emitted) - (not drafted)
        ended += drafted
    assert ended > 5


def test_a_run_like_figure_4(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = shaped(named("K-SEQ"), pair(floats=True), (4, 6), FIGURE_4, 0)
    assert found.shape == (6, 3, 2, 1)
    assert found.accepted == 3
    assert found.rejected
    one = BlockModels(
        toy({"": [1, 0, 0], "0": [1, 0, 0]}, True), toy({"": [1, 0, 0], "0": [1, 0, 0]}, True), ((),), 3, ""
    )
    monkeypatch.setattr(block_run, "TRIES", 20)
    with pytest.raises(ValueError, match=r"none of the seeds 0\.\.19 gives a walk with 6 → 3 → 2 → 1"):
        shaped(named("K-SEQ"), one, (4, 6), FIGURE_4, 0)


def test_explain_shows_a_walk_like_figure_4_on_the_default() -> None:
    output = invoke("explain", "--blocks").output
    for words in ("step 1: 6 drafts", "3 of the 6 drafts agree", "2 of the 3 drafts agree", "1 of the 2 drafts agree"):
        assert words in output
    assert "step 4: 1 draft:" in output
    assert "none of the drafts: the walk stops" in output
    assert "4 tokens, 3 drafted and accepted, 1 of the target's own" in output


@pytest.mark.parametrize("method", ["block", "chain priorities", "traversal", "optimal plan"])
def test_explain_shows_any_method_and_repeats_with_its_seed(tables: Path, method: str) -> None:
    models = ["--target-model", tables / "t.json", "--draft-model", tables / "d.json"]
    outputs = [invoke("explain", "--blocks", "--method", method, "--seed", seed, *models).output for seed in (1, 1, 2)]
    assert outputs[0] == outputs[1] != outputs[2]
    assert "accept if u = " in outputs[0]
    assert "one call of the target" in outputs[0]


def test_generated_text_is_marked_without_colours_and_coloured_with_them() -> None:
    plain = invoke("generate", "--tokens", 30, "--seed", 3, "--method", "block").output
    assert "accepted -rejected- [from the target]" in plain
    assert "\x1b" not in plain
    assert "one chain, as a block, L = 4, seed 3: " in plain
    result = generate(BlockExample("block", 1, 4, 3), 30)
    for no_color, colour in ((False, "\x1b[32m"), (True, "[")):
        console = Console(
            file=io.StringIO(), force_terminal=True, color_system="standard", no_color=no_color, width=100
        )
        show(result, console)
        said = console.file.getvalue()  # type: ignore[attr-defined]
        assert colour in said
        assert ("\x1b[32m" in said) is not no_color


def test_generated_text_counts_its_tokens_and_calls() -> None:
    output = invoke("generate", "--tokens", 40, "--seed", 5).output
    told = next(line for line in output.splitlines() if "calls of" in line)
    tokens, calls = (int(told.split(f" {word}")[0].split()[-1]) for word in ("tokens in", "calls of"))
    assert 40 <= tokens < 45
    assert f"{tokens / calls:.2f} a call" in told
    assert output.count("[") - 1 == calls
