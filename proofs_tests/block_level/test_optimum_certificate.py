"""The certificate of a block's optimum: a lossless program reaches it, and what is not allowed is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from proofs_tests.block_level.tables import HALF, LEVEL_DRAFT, LEVEL_TARGET, ONE, Path, best, seeded
from proofs_tests.token_level.coupling_verifier import verifier_from_coupling
from spec_math import check_lossless_block
from spec_math.arrays import Array, exact
from spec_math.block_level import length, optimum, selected_chain
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.leaf_program import LeafProgram, prefix_tree
from spec_math.block_level.optimum import Certificate, OptimalLength
from spec_math.token_level import draft_law, transport


class ByCertificate:
    """The optimum as a program: a chain is selected by the transport of drafted chains to the certificate's law."""

    def __init__(self, laws: Conditionals, lookahead: int, k: int) -> None:
        self.laws, self.k = laws, k
        claim = optimum.chains_certificate(laws.target, laws.draft, (), lookahead, k)
        self.claim, self.chains = claim, [claim.tree.paths[leaf] for leaf in claim.tree.leaves]
        self.selection, self.drafted = exact(list(claim.selection)), claim.tree.draft[claim.tree.leaves]
        coupling = transport.solve(self.selection, draft_law.iid(self.drafted, k))
        self.choose = verifier_from_coupling(coupling)

    def law(self, path: Path) -> Array:
        masses = exact([0] * self.laws.size)
        for chain, mass in zip(self.chains, self.selection, strict=True):
            if chain[: len(path)] == path:
                masses[chain[len(path)]] += mass
        return masses / masses.sum()

    def select(self, coin: Any, chains: Any) -> Path:
        drafts = tuple(self.chains.index(chain) for chain in chains)
        return self.chains[self.choose(coin, drafts, self.selection, self.drafted)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [2, 3])
def test_optimum_is_reached_by_a_lossless_program(seed: int, k: int) -> None:
    target, draft = seeded(2 * seed, 2), seeded(2 * seed + 1, 2)
    rule = ByCertificate(Conditionals(target, draft, ()), 2, k)
    known: dict[Path, ByCertificate] = {}

    def generate(coin: Any, prefix: Path) -> Path:
        if prefix not in known:
            known[prefix] = ByCertificate(Conditionals(target, draft, prefix), 2, k)
        return selected_chain.generate(coin, known[prefix], 2)

    verdict = check_lossless_block(generate, target, 3)
    assert verdict, str(verdict)
    assert length.expected(generate, ()) == rule.claim.lower == 1 + best(target, draft, 2, k)


def a_certificate() -> Certificate:
    return optimum.chains_certificate(LEVEL_TARGET, LEVEL_DRAFT, (), 2, 2)


def test_certificate_refuses_a_selection_that_drafts_do_not_allow() -> None:
    claim = a_certificate()
    size = len(claim.selection)
    for leaf in range(size):
        wrong = replace(claim, selection=tuple(Fraction(int(place == leaf)) for place in range(size)))
        assert not wrong.check()
    assert not replace(claim, selection=tuple(mass / 2 for mass in claim.selection)).check()
    assert not replace(claim, selection=claim.selection[1:]).check()


def test_certificate_of_a_tree_refuses_a_selection_that_drafts_do_not_allow() -> None:
    verdict = optimum.tokens_per_call_of_tree(LEVEL_TARGET, LEVEL_DRAFT, (), (1, 1))
    assert isinstance(verdict, OptimalLength)
    claim = verdict.certificate
    assert claim.selection == (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))
    for law in ([HALF, HALF, 0], [1, 0, 0], ["1/3", "1/2", "1/6"]):
        assert not replace(claim, selection=tuple(exact(law))).check()


@pytest.mark.parametrize("seed", range(10))
def test_stopping_is_the_best_of_all_places_to_stop(seed: int) -> None:
    """Against every set of prefixes that holds the prefixes of its members: where a walk by the target goes on."""
    tree = prefix_tree(Conditionals(seeded(2 * seed, 2), seeded(2 * seed + 1, 2), ()), 2)
    prices = [Fraction(int(price), 8) for price in np.random.default_rng(seed).integers(0, 17, len(tree))]
    best_gain = Fraction(0)
    for chosen in product([False, True], repeat=len(tree) - 1):
        goes_on = [True, *chosen]
        if all(goes_on[tree.parents[node]] for node in range(1, len(tree)) if goes_on[node]):
            reached, gain = [ONE], Fraction(0)
            for node in range(1, len(tree)):
                reached.append(reached[tree.parents[node]] * tree.target[node])
                gain += reached[node] * (1 - prices[node]) if goes_on[node] else 0
            best_gain = max(best_gain, gain)
    assert tree.stopping(prices) == best_gain


def test_certificate_refuses_a_selection_that_lifts_the_value() -> None:
    """Mass moved from the leaf that is drafted most to the one worth most claims more than can be had."""
    claim = a_certificate()
    law = list(claim.selection)
    lifted = 0
    for source, sink in product(range(len(law)), repeat=2):
        moved = law.copy()
        moved[source], moved[sink] = moved[source] - law[source], moved[sink] + law[source]
        wrong = replace(claim, selection=tuple(moved))
        if wrong.lower > claim.upper:
            lifted += 1
            assert not wrong.check()
    assert lifted > 0


def test_certificate_refuses_negative_prices_and_any_others_are_a_bound() -> None:
    claim = a_certificate()
    nothing = tuple(Fraction(0) for _ in claim.prices)
    # Without prices the target walks as far as drafts can go: 2, and 1 more where it began with 1 (token 0 follows).
    assert replace(claim, prices=nothing).upper == Fraction(5, 2)
    assert not replace(claim, prices=tuple(price - 1 for price in claim.prices)).check()
    for node in range(len(nothing)):
        wrong = replace(claim, prices=tuple(Fraction(-1 if place == node else 3) for place in range(len(nothing))))
        assert wrong.lower <= wrong.upper
        assert not wrong.check()
    rng = np.random.default_rng(0)
    for _ in range(50):
        prices = tuple(Fraction(int(price), 8) for price in rng.integers(0, 25, len(nothing)))
        assert replace(claim, prices=prices).upper >= Fraction(43, 18)


def test_a_wrong_vertex_is_not_taken_for_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices in Fractions that leave a gap, and a selection that no drafts allow: the floats show it instead."""
    models = seeded(4, 2), seeded(5, 2)
    honest = optimum.chains_certificate(*models, (), 2, 2)
    assert honest.lower == honest.upper

    def found_with(name: str, vertex: list[Fraction] | Array) -> Certificate:
        def wrong(_: LeafProgram) -> Any:
            return vertex

        with monkeypatch.context() as patch:
            patch.setattr(LeafProgram, name, wrong)
            return optimum.chains_certificate(*models, (), 2, 2)

    dear = [Fraction(1)] * len(honest.tree)
    found, free = found_with("exact_prices", dear), replace(honest, prices=tuple(dear))
    assert found.check()
    assert free.check()
    assert found.upper - found.lower < Fraction(1, 10**6) < free.upper - free.lower
    # A leaf that has more than is kept of it: the ends agree, and the masses sum to more than 1.
    places = range(len(honest.selection))
    raised = [tuple(mass + (at == more) for at, mass in enumerate(honest.selection)) for more in places]
    forbidden = next(law for law in raised if replace(honest, selection=law).lower == honest.lower)
    found = found_with("exact_selection", exact(list(forbidden)))
    assert found.check()
    assert found.selection != forbidden
