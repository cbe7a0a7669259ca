"""Each of the four ways from a vertex in floats to a certificate in Fractions, without the help of the others."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from proofs_tests.block_level.models import Rows
from spec_math.arrays import exact
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.leaf_program import IndependentChains, LeafProgram, prefix_tree
from spec_math.block_level.optimum import Certificate

MODELS = {
    "bernoulli": (Rows((exact(["1/3", "2/3"]),)), Rows((exact(["2/3", "1/3"]),))),
    "with context": (
        Rows((exact(["1/4", "3/4"]), exact(["5/8", "3/8"]))),
        Rows((exact(["1/2", "1/2"]), exact(["1/7", "6/7"]))),
    ),
    "three tokens": (Rows((exact(["1/2", "1/3", "1/6"]),)), Rows((exact(["1/5", "1/5", "3/5"]),))),
}


def solved(name: str, lookahead: int, k: int) -> tuple[Any, Any, LeafProgram]:
    tree = prefix_tree(Conditionals(*MODELS[name], ()), lookahead)
    drafts = IndependentChains(tree.draft[tree.leaves], k)
    program = LeafProgram(tree, drafts)
    program.solve()
    return tree, drafts, program


@pytest.mark.parametrize(("name", "lookahead", "k"), [*product(MODELS, (1, 2), (1, 2)), ("bernoulli", 3, 2)])
def test_the_exact_vertex_alone_leaves_no_gap(name: str, lookahead: int, k: int) -> None:
    tree, drafts, program = solved(name, lookahead, k)
    selection, prices = program.exact_selection(), program.exact_prices()
    assert selection is not None
    assert prices is not None
    claim = Certificate(tree, drafts, tuple(selection), tuple(prices))
    assert claim.check()
    assert claim.lower == claim.upper


@pytest.mark.parametrize(("name", "lookahead", "k"), [*product(MODELS, (1, 2), (1, 2)), ("bernoulli", 3, 2)])
def test_rounded_numbers_alone_leave_a_gap_of_their_rounding(name: str, lookahead: int, k: int) -> None:
    """The solver keeps to 1e-10; prices are rounded to 1e-9, the selection is made smaller by 2^-40 at least."""
    tree, drafts, program = solved(name, lookahead, k)
    selection, prices = program.rounded_selection(), program.rounded_prices()
    assert selection is not None
    claim = Certificate(tree, drafts, tuple(selection), tuple(prices))
    assert claim.check()
    assert 0 <= claim.upper - claim.lower <= 1e-7
