"""What each method yields in each shape: sampled figures hold what enumeration says."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from proofs_tests.every_method import EVERY_METHOD
from proofs_tests.studies.frontier.enumerated_ways import walked
from proofs_tests.studies.frontier.toy_models import TABLES, quiet
from spec_math.block_level import target_only
from spec_math.block_level.likeliest_tree import of_draft, of_ranks, of_target
from spec_math.block_level.methods import BEST_TREE, CHOSEN, METHODS, SEQUENCES, STATIC, TREES
from spec_math.language import Table
from spec_math.mean import of_independent
from spec_math.studies.frontier import contenders, further
from spec_math.studies.frontier.contenders import Regime, chains


def test_trees_are_worth_what_the_closed_form_says(toy: Regime) -> None:
    """One prefix: every sample is the exact length, for the drafter's trees and for the best ones."""
    chosen, best = contenders.of_trees(toy, (1, 3, 6), 4, 0, quiet)
    wanted = {CHOSEN: of_draft, BEST_TREE: of_target}
    checked = 0
    for one in (*chosen, *best):
        if one.method not in wanted:
            continue
        depth = next(depth for depth in (1, 3) if min(depth, one.shape.nodes) == one.shape.levels)
        tokens = target_only.expected(*TABLES, (), wanted[one.method](one.shape.nodes, depth))
        assert np.abs(one.tokens - float(tokens)).max() < 2.0**-45
        checked += 1
    assert checked == 10


@pytest.mark.parametrize("end", [None, 1])
def test_static_trees_are_worth_what_the_closed_form_says(
    toy: Regime, end: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One shape for all prefixes, filled by the draft's ranks, where a text may end at any of them too."""
    tables = [
        Table({prefix: row for prefix, row in table.rows.items() if end not in prefix}, table.context, None, end)
        for table in TABLES
    ]
    models = replace(toy.models, target=contenders.in_floats(tables[0]), draft=contenders.in_floats(tables[1]))
    own = contenders.at("toy", models, 1.0)
    rates = [Fraction(number, 12) for number in (6, 4, 2)]

    def rated(*_: Any) -> list[float]:
        return [float(rate) for rate in rates]

    monkeypatch.setattr(contenders, "_rates", rated)
    chosen, _ = contenders.of_trees(own, (1, 3, 6), 2, 0, quiet)
    static = [one for one in chosen if one.method is STATIC]
    assert len(static) == 5
    for one in static:
        depth = next(depth for depth in (1, 3) if min(depth, one.shape.nodes) == one.shape.levels)
        tokens = target_only.expected(tables[0], tables[1], (), of_ranks(rates, one.shape.nodes, depth))
        assert np.abs(one.tokens - float(tokens)).max() < 2.0**-45


def test_the_static_tree_is_no_better_than_the_best_one(toy: Regime) -> None:
    chosen, best = contenders.of_trees(toy, (2, 4), 4, 0, quiet)
    tops = {one.shape: one.tokens for one in best}
    assert all((one.tokens <= tops[one.shape] + 2.0**-45).all() for one in chosen)


def test_chains_are_worth_what_enumeration_says(toy: Regime) -> None:
    for one in contenders.of_chains(toy, 100, 0, quiet):
        tokens = float(one.method.expected(*TABLES, (), one.shape.levels, one.shape.k))
        low, high = of_independent(one.tokens, 1, one.most, 0.99).interval
        assert low <= tokens <= high, one.method.name


def test_further_ways_are_worth_what_enumeration_says(toy: Regime) -> None:
    found = [
        one
        for of, samples in (
            (further.of_beams, 200),
            (further.of_plans, 300),
            (further.of_noise, 600),
            (further.of_stems, 300),
            (further.of_branching, 300),
        )
        for one in of(toy, samples, 0, quiet)
    ]
    drawn = [way for way in EVERY_METHOD if way.drafts is not TREES and way not in METHODS]
    assert {one.method for one in found} == set(drawn)
    for one in found:
        if one.drafts is SEQUENCES and (one.shape.k, one.shape.levels) == (3, 2):
            continue  # seconds of enumeration
        tokens = float(walked(one.method, one.shape))
        low, high = of_independent(one.tokens, 1, one.most, 0.99).interval
        assert low <= tokens <= high, (one.method.name, one.shape)


def test_nodes_are_counted_once() -> None:
    assert (further.stemmed(2, 4, 5).nodes, further.branched(3).nodes, chains(4, 5).nodes) == (14, 14, 20)
