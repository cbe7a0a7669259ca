"""SpecHub and K-SEQ part from their replayed programs within the derived bound of a threshold alone, the plan within
the chosen one; uniforms are laid on the thresholds, and a mass that is off by 2^-36 is found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from proofs_tests.token_level.on_thresholds import differing, laws
from proofs_tests.token_level.rounding_bounds import ENDS, of_hub, of_k_sequential
from spec_math import SCHEMES
from spec_math.scheme import Scheme
from spec_math.token_level.batch import plan, rejection

SHAPES = ((3, 1), (8, 3), (40, 4))
ROWS = 120


def named(decide: Any) -> Scheme:
    return next(scheme for scheme in SCHEMES if scheme.decide is decide)


HUB, IN_SEQUENCE = named(rejection.decide_hub), named(rejection.decide_k_sequential)
PLAN = named(plan.decide_plan)


def bounds(scheme: Scheme, size: int, k: int) -> Any:
    """The bound of each request."""
    if scheme.short_name == HUB.short_name:
        return np.full(ROWS, of_hub(size))
    return of_k_sequential(*laws(np.random.default_rng([size, k]), ROWS, size), k)


def beyond(scheme: Scheme, size: int, k: int) -> int:
    """Requests whose decision parts though no uniform is within the bound."""
    found = differing(scheme, ROWS, size, k)
    return sum(each.parted and each.margin > bound for each, bound in zip(found, bounds(scheme, size, k), strict=True))


@pytest.mark.parametrize("scheme", [HUB, IN_SEQUENCE], ids=lambda scheme: scheme.name)
def test_each_parts_from_its_program_within_the_bound_alone(scheme: Scheme) -> None:
    assert [beyond(scheme, *shape) for shape in SHAPES] == [0, 0, 0]
    assert max(np.median(bounds(scheme, *shape)) for shape in SHAPES) < 2.0**-36


def _off(scheme: Scheme) -> Scheme:
    """The formula on targets whose first mass is larger by 2^-36 of itself."""

    def decide(coin: Any, tokens: Any, target: Any, draft: Any) -> Any:
        tilted = target.copy()
        tilted[:, 0] *= 1 + 2.0**-36
        assert scheme.decide is not None
        return scheme.decide(coin, tokens, tilted, draft)

    return replace(scheme, decide=decide)


def _next_row(scheme: Scheme) -> Scheme:
    """The formula on the target of the next request."""

    def decide(coin: Any, tokens: Any, target: Any, draft: Any) -> Any:
        assert scheme.decide is not None
        return scheme.decide(coin, tokens, np.roll(target, 1, axis=0), draft)

    return replace(scheme, decide=decide)


@pytest.mark.parametrize("wrong", [_off, _next_row])
@pytest.mark.parametrize("scheme", [HUB, IN_SEQUENCE], ids=lambda scheme: scheme.name)
def test_a_mass_that_is_off_is_found_beyond_the_bound(scheme: Scheme, wrong: Any) -> None:
    assert sum(beyond(wrong(scheme), *shape) for shape in SHAPES) > 0


NEAR = (2.0**-40, 2.0**-38, 2.0**-36)
"""Steps beside the plan's thresholds: no bound is derived for it, and 2^-36 is the distance that is chosen."""


def parted(scheme: Scheme, steps: Any) -> list[bool]:
    """Whether formula and program part, of the requests whose uniforms all lie so far from thresholds."""
    found = [each for shape in SHAPES for each in differing(scheme, ROWS, *shape, steps)]
    kept = [each.parted for each in found if each.distance > steps[0] / 2]
    assert len(kept) > ROWS
    return kept


def test_the_plan_decides_as_its_program_a_sixteenth_of_the_chosen_distance_beside_its_thresholds() -> None:
    assert not any(parted(PLAN, NEAR))
    assert any(parted(_off(PLAN), NEAR[:1]))


def test_gamma_of_laws_that_are_all_but_the_same_is_told_less_well() -> None:
    """E(γ) is a rounding there, and γ* − 1 its k-th root: the bound says so."""
    target = np.array([[0.25, 0.75]])
    near = target * [[1 + 2.0**-50, 1]]
    found = [of_k_sequential(target, draft / draft.sum(), 4)[0] for draft in (near, target[:, ::-1])]
    assert found[0] > 2.0**-16 > 2.0**-40 > found[1]


@pytest.mark.parametrize(("size", "roundings"), [(2, 48), (8, 132), (100, 1420)])
def test_the_bound_of_spechub_is_worked_by_hand(size: int, roundings: int) -> None:
    """14 roundings a token, and 20."""
    assert of_hub(size) == (1 + 2.0**-8) * roundings * 2.0**-53


def test_the_bound_of_k_seq_is_worked_by_hand_where_f_is_a_line() -> None:
    """f(γ) = 3/4 − γ/2 for two drafts: γ* = 3/2, and an error e of f is a stretch of 4e there."""
    unit = 2.0**-53
    error = 2 * (7 * 2 + 10) * unit
    (found,) = of_k_sequential(np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]]), 2)
    wanted = (1 + 2.0**-8) * (4 * 4 * error / 1.5 + (16 * 2 + 40) * unit + ENDS)
    assert found == pytest.approx(wanted, rel=2.0**-10)
