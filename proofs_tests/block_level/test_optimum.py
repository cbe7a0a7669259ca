"""What any verifier can reach: the reduced program against the full one, certificates, methods below the optimum."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from proofs_tests.block_level.models import Rows, model_pairs
from proofs_tests.strategies import pairs
from spec_math import check_lossless_block
from spec_math.arrays import Array, exact, proportional_to
from spec_math.block_level import block, chain_priorities, comparison, length, optimum, selected_chain
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.optimum import Certificate
from spec_math.block_level.prefix_tree import prefix_tree
from spec_math.token_level import draft_law, optimal, transport
from spec_math.verdict import Optimal

Path = tuple[int, ...]
HALF, ONE = Fraction(1, 2), Fraction(1)


class Table:
    """A model by its rows, the same law after every prefix not listed."""

    end = None

    def __init__(self, rows: dict[Path, list[Any]]) -> None:
        self.rows = {prefix: exact(row) for prefix, row in rows.items()}

    def __call__(self, prefix: Path) -> Array:
        return self.rows[prefix]


# Oracle 1: every joint law of (chains, accepted node, added token), as a linear program in floats.


def drafted_chains(draft: Any, lookahead: int) -> dict[Path, Fraction]:
    chains: dict[Path, Fraction] = {(): ONE}
    for _ in range(lookahead):
        chains = {
            (*path, token): mass * share
            for path, mass in chains.items()
            for token, share in enumerate(draft(path))
            if share > 0
        }
    return chains


def target_mass(target: Any, text: Path, start: int = 0) -> Fraction:
    return prod((target(text[:at])[text[at]] for at in range(start, len(text))), start=ONE)


def full_program(target: Any, draft: Any, lookahead: int, k: int) -> float:
    size = len(target(()))
    chains = drafted_chains(draft, lookahead)
    texts = list(product(range(size), repeat=lookahead))
    drafts = list(product(chains, repeat=k))
    columns: list[tuple[int, Path, Path]] = []
    for at, tuples in enumerate(drafts):
        nodes = {chain[:length] for chain in tuples for length in range(lookahead + 1)}
        for node in sorted(nodes):
            emitted = [node] if len(node) == lookahead else [(*node, token) for token in range(size)]
            columns += [(at, node, block) for block in emitted]
    rows = np.zeros((len(drafts) + len(texts), len(columns)))
    for column, (at, _, emitted) in enumerate(columns):
        rows[at, column] = 1
        for place, text in enumerate(texts):
            if text[: len(emitted)] == emitted:
                rows[len(drafts) + place, column] = target_mass(target, text, len(emitted))
    masses = [float(prod((chains[chain] for chain in tuples), start=ONE)) for tuples in drafts]
    wanted = [float(target_mass(target, text)) for text in texts]
    solution: Any = linprog([-len(node) for _, node, _ in columns], A_eq=rows, b_eq=masses + wanted, method="highs")
    assert solution.status == 0
    return -solution.fun


# Oracle 2: the program over M alone, one row for every antichain of prefixes.


def antichains(node: Path, size: int, lookahead: int) -> list[tuple[Path, ...]]:
    """All antichains at or below a node, the empty one included."""
    if len(node) == lookahead:
        return [(), (node,)]
    below = [antichains((*node, token), size, lookahead) for token in range(size)]
    return [(node,), *(sum(choice, ()) for choice in product(*below))]


def antichain_program(target: Any, draft: Any, lookahead: int, k: int) -> float:
    size = len(target(()))
    nodes = [path for depth in range(1, lookahead + 1) for path in product(range(size), repeat=depth)]
    index = {node: at for at, node in enumerate(nodes)}
    rows, limits = [], []
    for node in nodes:
        row = np.zeros(len(nodes))
        row[index[node]] = 1
        t = float(target(node[:-1])[node[-1]])
        if len(node) > 1:
            row[index[node[:-1]]] = -t
        rows.append(row)
        limits.append(t if len(node) == 1 else 0.0)
    for antichain in antichains((), size, lookahead):
        if antichain != ((),):
            row = np.zeros(len(nodes))
            row[[index[node] for node in antichain]] = 1
            rows.append(row)
            mass = sum(float(target_mass(draft, node)) for node in antichain)
            limits.append(1 - (1 - min(mass, 1.0)) ** k)
    solution: Any = linprog([-1.0] * len(nodes), A_ub=np.array(rows), b_ub=limits, method="highs")
    assert solution.status == 0
    return -solution.fun


@st.composite
def whole_pairs(draw: st.DrawFn, size: int) -> tuple[Rows, Rows]:
    """A target and a draft from whole weights 0 to 6, with or without an end token."""
    number = draw(st.sampled_from([1, 5, 7]))
    row = st.lists(st.integers(0, 6), min_size=size, max_size=size).filter(any).map(proportional_to)
    end = size - 1 if draw(st.booleans()) else None
    target, draft = (tuple(draw(st.lists(row, min_size=number, max_size=number))) for _ in range(2))
    return Rows(target, end), Rows(draft, end)


@settings(max_examples=15)
@given(st.data(), st.sampled_from([(2, 1, 2), (2, 2, 1), (2, 2, 2), (2, 2, 3), (3, 2, 1)]))
def test_reduced_program_has_the_value_of_the_full_one(data: st.DataObject, shape: tuple[int, int, int]) -> None:
    size, lookahead, k = shape
    target, draft = (replace(model, end=None) for model in data.draw(whole_pairs(size)))
    ours = best(target, draft, lookahead, k)
    assert abs(full_program(target, draft, lookahead, k) - ours) <= 1e-9
    assert abs(antichain_program(target, draft, lookahead, k) - ours) <= 1e-9


def best(target: Any, draft: Any, lookahead: int, k: int) -> Fraction:
    verdict = optimum.chains(target, draft, (), lookahead, k)
    assert isinstance(verdict, Optimal), str(verdict)
    return verdict.acceptance


@settings(max_examples=60)
@given(st.data(), st.sampled_from([(2, 2, 2), (2, 2, 3), (3, 2, 2), (3, 2, 3), (2, 3, 2), (4, 2, 2)]))
def test_duality_gap_is_zero_and_no_method_exceeds_the_optimum(
    data: st.DataObject, shape: tuple[int, int, int]
) -> None:
    size, lookahead, k = shape
    target, draft = data.draw(whole_pairs(size))
    accepted, verdict = comparison.of_chains(target, draft, (), lookahead, k)
    assert isinstance(verdict, Optimal), str(verdict)
    assert verdict.certificate.check()
    assert max(accepted.values()) <= verdict.acceptance <= optimum.level_bound(target, draft, (), lookahead, k)


@settings(max_examples=25)
@given(st.data(), st.sampled_from([(2, 2, 2), (3, 2, 2), (2, 3, 3)]))
def test_bracket_is_narrow_where_masses_differ_by_2_to_the_60(data: st.DataObject, shape: tuple[int, int, int]) -> None:
    size, lookahead, k = shape
    target, draft = data.draw(model_pairs(size))
    claim = optimum.chains_certificate(target, draft, (), lookahead, k)
    assert claim.check()
    assert claim.upper - claim.lower <= Fraction(1, 10**8)
    assert chain_priorities.expected(target, draft, (), lookahead, k) - 1 <= claim.upper


@settings(max_examples=30)
@given(st.data(), st.sampled_from([(2, (2,)), (2, (2, 1)), (2, (1, 2)), (3, (2, 1)), (3, (2, 2)), (3, (3, 1))]))
def test_no_method_exceeds_the_optimum_of_a_tree(data: st.DataObject, shape: tuple[int, tuple[int, ...]]) -> None:
    size, widths = shape
    target, draft = data.draw(whole_pairs(size))
    accepted, verdict = comparison.of_trees(target, draft, (), widths)
    assert isinstance(verdict, Optimal), str(verdict)
    assert verdict.certificate.check()
    assert max(accepted.values()) <= verdict.acceptance


@settings(max_examples=30)
@given(pairs(4), st.integers(1, 4))
def test_optimum_of_one_level_is_that_of_one_position(pair: tuple[Array, Array], k: int) -> None:
    target, draft = pair
    claim = optimum.chains_certificate(lambda _: target, lambda _: draft, (), 1, k)
    wanted = optimal.acceptance(target, draft, k)
    assert claim.lower <= wanted <= claim.upper <= claim.lower + Fraction(1, 10**8)
    if min(mass for mass in (*target, *draft) if mass > 0) > Fraction(1, 10**6):
        assert claim.lower == wanted


@settings(max_examples=30)
@given(st.data(), st.sampled_from([(2, 2), (2, 3), (3, 2)]))
def test_optimum_of_one_chain_is_block_verification(data: st.DataObject, shape: tuple[int, int]) -> None:
    size, lookahead = shape
    target, draft = data.draw(whole_pairs(size))
    assert best(target, draft, lookahead, 1) == block.expected(target, draft, (), lookahead) - 1


def seeded(seed: int, size: int) -> Table:
    """Whole weights 0 to 8, a law for each of the prefixes of up to 3 tokens."""
    rng = np.random.default_rng(seed)
    rows: dict[Path, list[Any]] = {}
    for path in [path for depth in range(4) for path in product(range(size), repeat=depth)]:
        weights = rng.integers(0, 9, size).tolist()
        rows[path] = proportional_to(weights if any(weights) else [1] * size).tolist()
    return Table(rows)


@pytest.mark.parametrize(("size", "lookahead", "k"), [(2, 2, 2), (2, 3, 2), (3, 2, 2), (3, 2, 3), (3, 3, 2)])
def test_duality_gap_is_zero_on_seeded_models(size: int, lookahead: int, k: int) -> None:
    for seed in range(12):
        target, draft = seeded(2 * seed, size), seeded(2 * seed + 1, size)
        assert chain_priorities.expected(target, draft, (), lookahead, k) - 1 <= best(target, draft, lookahead, k)


class ByCertificate:
    """The optimum as a program: a chain is selected by the transport of drafted chains to the certificate's law."""

    def __init__(self, laws: Conditionals, lookahead: int, k: int) -> None:
        self.laws, self.k = laws, k
        claim = optimum.chains_certificate(laws.target, laws.draft, (), lookahead, k)
        self.claim, self.chains = claim, [claim.tree.paths[leaf] for leaf in claim.tree.leaves]
        self.selection, self.drafted = exact(list(claim.selection)), claim.tree.draft[claim.tree.leaves]
        coupling = transport.solve(self.selection, draft_law.iid(self.drafted, k))
        self.choose = transport.disintegrated(coupling)

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
    assert length.expected(generate, ()) - 1 == rule.claim.lower == best(target, draft, 2, k)


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
    verdict = optimum.trees(LEVEL_TARGET, LEVEL_DRAFT, (), (1, 1))
    assert isinstance(verdict, Optimal)
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


def test_drafts_that_end_the_text_are_worth_nothing() -> None:
    ends = Rows((exact([0, 1]),), 1)
    assert optimum.level_bound(ends, ends, (), 2, 2) == best(ends, ends, 2, 2) == 0


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
    # Without prices the target walks as far as drafts can go: 1, and 1 more where it began with 1 (token 0 follows).
    assert replace(claim, prices=nothing).upper == Fraction(3, 2)
    assert not replace(claim, prices=tuple(price - 1 for price in claim.prices)).check()
    for node in range(len(nothing)):
        wrong = replace(claim, prices=tuple(Fraction(-1 if place == node else 3) for place in range(len(nothing))))
        assert wrong.lower <= wrong.upper
        assert not wrong.check()
    rng = np.random.default_rng(0)
    for _ in range(50):
        prices = tuple(Fraction(int(price), 8) for price in rng.integers(0, 25, len(nothing)))
        assert replace(claim, prices=prices).upper >= Fraction(25, 18)


# The levels of a block cannot all be at their best at once: 25/18 in all, where level 1 can have 1 and level 2 1/2.
LEVEL_TARGET = Table({(): [HALF, HALF], (0,): [1, 0], (1,): [1, 0]})
LEVEL_DRAFT = Table({(): ["1/3", "2/3"], (0,): [0, 1], (1,): [HALF, HALF]})


def test_levels_are_not_at_their_best_at_once() -> None:
    claim = optimum.chains_certificate(LEVEL_TARGET, LEVEL_DRAFT, (), 2, 2)
    assert claim.check()
    assert claim.lower == claim.upper == Fraction(25, 18)
    levels = [best_at_level(claim, level) for level in (1, 2)]
    assert levels == [1, HALF]
    assert claim.upper < sum(levels)


def best_at_level(claim: Certificate, level: int) -> Fraction:
    counted = np.array([int(len(path) == level) for path in claim.tree.paths])
    alone = optimum.certified(replace(claim.tree, counted=counted), claim.drafts)
    assert alone.check()
    assert alone.lower == alone.upper
    return alone.lower


def test_levels_of_one_chain_are_at_their_best_at_once() -> None:
    for seed in range(10):
        target, draft = seeded(2 * seed, 3), seeded(2 * seed + 1, 3)
        claim = optimum.chains_certificate(target, draft, (), 2, 1)
        assert claim.upper == best_at_level(claim, 1) + best_at_level(claim, 2)


# No verifier that sees the conditionals at drafted nodes alone is optimal for every model.
BLIND_TARGET = Table({(): [HALF, HALF, 0], (0,): [0, 1, 0], (1,): [HALF, HALF, 0], (2,): [1, 0, 0]})
BLIND_DRAFTS = [
    Table({(): ["1/4", "1/4", HALF], (0,): row, (1,): [0, HALF, HALF], (2,): ["1/3", "1/3", "1/3"]})
    for row in ([0, "3/4", "1/4"], ["2/3", 0, "1/3"])
]


TEXTS = list(product(range(3), repeat=2))


def test_no_verifier_that_sees_drafted_conditionals_alone_is_optimal_for_every_model() -> None:
    optima = [best(BLIND_TARGET, draft, 2, 2) for draft in BLIND_DRAFTS]
    assert optima == [Fraction(323, 256), Fraction(31, 32)]
    reached = [chain_priorities.expected(BLIND_TARGET, draft, (), 2, 2) - 1 for draft in BLIND_DRAFTS]
    bound = shared_bound(shared_prices())
    assert sum(reached) <= bound == Fraction(559, 256)
    assert bound < sum(optima) == Fraction(571, 256)


def drafted_pairs(draft: Any) -> dict[tuple[Path, Path], Fraction]:
    chains = drafted_chains(draft, 2)
    return {(a, b): chains[a] * chains[b] for a, b in product(chains, repeat=2)}


def looks_the_same(drafts: tuple[Path, Path]) -> bool:
    """Whether the node (0,) is not drafted: its conditional is all that the models differ in."""
    return all(chain[0] != 0 for chain in drafts)


def situations() -> list[tuple[tuple[int, ...], tuple[Path, Path], Fraction]]:
    """What a verifier can tell apart: the models it may be in, the drafted chains, and their mass in each of them."""
    first, second = (drafted_pairs(draft) for draft in BLIND_DRAFTS)
    both = [((0, 1), drafts, mass) for drafts, mass in first.items() if looks_the_same(drafts)]
    assert all(second[drafts] == mass for _, drafts, mass in both)
    alone = [((0,), drafts, mass) for drafts, mass in first.items() if not looks_the_same(drafts)]
    return both + alone + [((1,), drafts, mass) for drafts, mass in second.items() if not looks_the_same(drafts)]


def answers(drafts: tuple[Path, Path]) -> list[tuple[int, dict[int, Fraction]]]:
    """All answers to drafted chains: how many tokens are accepted, and the law of the text once the target goes on."""
    result: list[tuple[int, dict[int, Fraction]]] = []
    for node in sorted({chain[:size] for chain in drafts for size in range(3)}):
        for emitted in [node] if len(node) == 2 else [(*node, token) for token in range(3)]:
            texts = {
                at: target_mass(BLIND_TARGET, text, len(emitted))
                for at, text in enumerate(TEXTS)
                if text[: len(emitted)] == emitted
            }
            result.append((len(node), texts))
    return result


def shared_bound(prices: list[list[Fraction]]) -> Fraction:
    """Weak duality for one kernel of answers: where the models look the same, the answer has to serve both.

    Any prices of texts, one list a model, bound the sum of both means: each text is bought at its target mass, and in
    each situation the best answer is worth its accepted tokens less the prices of its texts, in all models it is in.
    """
    total = sum(
        (price * target_mass(BLIND_TARGET, text) for model in prices for price, text in zip(model, TEXTS, strict=True)),
        Fraction(0),
    )
    for models, drafts, mass in situations():
        total += mass * max(
            sum(accepted - sum(prices[m][at] * share for at, share in texts.items()) for m in models)
            for accepted, texts in answers(drafts)
        )
    return total


def shared_prices() -> list[list[Fraction]]:
    """The prices that make the bound least: multipliers of a linear program in floats, rounded."""
    columns = [
        (row, models, answer) for row, (models, drafts, _) in enumerate(situations()) for answer in answers(drafts)
    ]
    masses = [float(mass) for _, _, mass in situations()]
    matrix = np.zeros((len(masses) + 18, len(columns)))
    for column, (row, models, (_, texts)) in enumerate(columns):
        matrix[row, column] = 1.0
        for m, (at, share) in product(models, texts.items()):
            matrix[len(masses) + 9 * m + at, column] = float(share)
    wanted = [float(target_mass(BLIND_TARGET, text)) for text in TEXTS]
    gains = [-float(accepted * len(models)) for _, models, (accepted, _) in columns]
    solution: Any = linprog(gains, A_eq=matrix, b_eq=masses + wanted + wanted, method="highs-ds")
    assert solution.status == 0
    multipliers = [-Fraction(price).limit_denominator(1000) for price in solution.eqlin.marginals[len(masses) :]]
    return [multipliers[:9], multipliers[9:]]
