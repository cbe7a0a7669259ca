"""What each method yields in each shape: sampled figures hold what enumeration says."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from proofs_tests.every_method import EVERY_METHOD
from proofs_tests.studies.frontier.enumerated_ways import walked
from proofs_tests.studies.frontier.measured_units import BUDGETS, levels, units_of
from proofs_tests.studies.frontier.toy_models import TABLES
from spec_math.block_level import target_only
from spec_math.block_level.lengths import target_text
from spec_math.block_level.likeliest_tree import of_draft, of_ranks, of_target
from spec_math.block_level.methods import CHOSEN, SEQUENCES, STATIC, TREES
from spec_math.language import Table
from spec_math.papers import delayed
from spec_math.sequential.decision import interval
from spec_math.studies.frontier import contenders, further
from spec_math.studies.frontier.contenders import Regime
from spec_math.studies.lengths.units import Contender, Key, Units


def tokens(units: Units, found: list[Contender], samples: int) -> list[Any]:
    rows = units.accepted(range(samples), levels(one.key for one in found))
    return [1 + rows[one.key][:, : one.size].sum(axis=1) for one in found]


def test_trees_are_worth_what_the_closed_form_says(toy: Regime) -> None:
    """One prefix: every sample is the exact length, for the drafter's trees and for the best ones."""
    found, units = [one for one in contenders.of_trees(BUDGETS) if one.method is CHOSEN], units_of(toy)
    best = units.bounds(range(2), levels(one.bound for one in found))
    for one, values in zip(found, tokens(units, found, 2), strict=True):
        depth = next(depth for depth in (1, 3) if min(depth, one.shape.nodes) == one.shape.levels)
        top = 1 + best[one.bound][:, : one.size].sum(axis=1)
        for sampled, wanted in ((values, of_draft), (top, of_target)):
            exact = target_only.expected(*TABLES, (), wanted(one.shape.nodes, depth))
            assert np.abs(sampled - float(exact)).max() < 2.0**-45
        assert (values <= top + 2.0**-45).all()
    assert len(found) == 5


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
    monkeypatch.setattr(contenders, "_rates", lambda *_: [float(rate) for rate in rates])
    static = [one for one in contenders.of_trees(BUDGETS) if one.method is STATIC]
    for one, values in zip(static, tokens(units_of(own), static, 2), strict=True):
        depth = next(depth for depth in (1, 3) if min(depth, one.shape.nodes) == one.shape.levels)
        exact = target_only.expected(tables[0], tables[1], (), of_ranks(rates, one.shape.nodes, depth))
        assert np.abs(values - float(exact)).max() < 2.0**-45


def test_every_method_is_worth_what_enumeration_says(toy: Regime) -> None:
    found = [one for one in further.every(BUDGETS) if one.method.drafts is not TREES]
    assert {one.method for one in found} == {way for way in EVERY_METHOD if way.drafts is not TREES}
    for one, values in zip(found, tokens(units_of(toy), found, 200), strict=True):
        if one.method.drafts is SEQUENCES and (one.shape.k, one.shape.levels) == (3, 2):
            continue  # seconds of enumeration
        low, high = interval(values, 1, 1 + one.shape.levels, chance=1e-5).interval
        assert low <= float(walked(one.method, one.shape)) <= high, (one.method.name, one.shape)


def test_a_stem_along_a_text_is_worth_its_closed_form() -> None:
    for stem, branch, k in ((1, 1, 2), (1, 1, 3), (2, 1, 2)):
        along = partial(target_text.priorities, stem=stem)
        assert target_text.exact(along, *TABLES, (), stem + branch, k) == delayed.expected(
            *TABLES, (), (stem, branch), k
        )
    # The control: without its stem the same chains yield another number.
    assert target_text.exact(target_text.priorities, *TABLES, (), 2, 2) != delayed.expected(*TABLES, (), (1, 1), 2)


def test_a_unit_is_the_same_whatever_else_is_measured_on_it(toy: Regime) -> None:
    keys = levels(one.key for one in further.every(BUDGETS))
    whole, alone = units_of(toy).accepted(range(3), keys), units_of(toy)
    for key in keys:
        assert np.array_equal(alone.accepted(range(1, 3), {key: keys[key]})[key], whole[key][1:]), Key(*key)


def test_nodes_are_counted_once() -> None:
    assert further.branched(3).nodes == 14
    assert [one.shape.nodes for one in contenders.of_chains(CHOSEN, 4, 1)] == [5]
    assert [one.shape.nodes for one in contenders.of_chains(CHOSEN, 5)] == [5, 10]
