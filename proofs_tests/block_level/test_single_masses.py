"""The mass of one token that a selection states is its law's: exactly on Fractions, to roundings in floats."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from proofs_tests.block_level.chain_generators import rounded_selection
from proofs_tests.block_level.models import Rows
from spec_math.arrays import exact
from spec_math.block_level.chain_priorities import Priorities
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.multi_path import HighestRank
from spec_math.block_level.selected_chain import classes_of

UNIT = 2.0**-53
TARGET = Rows((exact(["1/2", "1/3", "1/6", 0]), exact(["1/6", "1/6", "1/3", "1/3"]), exact(["1/5", "2/5", "2/5", 0])))
DRAFT = Rows((exact(["1/4", "1/4", 0, "1/2"]), exact(["1/3", "1/3", "1/6", "1/6"]), exact(["3/5", "1/5", "1/5", 0])))


def stemmed(laws: Conditionals, k: int) -> Priorities:
    return Priorities(laws, k, 1)


RULES = pytest.mark.parametrize("rule", [HighestRank, Priorities, stemmed, rounded_selection])


def backing_off(seed: int) -> Any:
    """A model of 60 tokens, of which all but five have their mass from one common law, as models that back off have."""
    common = np.random.default_rng(7).random(60) + 0.01

    def model(prefix: tuple[int, ...]) -> Any:
        rng = np.random.default_rng([seed, *prefix])
        masses = common * rng.random()
        masses[rng.choice(60, 5, replace=False)] += 10 * rng.random(5)
        return masses / masses.sum()

    return model


def furthest(selection: Any, paths: list[tuple[int, ...]]) -> float:
    """Return the largest relative distance of a single mass from that of the law."""
    worst = 0.0
    for path in paths:
        for token, mass in enumerate(selection.law(path)):
            found = selection.mass(path, token)
            worst = max(worst, float(abs(found - mass) / mass) if mass else float(found != 0))
    return worst


@RULES
@pytest.mark.parametrize("k", [1, 2, 3])
def test_one_mass_is_that_of_the_law_exactly(rule: Any, k: int) -> None:
    selection = rule(Conditionals(TARGET, DRAFT, ()), k)
    drafted = [path for size in (0, 1, 2) for path in product(range(4), repeat=size) if _drafted(path)]
    assert len(drafted) > 5
    for path in drafted:
        assert [selection.mass(path, token) for token in range(4)] == selection.law(path).tolist()


def _drafted(path: tuple[int, ...]) -> bool:
    return all(DRAFT(path[:at])[token] > 0 for at, token in enumerate(path))


@RULES
def test_one_mass_is_that_of_the_law_to_roundings_where_tokens_are_joined(rule: Any) -> None:
    """60 tokens summed in another order: 60 roundings of each of two totals and two shares at most, 8 of products."""
    selection = rule(Conditionals(backing_off(1), backing_off(2), ()), 4)
    assert len(selection.laws.kept(classes_of, ()).order) < 20
    assert furthest(selection, [(), (3,), (3, 41)]) <= (4 * 60 + 8) * UNIT


class WholeClass(Priorities):
    """Gives a token the mass of all tokens of its ratio."""

    def mass(self, path: tuple[int, ...], token: int) -> Any:
        made = self._refinement(path)
        return made.selected[made.whole.place[token]]


class NextInRank(HighestRank):
    def mass(self, path: tuple[int, ...], token: int) -> Any:
        return super().mass(path, (token + 1) % self.laws.size)


@pytest.mark.parametrize("wrong", [WholeClass, NextInRank])
def test_a_wrong_mass_is_seen(wrong: Any) -> None:
    assert furthest(wrong(Conditionals(backing_off(1), backing_off(2), ()), 4), [()]) > 0.01
