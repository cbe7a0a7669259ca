"""Claims of chosen trees, held against the best of all trees, on 300 random pairs of models each: exact counts.

Whole weights 0 to 9, a law of its own after every prefix; three nodes on two tokens, at most three levels. The best
tree is found among all trees, a node at a time (`test_likeliest_tree.trees`), by the target's masses.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from proofs_tests.block_level.models import weighted
from proofs_tests.block_level.tree_worth import trees, worth
from spec_math.block_level.likeliest_tree import of_draft, of_ranks, of_target
from spec_math.block_level.target_only import expected

PAIRS, NODES, DEPTH = 300, 3, 3

ALL = sorted(map(sorted, trees(2, NODES, DEPTH)))
"""Every tree of at most three nodes on two tokens."""


def best(model: Any) -> Fraction:
    return max(worth(tree, model) for tree in ALL)


def test_which_chosen_trees_are_the_best_of_all_trees() -> None:
    """The likeliest paths of the target are, always; the draft's, a beam's and one shape for all are most often not."""
    below: Counter[str] = Counter()
    for number in range(PAIRS):
        target, draft = weighted(f"t{number}"), weighted(f"d{number}")
        most = best(target)
        rules = {
            "the target's likeliest": of_target(NODES, DEPTH),
            "OPT-Tree": of_draft(NODES, DEPTH),
            "EAGLE-2, width 1": of_draft(NODES, DEPTH, width=1),
            "Sequoia, rates 3/4 and 1/4": of_ranks([Fraction(3, 4), Fraction(1, 4)], NODES, DEPTH),
        }
        for name, rule in rules.items():
            held = expected(target, draft, (), rule)
            assert held <= most
            below[name] += held < most
    assert below == COUNTS


COUNTS = {"the target's likeliest": 0, "OPT-Tree": 284, "EAGLE-2, width 1": 285, "Sequoia, rates 3/4 and 1/4": 285}
"""On how many of 300 pairs a rule's tree is below the best one.

OPT-Tree's is the best by the draft's masses, and the draft is unrelated to the target here."""


def test_the_drafters_tree_is_the_best_where_the_draft_is_the_target() -> None:
    """OPT-Tree's claim, the largest expected length by the draft's own masses: it holds on all of them.

    EAGLE-2's beam of one path and Sequoia's shape for all contexts are held to the same law.
    """
    below: Counter[str] = Counter()
    for number in range(PAIRS):
        draft = weighted(f"d{number}")
        most = best(draft)
        below["OPT-Tree"] += expected(draft, draft, (), of_draft(NODES, DEPTH)) < most
        below["EAGLE-2, width 1"] += expected(draft, draft, (), of_draft(NODES, DEPTH, width=1)) < most
        below["EAGLE-2, width 2"] += expected(draft, draft, (), of_draft(NODES, DEPTH, width=2)) < most
        rates = of_ranks([Fraction(3, 4), Fraction(1, 4)], NODES, DEPTH)
        below["Sequoia"] += expected(draft, draft, (), rates) < most
    assert below == OF_ITS_OWN


OF_ITS_OWN = {"OPT-Tree": 0, "EAGLE-2, width 1": 159, "EAGLE-2, width 2": 0, "Sequoia": 159}
