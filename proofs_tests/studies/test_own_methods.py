"""Methods of a user's own on blocks: judged, run or added up, and in the table, the picture and the finding."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from spec_math.block_level import chain, chain_priorities, check_lossless_block
from spec_math.cli import app
from spec_math.language import Table
from spec_math.samplers.standard import standard_models
from spec_math.studies.blocks.own_methods import judge, load_method
from spec_math.verdict import Lossy

MINE = """
from fractions import Fraction
from spec_math.block_level import chain
from spec_math.block_level.multi_path import HighestRank

def right(coin, target_model, draft_model, prefix, lookahead):
    return chain.generate(coin, target_model, draft_model, prefix, lookahead)

def forgetful(coin, target_model, draft_model, prefix, lookahead):
    return chain.generate(coin, target_model, draft_model, (), lookahead)

def wrong(coin, target_model, draft_model, prefix, lookahead, k):
    return chain.generate(coin, draft_model, draft_model, prefix, lookahead)

def rule(laws, k):
    return HighestRank(laws, k)

def refused(coin, prefix, tokens):
    return tokens

def breaks(coin, target_model, draft_model, prefix, lookahead):
    raise RuntimeError("no draft")

def breaks_at_times(coin, target_model, draft_model, prefix, lookahead):
    if coin.flip(Fraction(1, 10**6)):
        raise KeyError("x")
    return chain.generate(coin, target_model, draft_model, prefix, lookahead)

def ends_at_times(coin, target_model, draft_model, prefix, lookahead):
    if coin.flip(Fraction(1, 10**6)):
        raise SystemExit(0)
    return chain.generate(coin, target_model, draft_model, prefix, lookahead)

def a_list(coin, target_model, draft_model, prefix, lookahead):
    return list(chain.generate(coin, target_model, draft_model, prefix, lookahead))

def yields(coin, target_model, draft_model, prefix, lookahead):
    yield from chain.generate(coin, target_model, draft_model, prefix, lookahead)

def reads_the_target(coin, target_model, draft_model, prefix, lookahead):
    emitted = ()
    for _ in range(lookahead + 1):
        emitted += (coin.draw(target_model((*prefix, *emitted))),)
    return emitted

def too_long(coin, target_model, draft_model, prefix, lookahead):
    return reads_the_target(coin, target_model, draft_model, prefix, lookahead + 1)

def endless(coin, target_model, draft_model, prefix, lookahead):
    return (0,) * 9
"""
TARGET, DRAFT = {"": ["1/4", "3/4"]}, {"": ["1/2", "1/2"]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (
        ("mine.py", MINE),
        ("t.json", json.dumps({"rows": TARGET, "context": 0})),
        ("d.json", json.dumps({"rows": DRAFT, "context": 0})),
    ):
        assert (tmp_path / name).write_text(text) > 0
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks(*arguments: str) -> Result:
    models = ("--target", "t.json", "--draft", "d.json", "--k", "1,2", "--lookahead", "2", "--out", "out")
    return CliRunner().invoke(app, ["blocks", *models, *arguments], env={"COLUMNS": "300"})


def row(name: str, k: int) -> dict[str, object]:
    rows = json.loads(Path("out/blocks.json").read_text())["tables"][0]["rows"]
    return next(one for one in rows if (one["method"], one["K"]) == (name, k))


def test_a_generator_and_a_selection_stand_in_the_table_exactly(folder: Path) -> None:  # noqa: ARG001
    found = blocks("--method", "mine.py:right", "--method", "mine.py:rule")
    assert found.exit_code == 0, found.output
    target, draft = (Table({(): rows[""]}, context=0) for rows in (TARGET, DRAFT))
    assert row("mine.py:right", 1)["tokens per call"] == float(chain.expected(target, draft, (), 2))
    assert row("mine.py:right", 1)["how"] == "exact"
    best = chain_priorities.expected(target, draft, (), 2, 2)
    ranked = row("mine.py:rule", 2)["tokens per call"]
    assert row("greedy multi-path", 2)["tokens per call"] == ranked
    assert isinstance(ranked, float)
    assert ranked <= float(best)
    assert "mine.py:rule is lossless and yields" in " ".join(found.output.split())
    walked = sum(
        check_lossless_block(
            lambda coin, prefix, pair=pair: chain.generate(coin, *pair, prefix, 2), pair[0], 3, 1, start
        ).paths
        for pair in standard_models()
        for start in ((), (1, 0))
    )
    assert f"mine.py:right, on 8 pairs of small models: Lossless ({walked:,} paths)" in found.output
    assert Path("out/blocks.svg").read_text().count("mine.py:rule") >= 1


def test_a_lossy_generator_is_told_and_the_exit_code_says_so(folder: Path) -> None:  # noqa: ARG001
    found = blocks("--method", "mine.py:wrong")
    assert found.exit_code == 1, found.output
    assert "mine.py:wrong is LOSSY" in found.output
    assert "emitted with probability" in found.output


def test_a_generator_that_forgets_its_prefix_is_lossy(folder: Path) -> None:  # noqa: ARG001
    found = blocks("--method", "mine.py:forgetful")
    assert found.exit_code == 1, found.output
    assert "mine.py:forgetful is LOSSY" in found.output


def test_what_is_too_long_to_be_added_up_is_run(folder: Path) -> None:  # noqa: ARG001
    found = blocks("--method", "mine.py:right", "--lookahead", "12", "--k", "1", "--samples", "300")
    assert found.exit_code == 0, found.output
    mine = row("mine.py:right", 1)
    assert mine["how"] == "run 300 times"
    # Token by token each of 12 drafts is kept with chance 3/4.
    truth = float(sum(Fraction(3, 4) ** i for i in range(13)))
    assert mine["tokens per call low"] <= truth <= mine["tokens per call high"]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("mine.py:refused", "this one takes (coin, prefix, tokens)"),
        ("mine.py:nothing", "has no nothing"),
        ("chain", "--method takes module:name"),
    ],
)
def test_what_is_no_method_is_refused(folder: Path, place: str, words: str) -> None:  # noqa: ARG001
    found = blocks("--method", place)
    assert found.exit_code == 2
    assert words in found.output


def test_a_generator_that_breaks_is_judged_and_not_run_silently(folder: Path) -> None:  # noqa: ARG001
    assert not judge(load_method("mine.py:endless"))
    found = blocks("--method", "mine.py:endless", "--lookahead", "8", "--k", "1")
    assert found.exit_code == 1
    assert "mine.py:endless is LOSSY" in found.output
    found = blocks("--method", "mine.py:breaks", "--lookahead", "12", "--k", "1")
    assert found.exit_code == 2
    assert "mine.py:breaks failed at K = 1, L = 12: RuntimeError: no draft" in found.output


@pytest.mark.parametrize("name", ["breaks_at_times", "ends_at_times", "yields"])
def test_a_lossy_method_that_fails_where_it_is_run_is_lossy_and_no_bad_input(folder: Path, name: str) -> None:  # noqa: ARG001
    assert isinstance(judge(load_method(f"mine.py:{name}")), Lossy)
    found = blocks("--method", f"mine.py:{name}", "--k", "1")
    assert found.exit_code == 1, found.output
    assert f"mine.py:{name} is LOSSY, and fails when it is run." in found.output
    assert "one chain, as a block" in found.output


def test_a_method_that_returns_a_list_is_judged_and_run(folder: Path) -> None:  # noqa: ARG001
    found = blocks("--method", "mine.py:a_list", "--method", "mine.py:right", "--k", "1")
    assert found.exit_code == 0, found.output
    assert row("mine.py:a_list", 1)["tokens per call"] == row("mine.py:right", 1)["tokens per call"]


@pytest.mark.parametrize("size", ["2", "12"])
def test_more_tokens_than_one_call_can_yield_are_refused_added_up_or_run(folder: Path, size: str) -> None:  # noqa: ARG001
    found = blocks("--method", "mine.py:too_long", "--lookahead", size, "--k", "1")
    assert found.exit_code == 2
    longest = int(size) + 1
    said = f"emitted {longest + 1} tokens; a lookahead of {size} allows 1 to {longest} in one call"
    assert f"K = 1, L = {size}: ValueError: {said}" in found.output


def test_a_lossless_method_above_the_optimum_of_its_chains_says_how_that_can_be(folder: Path) -> None:  # noqa: ARG001
    said = "That exceeds 2.375, the bound of i.i.d. chains. So its drafts are of another kind"
    found = blocks("--method", "mine.py:reads_the_target", "--k", "1")
    assert (found.exit_code, said in " ".join(found.output.split())) == (0, True), found.output
    # The control: a chain is not above it.
    found = blocks("--method", "mine.py:right", "--k", "1")
    assert (found.exit_code, "its drafts are others" in found.output) == (0, False)


def test_where_plain_decoding_is_faster_no_method_is_recommended(folder: Path) -> None:
    (folder / "t.json").write_text(json.dumps({"rows": {"": [0, 1]}, "context": 0}))
    (folder / "d.json").write_text(json.dumps({"rows": {"": [1, 0]}, "context": 0}))
    told = " ".join(blocks("--k", "1").output.split())
    assert "Draft nothing: plain decoding is the fastest. Of the methods, take one chain, token by token with L" in told
    assert "It is 0.7" in told
    costs = "--nodes", "1", "--samples", "12", "--temperature", "1"
    found = CliRunner().invoke(
        app, ["frontier", "--target", "t.json", "--draft", "d.json", *costs], env={"COLUMNS": "400"}
    )
    assert "temperature 1: Draft nothing: plain decoding is fastest at these costs." in " ".join(found.output.split())
