"""Blocks for users: orders that are proved, exact tables beside sampled ones, and the commands with their files."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from spec_math.block_level import chain, cost, optimum
from spec_math.block_level.methods import METHODS, TOKEN_BY_TOKEN, named, paths
from spec_math.block_level.monte_carlo import Sampled, Setting, sample
from spec_math.cli import app
from spec_math.language import Table
from spec_math.mean import Mean, of_independent
from spec_math.render.data import as_csv, as_json
from spec_math.render.terminal import show
from spec_math.studies.blocks import comparison as block_comparison
from spec_math.studies.blocks import run as block_run
from spec_math.studies.blocks.comparison import BlockComparison, BlockRequest, Entry, compare_blocks, fastest, speed_up
from spec_math.studies.blocks.models import BlockModels, embedded
from spec_math.studies.blocks.run import run, shaped, start
from spec_math.studies.blocks.study import FIGURE_4, BlockExample, generate
from spec_math.studies.blocks.table import picture, result_of

TARGET = {"": ["1/2", "1/3", "1/6"], "0": ["1/5", "1/5", "3/5"], "1": ["1/7", "2/7", "4/7"], "2": ["1/2", "1/4", "1/4"]}
DRAFT = {"": ["1/3", "1/3", "1/3"], "0": ["2/5", "2/5", "1/5"], "1": ["3/7", "2/7", "2/7"], "2": ["1/2", "1/2", 0]}


def quiet(what: str, steps: int) -> Any:  # noqa: ARG001
    return lambda done: None  # noqa: ARG005


def invoke(*arguments: Any) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


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


def toy(rows: dict[str, Any], floats: bool = False) -> Table:
    laws = {tuple(map(int, key.split())): row for key, row in rows.items()}
    if floats:
        return Table({key: [float(Fraction(mass)) for mass in row] for key, row in laws.items()}, context=1)
    return Table(laws, context=1)


def pair(floats: bool = False) -> BlockModels:
    return BlockModels(toy(TARGET, floats), toy(DRAFT, floats), ((),), 3, "toy tables")


@pytest.fixture(scope="module")
def sampled() -> dict[tuple[str, int], Sampled]:
    models = embedded()
    setting = Setting(models.target, models.draft, models.prefixes, (1, 2, 4), 4)
    return {(line.method.name, line.k): line for line in sample(setting, 60, seed=0)}


# On models too large to enumerate: what is proved must be seen, what is not is reported.


def test_a_block_is_never_behind_its_chain(sampled: dict[tuple[str, int], Sampled]) -> None:
    """Sample by sample: w_i ≥ Π min(1, t/d) on the same chain, up to the roundings of L products of two quotients."""
    kept, plain = sampled["one chain, as a block", 1], sampled[TOKEN_BY_TOKEN, 1]
    assert (kept.accepted >= plain.accepted - 2.0**-48).all()
    assert kept.gain(4).value > 3 * kept.gain(4).error


@pytest.mark.parametrize("k", [2, 4])
def test_traversal_is_never_behind_rejection_on_the_same_tree(sampled: Any, k: int) -> None:
    ours, theirs = (sampled[f"{kind}, distinct first tokens", k] for kind in ("traversal", "recursive rejection"))
    assert (ours.accepted >= theirs.accepted - 2.0**-48).all()
    more = of_independent((ours.accepted - theirs.accepted).sum(axis=1), -4, 4)
    assert more.value > 3 * more.error


@pytest.mark.parametrize("k", [2, 4])
def test_first_tokens_are_in_the_order_of_one_position(sampled: Any, k: int) -> None:
    """Of one position it is proved: recursive ≤ K-SEQ ≤ optimal plan, and what selects a chain accepts no more."""
    ascending = ["recursive rejection at every node", "K-SEQ at every node", "optimal plan at every node"]
    below = [*pairwise(ascending)]
    below += [(name, ascending[-1]) for name in ("greedy multi-path", "chain priorities")]
    for lower, upper in below:
        low, high = sampled[lower, k].accepted[:, 0], sampled[upper, k].accepted[:, 0]
        high = high[:: len(high) // len(low)] if len(low) < len(high) else high
        assert of_independent(high - low, -1, 1).high >= 0, (lower, upper)


def test_more_paths_accept_more_where_that_is_proved(sampled: Any) -> None:
    """The optimum of one position grows with k; the walk's first token reaches it."""
    plan = {k: sampled["optimal plan at every node", k] for k in (2, 4)}
    assert of_independent(plan[4].accepted[:, 0] - plan[2].accepted[:, 0], -1, 1).high > 0
    assert plan[2].gain(4).value > 3 * plan[2].gain(4).error


def test_differences_are_sharper_than_values_on_the_default(sampled: Any) -> None:
    for (name, k), line in sampled.items():
        if k == 2:
            assert line.gain(4).error < line.tokens(4).error, name


# On tables small enough: exact, with the optimum beside.


def test_small_tables_are_exact_and_below_the_optimum() -> None:
    models = pair()
    found = compare_blocks(BlockRequest(models, (1, 2), (1, 2), 100), quiet)
    assert found.samples == 0
    assert not any(entry.sampled for entry in found.entries)
    for entry in found.entries:
        exact = named(entry.method).expected(models.target, models.draft, (), entry.lookahead, entry.k)
        plain = chain.expected(models.target, models.draft, (), entry.lookahead)
        assert (entry.exact, entry.tokens.value, entry.gain.value) == (exact, float(exact), float(exact - plain))
        drafts = "distinct first tokens" if "distinct" in entry.method else "i.i.d. chains"
        ceiling = next(c for c in found.ceilings if (c.drafts, c.k, c.lookahead) == (drafts, entry.k, entry.lookahead))
        assert entry.exact <= ceiling.exact
    best = {(c.drafts, c.k, c.lookahead): c for c in found.ceilings}
    assert best["i.i.d. chains", 2, 2].exact == 1 + optimum.chains(models.target, models.draft, (), 2, 2).acceptance
    assert best["i.i.d. chains", 1, 2].exact == found.entry("one chain, as a block", 1, 2).exact  # type: ignore[union-attr]
    assert all(entry.method != method.name or entry.k > 1 for entry in found.entries for method in METHODS[2:])


@pytest.mark.parametrize("floats", [False, True])
def test_sampled_tables_agree_with_exact_ones(monkeypatch: pytest.MonkeyPatch, floats: bool) -> None:
    exact = compare_blocks(BlockRequest(pair(), (1, 2), (2,), 100), quiet)
    monkeypatch.setattr(block_comparison, "EXACT_TERMS", 0)
    found = compare_blocks(BlockRequest(pair(floats), (1, 2), (2,), 400, seed=4), quiet)
    assert found.samples == 400
    assert all(entry.sampled for entry in found.entries)
    for entry, truth in zip(found.entries, exact.entries, strict=True):
        assert abs(entry.tokens.value - truth.tokens.value) <= 5 * entry.tokens.error + 1e-12
        assert abs(entry.gain.value - truth.gain.value) <= 5 * entry.gain.error + 1e-12


def test_tables_too_large_to_add_up_are_sampled_from_what_can_be() -> None:
    """Only the methods with too many terms; their value is the exact one of a chain plus the sampled difference."""
    found = compare_blocks(BlockRequest(pair(), (1, 4), (4,), 60), quiet)
    how = {entry.method: entry for entry in found.entries}
    assert {name for name, entry in how.items() if entry.sampled} == {
        "recursive rejection at every node",
        "K-SEQ at every node",
        "optimal plan at every node",
    }
    plan = how["optimal plan at every node"]
    assert plan.tokens.value == how[TOKEN_BY_TOKEN].tokens.value + plan.gain.value
    assert (plan.tokens.error, plan.tokens.samples) == (plan.gain.error, 60)
    assert "Monte Carlo: 60 sampled blocks" in result_of(found).notes[0].text
    alone = compare_blocks(BlockRequest(pair(), (4,), (4,), 60), quiet)
    assert alone.entry("optimal plan at every node", 4, 4).tokens.error > plan.tokens.error  # type: ignore[union-attr]


def test_speed_ups_are_tokens_over_the_latency_of_the_paper() -> None:
    assert speed_up(2.0, 1, 4) == pytest.approx(2.0 / (1.00 + 4 * 0.18))
    assert speed_up(2.0, 3, 4) is None
    assert speed_up(2.0, 8, 16) is None
    found = compare_blocks(BlockRequest(pair(), (1, 2), (4,), 100), quiet)
    latencies = cost.from_table(cost.SPECTR_TABLE_1), cost.from_table(cost.SPECTR_TABLE_3)
    for method in ("greedy multi-path", "K-SEQ at every node"):
        lengths = {paths(e.lookahead, e.k): e.exact for e in found.entries if e.method == method}
        best = cost.best(lengths.__getitem__, lengths, lambda widths: cost.of_block(widths, *latencies))
        chosen = fastest(found, method)
        assert chosen is not None
        assert paths(chosen.lookahead, chosen.k) == best.widths
        assert chosen.speed_up == pytest.approx(float(best.speed_up))


def test_the_result_holds_every_entry() -> None:
    found = compare_blocks(BlockRequest(pair(), (1, 2), (1, 2), 100), quiet)
    result = result_of(found)
    rows = list(csv.DictReader(io.StringIO(as_csv(result.tables[0]))))
    assert len(rows) == len(found.entries) + len(found.ceilings)
    data = json.loads(as_json(result))["tables"][0]["rows"]
    assert [row["method"] for row in data] == [row["method"] for row in rows]
    of_blocks = next(row for row in data if row["method"] == "one chain, as a block" and row["L"] == 2)
    assert Fraction(of_blocks["fraction"]) == found.entry("one chain, as a block", 1, 2).exact  # type: ignore[union-attr]
    drawn = {curve.label: curve for panel in picture(found).panels for curve in panel.curves}  # type: ignore[union-attr]
    assert set(drawn) >= {method.name for method in METHODS}
    assert "no verifier of i.i.d. chains exceeds" in drawn
    best = max(found.entries, key=lambda entry: entry.tokens.value)
    assert f"Take {best.method}" in result.finding


def test_for_one_path_the_picture_starts_at_the_method_of_one_chain() -> None:
    found = compare_blocks(BlockRequest(pair(), (1, 2), (2,), 100), quiet)
    for method in METHODS:
        assert found.entry(method.name, 1, 2) == found.entry(method.alone, 1, 2)
    assert found.entry(TOKEN_BY_TOKEN, 2, 2) is None


# One block, and text.


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_run_says_what_happened(method: Any) -> None:
    models, rng = pair(floats=True), np.random.default_rng(11)
    stopped = 0
    for _ in range(40):
        found = run(method, models, (), (3, 3), rng)
        assert len(found.paths) == (1 if method.drafts == "one" else min(3, len({p[0] for p in found.paths}) + 2))
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


# The command line.


def test_blocks_writes_whole_files(tables: Path) -> None:
    models = ["--target-model", tables / "t.json", "--draft-model", tables / "d.json"]
    result = invoke("blocks", *models, "--k", "1,2", "--lookahead", "2,4", "--out", tables / "out")
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in (tables / "out").iterdir()) == [
        "blocks.csv",
        "blocks.html",
        "blocks.json",
        "blocks.svg",
    ]
    assert "any verifier, i.i.d. chains" in result.output
    assert "everything is added up exactly" in result.output
    assert "Speed-up over plain decoding by the latencies of SpecTr's Tables 1 and 3" in result.output
    assert (tables / "out" / "blocks.svg").read_text().startswith("<?xml")


def test_no_method_is_above_the_ceiling_of_the_default() -> None:
    found = compare_blocks(BlockRequest(embedded(), (1, 2), (2,), 40), quiet)
    ceilings = {ceiling.k: ceiling.tokens for ceiling in found.ceilings}
    for entry in found.entries:
        if "distinct" not in entry.method:
            assert entry.tokens.interval[0] < ceilings[entry.k].interval[1], entry.method
    assert ceilings[1] == found.entry("one chain, as a block", 1, 2).tokens  # type: ignore[union-attr]
    assert [ceiling.reached for ceiling in found.ceilings] == [True, False]
    assert "upper bound, Monte Carlo" in result_of(found).table("blocks").cells("how")


def test_blocks_samples_the_embedded_default(tmp_path: Path) -> None:
    arguments = ["--k", "1,2", "--lookahead", "2", "--samples", 8, "--out", tmp_path]
    result = invoke("blocks", *arguments)
    assert result.exit_code == 0, result.output
    assert "Monte Carlo: 8 sampled blocks" in result.output
    rows = json.loads((tmp_path / "blocks.json").read_text())["tables"][0]["rows"]
    assert all(row["tokens per call standard error"] > 0 for row in rows)
    assert {row["how"] for row in rows} == {"Monte Carlo", "optimum, Monte Carlo", "upper bound, Monte Carlo"}


def test_a_prefix_says_where_tables_start(tables: Path) -> None:
    models = ["--target-model", tables / "t.json", "--draft-model", tables / "d.json"]
    result = invoke("blocks", *models, "--prefix", "0 1", "--k", "1", "--lookahead", "1", "--out", tables)
    assert "after the prefix (0, 1)" in result.output
    row = json.loads((tables / "blocks.json").read_text())["tables"][0]["rows"][0]
    assert Fraction(row["fraction"]) == chain.expected(toy(TARGET), toy(DRAFT), (0, 1), 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target-model", "t.json"], "come together; only one was given"),
        (["--target-model", "t.json", "--draft-model", "none.json"], "none.json"),
        (["--target-model", "over.json", "--draft-model", "d.json"], "prefix (): masses must sum to exactly 1"),
        (["--target-model", "gap.json", "--draft-model", "d.json"], "no row for prefix (0, 0, 1)"),
        (["--target-model", "t.json", "--draft-model", "pair.json"], "draft law after the prefix () has 2 tokens"),
        (["--target-model", "t.json", "--draft-model", "end.json"], "must agree on the token that ends a text"),
        (["--target-model", "t.json", "--draft-model", "d.json", "--prefix", "0 7"], "prefix (0, 7): token 1"),
        (["--target-model", "t.json", "--draft-model", "d.json", "--prefix", "a"], "--prefix lists token indices"),
        (["--target-model", "end.json", "--draft-model", "end.json", "--prefix", "0 2"], "prefix (0, 2) ends with"),
        (["--prefix", "0"], "--prefix is for models from files"),
        (["--lookahead", "0"], "--lookahead must be at least 1; got 0"),
        (["--lookahead", ""], "--lookahead takes whole numbers"),
        (["--k", "2.9"], "--k takes whole numbers"),
        (["--blocks-samples", "0"], "--samples must be at least 1; got 0"),
        (["--blocks-samples", "3", "--k", "2", "--lookahead", "1"], "take at least 4; got 3"),
        (["--target", "t.npy", "--draft", "d.npy"], "t.npy"),
    ],
)
def test_bad_input_is_a_sentence_and_nothing_is_written(
    tables: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(tables)
    result = invoke("blocks", *arguments, "--out", "out")
    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output
    assert not list((tables / "out").iterdir()) if (tables / "out").is_dir() else True


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["generate", "--tokens", "0"], "--tokens must be at least 1; got 0"),
        (["generate", "--method", "beam"], "no method is named 'beam'"),
        (["generate", "--k", "0"], "--k must be at least 1; got 0"),
        (["explain", "--blocks", "--lookahead", "0"], "--lookahead must be at least 1; got 0"),
    ],
)
def test_commands_refuse_what_they_cannot_do(command: list[str], words: str) -> None:
    result = invoke(*command)
    assert result.exit_code == 2
    assert words in result.output


def test_the_report_has_the_picture_of_blocks(tmp_path: Path) -> None:
    result = invoke("report", "--out", tmp_path / "report.html", "--positions", 12)
    assert result.exit_code == 0, result.output
    assert "Blocks and trees: tokens per call of the target" in (tmp_path / "report.html").read_text()


def test_a_mean_is_shown_with_its_interval() -> None:
    sampled = Mean(2.0, 0.1, 50, 1.75, 2.5, 0.99)
    entry = Entry("K-SEQ at every node", 2, 2, sampled, sampled, None)
    result = result_of(BlockComparison("toy", 3, (2,), (2,), 50, [entry], []))
    console = Console(file=io.StringIO(), width=100)
    show(result, console)
    assert console.file.getvalue().count("2.00 (1.75 to 2.50)") == 2  # type: ignore[attr-defined]
    assert start(pair(), np.random.default_rng(0)) == ()
