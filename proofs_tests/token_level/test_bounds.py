"""SpecTr's Theorem 1 is an equality, and every scheme lies below the optimum of its own drafts."""

from fractions import Fraction
from itertools import product
from math import prod

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proofs_tests.strategies import pairs
from spec_math import SCHEMES, Scheme, exact, proportional_to
from spec_math.token_level import bounds, draft_law, single, transport
from spec_math.verdict import Bracket, Optimal


def subsets(size):
    return [frozenset(y for y in range(size) if bits >> y & 1) for bits in range(2**size)]


def right_side_as_printed(t, d, k, subset):
    """The right side of Theorem 1, tuple by tuple as the paper prints it."""
    value = sum(min(t[y], 1 - (1 - d[y]) ** k) for y in subset)
    for tokens in product(range(len(t)), repeat=k):
        value += min(prod(d[x] for x in tokens), sum(t[y] for y in set(tokens) if y not in subset))
    return value


@given(pairs(4), st.integers(1, 3))
@example((exact(["2/5", "3/5"]), exact(["3/4", "1/4"])), 2)
def test_erratum_f_theorem_1_is_an_equality(pair, k):
    target, draft = pair
    best = transport.acceptance_of(target, draft_law.iid(draft, k))
    bound = bounds.theorem_1(target, draft, k)
    assert type(bound) is Fraction
    assert bound == best
    assert bound == min(right_side_as_printed(target, draft, k, subset) for subset in subsets(len(target)))


def at(target, draft, k, subset):
    """The right side of the theorem at one subset."""
    return bounds._right_side(list(target), list(draft), k, frozenset(subset))


@given(pairs(4), st.integers(1, 3))
@settings(max_examples=50)
def test_theorem_1_bounds_at_every_subset(pair, k):
    target, draft = pair
    best = transport.acceptance_of(target, draft_law.iid(draft, k))
    for subset in subsets(len(target)):
        value = at(target, draft, k, subset)
        assert value >= best
        assert value == right_side_as_printed(target, draft, k, subset)


@given(pairs(4), st.integers(1, 3))
@settings(max_examples=50)
def test_theorem_1_needs_the_empty_or_the_full_subset_but_not_both(pair, k):
    target, draft = pair
    values = [at(target, draft, k, subset) for subset in subsets(len(target))]
    assert min(values[1:]) == min(values[:-1]) == min(values)


def test_theorem_1_over_proper_subsets_alone_is_no_equality():
    """Control: without the empty and the full subset the minimum misses the optimum."""
    half = exact(["1/2", "1/2"])
    assert bounds.theorem_1(half, half, 2) == 1
    assert min(at(half, half, 2, {y}) for y in (0, 1)) == Fraction(5, 4)


@given(pairs(3))
@settings(max_examples=30)
def test_theorem_1_without_its_first_minimum_or_its_second_is_no_equality(pair):
    """The two minima matter: the looser t(Ω0) + 1 − d(Ω0)^k is never less, and has the same least value."""
    target, draft = pair
    loose = [sum(target[y] for y in subset) + 1 - sum(draft[y] for y in subset) ** 2 for subset in subsets(len(target))]
    tight = [at(target, draft, 2, subset) for subset in subsets(len(target))]
    assert all(a >= b for a, b in zip(loose, tight, strict=True))
    assert min(loose) == min(tight)


def test_theorem_1_in_floats_is_near_its_exact_value():
    target, draft = proportional_to([3, 1, 4, 1, 5]), proportional_to([2, 7, 1, 8, 2])
    floats = [float(t) for t in target], [float(d) for d in draft]
    # 125 tuples of 3 factors and at most 3 summands, and a sum over them: fewer than 1000 roundings of numbers <= 2.
    assert abs(bounds.theorem_1(*floats, 3) - float(bounds.theorem_1(target, draft, 3))) <= 2000 * 2.0**-53


def test_theorem_1_refuses_what_is_too_large():
    uniform = exact([Fraction(1, 40)] * 40)
    with pytest.raises(ValueError, match=r"V = 40, k = 2 is a sum over 2\^40 subsets .* optimal.acceptance"):
        bounds.theorem_1(uniform, uniform, 2)
    huge = exact([Fraction(1, 20_000)] * 20_000)
    with pytest.raises(ValueError, match=r"2\^20000 subsets"):
        bounds.theorem_1(huge, huge, 1)
    with pytest.raises(ValueError, match="one position"):
        bounds.theorem_1(exact([["1/2", "1/2"]]), exact([["1/2", "1/2"]]), 1)


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
@given(pair=pairs(4), k=st.integers(1, 3))
@settings(max_examples=25)
def test_no_scheme_exceeds_the_optimum_of_its_drafts(scheme, pair, k):
    target, draft = pair
    found = bounds.bracket(scheme, target, draft, k)
    reached = scheme.acceptance(target, draft, k)
    law = draft_law.drawn(scheme.draw, draft, k)
    if isinstance(found, Optimal):
        assert found.acceptance == reached
        assert found.certificate.check(target, law)
        assert found.certificate.acceptance == reached
    else:
        assert found.lower == reached
        assert found.upper == transport.acceptance_of(target, law)
        assert found.gap > 0


@pytest.mark.parametrize("name", ["maximal coupling", "greedy drafts", "SpecHub"])
@given(pair=pairs(4), k=st.integers(1, 3))
@settings(max_examples=25)
def test_optimal_schemes_are_optimal(name, pair, k):
    scheme = next(scheme for scheme in SCHEMES if scheme.name == name)
    assert isinstance(bounds.bracket(scheme, *pair, k), Optimal)


def test_erratum_d_k_sequential_selection_is_not_optimal_for_bernoulli_laws():
    scheme = next(scheme for scheme in SCHEMES if scheme.name.startswith("K-SEQ"))
    found = bounds.bracket(scheme, ["2/5", "3/5"], ["3/4", "1/4"], 2)
    assert isinstance(found, Bracket)
    assert Fraction(769917, 10**6) < found.lower < Fraction(769918, 10**6)
    assert found.upper == Fraction(67, 80)


def test_an_acceptance_above_the_optimum_is_refused():
    """Control: a verifier that always emits its draft is lossy, and no bracket hides it."""
    hopeful = Scheme("hopeful", single.draw, lambda *given: given[1][0], lambda *_: 1, lambda *_: Fraction(1))
    with pytest.raises(ValueError, match="probability 1, and no lossless verifier of its drafts exceeds 3/4"):
        bounds.bracket(hopeful, ["1/4", "3/4"], ["1/2", "1/2"])


def test_bracket_of_floats():
    found = bounds.bracket(SCHEMES[0], [0.25, 0.75], [0.5, 0.5])
    assert found == Bracket(0.75, 0.75)
