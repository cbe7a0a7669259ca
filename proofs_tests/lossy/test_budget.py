"""Theorem: a unit of bias buys at most a unit of acceptance, and one rule gets it: the optimum is min(1, α* + ε)."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from proofs_tests.lossy.budget_oracle import iid, instances, least_cut, program
from proofs_tests.token_level.coupling_verifier import verifier_from_coupling
from spec_math import exact
from spec_math.chance import law
from spec_math.coupling import joint
from spec_math.lossy import budget
from spec_math.scheme import draw_independent
from spec_math.token_level import draft_law, greedy, k_sequential, recursive, transport, without_replacement
from spec_math.token_level.plan import plan

BUDGETS = [Fraction(0), Fraction(1, 40), Fraction(1, 7), Fraction(1, 3), Fraction(1)]
CASES = [(*case, BUDGETS[i % 5]) for i, case in enumerate(instances(18, 1000))]


def relaxed(verify, share_moved):
    """Turn any lossless verifier into one that emits its first draft in a share of the cases in which it emits none."""
    moved = Fraction(share_moved)

    def verifier(coin, tokens, target, draft):
        token = verify(coin, tokens, target, draft)
        return tokens[0] if token not in tokens and coin.flip(moved) else token

    return verifier


def away(emitted, target):
    return sum((max(e - t, Fraction(0)) for e, t in zip(emitted, target, strict=True)), Fraction(0))


def test_the_optimum_is_the_least_cut_and_a_coupling_reaches_it():
    """1,000 random instances, exact: value = certificate from below = certificate from above = all cuts."""
    for target, draft, k, spent in CASES:
        value = budget.acceptance(target, draft, k, spent)
        drafts = iid(draft, k)
        assert value == least_cut(target, drafts, lambda mass, spent=spent: min(Fraction(1), mass + spent))
        certificate = budget.solve(target, drafts, spent)
        assert certificate.fault() is None
        assert certificate.acceptance == value == budget.acceptance_of(target, drafts, spent)


def test_the_law_of_the_budget_is_within_it_and_lets_so_much_be_accepted():
    """Of the law alone: its distance, and the least cut with that law in the target's place."""
    for target, draft, k, spent in CASES:
        emitted = budget.law(target, draft, k, spent).tolist()
        assert all(mass >= 0 for mass in emitted)
        assert sum(emitted) == 1
        assert away(emitted, target) <= spent
        assert least_cut(emitted, iid(draft, k), lambda mass: mass) == budget.acceptance(target, draft, k, spent)


def coupling_of(target, draft, k, spent):
    return joint(
        lambda coin: draw_independent(coin, draft, k),
        lambda coin, tokens: budget.emit(coin, tokens, target, draft, spent),
    )


def test_the_verifier_emits_the_law_of_the_budget_and_accepts_with_the_optimum():
    cases = [case for case in CASES if len(case[0]) ** case[2] <= 9]
    assert len(cases) > 300
    for target, draft, k, spent in cases[:150]:
        coupled = coupling_of(target, draft, k, spent)
        wanted = budget.law(target, draft, k, spent)
        emitted = coupled.emitted()
        assert [emitted.get(token, 0) for token in range(len(target))] == wanted.tolist()
        among = sum((mass for (tokens, found), mass in coupled.masses.items() if found.token in tokens), Fraction(0))
        assert among == budget.acceptance(target, draft, k, spent)


@pytest.mark.parametrize("drawn", [without_replacement.draw, greedy.draw])
def test_the_optimum_holds_for_drafts_of_other_laws(drawn):
    for target, draft, k, spent in CASES[:60]:
        drafts = draft_law.drawn(drawn, draft, k)
        certificate = budget.solve(target, drafts, spent)
        assert certificate.fault() is None
        assert certificate.acceptance == budget.acceptance_of(target, drafts, spent)
        assert certificate.acceptance == least_cut(target, drafts, lambda m, spent=spent: min(Fraction(1), m + spent))


def test_the_linear_program_finds_the_optimum():
    # 1e-8: HiGHS's residuals of 1e-10 on each of at most 27·4 + 4 rows.
    for target, draft, k, spent in CASES[:300]:
        found = program(target, iid(draft, k), total_variation=float(spent))
        assert abs(found - float(budget.acceptance(target, draft, k, spent))) < 1e-8


def test_a_position_without_a_draft_cannot_be_bought():
    """Half of the time nothing is drafted: no budget brings the acceptance above a half."""
    drafts = {(): Fraction(1, 2), (0,): Fraction(1, 2)}
    assert budget.acceptance_of(["1/4", "3/4"], drafts, "3/4") == Fraction(1, 2)
    certificate = budget.solve(["1/4", "3/4"], drafts, "3/4")
    assert certificate.fault() is None
    assert program([Fraction(1, 4), Fraction(3, 4)], drafts, total_variation=0.75) == pytest.approx(0.5, abs=1e-8)
    assert budget.acceptance_of([0.25, 0.75], {(): 0.5, (0,): 0.5}, 0.75) == 0.5


def test_floats_and_rows_and_fractions_agree():
    t, d = [[0.25, 0.75], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]
    assert budget.acceptance(t, d, 1, 0.125).tolist() == [0.875, 1.0]
    exact_rows = budget.acceptance(exact([["1/4", "3/4"]]), exact([["1/2", "1/2"]]), 1, "1/8")
    assert exact_rows.tolist() == [Fraction(7, 8)]
    # Dyadic masses: nothing rounds.
    assert budget.law([0.25, 0.75], [0.5, 0.5], 1, 0.125).tolist() == [0.375, 0.625]
    found = law(lambda coin: budget.verify(coin, (coin.draw([0.5, 0.5]),), [0.25, 0.75], [0.5, 0.5], 0.125))
    assert found == {0: 0.375, 1: 0.625}


def test_float_laws_of_many_tokens_stay_within_the_budget():
    rng = np.random.default_rng(5)
    t, d = (np.exp(rng.normal(size=5000) * 3) for _ in range(2))
    t, d = t / t.sum(), d / d.sum()
    emitted = budget.law(t, d, 2, 0.05)
    # Sums of 5,000 masses, each rounded by 2^-53 a few times: below 1e-10 in all.
    assert abs(emitted.sum() - 1) < 1e-10
    assert np.maximum(emitted - t, 0).sum() <= 0.05 + 1e-10
    from spec_math.token_level import optimal

    assert abs(optimal.acceptance(emitted, d, 2) - budget.acceptance(t, d, 2, 0.05)) < 1e-10


# Controls: what would be wrong is refused.


def test_a_budget_counted_twice_is_refused():
    """ε added to the acceptance twice, or a coupling that spends twice the budget, is no certificate."""
    target, drafts = ["1/4", "3/4"], {(0,): Fraction(1, 2), (1,): Fraction(1, 2)}
    twice, once = budget.solve(target, drafts, "1/8"), budget.solve(target, drafts, "1/16")
    assert replace(twice, total_variation=Fraction(1, 16)).fault().startswith("what the coupling emits is 1/8 away")
    assert replace(once, acceptance=twice.acceptance).fault() == "the coupling accepts 13/16, not 7/8"
    wrong = sum(
        min(Fraction(1), budget.acceptance(t, d, k, 0) + 2 * e) != budget.acceptance(t, d, k, e) for t, d, k, e in CASES
    )
    assert wrong > 300


def test_a_budget_on_the_wrong_side_is_refused():
    """ε taken off the drafts' masses, or off the target's, bounds nothing: 1 − P(S ⊆ H) + t(H) − ε."""
    refused = 0
    for target, draft, k, spent in CASES[:200]:
        drafts = iid(draft, k)
        certificate = budget.solve(target, drafts, spent)
        cheaper = max(Fraction(0), certificate.acceptance - 2 * spent)
        if spent and cheaper != certificate.acceptance:
            assert replace(certificate, acceptance=cheaper).fault() is not None
            refused += 1
        other = replace(certificate, subset=frozenset(range(len(target))) - certificate.subset)
        refused += other.fault() is not None
    assert refused > 150


def test_every_part_of_a_certificate_is_looked_at():
    right = budget.solve(["1/4", "3/4"], {(0,): Fraction(1, 2), (1,): Fraction(1, 2)}, "1/8")
    half = Fraction(1, 2)
    wrong = {
        "a certificate's numbers are Fractions": replace(right, acceptance=0.875),
        "the target is not a probability distribution": replace(right, target=(half, half, half)),
        "the distribution of drafts is not a probability distribution": replace(right, draft_law={(0,): half}),
        "a mass or the budget is negative": replace(right, total_variation=-half),
        "the coupling emits something that is no token of 0..1": replace(right, coupling={((0,), 2): Fraction(1)}),
        "the coupling's drafts have another distribution": replace(right, coupling={((0,), 0): Fraction(1)}),
        "this is no certificate: AttributeError: 'int' object has no attribute 'issuperset'": replace(right, subset=3),
    }
    assert {what: claim.fault() for what, claim in wrong.items()} == {what: what for what in wrong}
    assert not any(claim.check() for claim in wrong.values())


@pytest.mark.parametrize(
    ("spent", "said"),
    [
        ("3/2", "total_variation must lie in [0, 1]; got 3/2"),
        (-0.5, "total_variation must lie in [0, 1]; got -1/2"),
        (float("nan"), "total_variation must be finite; got nan"),
        (True, "total_variation must be a number: an int, a Fraction, a text such as '1/8' or a float; got True"),
        ("much", "total_variation must be a number such as '1/8'; got 'much'"),
    ],
)
def test_a_budget_outside_its_range_is_an_error_that_names_it(spent, said):
    laws = ["1/4", "3/4"], ["1/2", "1/2"]
    for asked in (
        lambda: budget.acceptance(*laws, 1, spent),
        lambda: budget.acceptance_of(laws[0], {(0,): 1}, spent),
        lambda: budget.solve(laws[0], {(0,): 1}, spent),
        lambda: budget.law(*laws, 1, spent),
    ):
        with pytest.raises((ValueError, TypeError)) as raised:
            asked()
        assert str(raised.value) == said


@pytest.mark.parametrize("k", [1, 2])
def test_a_rule_that_replaces_rejections_gains_what_it_spends(k):
    """The proof from below, as a program: any lossless coupling, with a share of its rejections emitted as drafts."""
    target, draft = exact(["1/5", "1/5", "3/5"]), exact(["1/2", "1/4", "1/4"])
    lossless = transport.solve(target, iid(draft.tolist(), k))
    for spent in BUDGETS:
        share = min(Fraction(1), spent / (1 - lossless.acceptance))
        verify = relaxed(verifier_from_coupling(lossless), share)
        found = pairs_of(verify, target, draft, k)
        emitted = [sum((m for (_, y), m in found.items() if y == token), Fraction(0)) for token in range(3)]
        assert away(emitted, target) <= spent
        assert sum(m for (x, y), m in found.items() if y in x) == budget.acceptance(target, draft, k, spent)


def test_any_lossless_verifier_can_be_relaxed():
    """One that is not optimal gains the share of what it rejects, and is no further away than that."""
    target, draft = exact(["1/5", "1/5", "3/5"]), exact(["1/2", "1/4", "1/4"])
    for verify in (recursive.verify, k_sequential.verify):
        accepted = sum(m for (x, y), m in pairs_of(verify, target, draft, 2).items() if y in x)
        for share in (Fraction(1, 3), Fraction(1)):
            found = pairs_of(relaxed(verify, share), target, draft, 2)
            emitted = [sum((m for (_, y), m in found.items() if y == token), Fraction(0)) for token in range(3)]
            assert away(emitted, target) <= share * (1 - accepted)
            assert sum(m for (x, y), m in found.items() if y in x) == accepted + share * (1 - accepted)


def test_the_plan_under_a_budget_has_the_optimum_and_the_law():
    for target, draft, k, spent in CASES[:80]:
        prepared = plan(budget.law(target, draft, k, spent), draft, k)
        assert prepared.acceptance == budget.acceptance(target, draft, k, spent)


def pairs_of(verify, target, draft, k):
    def once(coin):
        tokens = draw_independent(coin, draft, k)
        return tokens, verify(coin, tokens, target, draft)

    return law(once)
