"""Blocks for users: orders that are proved, exact tables beside sampled ones, and the commands with their files."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from proofs_tests.studies.block_tables import pair
from spec_math.block_level import chain, optimum
from spec_math.block_level.lengths import cost
from spec_math.block_level.lengths.monte_carlo import Sampled, Setting, sample
from spec_math.block_level.methods import (
    AS_A_BLOCK,
    CHAINS,
    DISTINCT,
    METHODS,
    PLAN_AT_EVERY_NODE,
    TOKEN_BY_TOKEN,
    named,
    paths,
)
from spec_math.mean import Mean, of_independent
from spec_math.render.data import as_csv, as_json
from spec_math.render.terminal import show
from spec_math.studies.blocks import comparison as block_comparison
from spec_math.studies.blocks.comparison import (
    BlockComparison,
    BlockRequest,
    Entry,
    compare_blocks,
    embedded,
    fastest,
    speed_up,
)
from spec_math.studies.blocks.run import start
from spec_math.studies.blocks.study import picture, result_of


def quiet(what: str, steps: int) -> Any:  # noqa: ARG001
    return lambda done: None  # noqa: ARG005


@pytest.fixture(scope="module")
def sampled() -> dict[tuple[str, int], Sampled]:
    models = embedded()
    setting = Setting(models.target, models.draft, models.prefixes, (1, 2, 4), 4)
    return {(line.method.name, line.k): line for line in sample(setting, 60, np.random.default_rng(0))}


def test_a_block_is_never_behind_its_chain(sampled: dict[tuple[str, int], Sampled]) -> None:
    """Sample by sample: w_i ≥ Π min(1, t/d) on the same chain, up to the roundings of L products of two quotients."""
    kept, plain = sampled[AS_A_BLOCK.name, 1], sampled[TOKEN_BY_TOKEN.name, 1]
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


def test_small_tables_are_exact_and_below_the_optimum() -> None:
    models = pair()
    found = compare_blocks(BlockRequest(models, (1, 2), (1, 2), 100), quiet)
    assert found.samples == 0
    assert not any(entry.sampled for entry in found.entries)
    for entry in found.entries:
        exact = entry.method.expected(models.target, models.draft, (), entry.lookahead, entry.k)
        plain = chain.expected(models.target, models.draft, (), entry.lookahead)
        assert (entry.exact, entry.tokens.value, entry.gain.value) == (exact, float(exact), float(exact - plain))
        drafts = DISTINCT if "distinct" in entry.method.name else CHAINS
        ceiling = next(c for c in found.ceilings if (c.drafts, c.k, c.lookahead) == (drafts, entry.k, entry.lookahead))
        assert entry.exact <= ceiling.exact
    best = {(c.drafts, c.k, c.lookahead): c for c in found.ceilings}
    most = optimum.tokens_per_call(models.target, models.draft, (), 2, 2)
    assert best[CHAINS, 2, 2].exact == most.tokens_per_call  # type: ignore[union-attr]
    assert best[CHAINS, 1, 2].exact == found.entry(AS_A_BLOCK, 1, 2).exact  # type: ignore[union-attr]
    assert all(entry.method is not method or entry.k > 1 for entry in found.entries for method in METHODS[2:])


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


def test_tables_of_floats_have_the_numbers_of_their_fractions() -> None:
    """The optimum of distinct first tokens is solved in fractions alone, and is left out of floats."""
    exact, found = (compare_blocks(BlockRequest(pair(floats), (1, 2), (2,), 100), quiet) for floats in (False, True))
    for ours, theirs in zip(found.entries, exact.entries, strict=True):
        assert abs(ours.tokens.value - theirs.tokens.value) <= 2.0**-40
    assert {ceiling.drafts for ceiling in exact.ceilings} == {CHAINS, DISTINCT}
    assert {ceiling.drafts for ceiling in found.ceilings} == {CHAINS}


def test_tables_too_large_to_add_up_are_sampled_from_what_can_be() -> None:
    """Only the methods with too many terms; their value is the exact one of a chain plus the sampled difference."""
    found = compare_blocks(BlockRequest(pair(), (1, 4), (4,), 60), quiet)
    how = {entry.method.name: entry for entry in found.entries}
    assert {name for name, entry in how.items() if entry.sampled} == {
        "recursive rejection at every node",
        "K-SEQ at every node",
        "optimal plan at every node",
    }
    plan = how["optimal plan at every node"]
    assert plan.tokens.value == how[TOKEN_BY_TOKEN.name].tokens.value + plan.gain.value
    assert (plan.tokens.error, plan.tokens.samples) == (plan.gain.error, 60)
    assert "Monte Carlo: 60 sampled blocks" in result_of(found).notes[0].text
    alone = compare_blocks(BlockRequest(pair(), (4,), (4,), 60), quiet)
    assert alone.entry(PLAN_AT_EVERY_NODE, 4, 4).tokens.error > plan.tokens.error  # type: ignore[union-attr]


def test_speed_ups_are_tokens_over_the_latency_of_the_paper() -> None:
    assert speed_up(2.0, 1, 4) == pytest.approx(2.0 / (1.00 + 4 * 0.18))
    assert speed_up(2.0, 3, 4) is None
    assert speed_up(2.0, 8, 16) is None
    found = compare_blocks(BlockRequest(pair(), (1, 2), (4,), 100), quiet)
    latencies = cost.from_table(cost.SPECTR_TABLE_1), cost.from_table(cost.SPECTR_TABLE_3)
    for method in (named("greedy multi-path"), named("K-SEQ at every node")):
        lengths = {paths(e.lookahead, e.k): e.exact for e in found.entries if e.method is method}
        speeds = {
            widths: float(cost.speed_up(tokens, cost.of_block(widths, *latencies)))
            for widths, tokens in lengths.items()
        }
        best = max(speeds, key=speeds.__getitem__)
        chosen = fastest(found, method)
        assert chosen is not None
        assert paths(chosen.lookahead, chosen.k) == best
        assert chosen.speed_up == pytest.approx(speeds[best])


def _timed(k: int, more: float, seed: int = 0) -> Entry:
    """An entry with the latency of a plain call, 1 + `more` tokens a call beside noise that all entries share."""
    shared, own = np.random.default_rng(0).random(400), np.random.default_rng([seed, k]).random(400) - 0.5
    draws = 1.5 + shared + more + 0.02 * own
    tokens = of_independent(draws, 1, 5)
    return Entry(named("greedy multi-path"), k, 4, tokens, tokens, tokens.value, draws=draws)


def test_more_drafts_are_advised_only_where_the_pair_shows_a_gain_above_two_percent() -> None:
    wrong = 0
    for seed in range(10):
        near = [_timed(4, 0.0, seed), _timed(8, 0.002, seed)]
        taken, first = block_comparison.advised(BlockComparison("", 2, (4, 8), (4,), 400, near, []))  # type: ignore[misc]
        assert taken.k == 4
        wrong += first.k == 8
    # The control, the largest estimate, takes twice the drafts for noise.
    assert wrong
    far = [_timed(4, 0.0), _timed(8, 0.3)]
    taken, first = block_comparison.advised(BlockComparison("", 2, (4, 8), (4,), 400, far, []))  # type: ignore[misc]
    assert (taken.k, first.k) == (8, 8)
    # Unpaired, the intervals of both overlap, and the same gain is not seen.
    apart = [replace(entry, draws=None) for entry in far]
    assert block_comparison.above(apart[1], apart[0])[0] < block_comparison.above(far[1], far[0])[0]


def test_the_result_holds_every_entry() -> None:
    found = compare_blocks(BlockRequest(pair(), (1, 2), (1, 2), 100), quiet)
    result = result_of(found)
    rows = list(csv.DictReader(io.StringIO(as_csv(result.tables[0]))))
    assert len(rows) == len(found.entries) + len(found.ceilings)
    data = json.loads(as_json(result))["tables"][0]["rows"]
    assert [row["method"] for row in data] == [row["method"] for row in rows]
    of_blocks = next(row for row in data if row["method"] == "one chain, as a block" and row["L"] == 2)
    assert Fraction(of_blocks["fraction"]) == found.entry(AS_A_BLOCK, 1, 2).exact  # type: ignore[union-attr]
    drawn = {curve.label: curve for panel in picture(found).panels for curve in panel.curves}  # type: ignore[union-attr]
    assert set(drawn) >= {method.name for method in METHODS}
    assert "upper bound for i.i.d. chains" in drawn
    best = max(found.entries, key=lambda entry: entry.tokens.value)
    assert f"Take {best.method.name}" in result.finding


def test_for_one_path_the_picture_starts_at_the_method_of_one_chain() -> None:
    found = compare_blocks(BlockRequest(pair(), (1, 2), (2,), 100), quiet)
    for method in METHODS:
        assert found.entry(method, 1, 2) == found.entry(method.alone or method, 1, 2)
    assert found.entry(TOKEN_BY_TOKEN, 2, 2) is None


def test_no_method_is_above_the_ceiling_of_the_default() -> None:
    found = compare_blocks(BlockRequest(embedded(), (1, 2), (2,), 40), quiet)
    ceilings = {ceiling.k: ceiling.tokens for ceiling in found.ceilings}
    for entry in found.entries:
        if "distinct" not in entry.method.name:
            assert entry.tokens.interval[0] < ceilings[entry.k].interval[1], entry.method.name
    assert ceilings[1] == found.entry(AS_A_BLOCK, 1, 2).tokens  # type: ignore[union-attr]
    assert [ceiling.reached for ceiling in found.ceilings] == [True, False]
    assert "upper bound, Monte Carlo" in result_of(found).table("blocks").cells("how")


def test_a_mean_is_shown_with_its_interval() -> None:
    sampled = Mean(2.0, 0.1, 50, 1.75, 2.5, 0.99)
    entry = Entry(named("K-SEQ"), 2, 2, sampled, sampled, None)
    result = result_of(BlockComparison("toy", 3, (2,), (2,), 50, [entry], []))
    console = Console(file=io.StringIO(), width=100)
    show(result, console)
    assert console.file.getvalue().count("2.00 (1.75 to 2.50)") == 4  # type: ignore[attr-defined]
    # Twice in the table, and in the finding, which stands first and last. A speed-up is as sure as its tokens.
    timed = replace(entry, speed_up=1.0)
    (row,) = result_of(BlockComparison("toy", 3, (2,), (2,), 50, [timed], [])).table("blocks").records()
    assert row["speed-up"] == Mean(1.0, 0.05, 50, 0.875, 1.25, 0.99)
    assert start(pair(), np.random.default_rng(0)) == ()
