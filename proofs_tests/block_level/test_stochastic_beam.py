"""Stochastic beams: lossless by recursive rejection and by traversal, the beam another way, controls."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import Rows, model_pairs
from spec_math import check_lossless_block
from spec_math.arrays import exact, proportional_to
from spec_math.block_level import length, stochastic_beam, traversal, without_replacement
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.lengths.drafted_chains import GatheredLaws
from spec_math.block_level.stochastic_beam import expected, generate, grow, sampled, verify
from spec_math.block_level.tree import Node
from spec_math.chance import law
from spec_math.mean import of_independent

SHAPES = [(2, 1, 2), (2, 2, 1), (2, 2, 2), (2, 2, 3), (3, 1, 2), (3, 1, 3)]
"""Tokens V, lookahead, width."""

VERIFIERS = [verify, traversal.verify]


@pytest.mark.parametrize("verifier", VERIFIERS)
@settings(max_examples=25)
@given(st.data(), st.sampled_from(SHAPES))
def test_a_stochastic_beam_is_lossless(verifier: Any, data: st.DataObject, shape: tuple[int, int, int]) -> None:
    size, lookahead, k = shape
    target, draft = data.draw(model_pairs(size, small=True))
    verdict = check_lossless_block(
        lambda coin, prefix: generate(coin, target, draft, prefix, lookahead, k, verifier), target, lookahead + 1
    )
    assert verdict, str(verdict)


@pytest.mark.parametrize("verifier", VERIFIERS)
@settings(max_examples=6)
@given(model_pairs(2, small=True))
def test_a_stochastic_beam_is_lossless_over_two_rounds(verifier: Any, models: tuple[Rows, Rows]) -> None:
    target, draft = models
    verdict = check_lossless_block(
        lambda coin, prefix: generate(coin, target, draft, prefix, 2, 2, verifier), target, 4, 2
    )
    assert verdict, str(verdict)


def rows(first: list[Any], after: list[list[Any]], end: int | None = None, number: Any = Fraction) -> Any:
    laws = [exact(first), *(exact(row) for row in after)]

    def model(prefix: tuple[int, ...]) -> Any:
        return laws[prefix[0] + 1 if len(prefix) == 1 else 0].astype(object if number is Fraction else number)

    model.end = end  # type: ignore[attr-defined]
    return model


UNEVEN_TARGET = rows(["1/6", "1/2", "1/3"], [["3/4", "1/4", 0], ["2/3", "1/3", 0], ["1/2", "1/2", 0]])
UNEVEN_DRAFT = rows(["1/3", "1/3", "1/3"], [["1/2", "1/2", 0], ["1/4", "3/4", 0], [1, 0, 0]])
"""Whether the first child of the root gets a second child depends on WHICH token the second child of the root is."""


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_how_many_children_a_node_has_tells_nothing_of_what_matters(verifier: Any) -> None:
    verdict = check_lossless_block(
        lambda coin, prefix: generate(coin, UNEVEN_TARGET, UNEVEN_DRAFT, prefix, 2, 3, verifier), UNEVEN_TARGET, 2
    )
    assert verdict, str(verdict)


def raced(draft: Any, lookahead: int, k: int) -> dict[frozenset[tuple[int, ...]], Fraction]:
    """The law of the beam's set of prefixes, by all orders in which whole sequences may ring."""
    sequences: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    for _ in range(lookahead):
        sequences = [
            longer
            for path, mass in sequences
            for longer in (
                [(path, mass)]
                if draft.end in path
                else [((*path, token), mass * share) for token, share in enumerate(draft(path)) if share]
            )
        ]
    found: dict[frozenset[tuple[int, ...]], Fraction] = {}
    for order in permutations(sequences):
        mass, left = Fraction(1), Fraction(1)
        for _, share in order:
            mass, left = mass * share / left, left - share
        kept: set[tuple[int, ...]] = set()
        for size in range(1, lookahead + 1):
            kept |= set(list(dict.fromkeys(path[:size] for path, _ in order))[:k])
        found[frozenset(kept)] = found.get(frozenset(kept), Fraction(0)) + mass
    return found


def paths(tree: tuple[Node, ...], above: tuple[int, ...] = ()) -> set[tuple[int, ...]]:
    return {found for node in tree for found in ({(*above, node.token)} | paths(node.children, (*above, node.token)))}


ENDING = (["1/3", "1/6", "1/2"], [["1/4", "3/4", 0], ["3/5", "2/5", 0], [0, 0, 1]], 2)
OPEN = (["1/3", "2/3"], [["1/4", "3/4"], ["3/5", "2/5"]], None)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("given", [OPEN, ENDING])
def test_the_beam_is_that_of_all_orders(given: Any, k: int) -> None:
    """Of texts that go on, and of some that end after a token and keep their place."""
    draft = rows(*given)
    laws = Conditionals(draft, draft, ())
    assert law(lambda coin: frozenset(paths(grow(coin, laws, 2, k)))) == raced(draft, 2, k)


@pytest.mark.parametrize("given", [OPEN, ENDING])
def test_the_beam_of_a_lazy_race_is_the_same(given: Any) -> None:
    """Trees sampled level by level, two widths at once, against the exact law of the set of prefixes.

    Each in its interval of 99.99 %.
    """
    floats, runs = rows(*given, number=float), 3_000
    laws, rng = GatheredLaws(floats, floats, ()), np.random.default_rng(0)
    trees = [sampled(laws, 2, (2, 3), rng) for _ in range(runs)]
    for k in (2, 3):
        drawn = Counter(frozenset(paths(tree[k])) for tree in trees)
        wanted = raced(rows(*given), 2, k)
        assert set(drawn) <= set(wanted)
        for kept, mass in wanted.items():
            hits = np.array([1.0] * drawn[kept] + [0.0] * (runs - drawn[kept]))
            low, high = of_independent(rng.permutation(hits), 0, 1, 0.9999).interval
            assert low <= float(mass) <= high, kept


@pytest.mark.parametrize("sharpness", [1.0, 8.0, 40.0])
def test_a_beam_of_sharp_drafts_rings_in_the_order_of_its_clocks(sharpness: float) -> None:
    """Against a clock for each sequence: how often a node is in the beam, for drafts from even to nearly certain."""
    random, rng, runs = np.random.default_rng(2), np.random.default_rng(3), 1_500
    table = random.normal(size=(6, 6)) * sharpness
    table[random.random((6, 6)) < 0.2] = -np.inf
    table[:, 3] = 0.0
    draft = np.exp(table - table.max(axis=1, keepdims=True))
    draft /= draft.sum(axis=1, keepdims=True)
    known = GatheredLaws(*(lambda prefix: draft[prefix[-1] if prefix else 0] for _ in range(2)), ())  # type: ignore[arg-type]
    masses = (draft[0][:, None] * draft).ravel()
    trees = [sampled(known, 2, (1, 2, 5, 40), rng) for _ in range(runs)]
    for k in (1, 2, 5, 40):
        counts: list[Counter[tuple[int, ...]]] = [Counter(), Counter()]
        for tree in trees:
            counts[0].update(paths(tree[k]))
            with np.errstate(divide="ignore"):
                order = np.argsort(rng.exponential(size=36) / masses)[: int((masses > 0).sum())]
            pairs = [(int(place) // 6, int(place) % 6) for place in order]
            counts[1].update(pairs[:k] + list(dict.fromkeys(pair[:1] for pair in pairs))[:k])
        for path in counts[0] | counts[1]:
            low, high = (counts[side][path] for side in (0, 1))
            assert abs(low - high) < 5 * (2 * runs * 0.25) ** 0.5, (k, path)


@pytest.mark.parametrize("afresh", [True, False])
@settings(max_examples=10)
@given(model_pairs(2, small=True), st.sampled_from([(2, 2), (1, 2), (2, 3)]))
def test_chances_of_a_tree_average_to_the_expected_length(
    afresh: bool, models: tuple[Rows, Rows], shape: tuple[int, int]
) -> None:
    """By recursive rejection, and by traversal: against the enumeration of each one's program."""
    target, draft = models
    laws, verifier = Conditionals(target, draft, ()), verify if afresh else traversal.verify
    mean = Fraction(1)
    for tree, mass in law(lambda coin: grow(coin, laws, *shape)).items():
        mean += mass * sum(traversal.chances(laws, tree, shape[0], afresh))
    wanted = length.expected(lambda coin, start: generate(coin, target, draft, start, *shape, verifier), ())
    assert mean == wanted


def test_chances_in_floats_are_those_of_fractions() -> None:
    """The compiled rejection against the same one on Fractions; the two verifiers differ."""
    target, draft = UNEVEN_TARGET, UNEVEN_DRAFT
    laws = Conditionals(target, draft, ())
    floats = Conditionals(*(lambda prefix, model=model: model(prefix).astype(float) for model in (target, draft)), ())  # type: ignore[arg-type]
    trees = list(law(lambda coin: grow(coin, laws, 2, 2)))
    for tree in trees:
        both = [[traversal.chances(of, tree, 2, afresh) for of in (laws, floats)] for afresh in (True, False)]
        for exactly, rounded in both:
            assert np.abs(np.array(exactly, dtype=float) - rounded).max() < 2.0**-40
    assert any(traversal.chances(laws, tree, 2, True) != traversal.chances(laws, tree, 2) for tree in trees)


def test_one_level_is_recursive_rejection_without_replacement() -> None:
    random = Random(1)
    for _ in range(10):
        target, draft = (Rows((proportional_to([random.randint(0, 5) for _ in range(2)] + [1]),)) for _ in range(2))
        assert expected(target, draft, (), 1, 2) == without_replacement.expected(target, draft, (), (2,))


# Controls.


def judged(lookahead: int = 2, k: int = 2) -> Any:
    target = Rows((exact(["1/4", "3/4"]), exact(["2/3", "1/3"]), exact(["3/5", "2/5"]), exact(["1/8", "7/8"])))
    draft = Rows((exact(["1/2", "1/2"]), exact(["1/3", "2/3"]), exact(["1/5", "4/5"]), exact(["3/4", "1/4"])))
    return check_lossless_block(
        lambda coin, prefix: generate(coin, target, draft, prefix, lookahead, k), target, lookahead + 1
    )


def likeliest_first(original: Any) -> Any:
    """The beam with its siblings in the order of tokens, and not in the order they rang."""

    def ordered(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(Node(node.token, ordered(node.children)) for node in sorted(nodes, key=lambda node: node.token))

    def grown(*arguments: Any) -> tuple[Node, ...]:
        return ordered(original(*arguments))

    return grown


def test_siblings_in_another_order_are_lossy(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged()
    monkeypatch.setattr(stochastic_beam, "grow", likeliest_first(grow))
    assert not judged()


def test_a_beam_that_looks_at_what_it_drops_is_lossy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child is dropped for WHICH token it is: the premise of the proof fails, and the law with it."""

    def pruned(*arguments: Any) -> tuple[Node, ...]:
        return tuple(node for node in grow(*arguments) if node.token == 0)

    monkeypatch.setattr(stochastic_beam, "grow", pruned)
    assert not judged()
