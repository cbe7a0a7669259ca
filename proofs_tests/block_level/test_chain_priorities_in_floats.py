"""Chain priorities on floats: the law that is selected is the law stated, on any masses and in any type."""

from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

from proofs_tests.block_level.chain_generators import Path, drafted_chains, generator, reached
from spec_math import check_lossless_block
from spec_math.arrays import exact
from spec_math.block_level import chain_priorities, multi_path
from spec_math.block_level.chain_priorities import Priorities
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.multi_path import HighestRank
from spec_math.block_level.priority_law import PriorityLaw, winner
from spec_math.chance import sample

# Floats.
UNIT = 2.0**-53


def softmax_model(seed: int, size: int, spread: float) -> Any:
    def model(prefix: Path) -> Any:
        weights = np.exp(spread * np.random.default_rng([seed, *prefix]).normal(size=size))
        return weights / weights.sum()

    return model


def exactly(model: Any) -> Any:
    def rational(prefix: Path) -> Any:
        row = exact(model(prefix))
        return row / row.sum()

    return rational


@pytest.mark.parametrize("spread", [0.5, 3.0, 10.0])
@pytest.mark.parametrize("shape", [(3, 2, 2), (2, 3, 2), (3, 2, 3)])
def test_floats_select_the_law_that_they_state(shape: tuple[int, int, int], spread: float) -> None:
    """The law that the stored float priorities select by, computed in Fractions, against the law stated.

    The bound: a stated mass is a product of `lookahead` factors, each reached by positive sums and products alone: less
    than 20 roundings a power of k, and one for each of the n tokens and m ≤ 2n·lookahead pieces summed. The cuts at
    quantiles are off by 6 units of mass, at each of at most m ends, and every token has k chances to be selected.
    """
    size, lookahead, k = shape
    target, draft = softmax_model(0, size, spread), softmax_model(1, size, spread)
    rule = Priorities(Conditionals(target, draft, ()), k)
    masses = drafted_chains(Ended(exactly(draft)), lookahead)
    laws = {chain: as_fractions(rule.priority(chain)) for chain in masses}
    selected = dict.fromkeys(masses, Fraction(0))
    for drafts in product(masses, repeat=k):
        mass = prod((masses[chain] for chain in drafts), start=Fraction(1))
        chances = winner([laws[chain] for chain in drafts])
        for chain, chance in zip(drafts, chances, strict=True):
            selected[chain] += mass * chance / chances.sum()
    stated = {
        chain: prod((Fraction(rule.law(chain[:at])[chain[at]]) for at in range(lookahead)), start=Fraction(1))
        for chain in masses
    }
    distance = sum(abs(stated[chain] - selected[chain]) for chain in masses) / 2
    pieces = 2 * size * lookahead
    assert distance <= lookahead * (20 * k + size + pieces + 6 * k * pieces) * UNIT


class Ended:
    end = None

    def __init__(self, model: Any) -> None:
        self._model = model

    def __call__(self, prefix: Path) -> Any:
        return self._model(prefix)


def as_fractions(law: PriorityLaw) -> PriorityLaw:
    return PriorityLaw(exact(law.masses), exact(law.low), exact(law.high))


@pytest.mark.parametrize(("k", "spread"), [(2, 1.0), (4, 6.0), (8, 10.0)])
def test_floats_keep_their_law_at_every_child_of_a_large_node(k: int, spread: float) -> None:
    """Σ_s d(s)·|E[k U^(k−1) | s]/Z − c(s)/d(s)| and Σ_s d(s) F_s − F_v stay at roundings where masses span 2^-80.

    The bounds count the roundings of naive sums over n tokens and over m pieces, 20 to a power of k, 6 to a cut.
    """
    size = 200
    target, draft = softmax_model(0, size, spread), softmax_model(1, size, spread)
    rule, path = Priorities(Conditionals(target, draft, ()), k), ()
    for _ in range(3):
        row, stated, own = draft(path), rule.law(path), rule.priority(path)
        children = [rule.priority((*path, token)) for token in range(size)]
        realised = np.array([mass * law.mean_power(k) for mass, law in zip(row, children, strict=True)])
        pieces = max(len(law.masses) for law in children)
        allowed = (2 * size + 2 * pieces + 20 * k) * UNIT
        assert np.abs(realised / own.mean_power(k) - stated).sum() <= allowed
        for at in np.linspace(0.01, 0.99, 15):
            below = sum(mass * reached(law, at) for mass, law in zip(row, children, strict=True))
            assert abs(below - reached(own, at)) <= allowed
        path = (*path, int(np.argmax(row)))


def test_chain_priorities_are_lossless_in_floats() -> None:
    target, draft = softmax_model(0, 3, 2.0), softmax_model(1, 3, 2.0)
    verdict = check_lossless_block(generator(target, draft, 2, 2), target, 3)
    assert verdict, str(verdict)


def extreme_model(seed: int, which: int, size: int, kind: str) -> Any:
    """Float laws that break formulas: masses down to 1e-319, one-hot, disjoint supports, equal up to rounding."""

    def model(prefix: Path) -> Any:
        rng, shared = np.random.default_rng([seed, which, *prefix]), np.random.default_rng([seed, *prefix])
        if kind == "tiny":
            weights = 10.0 ** -rng.integers(0, 320, size).astype(float)
            weights[rng.integers(size)] = 1.0
        elif kind == "one-hot":
            weights = np.eye(size)[rng.integers(size)]
        elif kind == "disjoint":
            weights = np.where(np.arange(size) % 2 == which, rng.random(size), 0.0)
        else:
            weights = shared.random(size) * (1 + 2.0**-52 * rng.integers(-3, 4, size))
        return weights / weights.sum()

    return model


@pytest.mark.parametrize("kind", ["tiny", "one-hot", "disjoint", "near"])
def test_selections_stay_lossless_on_extreme_float_laws(kind: str) -> None:
    """Of the tiny masses, seed 2 pins a stretch of quantiles without width, 76 a selected mass that underflows, and
    136 and 342 densities that overflow."""
    for seed in [*range(20), 76, 136, 342]:
        size, lookahead, k = 2 + seed % 2, 1 + seed // 2 % 2, 1 + seed // 4 % 2
        target, draft = (extreme_model(seed, which, size, kind) for which in (0, 1))
        for rule in (Priorities, HighestRank):
            verdict = check_lossless_block(generator(target, draft, lookahead, k, rule), target, lookahead + 1)
            assert verdict, f"{seed}: {verdict}"


@pytest.mark.parametrize("module", [chain_priorities, multi_path])
def test_selections_take_torch_and_single_precision(module: Any) -> None:
    """Storing a law in float32 moves it by at most V·2^-25 in total variation, and then one of the 2L laws that a block
    asks for on its way changes its length by at most L."""
    torch = pytest.importorskip("torch")
    size, lookahead = 3, 2
    target, draft = softmax_model(0, size, 2.0), softmax_model(1, size, 2.0)
    wide = module.expected(target, draft, (), lookahead, 2)
    for stored, bound in [
        (lambda row: torch.tensor(row), 2.0**-40),
        (lambda row: torch.tensor(row, dtype=torch.float32), 2 * lookahead**2 * size * 2.0**-24),
        (lambda row: row.astype(np.float32), 2 * lookahead**2 * size * 2.0**-24),
    ]:
        models = [lambda prefix, m=m, stored=stored: stored(m(prefix)) for m in (target, draft)]
        assert abs(float(module.expected(*models, (), lookahead, 2)) - wide) <= bound
        tokens = sample(lambda coin, models=models: module.generate(coin, *models, (), 2, 2), np.random.default_rng(0))
        assert 1 <= len(tokens) <= 3


def test_chain_priorities_run_on_a_vocabulary() -> None:
    target, draft = softmax_model(0, 4200, 3.0), softmax_model(1, 4200, 3.0)
    rng = np.random.default_rng(0)
    blocks = [
        sample(lambda coin, k=k: chain_priorities.generate(coin, target, draft, (5,), 4, k), rng) for k in (1, 2, 8)
    ]
    assert all(1 <= len(tokens) <= 5 and max(tokens) < 4200 for tokens in blocks)
