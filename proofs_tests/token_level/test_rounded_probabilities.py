"""Closed forms of floats are probabilities: rounding takes none out of [0, 1], and no scheme beyond its optimum.

Before, K-SEQ accepted -3.2e-263, a draft of the target's own law 1 + 2^-52, and gaps were shown as -0.00000000.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from spec_math import SCHEMES, distribution
from spec_math.arrays import exact
from spec_math.distribution import as_probability
from spec_math.invariants import PROBABILITY, BrokenInvariantError, Watch
from spec_math.studies.positions import comparison
from spec_math.studies.positions.comparison import compare
from spec_math.studies.positions.stream import from_rows
from spec_math.token_level.streamed import rounding

FORMS: dict[str, Any] = {
    **{scheme.short_name: scheme.acceptance for scheme in SCHEMES},
    **{f"test of {scheme.short_name}": scheme.test_acceptance for scheme in SCHEMES},
    **{f"optimum of {scheme.short_name}": scheme.optimum.at for scheme in SCHEMES if scheme.optimum is not None},
}
SHARP = [
    0.9014356738915852,
    0.003963657385985366,
    0.013894540237820512,
    6.184964455104478e-05,
    5.896981249268184e-08,
    0.08064373502355149,
    4.848466940444344e-07,
]


def uncut(values: Any, _: Any) -> Any:
    """A cut that does nothing."""
    return values


def pairs(many: int) -> list[tuple[list[float], list[float]]]:
    """Those that left [0, 1] once, and laws of all degrees of sharpness; every third draft is the target."""
    rng = np.random.default_rng(0)
    found = [([3.2e-263, 1.0], [1.0, 0.0]), (SHARP, SHARP)]
    for place in range(many):
        logits = rng.choice([1, 5, 30, 300]) * rng.standard_normal((2, int(rng.integers(2, 6))))
        t, d = np.exp(logits - logits.max(-1, keepdims=True))
        t, d = t / t.sum(), d / d.sum()
        found.append((t.tolist(), (d if place % 3 else t).tolist()))
    return found


def outside(forms: dict[str, Any]) -> set[str]:
    """The forms that leave [0, 1] on some pair."""
    return {
        name
        for target, draft in pairs(60)
        for name, form in forms.items()
        for k in (1, 2)
        if not 0 <= form(target, draft, k) <= 1
    }


def test_every_closed_form_of_floats_is_a_probability() -> None:
    assert outside(FORMS) == set()


def test_without_the_cut_some_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distribution, "cut", uncut)
    wrong = outside(FORMS)
    assert {"maximal coupling", "K-SEQ", "greedy drafts", "SpecHub", "optimum of sample and match"} <= wrong


@pytest.mark.parametrize("name", FORMS)
def test_a_cut_value_is_the_exact_one_within_the_bound(name: str) -> None:
    """The exact form of the same laws in proportion to their own sums, which no cut touches."""
    for target, draft in pairs(6)[1:]:
        t, d = (exact(law) / sum(map(Fraction, law)) for law in (target, draft))
        if len(t) > 4:
            continue
        wanted = FORMS[name](t, d, 2)
        assert type(wanted) is Fraction
        assert abs(Fraction(float(FORMS[name](target, draft, 2))) - wanted) <= 4 * rounding(len(t), 2)


def test_a_fault_is_not_cut() -> None:
    """A value beyond what rounding explains stays, and breaks the invariant."""
    law = np.array([0.5, 0.25, 0.25])
    for value in (1 + 1e-12, -1e-12, 2.0):
        assert as_probability(np.float64(value), law, law) == value
    watch, bound = Watch(), 2 * rounding(3, 1)
    watch.at_most(PROBABILITY, "a fault", (as_probability(np.float64(1 + 2 * bound), law, law), 1.0), bound)
    with pytest.raises(BrokenInvariantError, match="a fault"):
        watch.hold()


def test_exact_numbers_are_never_cut() -> None:
    law = exact(["1/2", "1/2"])
    value = Fraction(2**60 + 1, 2**60)
    assert as_probability(value, law, law) is value


def test_laws_that_are_off_may_be_cut_by_as_much() -> None:
    law = np.array([0.5, 0.5 + 2.0**-40])
    assert as_probability(law.sum(), law, law) == 1.0
    assert as_probability(np.float64(1 + 2.0**-30), law, law) == 1 + 2.0**-30


def gaps() -> dict[str, float]:
    """What schemes are shown to lose, on targets of one token, for which many are optimal."""
    rng = np.random.default_rng(1)
    target, draft = np.zeros((40, 50)), np.exp(2 * rng.standard_normal((40, 50)))
    target[np.arange(40), rng.integers(50, size=40)] = 1
    draft /= draft.sum(-1, keepdims=True)
    rows = from_rows(lambda a, b: target[a:b], lambda a, b: draft[a:b], target.shape)
    found = compare(rows, SCHEMES, (2,), lambda _: None)
    return {line.name: gap.mean for line in found.lines for gap in line.gaps.values()}


def test_no_gap_to_the_optimum_is_negative_by_a_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    assert min(gaps().values()) >= 0
    monkeypatch.setattr(comparison, "cut", uncut)
    assert min(gaps().values()) < 0
