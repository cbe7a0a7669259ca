"""Claims of optimality, held against the program's optimum on 300 random pairs of models each: exact counts.

Whole weights 0 to 9, a law of its own after every prefix; two tokens, two levels, two paths. Counted is how
often a rule is below the optimum; above it nothing may be.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from proofs_tests.block_level.models import weighted
from spec_math.block_level import block, hierarchical, length, optimum, planned_tree, stochastic_beam, traversal
from spec_math.block_level.method import CHAINS
from spec_math.block_level.methods import METHODS
from spec_math.verdict import Bracket

PAIRS = 300


def most(verdict: Any) -> Fraction:
    return verdict.upper if isinstance(verdict, Bracket) else verdict.tokens_per_call


def test_rules_for_independent_chains_against_the_optimum_of_any_verifier() -> None:
    """Papers claim the optimum for i.i.d. drafts: no rule here has it on all pairs, chain priorities most often."""
    below: Counter[str] = Counter()
    rules = [method for method in METHODS if method.drafts is CHAINS and not method.one_chain]
    for number in range(PAIRS):
        pair = weighted(f"t{number}"), weighted(f"d{number}")
        best = most(optimum.tokens_per_call(*pair, (), 2, 2))
        for method in rules:
            held = method.expected(*pair, (), 2, 2)
            assert held <= best
            below[method.name] += held < best
    assert below == COUNTS


COUNTS = {
    "recursive rejection at every node": 273,
    "K-SEQ at every node": 273,
    "optimal plan at every node": 194,
    "greedy multi-path": 142,
    "chain priorities": 80,
}


def test_hierarchical_verification_accepts_as_much_as_a_block() -> None:
    """HSD claims to accept more than a block, which is the optimum of one chain: it accepts as much on all of them."""
    for number in range(PAIRS):
        pair = weighted(f"t{number}"), weighted(f"d{number}")
        walked = length.expected(lambda coin, prefix, pair=pair: hierarchical.generate(coin, *pair, prefix, 2), ())
        assert walked == block.expected(*pair, (), 2)


def test_rules_for_distinct_first_tokens_against_the_optimum_of_the_tree() -> None:
    """Plans scaled by what was kept, as UniVer's abstract has it, and traversal: widths (2, 1), both tokens drafted."""
    below: Counter[str] = Counter()
    for number in range(PAIRS):
        pair = weighted(f"t{number}"), weighted(f"d{number}")
        best = most(optimum.tokens_per_call_of_tree(*pair, (), (2, 1)))
        planned = planned_tree.expected(*pair, (), (2, 1))
        walked = length.expected(lambda coin, prefix, pair=pair: traversal.generate(coin, *pair, prefix, (2, 1)), ())
        assert max(planned, walked) <= best
        below["planned"] += planned < best
        below["traversal"] += walked < best
        below["planned behind traversal"] += planned < walked
        below["traversal behind planned"] += walked < planned
    assert below == {
        "planned": 202,
        "traversal": 189,
        "planned behind traversal": 161,
        "traversal behind planned": 0,
    }


def test_stochastic_beams_by_traversal_are_ahead_of_recursive_rejection_but_for_one_pair() -> None:
    """The rejection that RSD-S uses against traversal of the same beams, width 2, two levels."""
    found: Counter[str] = Counter()
    for number in range(PAIRS):
        pair = weighted(f"t{number}"), weighted(f"d{number}")
        ours = stochastic_beam.expected(*pair, (), 2, 2)
        other = length.expected(
            lambda coin, prefix, pair=pair: stochastic_beam.generate(coin, *pair, prefix, 2, 2, traversal.verify), ()
        )
        found["ahead"] += other > ours
        found["behind"] += other < ours
    assert found == {"ahead": 160, "behind": 1}
