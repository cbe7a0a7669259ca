"""What stands in a function's places is looked at once, and told as if each were asked by itself."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spec_math.audit import judge, subject_of
from spec_math.masses import summed
from spec_math.pathwise import followed
from spec_math.pathwise.generators import generators_alive
from spec_math.pathwise.places import Looked, Place, held, places
from spec_math.samplers.case import default
from spec_math.token_level import recursive


class Unhashed(type):
    """A class of classes that cannot be hashed."""

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __eq__(cls, other: object) -> bool:
        return cls is other


class Strange(metaclass=Unhashed):
    """An object whose class cannot be hashed."""


GENERATOR = random.Random(0)
DRAWN = GENERATOR.random


def finder(strange: Strange) -> Any:
    """A function that finds generators' methods in its module, a list and a default."""
    listed = [random.random, strange]

    def finds(given: Any = GENERATOR.random) -> Any:
        return given, DRAWN, listed, strange

    return finds


def of(found: list[Place]) -> set[tuple[int, str]]:
    return {(id(space), key) if isinstance(space, dict) else (id(held((space, key))), key) for space, key in found}


def test_looked_at_once_is_each_place_asked_by_itself() -> None:
    strange = Strange()
    where = places(finder(strange))
    looked, bound = Looked(where), type(DRAWN)
    methods = [place for place in where if type(held(place)) is bound]
    assert of(looked.of_types((bound,))) == of(methods)
    assert {"DRAWN", "value"} <= {key for _, key in methods}
    for wanted in ({id(strange)}, {id(random)}, {id(strange), id(DRAWN)}, {0}):
        assert of(looked.that_hold(wanted)) == of([place for place in where if id(held(place)) in wanted])


def test_a_class_that_cannot_be_hashed_keeps_no_generator_from_being_found() -> None:
    strange = Strange()  # alive, and looked at with all others
    assert any(one is GENERATOR for one in generators_alive())
    del strange


def test_the_places_of_a_verifier_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def noted(fn: Any) -> list[Place]:
        asked.append(fn)
        return places(fn)

    monkeypatch.setattr(followed, "places", noted)
    assert judge(subject_of(recursive.verify), default(0, 2)).verdict
    assert asked == [recursive.verify]


@given(st.lists(st.fractions(0, 1)))
@example([])
def test_summed_is_the_sum_of_fractions(masses: list[Fraction]) -> None:
    found = summed(masses)
    assert type(found) is Fraction
    assert found == sum(masses)


def test_summed_takes_floats_one_after_another() -> None:
    masses = [1.0, 2.0**-53, 2.0**-53, Fraction(1, 3)]
    assert summed(masses) == 1.0 + Fraction(1, 3) != summed(masses[::-1])
