"""Numbers of blocks that contradict each other are an error that names the claim, and never a table."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from spec_math.block_level.methods import METHODS
from spec_math.invariants import BrokenInvariantError
from spec_math.language import Table
from spec_math.mean import Mean
from spec_math.sequential.decision import Candidate, Decision, Terms
from spec_math.studies.blocks import comparison as of_blocks
from spec_math.studies.blocks.comparison import BlockComparison, BlockModels, BlockRequest, compare_blocks
from spec_math.studies.blocks.study import result_of as blocks_shown


def tables() -> BlockComparison:
    target, draft = (Table({(): law}, context=0) for law in (["1/4", "3/4"], ["1/2", "1/2"]))
    models = BlockModels(target, draft, ((),), 2, "two tables")
    return compare_blocks(BlockRequest(models, (1, 2), (1, 2), 100), lambda *_: lambda _done: None)


def with_entry(found: BlockComparison, number: int, **changed: Any) -> BlockComparison:
    entries = list(found.entries)
    entries[number] = replace(entries[number], **changed)
    return replace(found, entries=entries)


def test_right_blocks_are_shown_and_each_wrong_entry_is_caught() -> None:
    found = tables()
    assert of_blocks.watch(found).found == {}
    assert blocks_shown(found).name == "blocks"
    for number, entry in enumerate(found.entries):
        for value in (entry.lookahead + 1 + Fraction(1, 10**9), Fraction(999_999, 10**6)):
            wrong = with_entry(found, number, exact=value, tokens=Mean(float(value), 0.0, 0))
            with pytest.raises(BrokenInvariantError, match="no more than the lookahead and one"):
                blocks_shown(wrong)


def test_a_method_above_the_bound_of_its_drafts_is_caught_exactly() -> None:
    found = tables()
    for ceiling in found.ceilings:
        low = replace(ceiling, exact=Fraction(1) + Fraction(1, 10**9), tokens=Mean(1.0, 0.0, 0))
        with pytest.raises(BrokenInvariantError, match="no method exceeds the bound of its own drafts"):
            of_blocks.watch(replace(found, ceilings=[low])).hold()


def test_sampled_blocks_are_held_to_what_sampling_explains() -> None:
    found = tables()
    last = found.entries[-1]
    for tokens, caught in ((last.lookahead + 1.05, False), (last.lookahead + 9.0, True)):
        wrong = with_entry(found, len(found.entries) - 1, exact=None, tokens=Mean(tokens, 0.1, 1000))
        wrong = replace(wrong, ceilings=[])
        assert bool(of_blocks.watch(wrong).found) == caught


def test_a_method_above_its_bound_on_one_text_is_caught() -> None:
    """A sampled bound is shown at least as high as its methods, so that the samples themselves are held to it."""
    models = BlockModels(*(Table({(): law}, context=0) for law in ([0.25, 0.75], [0.5, 0.5])), ((),), 2, "two tables")
    decision = Decision([Candidate("a", 0, 3)], Terms(10), [np.full(20, 1.5)], [np.full(16, 1.75)])
    method = next(method for method in METHODS if method.along is not None)
    right = BlockComparison(models.source, 2, (1,), (2,), 20, [], [], decision, ((method, 1, 2),))
    assert of_blocks.watch(right).found == {}
    decision.bounds[0][7] = 1.5 - 1e-9
    with pytest.raises(BrokenInvariantError, match="no method exceeds the bound of its own drafts"):
        of_blocks.watch(right).hold()
    sampled = next(method for method in METHODS if method.along is None)  # its siblings are: it may exceed the mean
    assert of_blocks.watch(replace(right, contenders=((sampled, 1, 2),))).found == {}
