"""Proving: what holds is proved, what fails comes with a counterexample, what neither can be said of stays open."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from proofs_tests.symbolic.places import worth
from spec_math import Lossy, check_lossless, law
from spec_math.chance import Coin
from spec_math.symbolic import Proof, Theorem, prove, regions
from spec_math.symbolic.theorem import Fails, equal
from spec_math.symbolic.token_theorems import lossless
from spec_math.token_level import SCHEMES, single

pytest.importorskip("z3")

PAIR = {"t": 2, "d": 2}


def proof(statement: Any, laws: Any = PAIR, scalars: tuple[str, ...] = ()) -> Proof:
    return prove(Theorem("a theorem", "a scope", statement, laws, scalars))


def test_a_truth_about_all_laws_is_proved() -> None:
    found = proof(lambda t, d: sum(min(a, b) for a, b in zip(t, d, strict=True)) <= 1)
    assert found
    assert (found.verdict, found.counterexample, found.reason) == ("proved", None, "")
    assert found.regions > 1


def test_a_falsehood_is_refuted_by_fractions_that_the_statement_is_false_of() -> None:
    def statement(t: Any, d: Any) -> bool:
        return bool(abs(t[0] - d[0]) <= Fraction(9, 10))

    found = proof(statement)
    assert not found
    assert found.verdict == "refuted"
    parameters = found.counterexample.parameters  # type: ignore[union-attr]
    assert list(parameters) == ["t", "d"]
    assert not statement(parameters["t"], parameters["d"])
    assert all(isinstance(mass, Fraction) for law in parameters.values() for mass in law)


def test_a_falsehood_that_no_grid_point_shows_is_refuted_by_a_point_of_the_solver() -> None:
    """t0 between 1/1000 and 1/999: no multiple of 1/12 is."""
    found = proof(lambda t, _: not Fraction(1, 1000) < t[0] < Fraction(1, 999))
    assert found.verdict == "refuted"
    assert Fraction(1, 1000) < found.counterexample.parameters["t"][0] < Fraction(1, 999)  # type: ignore[union-attr]


def test_a_falsehood_on_a_tie_alone_is_refuted_there() -> None:
    found = proof(lambda t, d: t[0] != d[0] or t[0] == 0)
    assert found.verdict == "refuted"
    t, d = found.counterexample.parameters.values()  # type: ignore[union-attr]
    assert t[0] == d[0] != 0


def test_hypotheses_leave_regions_out() -> None:
    found = proof(lambda t, d: None if t[0] > d[0] else bool(t[1] >= d[1]))
    assert found
    assert found.outside == 1
    assert not proof(lambda t, d: t[1] >= d[1])


def test_scalars_are_at_least_one_and_have_no_end() -> None:
    assert proof(lambda _, s: s >= 1, {"t": 2}, ("s",))
    found = proof(lambda _, s: s <= 1_000, {"t": 2}, ("s",))
    assert found.verdict == "refuted"
    assert found.counterexample.parameters["s"] > 1_000  # type: ignore[union-attr]


def test_what_symbols_cannot_do_and_no_point_refutes_stays_open() -> None:
    found = proof(lambda t, _: t[0].denominator > 0)
    assert found.verdict == "open"
    assert "denominator" in found.reason
    assert found.counterexample is None


def test_what_symbols_cannot_do_is_refuted_where_a_point_is_found() -> None:
    found = proof(lambda t, _: t[0].denominator < 4)
    assert found.verdict == "refuted"
    assert found.counterexample.parameters["t"][0].denominator >= 4  # type: ignore[union-attr]


def test_a_statement_that_breaks_is_false() -> None:
    def statement(t: Any, d: Any) -> bool:
        return bool(t[0] / d[0] >= 0)

    found = proof(statement)
    assert found.verdict == "refuted"
    assert "ZeroDivisionError" in str(found.counterexample)


def test_irrational_falsehoods_stay_open_with_their_region() -> None:
    """2·t0² = 1 has no rational solution: it cannot be refuted, and must not be proved."""
    found = proof(lambda t: 2 * t[0] * t[0] != 1, {"t": 2})
    assert found.verdict == "open"
    assert "2*t(0)^2 - 1 = 0" in found.reason


def test_a_program_that_breaks_at_chances_of_zero_only_is_lossless() -> None:
    """The lazy walk follows a chance that may be 0; where the program breaks on it, the region is asked again."""

    def touchy(coin: Any, _tokens: Any, target: Any, _draft: Any) -> int:
        y = coin.draw(target)
        # Unreachable: a token of mass 0 is never drawn. A division the lazy walk would not have asked about.
        return y if target[y] > 0 else 1 // 0

    assert prove(Theorem("touchy", "", lambda t, d: check_lossless(touchy, t, d), {"t": 3, "d": 3})).verdict == "proved"


def test_what_happens_with_probability_zero_only_is_no_counterexample_and_what_happens_rarely_is() -> None:
    """The twin of the program above: it breaks at a token that is drawn, if rarely."""

    def wrong(coin: Any, _tokens: Any, target: Any, _draft: Any) -> int:
        y = coin.draw(target)
        return y if target[y] > Fraction(1, 10**6) else 1 // 0

    found = prove(Theorem("wrong", "", lambda t, d: check_lossless(wrong, t, d), {"t": 2, "d": 2}))
    assert found.verdict == "refuted"
    assert isinstance(found.counterexample.verdict, Lossy)  # type: ignore[union-attr]


def test_a_law_that_is_wrong_on_one_point_of_a_tie_is_found() -> None:
    """Right but where t = d = (1/3, 2/3): a sampling test would never meet it, and the grid has it by luck alone."""
    third = Fraction(1, 3)

    def almost(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        if target[0] == third and draft[0] == third:
            return 0
        return single.verify(coin, tokens, target, draft)

    found = prove(Theorem("almost", "", lambda t, d: check_lossless(almost, t, d), PAIR))
    assert found.verdict == "refuted"
    assert [str(mass) for mass in found.counterexample.parameters["t"]] == ["1/3", "2/3"]  # type: ignore[union-attr]


def test_emitted_and_target_are_one_function_on_all_regions_but_those_that_are_ties() -> None:
    """The emitted mass, read off, is t(y); where it is not, t ≥ d everywhere, so that all laws there have t = d."""

    def statement(target: Any, draft: Any) -> Any:
        found = law(lambda coin: single.verify(coin, single.draw(coin, draft), target, draft))
        return [(found.get(y, Fraction(0)), target[y]) for y in range(3)]

    identical = 0
    for region, pairs in regions(Theorem("identity", "", statement, {"t": 3, "d": 3})):
        if all(str(emitted) == str(wanted) for emitted, wanted in pairs):
            identical += 1
            continue
        for point in region.points():
            assert point[:2] == point[2:]
            assert all(worth(emitted, point) == worth(wanted, point) for emitted, wanted in pairs)
    assert identical == 18


def test_watching_tells_how_far_a_proof_is() -> None:
    told: list[tuple[int, int]] = []
    prove(lossless(SCHEMES[0], 3), lambda judged, waiting: told.append((judged, waiting)))
    assert [judged for judged, _ in told] == list(range(1, len(told) + 1))
    assert told[-1][1] == 0


def test_equal_names_the_first_difference() -> None:
    def pair(coin: Coin) -> tuple[int, int]:
        return (0, 0) if coin.flip(Fraction(1, 3)) else (1, 3)

    assert equal(pair, {"mean": (lambda outcome: outcome[0], Fraction(2, 3))})
    found = equal(
        pair, {"mean": (lambda outcome: outcome[0], Fraction(2, 3)), "length": (lambda outcome: outcome[1], 3)}
    )
    assert isinstance(found, Fails)
    assert str(found) == "length is 2, not 3"


def test_a_law_of_one_token_has_no_coordinate() -> None:
    assert proof(lambda t: t[0] == 1, {"t": 1})
