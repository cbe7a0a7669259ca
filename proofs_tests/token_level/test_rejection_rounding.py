"""The formulas of rejection part from the replayed programs within the derived bound of a threshold alone, by uniforms
that are laid on the thresholds."""

from __future__ import annotations

import pytest

from proofs_tests.token_level.on_thresholds import differing
from proofs_tests.token_level.rounding_bounds import of_rejection as bound
from spec_math import SCHEMES
from spec_math.scheme import Scheme
from spec_math.token_level.batch import rejection

FORMULAS = (
    rejection.decide_recursive,
    rejection.decide_without_replacement,
    rejection.decide_greedy,
    rejection.decide_one_hot,
)
schemes = pytest.mark.parametrize(
    "scheme", [scheme for scheme in SCHEMES if scheme.decide in FORMULAS], ids=lambda scheme: scheme.name
)


@schemes
def test_rejection_parts_from_its_program_within_the_bound_alone(scheme: Scheme) -> None:
    for size, k in ((3, 1), (8, 3), (40, 4)):
        found = differing(scheme, 150, size, k)
        assert all(each.margin <= bound(size, scheme.drafts or k) for each in found if each.parted)


def test_uniforms_on_thresholds_are_decided_otherwise() -> None:
    """The control: without a bound the comparison fails, so that the test above looks where it matters."""
    parted = [each.margin for scheme in SCHEMES[4:6] for each in differing(scheme, 300, 8, 3) if each.parted]
    assert len(parted) > 3
    assert max(parted) > 0


@pytest.mark.parametrize(("size", "k", "roundings"), [(2, 1, 280), (8, 4, 5120), (100, 2, 11552)])
def test_the_bound_of_rejection_is_worked_by_hand(size: int, k: int, roundings: int) -> None:
    """(14V + 2k + 40) · 2^(k + 1): 70 · 4, 160 · 32, 1444 · 8."""
    assert bound(size, k) == (1 + 2.0**-8) * roundings * 2.0**-53
