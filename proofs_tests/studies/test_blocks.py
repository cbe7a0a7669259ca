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
from spec_math.mean import Mean, known, of_independent
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
from spec_math.studies.lengths import ceilings
from spec_math.studies.lengths.units import Key, Units


def quiet(what: str, steps: int) -> Any:  # noqa: ARG001
    return lambda done: None  # noqa: ARG005


@pytest.fixture(scope="module")
def sampled() -> dict[tuple[str, int], Any]:
    """P(at least i accepted) of every method on two and on four paths, on the same texts and drafts."""
    models = embedded()
    units = Units(models.target, models.draft, models.prefixes, 4, 0, (), ceilings.along)
    keys = [Key(method, k) for k in (1, 2, 4) for method in METHODS if (k == 1) == method.one_chain]
    return {(key.of.name, key.k): rows for key, rows in units.accepted(range(60), dict.fromkeys(keys, 4)).items()}


def test_a_block_is_never_behind_its_chain(sampled: dict[tuple[str, int], Any]) -> None:
    """Text by text: the mass of a block is at least Π min(t, d), up to the roundings of L products of two quotients."""
    kept, plain = sampled[AS_A_BLOCK.name, 1], sampled[TOKEN_BY_TOKEN.name, 1]
    assert (kept >= plain - 2.0**-48).all()
    more = of_independent((kept - plain).sum(axis=1), 0, 4)
    assert more.value > 3 * more.error


@pytest.mark.parametrize("k", [2, 4])
def test_first_tokens_are_in_the_order_of_one_position(sampled: Any, k: int) -> None:
    """Of one position it is proved: recursive ≤ K-SEQ ≤ optimal plan, and what selects a chain accepts no more."""
    ascending = ["recursive rejection at every node", "K-SEQ at every node", "optimal plan at every node"]
    below = [*pairwise(ascending)]
    below += [(name, ascending[-1]) for name in ("greedy multi-path", "chain priorities")]
    for lower, upper in below:
        low, high = sampled[lower, k][:, 0], sampled[upper, k][:, 0]
        assert of_independent(high - low, -1, 1).high >= 0, (lower, upper)


def test_more_paths_accept_more_where_that_is_proved(sampled: Any) -> None:
    """The optimum of one position grows with k; the walk's first token reaches it."""
    plan = {k: sampled["optimal plan at every node", k] for k in (2, 4)}
    assert of_independent(plan[4][:, 0] - plan[2][:, 0], -1, 1).high > 0
    more = of_independent((plan[2] - sampled[TOKEN_BY_TOKEN.name, 1]).sum(axis=1), -4, 4)
    assert more.value > 3 * more.error


def test_differences_are_sharper_than_values_on_the_default(sampled: Any) -> None:
    plain = sampled[TOKEN_BY_TOKEN.name, 1].sum(axis=1)
    for (name, k), rows in sampled.items():
        if k == 2 and "distinct" not in name:  # whose drafts are their own
            assert (rows.sum(axis=1) - plain).std() < rows.sum(axis=1).std(), name


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
        for mine, theirs in ((entry.tokens, truth.tokens), (entry.gain, truth.gain)):
            low, high = mine.interval
            assert low - 1e-9 <= theirs.value <= high + 1e-9, entry.method.name
            assert entry.method is TOKEN_BY_TOKEN or high - low < 2


def test_every_method_on_paths_is_measured_along_a_text() -> None:
    assert all(method.along is not None or method.along_tree is not None for method in METHODS)


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
    assert "at most 60" in result_of(found).notes[0].text
    alone = compare_blocks(BlockRequest(pair(), (4,), (4,), 60), quiet)
    assert alone.entry(PLAN_AT_EVERY_NODE, 4, 4).tokens.error > plan.tokens.error  # type: ignore[union-attr]
    # Plain chains are measured for the gains, and are no row.
    assert alone.entry(TOKEN_BY_TOKEN, 1, 4) is None


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


def _exactly(method: str, k: int, lookahead: int, tokens: Fraction) -> Entry:
    speed = speed_up(float(tokens), k, lookahead)
    return Entry(named(method), k, lookahead, known(tokens), known(0), speed, tokens)


def test_of_exact_values_the_fewest_drafts_within_two_percent_are_taken() -> None:
    few, many = (_exactly("greedy multi-path", k, 4, Fraction(2)) for k in (4, 8))
    for more, taken, said in (("1/1000", few, "are equivalent within 2%"), ("1/2", many, "no other method is faster")):
        # Both at the speed of the first, but for a share of it.
        tokens = Fraction(few.speed_up) / Fraction(speed_up(1.0, 8, 4)) * (1 + Fraction(more))  # type: ignore[arg-type]
        other = _exactly("greedy multi-path", 8, 4, tokens)
        found = BlockComparison("", 2, (4, 8), (4,), 0, [few, other], [])
        best, decided = block_comparison.advised(found)  # type: ignore[misc]
        assert (best.k, said in decided) == (taken.k, True)
        assert result_of(found).finding.startswith(f"Take greedy multi-path with K = {taken.k} and L = 4: ")


def _raced(seed: int, budget: int) -> BlockComparison:
    found = compare_blocks(BlockRequest(pair(True), (1, 2), (1, 2), budget, seed), quiet)
    assert found.decision is not None
    return found


def test_sampled_blocks_end_in_one_of_three_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """By tokens per call, as no latency is stated for two tokens: the leader is the best in truth, or near it."""
    exact = compare_blocks(BlockRequest(pair(), (1, 2), (1, 2), 100), quiet)
    best = max(entry.tokens.value for entry in exact.entries)
    monkeypatch.setattr(block_comparison, "EXACT_TERMS", 0)
    sure, unsure = _raced(0, 4000), _raced(0, 16)
    assert sure.decision.outcome != "undecided"  # type: ignore[union-attr]
    assert unsure.decision.outcome == "undecided"  # type: ignore[union-attr]
    taken, said = block_comparison.advised(sure)  # type: ignore[misc]
    assert exact.entry(taken.method, taken.k, taken.lookahead).tokens.value >= best / 1.02  # type: ignore[union-attr]
    assert result_of(sure).finding.startswith(said)
    assert said.startswith(f"Take {taken.method.name} with {taken.sizes}: ")
    assert result_of(unsure).finding.startswith("Not decided with this budget of 16 samples: ")
    assert "more samples would decide" in result_of(unsure).finding


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


def test_no_method_is_above_the_bound_of_its_drafts_on_the_default() -> None:
    found = compare_blocks(BlockRequest(embedded(), (1, 2), (2,), 40), quiet)
    ceilings = {(ceiling.drafts, ceiling.k): ceiling for ceiling in found.ceilings}
    for entry in found.entries:
        bound = ceilings[entry.method.drafts, entry.k].tokens
        assert entry.tokens.value <= bound.value, entry.method.name
        assert entry.tokens.interval[0] <= bound.interval[0]
        assert 1 <= entry.tokens.interval[0] <= entry.tokens.value <= entry.tokens.interval[1] <= 3
    assert ceilings[CHAINS, 1].tokens.value == pytest.approx(found.entry(AS_A_BLOCK, 1, 2).tokens.value)  # type: ignore[union-attr]
    assert [(one.drafts, one.k, one.reached) for one in found.ceilings] == [
        (CHAINS, 1, True),
        (CHAINS, 2, False),
        (DISTINCT, 2, False),
    ]
    assert "upper bound, 40 samples" in result_of(found).table("blocks").cells("how")


def test_a_mean_is_shown_with_its_interval() -> None:
    sampled = Mean(2.0, 0.1, 50, 1.75, 2.5, 0.99)
    entry = Entry(named("K-SEQ"), 2, 2, sampled, sampled, None)
    result = result_of(BlockComparison("toy", 3, (2,), (2,), 50, [entry], []))
    console = Console(file=io.StringIO(), width=100)
    show(result, console)
    assert " ".join(console.file.getvalue().split()).count("2.00 (1.75 to 2.50)") == 4  # type: ignore[attr-defined]
    # Twice in the table, and in the finding, which stands first and last. A speed-up is as sure as its tokens.
    timed = replace(entry, speed_up=1.0)
    (row,) = result_of(BlockComparison("toy", 3, (2,), (2,), 50, [timed], [])).table("blocks").records()
    assert row["speed-up"] == Mean(1.0, 0.05, 50, 0.875, 1.25, 0.99)
    assert start(pair(), np.random.default_rng(0)) == ()
