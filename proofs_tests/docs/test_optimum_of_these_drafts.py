"""What is said of "these drafts" is true of them: each bound in words is the optimum of the drafts that are drawn."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from proofs_tests import oracles
from spec_math import SCHEMES
from spec_math.chance import law
from spec_math.result import Note, Result
from spec_math.scheme import Scheme
from spec_math.studies.certificates import LawsRequest, certify
from spec_math.studies.positions import explanation
from spec_math.studies.positions.comparison import compare
from spec_math.studies.positions.explanation import OneStep, bounding_sentence, explained
from spec_math.studies.positions.stream import from_rows
from spec_math.studies.positions.study import result_of
from spec_math.token_level import greedy, hub, optimal

# The first is where greedy drafts and SpecHub's reach 1, and no verifier of two i.i.d. drafts more than 67/80.
LAWS = ("2/5,3/5", "3/4,1/4"), ("1/2,1/4,1/4", "1/8,3/8,1/2")
K = 2

SAID = re.compile(r"optim(?:um|al acceptance) (?:of|for) ([^,:;]*?) is ([\d/.]*\d)")

every_scheme = pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
all_laws = pytest.mark.parametrize("laws", LAWS, ids=lambda laws: laws[1])


def masses(text: str) -> list[Fraction]:
    return [Fraction(mass) for mass in text.split(",")]


def most(scheme: Scheme, laws: tuple[str, str], k: int = K) -> Fraction:
    """The optimum of the drafts that a scheme draws: their law by enumeration, and all cuts."""
    target, draft = map(masses, laws)
    drawn: Any = law(lambda coin: scheme.draw(coin, np.array(draft, dtype=object), scheme.drafts or k))
    return oracles.optimum(target, drawn)


def wrong(result: Result, best: Fraction) -> list[str]:
    """Return what a result names as the optimum, where it is not; raise where it names none."""
    text = " ".join([result.finding, *(note.text for note in result.notes)])
    said = SAID.findall(text)
    assert said, text
    return [f"{drafts}: {number}" for drafts, number in said if number != written(number, best)]


def written(number: str, best: Fraction) -> str:
    """The optimum as the number is written: a fraction, or so many digits."""
    return f"{float(best):.{len(number.partition('.')[2])}f}" if "." in number else str(best)


@every_scheme
@all_laws
def test_a_step_names_the_optimum_of_its_own_drafts(scheme: Scheme, laws: tuple[str, str]) -> None:
    result = explained(OneStep(scheme.name, *laws, k=K))
    assert result.title.startswith(f"{scheme.name}:")
    assert wrong(result, most(scheme, laws)) == []


@every_scheme
@all_laws
def test_a_certificate_is_of_the_drafts_that_it_names(scheme: Scheme, laws: tuple[str, str]) -> None:
    result = certify(LawsRequest(laws[0], (laws[1],), scheme.drafts or K, scheme.name))
    assert wrong(result, most(scheme, laws)) == []


def gaps(schemes: Any) -> dict[tuple[str, int], Any]:
    """Acceptance plus gap for each scheme and k, as the report's table has them, at the first laws."""
    target, draft = (np.array([masses(text)], dtype=np.float64) for text in LAWS[0])
    source = from_rows(lambda a, b: target[a:b], lambda a, b: draft[a:b], (1, 2))
    table = result_of(compare(source, schemes, (1, K), ignored), {}).tables[0]
    names = [column.name for column in table.columns]
    places = [names.index(name) for name in ("scheme", "k", "acceptance", "gap to optimum")]
    rows: Any = [[row.cells[place] for place in places] for row in table.rows]
    return {(name, k): kept.value + gap.value for name, k, kept, gap in rows if gap is not None}


def ignored(done: int) -> None:
    """Show nothing."""


def off(schemes: Any) -> list[tuple[str, int]]:
    """Where the table's optimum is not that of the drafts: both have fewer than 2^6 roundings below 1."""
    by_name = {scheme.name: scheme for scheme in schemes}
    return [
        (name, k)
        for (name, k), value in gaps(schemes).items()
        if abs(value - float(most(by_name[name], LAWS[0], k))) > 2.0**-46
    ]


def test_the_gaps_of_the_table_are_to_the_optimum_of_the_schemes_own_drafts() -> None:
    assert {name for name, _ in gaps(SCHEMES)} == {scheme.name for scheme in SCHEMES}
    assert off(SCHEMES) == []


def test_a_bound_of_other_drafts_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The controls: greedy drafts and SpecHub's held against i.i.d. drafts, and i.i.d. drafts named as the reason."""
    of_sets = [scheme for scheme in SCHEMES if scheme.optimum is greedy.OPTIMUM or scheme.optimum is hub.OPTIMUM]
    assert len(of_sets) == 2
    for scheme in of_sets:
        honest = explained(OneStep(scheme.name, *LAWS[0], k=K))
        assert most(scheme, LAWS[0]) == 1
        target, draft = map(masses, LAWS[0])
        reason = Note(bounding_sentence(target, draft, K))
        said = wrong(replace(honest, notes=(*honest.notes, reason)), Fraction(1))
        assert said == ["2 i.i.d. drafts: 0.837500"]
        other = replace(scheme, optimum=optimal.INDEPENDENT)
        assert (scheme.name, K) in off([other])

        def named(name: str, other: Scheme = other) -> Scheme:  # noqa: ARG001
            return other

        monkeypatch.setattr(explanation, "named_scheme", named)
        assert "its kind of drafts: 0.838" in wrong(explained(OneStep(scheme.name, *LAWS[0], k=K)), Fraction(1))
        monkeypatch.undo()
