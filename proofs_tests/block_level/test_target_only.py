"""Target-only verification of chosen trees: lossless as a joint law and over rounds, its closed forms, its controls."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import Rows, model_pairs
from spec_math import check_lossless_block
from spec_math.arrays import exact
from spec_math.block_level import length, target_only
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.likeliest_tree import Choose, of_draft, of_ranks, of_target, of_widths
from spec_math.block_level.target_only import expected, generate, verify
from spec_math.block_level.tree import Node
from spec_math.chance import replay

RULES: list[Choose] = [
    of_draft(1, 1),
    of_draft(3, 2),
    of_draft(4, 2, width=1),
    of_target(3, 2),
    of_widths((2, 1)),
    of_ranks([Fraction(1, 2), Fraction(1, 3)], 4, 2),
]
rules = st.sampled_from(RULES)
sizes = st.sampled_from([2, 3])


@settings(max_examples=80)
@given(st.data(), sizes, rules)
def test_target_only_is_lossless(data: st.DataObject, size: int, choose: Choose) -> None:
    target, draft = data.draw(model_pairs(size))
    verdict = check_lossless_block(
        lambda coin, prefix: generate(coin, target, draft, prefix, choose), target, 3 if size == 3 else 4
    )
    assert verdict, str(verdict)


@settings(max_examples=20)
@given(model_pairs(2), rules)
def test_target_only_is_lossless_over_two_rounds(models: tuple[Rows, Rows], choose: Choose) -> None:
    target, draft = models
    verdict = check_lossless_block(lambda coin, prefix: generate(coin, target, draft, prefix, choose), target, 6, 2)
    assert verdict, str(verdict)


@settings(max_examples=40)
@given(model_pairs(2), st.integers(0, 2**32 - 1))
def test_any_tree_that_does_not_see_the_coins_is_lossless(models: tuple[Rows, Rows], seed: int) -> None:
    target, draft = models

    def choose(laws: Conditionals) -> tuple[Node, ...]:
        def below(path: tuple[int, ...], bits: int) -> tuple[Node, ...]:
            if len(path) == 2 or laws.ends(path):
                return ()
            chosen = [token for token in range(2) if bits >> token & 1]
            return tuple(Node(token, below((*path, token), bits >> 2 + 4 * token)) for token in chosen)

        return below((), seed)

    verdict = check_lossless_block(lambda coin, prefix: generate(coin, target, draft, prefix, choose), target, 3)
    assert verdict, str(verdict)


@settings(max_examples=60)
@given(st.data(), sizes, rules)
def test_closed_forms_equal_enumeration(data: st.DataObject, size: int, choose: Choose) -> None:
    target, draft = data.draw(model_pairs(size))
    walked = length.law(lambda coin, prefix: generate(coin, target, draft, prefix, choose), ())
    assert expected(target, draft, (), choose) == sum(len(block) * mass for block, mass in walked.items())


@settings(max_examples=30)
@given(st.data(), sizes, rules)
def test_the_chances_of_each_depth_add_up(data: st.DataObject, size: int, choose: Choose) -> None:
    """P(at least i drafted tokens are accepted), a token that ends the text left out, from the walked law."""
    target, draft = data.draw(model_pairs(size))
    laws = Conditionals(target, draft, ())
    chances = target_only.reached(laws, choose(laws))
    walked = length.law(lambda coin, prefix: generate(coin, target, draft, prefix, choose), ())
    for depth, chance in enumerate(chances, 1):
        assert chance == sum((mass for block, mass in walked.items() if len(block) > depth), Fraction(0))


def test_one_uniform_a_node_and_one_for_the_last_token() -> None:
    laws = Conditionals(lambda _: ["1/4", "1/2", "1/4"], lambda _: ["1/2", "1/4", "1/4"], ())
    tree = (Node(1, (Node(0),)), Node(0))
    assert replay(lambda coin: verify(coin, tree, laws), [0.0, 0.0, 0.9]) == (1, 0, 2)
    assert replay(lambda coin: verify(coin, tree, laws), [0.49, 0.25, 0.9]) == (1, 2)
    assert replay(lambda coin: verify(coin, tree, laws), [0.5, 0.3]) == (0, 1)
    assert replay(lambda coin: verify(coin, tree, laws), [0.75, 0.0]) == (2,)


def test_siblings_that_carry_one_token_are_refused() -> None:
    laws = Conditionals(lambda _: ["1/4", "3/4"], lambda _: ["1/2", "1/2"], ())
    with pytest.raises(ValueError, match="distinct"):
        verify(None, (Node(0), Node(0)), laws)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="distinct"):
        verify(None, (Node(2),), laws)  # type: ignore[arg-type]


@pytest.mark.parametrize("tokens", [(0, 0), (1, 2), (-1, 1)])
def test_refused_siblings_are_named_with_their_path(tokens: tuple[int, int]) -> None:
    def model(_: tuple[int, ...]) -> list[str]:
        return ["1/4", "3/4"]

    laws, tree = Conditionals(model, model, ()), (Node(1, tuple(map(Node, tokens))),)
    asked: list[Callable[[], Any]] = [
        lambda: replay(lambda coin: verify(coin, tree, laws), [0.0, 0.0]),
        lambda: target_only.reached(laws, tree),
        lambda: expected(model, model, (), lambda _: tree),
    ]
    words = f"after the path (1,) must be distinct indices in 0..1; got {tokens}: one coin"
    for walk in asked:
        with pytest.raises(ValueError, match=re.escape(words)):
            walk()


# Controls: one step is wrong, or the choice sees the coin; two unequal models of three tokens with full support.
TARGET = Rows((exact(["1/4", "1/3", "5/12"]), exact(["1/6", "1/3", "1/2"]), exact(["1/5", "2/5", "2/5"])))
DRAFT = Rows((exact(["1/2", "1/4", "1/4"]), exact(["4/5", "1/10", "1/10"]), exact(["3/5", "1/5", "1/5"])))


def wrong_sum(coin: Any, tree: tuple[Node, ...], laws: Conditionals) -> tuple[int, ...]:
    """The children's masses are not added up: a fresh coin for each, as if each were alone."""
    path: tuple[int, ...] = ()
    while tree:
        t = laws.target(path)
        met = next((child for child in tree if coin.flip(t[child.token])), None)
        if met is None:
            return (*path, coin.draw(_rest(t, tree)))
        path, tree = (*path, met.token), met.children
    return (*path, coin.draw(laws.target(path)))


def whole_target(coin: Any, tree: tuple[Node, ...], laws: Conditionals) -> tuple[int, ...]:
    """What follows a rejection is drawn from the whole target."""
    path: tuple[int, ...] = ()
    while tree:
        t = laws.target(path)
        masses = [t[child.token] for child in tree]
        met = coin.draw([*masses, 1 - sum(masses)])
        if met == len(tree):
            return (*path, coin.draw(t))
        path, tree = (*path, tree[met].token), tree[met].children
    return (*path, coin.draw(laws.target(path)))


def one_coin_for_the_path(coin: Any, tree: tuple[Node, ...], laws: Conditionals) -> tuple[int, ...]:
    """The coin of the first level is read again on the second, as if it were fresh."""
    path: tuple[int, ...] = ()
    sixtieths = Fraction(coin.draw([Fraction(1, 60)] * 60), 60)
    while tree:
        t = laws.target(path)
        below = Fraction(0)
        for child in tree:
            if below <= sixtieths < below + t[child.token]:
                break
            below += t[child.token]
        else:
            return (*path, coin.draw(_rest(t, tree)))
        path, tree = (*path, child.token), child.children
    return (*path, coin.draw(laws.target(path)))


def _rest(t: Any, tree: tuple[Node, ...]) -> Any:
    rest = t.copy()
    rest[[child.token for child in tree]] = Fraction(0)
    return rest / rest.sum()


@pytest.mark.parametrize("wrong", [wrong_sum, whole_target, one_coin_for_the_path])
def test_a_wrong_walk_is_lossy(wrong: Callable[..., tuple[int, ...]]) -> None:
    choose = of_draft(3, 2)

    def judged(walk: Any) -> Any:
        return check_lossless_block(
            lambda coin, prefix: walk(coin, choose(laws := Conditionals(TARGET, DRAFT, prefix)), laws), TARGET, 3
        )

    assert judged(verify)
    assert not judged(wrong)


def test_a_tree_that_sees_the_coin_is_lossy() -> None:
    """The premise is needed: a child chosen by the very draw that judges it is accepted too often."""

    def generate_seeing(coin: Any, prefix: tuple[int, ...]) -> tuple[int, ...]:
        laws = Conditionals(TARGET, DRAFT, prefix)
        peeked = coin.draw(laws.target())
        tree = (Node(0),) if peeked == 0 else (Node(1),)
        # The walk re-uses what was peeked at as its own coin: accepted where it hits the child, else the rest.
        return (peeked,) if peeked == tree[0].token else (coin.draw(_rest(laws.target(), tree)),)

    assert not check_lossless_block(generate_seeing, TARGET, 1)
