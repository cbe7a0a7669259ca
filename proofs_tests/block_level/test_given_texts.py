"""Trees of distinct siblings along the target's text: means over texts and picks are the exact expectations."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.methods_on_trees import RULES
from proofs_tests.block_level.models import model_pairs, weighted
from spec_math.arrays import Array
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.lengths.given_drafts import AlongTree
from spec_math.block_level.methods import (
    BRANCHED_PLAN,
    BRANCHED_REJECTION,
    BRANCHED_TRAVERSAL,
    BRANCHING,
    DISTINCT,
    FAVOURED,
    METHODS,
    PLANNED,
    UNIVER,
    named,
)
from spec_math.chance import law
from spec_math.scheme import Tokens
from spec_math.token_level import plan


def every_text(writer: Any, ends: Any, levels: int) -> dict[Tokens, Fraction]:
    """Each text of so many tokens, or up to the end token, with its mass under who writes it."""
    texts: dict[Tokens, Fraction] = {(): Fraction(1)}
    for _ in range(levels):
        longer: dict[Tokens, Fraction] = {}
        for path, mass in texts.items():
            if path and ends(path):
                longer[path] = mass
                continue
            longer |= {(*path, token): mass * share for token, share in enumerate(writer(path)) if share > 0}
        texts = longer
    return texts


def values(along: AlongTree, laws: Conditionals, text: Tokens, widths: Sequence[int]) -> dict[tuple[Any, ...], Any]:
    """The law of the numbers of a text, over all picks."""
    return law(lambda coin: tuple(along(laws, text, widths, lambda masses: coin.draw(masses / masses.sum()))))


def tokens_per_call(along: AlongTree, laws: Conditionals, widths: Sequence[int], writer: Any) -> Any:
    total = Fraction(1)
    for text, mass in every_text(writer, laws.ends, len(widths)).items():
        for levels, chance in values(along, laws, text, widths).items():
            total += mass * chance * sum(levels[: len(text) - laws.ends(text)])
    return total


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=20)
@given(models=model_pairs(3, small=True), widths=st.sampled_from([(2,), (2, 2), (3, 1), (1, 2)]))
def test_the_mean_over_texts_and_picks_is_the_expected_length(name: str, models: Any, widths: tuple[int, ...]) -> None:
    along, expected = RULES[name]
    if name == "UniVer" and max(widths) > 2:
        return  # one favourite
    found = tokens_per_call(along, Conditionals(*models, ()), widths, models[0])
    assert isinstance(found, Fraction)
    assert found == expected(*models, (), widths)


@pytest.mark.parametrize("name", RULES)
def test_the_weight_that_is_passed_down_is_the_right_one(name: str) -> None:
    """Tables with a law of their own after every prefix, where what is accepted below bends with the weight."""
    along, expected = RULES[name]
    for seed in range(12):
        models = tuple(weighted(f"{side} {seed}", 3) for side in ("target", "draft"))
        found = tokens_per_call(along, Conditionals(*models, ()), (2, 2), models[0])
        assert found == expected(*models, (), (2, 2)), seed


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=20)
@given(models=model_pairs(3, small=True))
def test_the_numbers_of_a_text_are_chances_that_never_grow(name: str, models: Any) -> None:
    """Pick by pick: a race takes them for chances a_1 ≥ a_2 ≥ … in [0, 1]."""
    laws = Conditionals(*models, ())
    for text in every_text(models[0], laws.ends, 2):
        for levels in values(RULES[name][0], laws, text, (2, 2)):
            assert all(1 >= upper >= lower >= 0 for upper, lower in zip((1, *levels), levels, strict=False))


@pytest.mark.parametrize("name", RULES)
def test_texts_of_the_draft_give_another_value(name: str) -> None:
    """The control: the numbers are those of a text that the target writes."""
    rows = ["1/10", "1/5", "7/10"], ["2/3", "1/4", "1/12"]
    target, draft = (lambda _, row=row: row for row in rows)
    along, expected = RULES[name]
    laws = Conditionals(target, draft, ())
    assert tokens_per_call(along, laws, (2, 2), laws.target) == expected(target, draft, (), (2, 2))
    assert abs(tokens_per_call(along, laws, (2, 2), laws.draft) - expected(target, draft, (), (2, 2))) > Fraction(1, 50)


def test_floats_are_fractions_but_for_roundings() -> None:
    """Draws of the same places; the mean over texts of the deterministic planned tree, and one text of the others."""
    exactly: tuple[Any, Any] = (
        [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)],
        [Fraction(1, 6), Fraction(1, 6), Fraction(2, 3)],
    )
    laws = Conditionals(*(lambda _, row=row: row for row in exactly), ())
    floats = Conditionals(*(lambda _, row=row: [float(mass) for mass in row] for row in exactly), ())

    def first(masses: Array) -> int:
        return int(np.flatnonzero(masses > 0)[0])

    for name, (along, _) in RULES.items():
        for text in ((0, 0), (0, 2), (2, 1)):
            rounded, wanted = (along(of, text, (2, 2), first) for of in (floats, laws))
            assert np.abs(np.array(rounded) - np.array(wanted, dtype=float)).max() < 2.0**-40, name


@given(models=model_pairs(3, small=True), k=st.integers(1, 3))
def test_what_a_plan_puts_forward_is_known_without_its_pools(models: Any, k: int) -> None:
    target, draft = models[0](()), models[1](())
    prepared = plan.plan_without_replacement(target, draft, k)
    assert plan.selected(target, draft, k).tolist() == prepared.selection.tolist()


def test_every_tree_of_distinct_siblings_has_a_function_of_the_text() -> None:
    branched = BRANCHED_PLAN, BRANCHED_REJECTION, BRANCHED_TRAVERSAL, UNIVER
    assert {method.drafts for method in branched} == {BRANCHING, FAVOURED}
    for method in (*branched, PLANNED, *(method for method in METHODS if method.drafts is DISTINCT)):
        assert method.along_tree is not None
    assert PLANNED.widths(3, 4) == (4, 1, 1)
    assert UNIVER.widths(3, 2) == (2, 2, 2)
    assert named("as a block").along_tree is None
