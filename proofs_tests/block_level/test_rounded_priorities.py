"""Chain priorities on rounded ratios: lossless, with the law that they state, and near the optimum of one position."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.chain_generators import generator, optimal_acceptance
from proofs_tests.block_level.chain_generators import rounded_selection as selection
from proofs_tests.block_level.models import Rows, model_pairs
from proofs_tests.strategies import pairs
from spec_math import check_lossless_block
from spec_math.arrays import Array, exact
from spec_math.block_level import chain_priorities, length, selected_chain
from spec_math.block_level.batch.ratio_cells import CellsOf, by_ratio, grid, rounded
from spec_math.block_level.chain_priorities import Priorities
from spec_math.block_level.conditionals import Conditionals
from spec_math.language.model import Model

SHAPES = [(2, 1, 2), (3, 1, 2), (2, 2, 2), (3, 2, 2), (2, 2, 3)]
"""V tokens, lookahead, k chains."""


@settings(max_examples=25)
@given(st.data(), st.sampled_from(SHAPES))
def test_chain_priorities_on_rounded_ratios_are_lossless(data: st.DataObject, shape: tuple[int, int, int]) -> None:
    size, lookahead, k = shape
    target, draft = data.draw(model_pairs(size))
    verdict = check_lossless_block(generator(target, draft, lookahead, k, selection), target, lookahead + 1)
    assert verdict, str(verdict)


def expected(target: Model, draft: Model, lookahead: int, k: int) -> Any:
    return selected_chain.expected(target, selection(Conditionals(target, draft, ()), k), lookahead)


def loss(target: Array, draft: Array, k: int) -> Any:
    """The bound that `Priorities` states on what rounding takes from the acceptance of one position."""
    points, there = grid(), draft > 0
    found = draft.sum() * 0
    for low, high in pairwise(points):
        inside = there & (low * draft < target) & (target < high * draft)
        found = max(found, (high - low) / 4 * draft[inside].sum())
    beyond = np.minimum(target, k * draft)[there] - points[-1] * draft[there]
    return found + beyond[beyond > 0].sum()


@settings(max_examples=3)
@given(model_pairs(2))
def test_the_expected_length_is_that_of_the_walk(models: tuple[Rows, Rows]) -> None:
    assert expected(*models, 2, 2) == length.expected(generator(*models, 2, 2, selection), ())


def test_one_token_of_two_chains_is_lossless_with_its_expected_length() -> None:
    target, draft = Rows((exact(["9/32", "23/32"]),)), Rows((exact(["1/2", "1/2"]),))

    generate = generator(target, draft, 1, 2, selection)
    assert check_lossless_block(generate, target, 2)
    assert length.expected(generate, ()) == expected(target, draft, 1, 2)


@pytest.mark.parametrize("cells_of", [by_ratio, rounded])
def test_masses_have_the_cells_of_the_laws_in_proportion(cells_of: CellsOf) -> None:
    """Three times the target's masses and five times the draft's, and a token that is never drafted."""
    target, draft = exact([["17/64", "40/64", "7/64"]]), exact([["1/3", "2/3", 0]])
    laws, masses = cells_of(target, draft), cells_of(3 * target, 5 * draft)
    for ours, theirs in zip(laws._replace(scale=laws.scale * 5 / 3), masses, strict=True):
        assert (ours == theirs).all()


class _OneCellEach(Priorities):
    """The control: a chain takes the lower cell of its token always, and the law is the one that rounding has."""

    def __init__(self, laws: Conditionals, k: int) -> None:
        super().__init__(laws, k, cells_of=rounded)

    def priority(self, path: Any) -> Any:
        found = super()._refinement(path[:-1]) if path else None
        if found is not None and found.cells is not None:
            found.cells.share[:] = found.cells.share * 0
        return super().priority(path)


def test_rounding_to_one_cell_against_the_law_of_both_is_lossy() -> None:
    target, draft = Rows((exact(["9/32", "23/32"]),) * 7, None), Rows((exact(["1/2", "1/2"]),) * 7, None)
    assert check_lossless_block(generator(target, draft, 1, 3, selection), target, 2)
    assert not check_lossless_block(generator(target, draft, 1, 3, _OneCellEach), target, 2)


@settings(max_examples=60)
@given(pairs(4), st.integers(1, 5))
def test_rounding_costs_one_position_no_more_than_the_bound(pair: tuple[Array, Array], k: int) -> None:
    target, draft = pair
    best = optimal_acceptance(target, draft, k)
    accepted = expected(lambda _: target, lambda _: draft, 1, k) - 1
    assert best - loss(target, draft, k) <= accepted <= best


def test_a_twelfth_of_the_bound_on_the_loss_is_too_little() -> None:
    target, draft = exact(["7/75", "14/75", "25/75", "29/75"]), exact(["2/42", "15/42", "15/42", "10/42"])
    best = optimal_acceptance(target, draft, 2)
    lost = best - expected(lambda _: target, lambda _: draft, 1, 2) + 1
    assert loss(target, draft, 2) / 12 < lost <= loss(target, draft, 2)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_ratios_on_the_grid_are_not_rounded(k: int) -> None:
    target, draft = exact(["1/8", "3/8", "1/2"]), exact(["1/4", "1/4", "1/2"])
    assert set((target / draft).tolist()) <= set(grid())
    models = Rows((target,) * 7, None), Rows((draft,) * 7, None)
    assert expected(*models, 2, k) == chain_priorities.expected(*models, (), 2, k)


@given(pairs(4))
def test_rounding_keeps_the_mass_and_the_mean_of_every_token(pair: tuple[Array, Array]) -> None:
    target, draft = pair
    cells = rounded(target[None], draft[None])
    assert cells.draft.sum() == 1
    assert cells.target.sum() + cells.never[0] == 1
    there = (draft > 0) & (target <= grid()[-1] * draft)
    assert (cells.mean(cells.key)[0][there] == target[there] / draft[there]).all()
    own = by_ratio(target[None], draft[None])
    assert own.draft.sum() == 1
    assert own.target.sum() + own.never[0] == 1


def test_float_cells_are_those_of_fractions() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        weights = rng.integers(0, 50, (2, 1, 6)) + (np.arange(6) == 0)
        laws = [exact(each.astype(object)) / each.sum() for each in weights]
        fine, floats = rounded(*laws), rounded(*(law.astype(float) for law in laws))
        # 1 + t/d ≤ 32 is within 8 roundings, 2^8 · 2^-53; a share is that times at most 16. Of ratios, each up to 31,
        # six such terms and their sum are within 2^18 roundings of 1.
        for ours, theirs in zip(fine[:4], floats[:4], strict=True):
            assert np.abs(ours.astype(float) - theirs).max() <= 2.0 ** (18 - 53)
