"""Symbolic numbers: exact arithmetic, no way to a float, nothing that leaks from one region into another."""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from spec_math.arrays import divide, exact, positive_part
from spec_math.number_types import as_text
from spec_math.symbolic import SymbolError, Theorem, regions
from spec_math.symbolic.number import Number

pytest.importorskip("z3")


def on_two_tokens(statement: Any) -> list[Any]:
    return [judged.verdict for judged in regions(Theorem("two tokens", "", statement, {"t": 2, "d": 2}))]


def test_a_law_sums_to_the_fraction_one() -> None:
    assert on_two_tokens(lambda t, _: (type(t.sum()), t.sum())) == [(Fraction, 1)]


def test_symbols_pass_the_entrance_of_exact_numbers_as_they_are() -> None:
    assert on_two_tokens(lambda t, _: all(a is b for a, b in zip(exact(t), t, strict=True))) == [True]


def test_a_power_a_quotient_and_their_inverses_cancel() -> None:
    def statement(t: Any, d: Any) -> Any:
        if t[0] == 0 or d[0] == 0:
            return None
        ratio = t[0] / d[0]
        return ratio**3 * d[0] ** 3 == t[0] ** 3 and 1 / ratio == d[0] / t[0] and -ratio + ratio == 0

    assert all(verdict in (None, True) for verdict in on_two_tokens(statement))


def test_division_by_what_vanishes_is_an_error_on_its_region_alone() -> None:
    found = on_two_tokens(lambda t, d: t[0] / d[0] >= 0)
    assert sorted(str(verdict).split(":")[0] for verdict in found) == ["True", "ZeroDivisionError"]


def test_arrays_of_symbols_take_maxima_and_guarded_quotients() -> None:
    def statement(t: Any, d: Any) -> bool:
        left = positive_part(t - d)
        shares = divide(left, left.sum(keepdims=True), t)
        return bool(shares.sum() == 1) and bool((np.maximum(t, d) - np.minimum(t, d) == abs(t - d)).all())

    assert all(on_two_tokens(statement))


def test_numbers_of_two_regions_never_mix() -> None:
    kept: list[Number] = []

    def statement(t: Any, d: Any) -> bool:
        kept.append(t[0])
        return bool(t[0] > d[0]) or True

    found = list(regions(Theorem("kept", "", statement, {"t": 2, "d": 2})))
    assert len(found) == 2
    first, second = kept[-2:]
    for use in (operator.eq, operator.lt, operator.add, operator.truediv):
        with pytest.raises(SymbolError, match="a mass of another run"):
            use(first, second)


def test_a_mass_that_may_be_zero_is_followed_and_one_that_is_not() -> None:
    seen: list[tuple[bool, bool]] = []

    def statement(t: Any, _: Any) -> bool:
        before = isinstance(t[0], Number) and t[0].possible()
        gone = t[0] == 0
        seen.append((before, gone))
        return True

    assert on_two_tokens(statement) == [True, True]
    assert (True, False) in seen
    assert (True, True) not in seen


def test_a_symbol_shows_its_function_after_a_run_and_to_judges_during_one() -> None:
    assert on_two_tokens(lambda t, d: as_text(t[0] * 2 - d[0])) == ["2*t(0) - d(0)"]
    (after,) = on_two_tokens(lambda t, _: [t[1]])
    assert (str(after[0]), f"{after[0]:>12}", repr(after)) == ("-t(0) + 1", "   -t(0) + 1", "[-t(0) + 1]")
