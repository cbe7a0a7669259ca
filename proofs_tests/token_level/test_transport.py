"""Theorem A: maximum flow = minimum cut = brute force over subsets = the linear program, for every law of drafts."""

from fractions import Fraction

import pytest
import scipy.optimize
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proofs_tests.strategies import laws, pairs
from proofs_tests.token_level.coupling_verifier import verifier_from_coupling
from proofs_tests.token_level.draft_laws import KINDS, problems, scheme_of, values_of_cuts
from spec_math import Emission, Lossless, check_lossless, exact, proportional_to
from spec_math.coupling import joint
from spec_math.token_level import draft_law, greedy, hub, k_sequential, transport, without_replacement
from spec_math.verdict import Undecided

UNIT = 2.0**-53


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=60)
def test_maximum_flow_is_minimum_cut_is_brute_force(kind, data):
    target, law = data.draw(problems(kind))
    cuts = values_of_cuts(target, law)
    certificate = transport.solve(target, law)
    assert certificate.acceptance == min(cuts.values()) == cuts[certificate.subset]
    assert certificate.acceptance == transport.acceptance_of(target, law)
    assert certificate.fault(target, law) is None


@given(st.data())
def test_optimal_coupling_shown_in_full_has_both_marginals(data):
    target, law = data.draw(problems("tuples"))
    certificate = transport.solve(target, law)
    masses = certificate.coupling
    assert all(type(mass) is Fraction and mass > 0 for mass in masses.values())
    for tokens, mass in law.items():
        assert sum(masses.get((tokens, y), 0) for y in range(len(target))) == mass
    for y, mass in enumerate(target):
        assert sum(masses.get((tokens, y), 0) for tokens in law) == mass
    assert sum(mass for (tokens, y), mass in masses.items() if y in tokens) == certificate.acceptance


def test_linear_program_meets_masses_of_the_size_of_its_tolerance():
    """With its presolve HiGHS 1.12 calls this feasible program infeasible: masses of 10^-10, a token without any."""
    tiny = proportional_to([2 * 10**9, 1])
    law = draft_law.independent([[0, "1/5", "4/5"], exact([0, *tiny])])
    best = float(transport.acceptance_of([0, "1/5", "4/5"], law))
    assert abs(transport.linear_program([0, "1/5", "4/5"], law, reduced=False) - best) <= 1e-9


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=12)
def test_linear_program_finds_the_optimum(kind, data):
    # 1e-9 is what linear_program itself derives from its two solutions, or it raises.
    target, law = data.draw(problems(kind))
    assert abs(transport.linear_program(target, law) - float(transport.acceptance_of(target, law))) <= 1e-9


@given(st.data())
@settings(max_examples=25)
def test_linear_program_on_tuples_as_printed_finds_the_same(data):
    target, law = data.draw(problems("two drafters", largest=3, most=2))
    best = float(transport.acceptance_of(target, law))
    assert abs(transport.linear_program(target, law, reduced=False) - best) <= 1e-9


def test_linear_program_refuses_a_solver_that_is_off(monkeypatch):
    """Control: the same solver, its solution or its prices moved by 1e-8, leaves more than 1e-9 open."""
    honest = scipy.optimize.linprog
    target, law = exact(["2/5", "3/5"]), draft_law.iid(["3/4", "1/4"], 2)

    def moved_solution(*arguments, **options):
        found = honest(*arguments, **options)
        found.x = found.x + 1e-8
        return found

    def moved_prices(*arguments, **options):
        found = honest(*arguments, **options)
        found.eqlin.marginals = found.eqlin.marginals + 1e-8 * (found.eqlin.marginals == found.eqlin.marginals[0])
        return found

    for wrong in (moved_solution, moved_prices):
        monkeypatch.setattr(scipy.optimize, "linprog", wrong)
        with pytest.raises(ArithmeticError, match="leaves the optimum open"):
            transport.linear_program(target, law)


def test_non_identical_drafts_break_the_prefix_rule():
    t = proportional_to([0, 25, 70, 905])
    first, second = proportional_to([8, 1, 0, 1]), proportional_to([1, 0, 1, 8])
    law = draft_law.independent([first, second])
    certificate = transport.solve(t, law)
    assert 1 - certificate.acceptance == Fraction(9, 100)
    assert certificate.subset == {0, 2}
    # Control: the best prefix in the order of t/(d1 + d2), right for i.i.d. drafts, misses the cut here.
    cuts = values_of_cuts(t, law)
    order = sorted(range(4), key=lambda y: t[y] / (first[y] + second[y]))
    assert order == [0, 1, 2, 3]
    assert max(1 - cuts[frozenset(order[:length])] for length in range(5)) == Fraction(17, 200)


@given(pairs(5), st.integers(1, 3))
@settings(max_examples=60)
def test_prefixes_suffice_for_iid_and_for_drafts_without_replacement(pair, k):
    target, draft = pair
    # Tokens that cannot be drafted come last.
    order = sorted(range(len(target)), key=lambda y: (0, target[y] / draft[y]) if draft[y] else (1, 0))
    for law in (draft_law.iid(draft, k), draft_law.drawn(without_replacement.draw, draft, k)):
        cuts = values_of_cuts(target, law)
        prefixes = min(cuts[frozenset(order[:length])] for length in range(len(order) + 1))
        assert prefixes == transport.acceptance_of(target, law)


@given(pairs(5))
def test_spechub_is_optimal_for_its_drafts(pair):
    target, draft = pair
    assert transport.acceptance_of(target, draft_law.drawn(hub.draw, draft, 2)) == hub.acceptance(target, draft, 2)


@given(pairs(5), st.integers(1, 4))
def test_greedy_drafts_are_verified_optimally(pair, k):
    target, draft = pair
    law = draft_law.drawn(greedy.draw, draft, k)
    assert transport.acceptance_of(target, law) == greedy.acceptance(target, draft, k)


@given(pairs(4), st.integers(1, 3))
@settings(max_examples=50)
def test_without_replacement_reaches_at_least_what_iid_drafts_reach(pair, k):
    target, draft = pair
    distinct = draft_law.drawn(without_replacement.draw, draft, k)
    assert transport.acceptance_of(target, distinct) >= transport.acceptance_of(target, draft_law.iid(draft, k))


@given(pairs(4), st.integers(1, 2))
@settings(max_examples=50)
def test_optimum_grows_with_the_number_of_drafts(pair, k):
    target, draft = pair
    fewer, more = draft_law.iid(draft, k), draft_law.iid(draft, k + 1)
    assert transport.acceptance_of(target, fewer) <= transport.acceptance_of(target, more)


@given(pairs(5))
def test_one_draft_reaches_the_overlap(pair):
    target, draft = pair
    overlap = sum(min(t, d) for t, d in zip(target, draft, strict=True))
    assert transport.acceptance_of(target, draft_law.iid(draft, 1)) == overlap


@pytest.mark.parametrize(("size", "ratio", "k"), [(4, 2, 2), (6, 3, 2), (6, 2, 3), (4, 4, 3)])
def test_uniform_laws_of_spectr_figure_1(size, ratio, k):
    few = size // ratio
    target = exact([Fraction(int(y < few), few) for y in range(size)])
    law = draft_law.independent_sets([exact([Fraction(1, size)] * size)] * k)
    assert transport.acceptance_of(target, law) == 1 - (1 - Fraction(1, ratio)) ** k


@given(laws(2), laws(2), st.integers(1, 4))
def test_bernoulli_laws_of_spectr_figures_2_and_3(target, draft, k):
    wanted = sum(min(t, 1 - (1 - d) ** k) for t, d in zip(target, draft, strict=True))
    assert transport.acceptance_of(target, draft_law.iid(draft, k)) == wanted


@given(st.data())
def test_optimum_is_that_of_the_drafted_set(data):
    target, law = data.draw(problems("two drafters"))
    on_tuples, on_sets = transport.solve(target, law), transport.solve(target, draft_law.sets(law))
    assert on_tuples.acceptance == on_sets.acceptance
    summed = {}
    for (tokens, y), mass in on_tuples.coupling.items():
        summed[frozenset(tokens), y] = summed.get((frozenset(tokens), y), 0) + mass
    assert summed == on_sets.coupling


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=25)
def test_disintegrated_coupling_is_lossless_and_reaches_the_optimum(kind, data):
    target, law = data.draw(problems(kind, largest=4))
    verify = verifier_from_coupling(transport.solve(target, law))
    scheme = scheme_of(law, verify)
    assert isinstance(check_lossless(scheme, target, target), Lossless)
    walked = joint(lambda coin: scheme.draw(coin, target, 1), lambda coin, x: _emission(verify(coin, x, target), x))
    assert walked.acceptance() == transport.acceptance_of(target, law)


@given(pairs(3), st.integers(1, 2))
@settings(max_examples=50)
def test_any_coupling_is_a_verifier(pair, k):
    """K-SEQ's own joint law, verifier_from_coupling, is lossless for i.i.d. drafts and accepts what K-SEQ accepts."""
    target, draft = pair
    coupling = joint(
        lambda coin: k_sequential.draw(coin, draft, k),
        lambda coin, tokens: k_sequential.emit(coin, tokens, target, draft),
    )
    verify = verifier_from_coupling(coupling)
    assert isinstance(check_lossless(verify, target, draft, k), Lossless)
    again = joint(
        lambda coin: k_sequential.draw(coin, draft, k),
        lambda coin, tokens: _emission(verify(coin, tokens, target, draft), tokens),
    )
    assert again.acceptance() == k_sequential.acceptance(target, draft, k)


def test_disintegrated_coupling_of_other_laws_is_rejected():
    """Controls: another target, drafts outside the law, a coupling with the wrong marginal, no coupling at all."""
    target, draft = exact(["1/4", "3/4"]), exact(["1/2", "1/2"])
    verify = verifier_from_coupling(transport.solve(target, draft_law.iid(draft, 2)))
    # It raises on every path, so that nothing is decided; it is not lossless, and the reason is told.
    other = check_lossless(verify, draft, draft, 2)
    assert isinstance(other, Undecided)
    assert "made for the target of its coupling" in str(other)
    wrong_drafts = check_lossless(verify, target, draft, 1)
    assert isinstance(wrong_drafts, Undecided)
    assert "no mass" in str(wrong_drafts)
    always = verifier_from_coupling({((0,), 0): Fraction(1, 2), ((1,), 1): Fraction(1, 2)})
    assert isinstance(check_lossless(always, target, draft), Undecided)
    with pytest.raises(ValueError, match="sum to exactly 1"):
        verifier_from_coupling({((0,), 0): Fraction(1, 2)})
    with pytest.raises(ValueError, match="sum to exactly 1"):
        verifier_from_coupling({((0,), 0): Fraction(3, 2), ((0,), 1): Fraction(-1, 2)})
    with pytest.raises(ValueError, match="token indices"):
        verifier_from_coupling({((0,), -1): Fraction(1)})
    with pytest.raises(TypeError, match="Fractions"):
        verifier_from_coupling({((0,), 0): 1.0})


@given(st.data())
@settings(max_examples=60)
@example(data=None)
def test_floats_give_the_optimum_of_the_numbers_that_they_are(data):
    if data is None:
        target, law = proportional_to([0, 25, 70, 905]), draft_law.iid(proportional_to([8, 1, 0, 1]), 3)
    else:
        target, law = data.draw(problems("tuples"))
    value = transport.acceptance_of([float(mass) for mass in target], {x: float(mass) for x, mass in law.items()})
    assert isinstance(value, float)
    # A maximum flow moves by no more than its capacities do together. Each of the 2 laws, of sum 1, is rounded by half
    # a unit in the last place of each mass, at most UNIT of the mass, hence by UNIT in all; the value once more.
    assert abs(value - transport.acceptance_of(target, law)) <= 3 * UNIT


def test_what_is_no_problem_is_refused():
    with pytest.raises(TypeError, match="a certificate is exact"):
        transport.solve([0.5, 0.5], {(0,): 1.0})
    with pytest.raises(TypeError, match="one number type"):
        transport.acceptance_of([0.5, 0.5], {(0,): Fraction(1)})
    with pytest.raises(ValueError, match="one position"):
        transport.solve([["1/2", "1/2"], ["1/2", "1/2"]], {(0,): 1})
    with pytest.raises(ValueError, match="sum to 3/4"):
        transport.solve(["1/4", "1/2"], {(0,): 1})


def _emission(token, tokens):
    return Emission(token, accepted=token in tokens)


def test_a_target_that_is_no_law_is_named():
    for form in (transport.solve, transport.acceptance_of):
        with pytest.raises(ValueError, match=r"^target: masses must sum to exactly 1"):
            form(["1/4", "1/4"], {(0,): 1})
