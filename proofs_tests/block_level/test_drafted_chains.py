"""Distributions that are gathered for many paths at once, and chains that are drafted as they should be."""

from __future__ import annotations

import numpy as np
import pytest

from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.lengths.drafted_chains import GatheredLaws, drafted_masses, extended
from spec_math.language import NGram, Table

TARGET = Table({(): [0.5, 0.3, 0.2], (0,): [0.1, 0.6, 0.3], (1,): [0.7, 0.2, 0.1], (2,): [0.2, 0.2, 0.6]}, context=1)
DRAFT = Table({(): [0.2, 0.5, 0.3], (0,): [0.4, 0.4, 0.2], (1,): [0.3, 0.4, 0.3], (2,): [0.5, 0.25, 0.25]}, context=1)
OPEN = [(), (0,), (1,)]
ENDING = tuple(Table({prefix: model.rows[prefix] for prefix in OPEN}, context=1, end=2) for model in (TARGET, DRAFT))
TEXT = np.random.default_rng(5).integers(0, 4, 400)


def test_gathered_laws_are_the_models_own_and_are_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    target, draft = NGram.learn(TEXT, 3, 4), NGram.learn(TEXT, 2, 4)
    gathered, asked = GatheredLaws(target, draft, (0, 1)), Conditionals(target, draft, (0, 1))
    paths = [(), (2,), (2, 3), (2, 3, 1)]
    theirs = [(asked.target(path).tolist(), asked.draft(path).tolist()) for path in paths]
    gathered.gather(paths)
    # From here on no model may be asked.
    monkeypatch.setattr(NGram, "__call__", None)
    monkeypatch.setattr(NGram, "rows", None)
    gathered.gather([*paths, ()])
    assert [(gathered.target(path).tolist(), gathered.draft(path).tolist()) for path in paths] == theirs


@pytest.mark.parametrize("orders", [(4, 2), (2, 4), (3, 3)])
def test_masses_along_drafted_chains_are_the_models_own(orders: tuple[int, int]) -> None:
    """The same chains, token by token: drawn by the draft on the same uniforms, with whole rows of both models."""
    target, draft = (NGram.learn(TEXT, order, 4) for order in orders)
    longest, uniforms = max(orders) - 1, np.random.default_rng(8).random((3, 20))
    starts = [tuple(TEXT[at : at + longest].tolist()) for at in range(20)]
    t, d = drafted_masses((target, draft), np.array(starts), uniforms.T)
    for row, start in enumerate(starts):
        prefix = start
        for place in range(3):
            token = int(draft.draw([draft.context(prefix)], [uniforms[place, row]])[0])
            assert (t[row, place], d[row, place]) == (target(prefix)[token], draft(prefix)[token])
            prefix = (*prefix, token)


def test_chains_stop_at_the_end_and_at_the_lookahead() -> None:
    laws = GatheredLaws(*ENDING, (0,))
    chains = extended(laws, [(), (1,), (2,)] * 30, 3, np.random.default_rng(0))
    assert all(chain_.index(2) == len(chain_) - 1 if 2 in chain_ else len(chain_) == 3 for chain_ in chains)
    assert {len(chain_) for chain_ in chains} == {1, 2, 3}
