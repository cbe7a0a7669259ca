"""The optimum in floats: within derived bounds of the exact value, from two tokens to a full vocabulary."""

from fractions import Fraction

import numpy as np
import pytest

from proofs_tests.token_level.float_laws import KINDS, as_exact, float_pair
from spec_math import exact
from spec_math.common_denominator import Counts
from spec_math.token_level import optimal
from spec_math.token_level.optimum import ratio_order

UNIT = Fraction(1, 2**53)
UNEVEN = exact(["1/5", "3/10", "1/2"]), exact(["1/2", "3/10", "1/5"])


def float_bound(k):
    """A relative bound, to first order.

    k ≤ 32: P and 1 − P within 6 units, Σ P^j within 8(k − 1), times 1 − P and plus T: 8k. Beyond: log P or log(1 − P)
    of whichever is at most 1/2 is within 6/log 2 + 2, and expm1 loses none: 30. The float order is that of ratios off
    by a unit each, whose curve of T over P is within 2 units of the exact one.
    """
    return (8 * k + 30 if k <= 32 else 60) * UNIT


@pytest.mark.parametrize("size", [2, 5, 50, 1000])
@pytest.mark.parametrize("kind", KINDS)
def test_floats_are_within_the_derived_bound_of_the_exact_optimum(kind, size):
    pair = float_pair(kind, size)
    ks = (1, 2, 3, 4, 8, 32, 33, 100)
    true = optimal.acceptances(*(as_exact(masses) for masses in pair), ks)
    for k, found, value in zip(ks, optimal.acceptances(*pair, ks), true, strict=True):
        assert abs(Fraction(float(found)) - value) <= float_bound(k) * value + Fraction(1, 2**1000)


def counted(masses):
    """A float law in whole numbers, in proportion to its exact sum."""
    quotients = [mass.as_integer_ratio() for mass in masses.tolist()]
    common = max(bottom for _, bottom in quotients)
    whole = [top * (common // bottom) for top, bottom in quotients]
    return Counts(whole, sum(whole))


@pytest.mark.parametrize("kind", ["softmax", "very peaked", "nearly tied", "top 50"])
def test_floats_are_within_the_derived_bound_at_full_vocabulary(kind):
    pair = float_pair(kind, 151_936)
    ks = (1, 2, 4, 16, 100)
    true = optimal.acceptances(*(counted(masses) for masses in pair), ks)
    for k, found, value in zip(ks, optimal.acceptances(*pair, ks), true, strict=True):
        assert abs(Fraction(float(found)) - value) <= float_bound(k) * value


def test_a_difference_misses_that_bound():
    """Control: 1 − max(P^k − T) of nearly disjoint laws has few correct digits, or none."""
    target, draft = float_pair("very peaked", 1000)
    true = optimal.acceptance(as_exact(target), as_exact(draft), 2)
    order = ratio_order.ratio_order(target, draft)
    naive = 1 - (np.cumsum(order.draft) ** 2 - np.cumsum(order.target)).max()
    assert abs(Fraction(naive) - true) > 1000 * float_bound(2) * true


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "denormal"])
@pytest.mark.parametrize(("size", "k"), [(5, 2), (150, 2), (5, 3), (9, 4), (25, 3)])
def test_floats_without_replacement_are_near_the_exact_optimum(kind, size, k):
    pair = float_pair(kind, size)
    true = optimal.acceptance_without_replacement(*(as_exact(masses) for masses in pair), k)
    found = Fraction(float(optimal.acceptance_without_replacement(*pair, k)))
    # k = 2: 30 units relative, T and the order 8 more. k ≥ 3: the bound of the clocks, which is absolute; these laws
    # need fewer than 300 intervals.
    assert abs(found - true) <= (40 * UNIT * true if k == 2 else (20 + 2 * 300) * (size + 2) * UNIT)


def test_torch_laws_give_float64_tensors():
    torch = pytest.importorskip("torch")
    target, draft = (torch.tensor(masses.astype(np.float64)) for masses in UNEVEN)
    value = optimal.acceptance(target.float(), draft.float(), 2)
    assert (value.dtype, tuple(value.shape)) == (torch.float64, ())
    # The masses were rounded to float32 and the value is that of the rounded laws, in proportion to their sums: each
    # mass is off by 2^-24, so are P, T and 1 − P to first order, and the optimum by 8 of these.
    assert abs(value.item() - float(optimal.acceptance(*UNEVEN, 2))) <= 8 * 2.0**-24
    assert optimal.bounding_subset(target, draft, 2).dtype == torch.bool
