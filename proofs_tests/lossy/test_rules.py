"""Each rule emits the law that is claimed for it, is as far from the target as claimed, and is below the frontier."""

from fractions import Fraction

import numpy as np
import pytest

from proofs_tests.lossy.budget_oracle import iid, instances
from proofs_tests.lossy.rule_cases import cases, coupling_of
from spec_math import exact
from spec_math.coupling import joint
from spec_math.distribution import overlap
from spec_math.lossy import RULES, budget, cactus, cascade, ensemble, fuzzy, lenience, relaxed_top, thresholds, typical
from spec_math.lossy.distances import distances
from spec_math.scheme import Emission

every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


@every_rule
def test_a_rule_emits_its_law_and_accepts_as_often_as_it_says(rule):
    """Enumeration = closed form, as Fractions: the law, P(among the drafts), P(a test accepted)."""
    for target, draft, k, options in cases(rule):
        coupled = coupling_of(rule, target, draft, k, options)
        emitted = coupled.emitted()
        law = rule.law(target, draft, k, options)
        assert [emitted.get(token, Fraction(0)) for token in range(len(target))] == law.tolist()
        assert all(type(mass) is Fraction for mass in law)
        among = sum((m for (tokens, found), m in coupled.masses.items() if found.token in tokens), Fraction(0))
        tested = sum((m for (_, found), m in coupled.masses.items() if found.accepted), Fraction(0))
        assert rule.acceptance(target, draft, k, options) == among
        assert (rule.test_acceptance or rule.acceptance)(target, draft, k, options) == tested


@every_rule
def test_no_rule_exceeds_the_frontier_at_its_own_distance(rule):
    """gap = min(1, α* + TV) − acceptance ≥ 0, for the drafts that the rule takes, by the certificate."""
    for target, draft, k, options in cases(rule, 60):
        far = distances(rule.law(target, draft, k, options), target)
        drafts = {thresholds.draw(None, draft, k): Fraction(1)} if rule.chosen else iid(draft.tolist(), k)
        certificate = budget.solve(target, drafts, far.total_variation)
        assert certificate.check()
        assert rule.acceptance(target, draft, k, options) <= certificate.acceptance


@every_rule
def test_the_strictest_value_of_a_rule_for_samplers_is_lossless_and_the_loosest_is_not(rule):
    """At its first value a rule that can be lossless is; at its last it is lossy on some instance."""
    strict = [rule.law(t, d, k, rule.options(rule.swept[0])).tolist() == t.tolist() for t, d, k, _ in cases(rule)]
    loose = [rule.law(t, d, k, rule.options(rule.swept[-1])).tolist() == t.tolist() for t, d, k, _ in cases(rule)]
    never = {"typical acceptance", "relaxed top", "speculative cascade"}
    assert all(strict) or rule.name in never
    assert not all(loose)


@every_rule
def test_floats_follow_the_exact_rule(rule):
    for target, draft, k, options in cases(rule, 40):
        t, d = target.astype(float), draft.astype(float)
        if min(t[t > 0].min(), d[d > 0].min()) < 1e-6:
            continue  # a threshold may lie between a mass of 2^-40 and its float
        law = rule.law(t, d, k, options)
        wanted = rule.law(target, draft, k, options).astype(float)
        # Thresholds that the laws meet exactly may fall either way; mentored decoding brackets to 1e-12 of the optimum.
        if rule.name in ("fuzzy", "speculative cascade", "relaxed top", "typical acceptance", "two thresholds"):
            accepted = float(rule.acceptance(target, draft, k, options))
            if abs(rule.acceptance(t, d, k, options) - accepted) > 1e-9:
                continue
        assert np.abs(law - wanted).max() < 1e-6


def test_the_distances_of_the_rules_have_closed_forms():
    for target, draft, _ in ((exact(t), exact(d), k) for t, d, k in instances(41, 60)):
        apart = 1 - overlap(target, draft)
        for weight in map(Fraction, ("1/4", "2/3")):
            found = distances(ensemble.law(target, draft, 1, weight), target)
            assert found.total_variation == (1 - weight) * apart
        for value in map(Fraction, ("1/2", "4/5")):
            for after in lenience.AFTER:
                far = distances(lenience.law(target, draft, 1, {"lenience": value, "after": after}), target)
                assert far.largest_ratio <= 1 / value
                assert far.forbidden == 0
            scaled = lenience.law(target, draft, 1, value)
            over = sum(max(Fraction(0), min(d, t / value) - t) for t, d in zip(target, draft, strict=True))
            under = lenience.law(target, draft, 1, {"lenience": value, "after": "residual"})
            # With the residual of target and draft only tokens with d > t gain, and all of them as much as is accepted.
            assert distances(under, target).total_variation == over
            assert distances(scaled, target).total_variation >= 0
        options = typical.Options("1/5", "1/2")
        kept = [d if yes else 0 for d, yes in zip(draft, typical.accepted(target, options), strict=True)]
        rest = 1 - sum(kept, Fraction(0))
        expected = sum((max(Fraction(0), k + rest * t - t) for k, t in zip(kept, target, strict=True)), Fraction(0))
        assert distances(typical.law(target, draft, 1, options), target).total_variation == expected
        for threshold in map(Fraction, ("1/10", "1/2")):
            far = distances(fuzzy.law(target, draft, 1, threshold), target).total_variation
            assert far == (apart if apart <= threshold else 0)
            assert far <= threshold
        for alpha in map(Fraction, ("1/4", "3/4")):
            law = cascade.law(target, draft, 1, {"alpha": alpha, "rule": "token"})
            favoured = [mass >= (1 - alpha) * target.max() for mass in target]
            lost = sum((d for d, yes in zip(draft, favoured, strict=True) if not yes), Fraction(0))
            expected = sum(
                (
                    max(Fraction(0), (d if yes else 0) + lost * t - t)
                    for t, d, yes in zip(target, draft, favoured, strict=True)
                ),
                Fraction(0),
            )
            assert distances(law, target).total_variation == expected


# Controls.


def test_a_rule_that_is_changed_is_told_from_its_law():
    """The ensemble that draws from the target after a rejection emits another law."""
    from spec_math.distribution import capped_ratio

    t, d = exact(["1/10", "3/10", "6/10"]), exact(["5/10", "4/10", "1/10"])

    def hasty(coin, x):
        half = Fraction(1, 2)
        if coin.flip(capped_ratio(half * d[x] + half * t[x], d[x])):
            return Emission(x, True)
        return Emission(coin.draw(t), False)

    emitted = joint(lambda coin: (coin.draw(d),), lambda coin, tokens: hasty(coin, tokens[0])).emitted()
    assert [emitted[token] for token in range(3)] != ensemble.law(t, d, 1, "1/2").tolist()


def test_a_rule_above_the_frontier_would_be_seen():
    """Accepting everything while claiming the distance of an ensemble of a half."""
    t, d = exact(["1/10", "3/10", "6/10"]), exact(["5/10", "4/10", "1/10"])
    claimed = distances(ensemble.law(t, d, 1, "1/2"), t).total_variation
    assert Fraction(1) > budget.acceptance(t, d, 1, claimed)


OUTSIDE = [
    (ensemble, {"weight": 2}, "weight must lie in [0, 1]; got 2"),
    (lenience, {"lenience": 0}, "lenience must be above 0"),
    (lenience, {"after": "nothing"}, "after must be one of scaled, residual; got 'nothing'"),
    (typical, {"threshold": "5/4"}, "threshold must lie in [0, 1]; got 5/4"),
    (typical, {"alpha": 0}, "alpha must be above 0"),
    (typical, {"after": "draft"}, "after must be one of target, favourite; got 'draft'"),
    (fuzzy, {"threshold": -1}, "threshold must be at least 0; got -1"),
    (fuzzy, {"measure": "L2"}, "measure must be one of total variation, KL(d‖t), KL(t‖d); got 'L2'"),
    (cascade, {"alpha": "x"}, "alpha must be a number such as '1/8'; got 'x'"),
    (cascade, {"rule": "best"}, "rule must be one of chow, difference, optimal, token; got 'best'"),
    (cactus, {"delta": float("inf")}, "delta must be finite; got inf"),
    (relaxed_top, {"top": 0}, "top must be at least 1; got 0"),
    (thresholds, {"single": 0}, "single must be above 0"),
    (thresholds, {"accumulated": True}, "accumulated must be a number"),
    (cascade, {"beta": 1}, "this rule has the options alpha, rule; not 'beta'"),
    (ensemble, object(), "the options of a rule are a record or a mapping of weight"),
]


@pytest.mark.parametrize(("rule", "options", "said"), OUTSIDE)
def test_an_option_outside_its_range_is_an_error_that_names_it(rule, options, said):
    for ask in (
        lambda: rule.law(["1/4", "3/4"], ["1/2", "1/2"], 1, options),
        lambda: rule.verify(None, (0,), ["1/4", "3/4"], ["1/2", "1/2"], options),
        lambda: rule.acceptance(["1/4", "3/4"], ["1/2", "1/2"], 1, options),
    ):
        with pytest.raises((ValueError, TypeError)) as raised:
            ask()
        assert said in str(raised.value)


def test_siblings_and_drafts_are_checked():
    with pytest.raises(ValueError, match=r"siblings of a tree are distinct tokens; got \(0, 0\)"):
        thresholds.verify(None, (0, 0), ["1/4", "3/4"], ["1/2", "1/2"])
    with pytest.raises(ValueError, match="this verifier takes one draft; got 2"):
        ensemble.verify(None, (0, 1), ["1/4", "3/4"], ["1/2", "1/2"])
