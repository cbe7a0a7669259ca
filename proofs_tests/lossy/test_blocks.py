"""Lossy rules on chains: the law of texts of up to four tokens, its growth, and what any rule of a block could keep."""

from fractions import Fraction
from itertools import product

import pytest

from proofs_tests.lossy import budgets
from proofs_tests.lossy.texts import text_law
from spec_math import exact
from spec_math.block_level import block, chain
from spec_math.block_level.length import expected
from spec_math.block_level.lossless import emitted_law, target_law
from spec_math.lossy import RULES, blocks, fly, joint_threshold
from spec_math.lossy.rule import Rule

ONE_DRAFT = [rule for rule in RULES if not rule.several]

T = {(): (1, 4, 3), (0,): (5, 1, 2), (1,): (0, 6, 2), (2,): (3, 3, 2)}
D = {(): (4, 1, 3), (0,): (2, 6, 0), (1,): (3, 2, 3), (2,): (3, 3, 2)}


def target(prefix):
    return exact([Fraction(part, 8) for part in T[prefix[-1:]]])


def draft(prefix):
    return exact([Fraction(part, 8) for part in D[prefix[-1:]]])


def two_target(prefix):
    return exact(["1/4", "3/4"] if sum(prefix) % 2 else ["2/3", "1/3"])


def two_draft(prefix):
    return exact(["1/2", "1/2"] if len(prefix) % 2 else ["1/5", "4/5"])


MODELS = target, draft
TWO = two_target, two_draft

every_rule = pytest.mark.parametrize("rule", ONE_DRAFT, ids=lambda rule: rule.name)


def middle(rule):
    return rule.options(rule.swept[len(rule.swept) // 2])


def apart(emitted, wanted):
    return sum((max(Fraction(0), mass - wanted.get(text, 0)) for text, mass in emitted.items()), Fraction(0))


@every_rule
@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_the_law_of_texts_is_that_of_blocks_in_a_row(rule, length):
    """Walk = enumeration of every coin of the blocks, as Fractions, up to four tokens."""
    options = middle(rule)
    models, rounds = (MODELS, length) if length < 3 else (TWO, length)
    walked = text_law(models, length, 2, rule, options)

    def once(coin, prefix):
        return blocks.generate(coin, models, prefix, 2, rule, options)

    emitted = emitted_law(once, models[0], length, rounds)
    assert {text: mass for text, mass in walked.items() if mass} == emitted
    assert sum(walked.values()) == 1


@every_rule
def test_a_lossless_value_leaves_the_joint_law_of_four_tokens(rule):
    options = rule.options(rule.swept[0])
    if rule.name in ("typical acceptance", "relaxed top", "speculative cascade"):
        assert text_law(TWO, 4, 2, rule, options) != target_law(two_target, 4)
    else:
        assert text_law(TWO, 4, 2, rule, options) == target_law(two_target, 4)


@every_rule
def test_the_distance_of_texts_grows_as_bounded(rule):
    found = blocks.growth(TWO, 4, rule, middle(rule))
    for here in found:
        assert here.total_variation <= here.coupled <= here.uniform <= here.summed
        # Divergences of a chain add up: two intervals around one number, or infinite both.
        if here.chained.high == float("inf"):
            assert here.divergence.high == float("inf")
        else:
            assert here.divergence.low <= here.chained.high
            assert here.chained.low <= here.divergence.high
            assert here.divergence.width < Fraction(1, 2**60)
    distances = [here.total_variation for here in found]
    assert distances == sorted(distances)
    assert found[-1].total_variation > found[0].total_variation


def test_growth_with_every_position_drafted_is_the_limit_of_long_blocks():
    rule = RULES[0]
    walked = text_law(TWO, 3, 3, rule, "1/2")
    assert apart(walked, target_law(two_target, 3)) == blocks.growth(TWO, 3, rule, "1/2")[-1].total_variation


def test_a_bonus_token_lowers_the_distance():
    rule = RULES[0]
    short, long = (apart(text_law(TWO, 4, looked, rule, "1/2"), target_law(two_target, 4)) for looked in (1, 4))
    assert 0 < short < long


def test_bounds_that_are_too_small_would_be_seen():
    """Control: growth as if the distance of the first position were that of all, or as if it did not add up."""
    found = blocks.growth(TWO, 4, lenience_rule(), "1/2")
    assert any(here.total_variation > found[0].total_variation for here in found)
    assert found[-1].chained.low > found[0].chained.high


def lenience_rule():
    return next(rule for rule in RULES if rule.name == "lenience")


def kept(models, lookahead, rule, options):
    """The mean number of drafts kept: tokens per call less one."""
    return expected(lambda coin, prefix: blocks.generate(coin, models, prefix, lookahead, rule, options), ()) - 1


@every_rule
def test_no_rule_on_a_chain_keeps_more_than_the_program_at_its_distance(rule):
    lookahead = 2
    for value in rule.swept[1::4]:
        options = rule.options(value)
        law = emitted_law(
            lambda coin, prefix, options=options: blocks.generate(coin, TWO, prefix, lookahead, rule, options),
            two_target,
            lookahead + 1,
        )
        far = apart(law, target_law(two_target, lookahead + 1))
        bound = budgets.optimum(TWO, lookahead, far)
        # 1e-8: HiGHS's residuals of 1e-10 on a few dozen rows.
        assert float(kept(TWO, lookahead, rule, options)) <= bound + 1e-8


def test_without_a_budget_the_program_is_block_verification():
    for models, lookahead in ((TWO, 1), (TWO, 2), (MODELS, 2)):
        best = block.expected(*models, (), lookahead) - 1
        assert abs(budgets.optimum(models, lookahead, 0) - float(best)) < 1e-8
        assert budgets.optimum(models, lookahead, 1) == pytest.approx(lookahead, abs=1e-8)


def test_for_one_position_the_program_is_the_optimum_under_a_budget():
    from spec_math.lossy import budget

    for spent in ("0", "1/20", "1/4", "1"):
        found = budgets.optimum(MODELS, 1, spent)
        # A budget on two tokens, the second one the target's, is one on the first.
        assert abs(found - float(budget.acceptance(target(()), draft(()), 1, spent))) < 1e-8


def test_a_unit_of_bias_buys_more_in_a_block_than_at_a_position():
    """Of two drafts a budget of 1/20 on the texts buys 7/60 kept tokens: a unit buys 7/3, more than both drafts."""
    gained = budgets.optimum(TWO, 2, "1/20") - budgets.optimum(TWO, 2, 0)
    assert gained == pytest.approx(7 / 60, abs=1e-8)


# FLy and MTAD decide on several positions together.


def drafted_texts(models, lookahead):
    size = len(models[1](()))
    for x in product(range(size), repeat=lookahead):
        mass = Fraction(1)
        for place, token in enumerate(x):
            mass *= models[1](x[:place])[token]
        if mass:
            yield x, mass


def by_hand(models, lookahead, keep):
    """Σ over chains and the answers of all tests: P(chain)·P(answers)·P(what is added), written out."""
    found = {}
    for x, mass in drafted_texts(models, lookahead):
        laws = [(models[0](x[:i]), models[1](x[:i])) for i in range(lookahead)]
        chances = [min(Fraction(1), t[y] / d[y]) for y, (t, d) in zip(x, laws, strict=True)]
        for answers in product((True, False), repeat=lookahead):
            weight = mass
            for answer, chance in zip(answers, chances, strict=True):
                weight *= chance if answer else 1 - chance
            if weight:
                number, after = keep(x, laws, answers)
                for token, share in enumerate(after):
                    if share:
                        text = (*x[:number], token)
                        found[text] = found.get(text, 0) + weight * share
    return found


@pytest.mark.parametrize(("entropy", "window"), [("0", 1), ("3/5", 1), ("0", 2), ("2", 1)])
def test_fly_emits_what_its_tests_add_up_to(entropy, window):
    options = fly.Options(entropy, window)

    def keep(x, laws, answers):
        for i, (t, d) in enumerate(laws):
            ahead = answers[i + 1 : i + 1 + window]
            deferred = len(ahead) == window and all(ahead) and t[x[i]] > 0 and fly.undecided(t, options)
            if not (answers[i] or deferred):
                lacking = [max(Fraction(0), a - b) for a, b in zip(t, d, strict=True)]
                return i, [part / sum(lacking) for part in lacking]
        return len(laws), MODELS[0](x)

    from spec_math.chance import law

    emitted = law(lambda coin: fly.generate(coin, MODELS, (), 3, options))
    assert emitted == by_hand(MODELS, 3, keep)
    lossless = law(lambda coin: chain.generate(coin, *MODELS, (), 3))
    assert (emitted == lossless) == (entropy == "2")


def test_fly_changes_its_law_with_the_place_in_the_block():
    """The first of two drafts may be deferred, the last never is."""
    from spec_math.chance import law

    first: list[Fraction] = []
    for number in (1, 2):
        emitted = law(lambda coin, number=number: fly.generate(coin, MODELS, (), number, fly.Options(0, 1)))
        first.append(sum(mass for text, mass in emitted.items() if text[0] == 0))
    assert first[0] == target(())[0]
    assert first[1] > first[0]


def test_the_joint_threshold_keeps_the_longest_likely_prefix():
    from spec_math.chance import law

    def keep(x, laws, _):
        wanted = proposed = Fraction(1)
        number = 0
        for i, (t, d) in enumerate(laws):
            wanted, proposed = wanted * t[x[i]], proposed * d[x[i]]
            if wanted / proposed > Fraction(1, 2):
                number = i + 1
        return number, MODELS[0](x[:number])

    emitted = law(lambda coin: joint_threshold.generate(coin, MODELS, (), 3, "1/2"))
    assert emitted == by_hand(MODELS, 3, keep)
    # Control: a rule that stops at the first unlikely prefix is another one.

    def stopping(x, laws, _):
        wanted = proposed = Fraction(1)
        for i, (t, d) in enumerate(laws):
            wanted, proposed = wanted * t[x[i]], proposed * d[x[i]]
            if wanted / proposed <= Fraction(1, 2):
                return i, MODELS[0](x[:i])
        return len(laws), MODELS[0](x)

    assert emitted != by_hand(MODELS, 3, stopping)


def test_options_and_rules_of_several_drafts_are_refused():
    with pytest.raises(ValueError, match="threshold must be above 0; got 0"):
        joint_threshold.generate(None, MODELS, (), 2, 0)
    with pytest.raises(ValueError, match="window must be at least 1; got 0"):
        fly.Options(0, 0)
    with pytest.raises(ValueError, match="entropy must be at least 0; got -1"):
        fly.Options(-1)
    several: Rule = next(rule for rule in RULES if rule.several)
    for ask in (lambda: blocks.growth(TWO, 2, several), lambda: blocks.generate(None, TWO, (), 2, several)):
        with pytest.raises(
            ValueError, match="a chain is verified by a rule of one draft; mentored decoding takes several"
        ):
            ask()
    with pytest.raises(ValueError, match="the program has 2,500 variables"):
        budgets.optimum((lambda _: ["1/5"] * 5, lambda _: ["1/5"] * 5), 3, 0)
