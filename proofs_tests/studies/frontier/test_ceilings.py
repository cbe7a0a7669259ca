"""Bounds of each kind of drafts are those of enumeration, and no method exceeds them."""

from __future__ import annotations

from proofs_tests.studies.frontier.drafted_texts import level_bound
from proofs_tests.studies.frontier.enumerated_ways import walked
from proofs_tests.studies.frontier.measured_units import levels, units_of
from proofs_tests.studies.frontier.toy_models import TABLES
from spec_math.block_level.methods import BRANCHING, CHAINS, DISTINCT, FAVOURED, SEQUENCES, STEMS, TREES, named
from spec_math.sequential.decision import interval
from spec_math.studies.frontier import further
from spec_math.studies.frontier.contenders import Regime


def test_bounds_are_those_of_enumeration_and_hold(toy: Regime) -> None:
    found = [one for one in further.every((6,)) if one.method.drafts is not TREES]
    units = units_of(toy)
    rows = units.bounds(range(300), levels(one.bound for one in found))
    assert {one.method.drafts for one in found} == {CHAINS, DISTINCT, SEQUENCES, STEMS[1], BRANCHING, FAVOURED}
    for one in found:
        values = 1 + rows[one.bound][:, : one.size].sum(axis=1)
        low, high = interval(values, 1, 1 + one.shape.levels, chance=1e-5).interval
        bound = level_bound(one.method.drafts, one.key.k, one.shape.levels)
        assert low <= float(bound) <= high, (one.method.drafts, one.shape)
        if one.shape.k == 1:
            # One chain: block verification reaches it.
            assert bound == named("as a block").expected(*TABLES, (), one.shape.levels, 1)
        if one.method.drafts is not SEQUENCES or one.shape.k == 2:
            assert walked(one.method, one.shape) <= bound, (one.method.name, one.shape)
