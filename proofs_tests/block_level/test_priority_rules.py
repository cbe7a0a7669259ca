"""What each rule of priorities promises of its own laws: the selected chain's law, and the mean below a node."""

from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.chain_generators import drafted_chains, reached, rounded_selection
from proofs_tests.block_level.models import Rows, model_pairs
from spec_math.arrays import exact
from spec_math.block_level.chain_priorities import Priorities
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.priority_law import winner

RULES = pytest.mark.parametrize("rule", [Priorities, rounded_selection], ids=["exact", "rounded"])


def states_its_law(rule: Any, chains: dict[tuple[int, ...], Fraction], k: int) -> bool:
    """Whether the chain of the highest priority, over all k drafts, has the law that the rule states."""
    selected = dict.fromkeys(chains, Fraction(0))
    for drafts in product(chains, repeat=k):
        mass = prod((chains[chain] for chain in drafts), start=Fraction(1))
        for chain, chance in zip(drafts, winner([rule.priority(chain) for chain in drafts]), strict=True):
            selected[chain] += mass * chance
    return selected == {
        chain: prod((rule.law(chain[:at])[chain[at]] for at in range(len(chain))), start=Fraction(1))
        for chain in chains
    }


def averages_below_nodes(rule: Any, draft: Any, lookahead: int) -> bool:
    """Whether Σ_s d(s|v) F_s = F_v at every node: what makes leaf and priority i.i.d. with a uniform priority."""
    for path in [path for depth in range(lookahead) for path in drafted_chains(draft, depth)]:
        children = {s: rule.priority((*path, s)) for s, mass in enumerate(draft(path)) if mass > 0}
        for at in {end for law in children.values() for end in (*law.low, *law.high)}:
            below = sum((draft(path)[s] * reached(law, at) for s, law in children.items()), Fraction(0))
            if below != reached(rule.priority(path), at):
                return False
    return True


@RULES
@settings(max_examples=30)
@given(st.data(), st.sampled_from([(2, 2, 2), (2, 2, 3), (3, 2, 2), (2, 3, 2)]))
def test_priorities_select_the_law_that_they_state(rule: Any, data: st.DataObject, shape: tuple[int, int, int]) -> None:
    size, lookahead, k = shape
    target, draft = data.draw(model_pairs(size))
    assert states_its_law(rule(Conditionals(target, draft, ()), k), drafted_chains(draft, lookahead), k)


@RULES
@settings(max_examples=30)
@given(st.data(), st.sampled_from([(2, 3), (3, 2), (4, 2)]), st.integers(1, 3))
def test_priorities_below_a_node_average_to_its_own(
    rule: Any, data: st.DataObject, shape: tuple[int, int], k: int
) -> None:
    size, lookahead = shape
    target, draft = data.draw(model_pairs(size, end=False))
    assert averages_below_nodes(rule(Conditionals(target, draft, ()), k), draft, lookahead)


class _ForAnotherNumber:
    """The control: the priorities of one rule, with the law that the rule has for one chain more."""

    def __init__(self, kind: Any, laws: Conditionals, k: int) -> None:
        self.priority, self.law = kind(laws, k).priority, kind(laws, k + 1).law


class _OtherSecondToken:
    """The control: a chain has the priority of the chain whose second token is the other one."""

    def __init__(self, kind: Any, laws: Conditionals, k: int) -> None:
        rule = kind(laws, k)
        self.priority = lambda path: rule.priority((*path[:1], *(1 - token for token in path[1:])))


@RULES
def test_a_law_for_another_number_of_chains_and_one_priority_for_all_are_rejected(rule: Any) -> None:
    target = Rows((exact(["1/2", "1/2"]), exact(["1/8", "7/8"]), exact(["5/8", "3/8"])))
    draft = Rows((exact(["3/4", "1/4"]), exact(["1/3", "2/3"]), exact(["1/2", "1/2"])))
    laws, chains = Conditionals(target, draft, ()), drafted_chains(draft, 2)
    assert states_its_law(rule(laws, 2), chains, 2)
    assert not states_its_law(_ForAnotherNumber(rule, laws, 2), chains, 2)
    assert averages_below_nodes(rule(laws, 2), draft, 2)
    assert not averages_below_nodes(_OtherSecondToken(rule, laws, 2), draft, 2)
