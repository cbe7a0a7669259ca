"""Bounds of each kind of drafts are those of enumeration, and no method exceeds them."""

from __future__ import annotations

from fractions import Fraction

from spec_math.studies.frontier.ceilings import of_drafts as bounds_of

from proofs_tests.every_method import EVERY_METHOD
from proofs_tests.studies.frontier.drafted_texts import level_bound
from proofs_tests.studies.frontier.enumerated_ways import walked
from proofs_tests.studies.frontier.toy_models import TABLES, quiet
from spec_math.block_level.methods import (
    BEAMS,
    BEAMS_TRAVERSED,
    BRANCHING,
    CHAINS,
    DELAYED,
    DISTINCT,
    FAVOURED,
    METHODS,
    NOISE,
    PLANNED,
    SEQUENCES,
    STEMS,
    Drafts,
    named,
)
from spec_math.mean import of_independent
from spec_math.studies.frontier.contenders import Regime, Shape


def test_bounds_are_those_of_enumeration_and_hold(toy: Regime) -> None:
    found = bounds_of(toy, 400, 0, quiet)
    kinds = [CHAINS, DISTINCT, SEQUENCES, STEMS[1], BRANCHING, FAVOURED]
    assert {one.drafts for one in found} == set(kinds)
    values: dict[tuple[Drafts, Shape], Fraction] = {}
    for one in found:
        low, high = of_independent(one.tokens, 1, one.most, 0.99).interval
        bound = level_bound(one.drafts, one.shape.k, one.shape.levels)
        values[one.drafts, one.shape] = bound
        assert low <= float(bound) <= high, (one.drafts, one.shape)
        if one.shape.k == 1:
            # One chain: block verification reaches it.
            assert bound == named("as a block").expected(*TABLES, (), one.shape.levels, 1)
        for name in ("greedy multi-path", "chain priorities", "traversal", "K-SEQ", "token by token"):
            method = named(name)
            if method.drafts is one.drafts:
                assert method.expected(*TABLES, (), one.shape.levels, one.shape.k) <= bound
    for way in (
        BEAMS,
        BEAMS_TRAVERSED,
        PLANNED,
        NOISE,
        DELAYED[1],
        *[w for w in EVERY_METHOD[len(METHODS) :] if w.drafts in (BRANCHING, FAVOURED)],
    ):
        for (kind, shape), bound in values.items():
            if way.drafts is kind and (kind is not SEQUENCES or shape.k == 2):
                assert walked(way, shape) <= bound, (way.name, shape)
