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

from proofs_tests.block_level import methods_on_trees
from proofs_tests.block_level.methods_on_trees import of_chains
from proofs_tests.block_level.models import Rows, model_pairs
from proofs_tests.block_level.tables import ONE, Path, best, drafted_chains, seeded, target_mass
from proofs_tests.strategies import pairs
from spec_math.arrays import Array, exact, proportional_to
from spec_math.block_level import block, chain_priorities, optimum
from spec_math.block_level.optimum import OptimalLength
from spec_math.token_level import optimal
from spec_math.verdict import Bracket


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


@settings(max_examples=60)
@given(st.data(), st.sampled_from([(2, 2, 2), (2, 2, 3), (3, 2, 2), (3, 2, 3), (2, 3, 2), (4, 2, 2)]))
def test_duality_gap_is_zero_and_no_method_exceeds_the_optimum(
    data: st.DataObject, shape: tuple[int, int, int]
) -> None:
    size, lookahead, k = shape
    target, draft = data.draw(whole_pairs(size))
    tokens, verdict = of_chains(target, draft, (), lookahead, k)
    assert isinstance(verdict, OptimalLength), str(verdict)
    assert verdict.certificate.check()
    bound = optimum.level_bound(target, draft, (), lookahead, k)
    assert max(tokens.values()) <= verdict.tokens_per_call <= bound


@settings(max_examples=25)
@given(st.data(), st.sampled_from([(2, 2, 2), (3, 2, 2), (2, 3, 3)]))
def test_bracket_is_narrow_where_masses_differ_by_2_to_the_60(data: st.DataObject, shape: tuple[int, int, int]) -> None:
    size, lookahead, k = shape
    target, draft = data.draw(model_pairs(size))
    claim = optimum.chains_certificate(target, draft, (), lookahead, k)
    assert claim.check()
    assert claim.upper - claim.lower <= Fraction(1, 10**8)
    assert chain_priorities.expected(target, draft, (), lookahead, k) <= claim.upper


def test_ends_that_differ_are_not_called_the_optimum() -> None:
    """A mass of 10^-30 is lost in the solver's floats: what is left is a bracket."""
    tiny, half = Fraction(1, 10**30), Fraction(1, 2)
    target, draft = (lambda _: [half, half]), (lambda _: [tiny, 1 - tiny])
    found = optimum.tokens_per_call(target, draft, (), 2, 2)
    assert isinstance(found, Bracket)
    assert found.lower < found.upper
    assert chain_priorities.expected(target, draft, (), 2, 2) <= found.upper


@settings(max_examples=30)
@given(st.data(), st.sampled_from([(2, (2,)), (2, (2, 1)), (2, (1, 2)), (3, (2, 1)), (3, (2, 2)), (3, (3, 1))]))
def test_no_method_exceeds_the_optimum_of_a_tree(data: st.DataObject, shape: tuple[int, tuple[int, ...]]) -> None:
    size, widths = shape
    target, draft = data.draw(whole_pairs(size))
    tokens, verdict = methods_on_trees.of_trees(target, draft, (), widths)
    assert isinstance(verdict, OptimalLength), str(verdict)
    assert verdict.certificate.check()
    assert max(tokens.values()) <= verdict.tokens_per_call


@settings(max_examples=30)
@given(pairs(4), st.integers(1, 4))
def test_optimum_of_one_level_is_that_of_one_position(pair: tuple[Array, Array], k: int) -> None:
    target, draft = pair
    claim = optimum.chains_certificate(lambda _: target, lambda _: draft, (), 1, k)
    wanted = 1 + optimal.acceptance(target, draft, k)
    assert claim.lower <= wanted <= claim.upper <= claim.lower + Fraction(1, 10**8)
    if min(mass for mass in (*target, *draft) if mass > 0) > Fraction(1, 10**6):
        assert claim.lower == wanted


@settings(max_examples=30)
@given(st.data(), st.sampled_from([(2, 2), (2, 3), (3, 2)]))
def test_optimum_of_one_chain_is_block_verification(data: st.DataObject, shape: tuple[int, int]) -> None:
    size, lookahead = shape
    target, draft = data.draw(whole_pairs(size))
    assert best(target, draft, lookahead, 1) == block.expected(target, draft, (), lookahead) - 1


@pytest.mark.parametrize(("size", "lookahead", "k"), [(2, 2, 2), (2, 3, 2), (3, 2, 2), (3, 2, 3), (3, 3, 2)])
def test_duality_gap_is_zero_on_seeded_models(size: int, lookahead: int, k: int) -> None:
    for seed in range(12):
        target, draft = seeded(2 * seed, size), seeded(2 * seed + 1, size)
        assert chain_priorities.expected(target, draft, (), lookahead, k) - 1 <= best(target, draft, lookahead, k)


def test_drafts_that_end_the_text_are_worth_nothing() -> None:
    ends = Rows((exact([0, 1]),), 1)
    assert optimum.level_bound(ends, ends, (), 2, 2) == 1 + best(ends, ends, 2, 2) == 1
