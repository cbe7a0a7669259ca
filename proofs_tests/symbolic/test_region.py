"""Regions: every law lies in exactly one, and what a program does there is what it does with the law itself."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.symbolic.places import coordinates, parameters, worth
from spec_math import SCHEMES, law
from spec_math.arrays import as_law
from spec_math.block_level import block
from spec_math.number_types import as_text
from spec_math.scheme import Scheme, draw_independent
from spec_math.symbolic import Theorem, chosen, proof, regions
from spec_math.symbolic import polynomial as sets
from spec_math.symbolic.block_theorems import Rows
from spec_math.symbolic.proof import Judged
from spec_math.symbolic.region import Region
from spec_math.token_level import k_sequential

pytest.importorskip("z3")


@dataclass(frozen=True)
class Found:
    """The law of a program, as a verdict that is always true."""

    masses: dict[Any, Any]


def of_scheme(scheme: Scheme, tokens: int, drafts: int) -> Theorem:
    def statement(target: Any, draft: Any) -> Found:
        return Found(law(lambda coin: scheme.verify(coin, scheme.draw(coin, draft, drafts), target, draft)))

    return Theorem(f"{scheme.name}, {tokens}, {drafts}", "", statement, {"t": tokens, "d": tokens})


def of_k_sequential(tokens: int, drafts: int) -> Theorem:
    def statement(target: Any, draft: Any, gamma: Any) -> Found | None:
        if k_sequential.f(target, draft, drafts, gamma) > 0:
            return None
        return Found(
            law(lambda coin: k_sequential.verify(coin, draw_independent(coin, draft, drafts), target, draft, gamma))
        )

    return Theorem("K-SEQ", "", statement, {"t": tokens, "d": tokens}, ("γ",))


def of_block() -> Theorem:
    def statement(*rows: Any) -> Found:
        target = Rows({(): rows[0], (0,): rows[1], (1,): rows[2]}, reach=1)
        draft = Rows({(): rows[3], (0,): rows[4], (1,): rows[5]}, reach=1)
        return Found(law(lambda coin: block.generate(coin, target, draft, (), 2)))

    return Theorem("block", "", statement, dict.fromkeys(("t", "t_0", "t_1", "d", "d_0", "d_1"), 2))


EXAMPLES = [
    *[
        of_scheme(scheme, 3, scheme.drafts or 2)
        for scheme in SCHEMES
        if scheme.name.split()[0] not in ("K-SEQ", "optimal")
    ],
    *[of_scheme(scheme, 2, 2) for scheme in SCHEMES if scheme.name.startswith("optimal")],
    of_k_sequential(2, 3),
    of_block(),
]


@cache
def split(place: int) -> tuple[Judged, ...]:
    return tuple(regions(EXAMPLES[place]))


@pytest.mark.parametrize("place", range(len(EXAMPLES)), ids=[theorem.name for theorem in EXAMPLES])
@given(data=st.data())
@settings(max_examples=25)
def test_the_symbolic_law_at_a_law_is_the_law_there(place: int, data: Any) -> None:
    """One region holds the laws; the law that the program has on it, evaluated, is the one it has on Fractions."""
    theorem = EXAMPLES[place]
    drawn = data.draw(parameters(theorem))
    point = coordinates(drawn)
    (judged,) = [judged for judged in split(place) if judged.region.holds(point)]
    direct = theorem.statement(*drawn)
    if direct is None:
        assert judged.verdict is None
        return
    symbolic = {outcome: worth(mass, point) for outcome, mass in judged.verdict.masses.items()}
    assert {outcome: mass for outcome, mass in symbolic.items() if mass != 0} == direct.masses


def test_regions_are_those_of_the_comparisons_that_a_program_makes() -> None:
    """Maximal coupling of (x, 1 − x) and (y, 1 − y): y = 0 or 1 with or without room for the residual; 0 < y < 1 with
    x < y, x ≥ y and its ties. 7 regions; with every chance asked whether it is 0, 11: x = 0 and x = 1 apart."""
    (theorem,) = chosen(("maximal coupling: lossless all distributions on 2 tokens",))
    assert len(list(regions(theorem))) == 7
    asked = list(strictly(theorem))
    assert len(asked) == 11
    assert all(judged.verdict for judged in asked)


def strictly(theorem: Theorem) -> Any:
    """The regions of a theorem when no chance is followed without asking whether it is 0."""
    return proof.judged(theorem, proof.opened(theorem).made_strict())


@pytest.mark.parametrize("place", [0, 3])
def test_asking_every_chance_whether_it_is_zero_gives_the_same_laws(place: int) -> None:
    theorem = EXAMPLES[place]
    asked = list(strictly(theorem))
    assert len(asked) > len(split(place))
    for region, found in asked:
        for point in list(region.points())[:2]:
            masses = {outcome: worth(mass, point) for outcome, mass in found.masses.items()}
            assert all(mass > 0 for mass in masses.values())
            (lazy,) = [judged for judged in split(place) if judged.region.holds(point)]
            assert masses == {o: m for o, mass in lazy.verdict.masses.items() if (m := worth(mass, point)) != 0}


def test_a_solved_equality_is_put_into_all_else() -> None:
    def statement(target: Any, draft: Any) -> bool:
        return bool(target[0] != draft[0]) or bool(target[1] * draft[0] == target[0] * draft[1])

    theorem = Theorem("tie", "", statement, {"t": 2, "d": 2})
    verdicts = [(len(judged.region.conditions), judged.verdict) for judged in regions(theorem)]
    assert all(verdict for _, verdict in verdicts)
    assert len(verdicts) in (2, 3)


def test_equalities_that_cannot_be_solved_are_reduced_by() -> None:
    """t0·t0 = d0·t1 is no linear equality of one variable with a number before it; it is used all the same."""

    def statement(target: Any, draft: Any, other: Any) -> bool:
        if target[0] * draft[0] != other[0] * other[0]:
            return True
        left = target[0] * draft[0] * target[0]
        return bool(left - other[0] * other[0] * target[0] == 0)

    theorem = Theorem("tie of products", "", statement, {"t": 2, "d": 2, "o": 2})
    assert all(judged.verdict for judged in regions(theorem))


def test_comparisons_of_impossible_regions_never_come_up() -> None:
    """A control of the split itself: three masses that sum to 1 cannot all exceed 1/3, and z3 says so."""
    seen: list[bool] = []

    def statement(target: Any) -> bool:
        seen.append(all(mass > Fraction(1, 3) for mass in target))
        return True

    theorem = Theorem("thirds", "", statement, {"t": 3})
    assert all(judged.verdict for judged in regions(theorem))
    assert not any(seen)


def test_a_question_with_two_answers_is_split_even_where_somebody_catches_it() -> None:
    def statement(target: Any) -> int:
        try:
            return 1 if target[0] > Fraction(1, 2) else 2
        except BaseException:
            return 3

    verdicts = {judged.verdict for judged in regions(Theorem("caught", "", statement, {"t": 2}))}
    assert verdicts == {1, 2}


def test_what_was_learnt_to_be_zero_ends_the_run_at_the_next_question_even_where_somebody_catches_it() -> None:
    """A chance that was followed before it was known to be 0: the parts are begun anew, and follow it no more."""
    caught: list[bool] = []

    def statement(target: Any, draft: Any, other: Any) -> int:
        if not target[0] >= draft[0] >= other[0] >= target[0] or target[0] != draft[0]:
            return 0
        try:
            return 1 if target[0] > Fraction(1, 2) else 2
        except BaseException:
            caught.append(True)
            return 3

    theorem = Theorem("caught", "", statement, dict.fromkeys(("t", "d", "o"), 2))
    assert {judged.verdict for judged in regions(theorem)} == {0, 1, 2}
    assert caught


@pytest.mark.parametrize("place", range(len(EXAMPLES)), ids=[theorem.name for theorem in EXAMPLES])
def test_regions_are_those_of_runs_that_begin_anew_at_every_question(
    place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program goes on with the first part of its region where it can: the same regions in the same order."""
    going_on = [shape(judged) for judged in split(place)]
    monkeypatch.setattr(Region, "_goes_on", lambda *_: False)
    assert [shape(judged) for judged in regions(EXAMPLES[place])] == going_on


def shape(judged: Judged) -> tuple[Any, ...]:
    """The conditions of a region, and what its program does there."""
    conditions = {str(polynomial): wanted for polynomial, wanted in judged.region.conditions.items()}
    masses = judged.verdict and {outcome: as_text(mass) for outcome, mass in judged.verdict.masses.items()}
    return conditions, masses


@pytest.mark.parametrize(
    ("row", "holds"),
    [
        (lambda x: [2 * x, 1 - 2 * x], lambda x: x <= Fraction(1, 2)),
        (lambda x: [x, x], lambda x: x == Fraction(1, 2)),
        (lambda x: [Fraction(1, 2), x, Fraction(1, 2) - x], lambda x: x <= Fraction(1, 2)),
    ],
    ids=["a negative mass", "a sum that is off", "a mass that is no symbol"],
)
def test_a_row_of_symbols_is_a_law_where_its_masses_are(row: Any, holds: Any) -> None:
    def statement(target: Any) -> int:
        try:
            return len([as_law(np.array(row(target[0]), dtype=object)) for _ in range(2)])
        except ValueError:
            return 0

    found = list(regions(Theorem("a law", "", statement, {"t": 2})))
    for x in [Fraction(part, 12) for part in range(13)]:
        (judged,) = [judged for judged in found if judged.region.holds((x,))]
        assert (judged.verdict == 2) == holds(x)


def test_conditions_are_signs_that_polynomials_can_have() -> None:
    for judged in split(0):
        assert all(0 < wanted < sets.ANY + 1 for wanted in judged.region.conditions.values())
