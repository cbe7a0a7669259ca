"""How far each rule is from the target, from its definition on paper: no law of a rule is used.

For a law e, TV(e, t) = Σ (e − t)+ = Σ (t − e)+; each formula is the sum that its rule makes short.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import pytest

from proofs_tests.lossy.budget_oracle import instances
from spec_math import exact
from spec_math.lossy import (
    cactus,
    cascade,
    fly,
    fuzzy,
    joint_threshold,
    lenience,
    mentored,
    relaxed_top,
    thresholds,
    typical,
)
from spec_math.lossy.distances import distances

ZERO, ONE = Fraction(0), Fraction(1)


def pairs(seed, number=60):
    for target, draft, _ in instances(seed, number):
        yield list(target), list(draft)


def total(values):
    return sum(values, ZERO)


def above(value):
    return max(ZERO, value)


def found(rule, t, d, k, options):
    return distances(rule.law(t, d, k, options), exact(t)).total_variation


def gained(t, d):
    return total(above(a - b) for a, b in zip(t, d, strict=True))


def logarithm(value):
    return (Decimal(value.numerator) / Decimal(value.denominator)).ln()


def number(value):
    return Decimal(value.numerator) / Decimal(value.denominator)


def divergence(p, q):
    """KL(p‖q) in nats, to some 45 digits; None where it is infinite."""
    if any(a and not b for a, b in zip(p, q, strict=True)):
        return None
    with localcontext() as context:
        context.prec = 50
        return sum((number(a) * logarithm(a / b) for a, b in zip(p, q, strict=True) if a), Decimal(0))


def distance_with_favourite(t, d, kept):
    """Σ (t − e)+ of the rule that keeps the drafts in `kept` and emits the favourite f instead of every other.

    All that the target has outside is lost; of a kept x ≠ f, t − d; of f, t(f) less what it is drafted and given.
    """
    favourite = t.index(max(t))
    given = total(d[x] for x in range(len(t)) if x not in kept)
    lost = total(t[x] if x not in kept else above(t[x] - d[x]) for x in range(len(t)) if x != favourite)
    own = d[favourite] if favourite in kept else ZERO
    return lost + above(t[favourite] - own - given)


# One position.


@pytest.mark.parametrize("delta", ["0", "1/1000", "1/8", "2"])
def test_cactus_is_as_far_as_it_raises_what_is_drafted_too_often(delta):
    """TV = Σ (min(d, h) − t)+, h = min(1, t + √(2δt(1 − t))): what follows a rejection brings no token above t."""
    moved = 0
    for t, d in pairs(81):
        heights = cactus.raised(exact(t), cactus.Options(delta)).tolist()
        for mass, height in zip(t, heights, strict=True):
            inside = 2 * Fraction(delta) * mass * (1 - mass)
            width = Fraction(1, 2**64)
            assert (height - mass) ** 2 <= inside
            assert height == 1 or inside < (height - mass + width) ** 2
        expected = total(above(min(a, h) - b) for a, h, b in zip(d, heights, t, strict=True))
        assert found(cactus, t, d, 1, delta) == expected
        moved += expected > 0
        # The raised law itself is as far as h − t at the drafted token, whatever the draft.
        moved += delta == "0" or expected != max(h - b for h, b in zip(heights, t, strict=True))
    assert moved > 20


@pytest.mark.parametrize("top", [1, 2, 10])
@pytest.mark.parametrize("delta", ["0", "1/10", "1/2", "1"])
def test_relaxed_top_is_as_far_as_what_it_never_emits_and_what_it_drafts_too_rarely(delta, top):
    wrong = 0
    for t, d in pairs(82):
        kept = {
            x
            for x in range(len(t))
            if sum((-t[y], y) < (-t[x], x) for y in range(len(t))) < top and t[x] >= max(t) - Fraction(delta)
        }
        far = found(relaxed_top, t, d, 1, {"delta": delta, "top": top})
        assert far == distance_with_favourite(t, d, kept)
        wrong += far != distance_with_favourite(t, d, set(range(len(t))))
    assert wrong > 10 or (top, delta) == (10, "1")


@pytest.mark.parametrize("after", typical.AFTER)
@pytest.mark.parametrize(("threshold", "alpha"), [("1/5", "1/2"), ("9/100", "3/10"), ("1", "9/10")])
def test_typical_acceptance_is_as_far_as_its_second_draw_leaves_it(threshold, alpha, after):
    moved = 0
    for t, d in pairs(83):
        with localcontext() as context:
            context.prec = 50
            entropy = -sum((number(mass) * logarithm(mass) for mass in t if mass), Decimal(0))
            least = min(number(Fraction(threshold)), number(Fraction(alpha)) * (-entropy).exp())
            kept = {x for x, mass in enumerate(t) if number(mass) > least}
        given = total(d[x] for x in range(len(t)) if x not in kept)
        if after == "favourite":
            expected = distance_with_favourite(t, d, kept)
        else:  # a token outside loses t·(1 − given), one inside (t·(1 − given) − d)+
            expected = total(above(t[x] * (1 - given) - (d[x] if x in kept else 0)) for x in range(len(t)))
        assert found(typical, t, d, 1, {"threshold": threshold, "alpha": alpha, "after": after}) == expected
        moved += expected > 0
    assert moved > 10


@pytest.mark.parametrize("single", ["1", "1/3"])
@pytest.mark.parametrize("accumulated", ["1", "4/5", "1/2", "1/10"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_two_thresholds_are_as_far_as_what_is_never_reached_or_made_too_kind(k, accumulated, single):
    """With T_i the target mass of i siblings: T_k(1/c − 1) if none is accepted for sure, else, s the first that is,
    max(1 − T_s, T_{s−1}(1/c − 1)): all after s is lost, and the siblings before it have 1/c of their mass."""
    scale, sure, unlike = Fraction(accumulated), Fraction(single), 0
    for t, d in pairs(84):
        siblings = sorted((x for x in range(len(d)) if d[x]), key=lambda x: (-d[x], x))[:k]
        before, expected = ZERO, None
        for x in siblings:
            if before + t[x] >= scale or t[x] >= sure:
                expected = max(1 - before - t[x], before * (1 / scale - 1))
                break
            before += t[x]
        kind = before * (1 / scale - 1)
        far = found(thresholds, t, d, k, {"accumulated": accumulated, "single": single})
        assert far == (kind if expected is None else expected)
        unlike += far != kind
    assert unlike > 0 or (accumulated, single) == ("1", "1")


@pytest.mark.parametrize("value", ["1", "4/5", "1/2", "1/20"])
def test_lenience_with_the_scaled_residual_is_as_far_as_both_of_its_parts_lift(value):
    """Tokens with t ≤ l·d gain t(1/l − 1); the others emit d + r(t − l·d), r = (1 − S)/(1 − l·S), S = Σ min(d, t/l)."""
    low, unlike = Fraction(value), 0
    for t, d in pairs(85):
        accepted = total(min(a, b / low) for a, b in zip(d, t, strict=True))
        share = (1 - accepted) / (1 - low * accepted) if low * accepted < 1 else ZERO
        expected = total(
            b * (1 / low - 1) if b <= low * a else above(a + share * (b - low * a) - b)
            for a, b in zip(d, t, strict=True)
        )
        assert found(lenience, t, d, 1, {"lenience": value, "after": "scaled"}) == expected
        unlike += expected != total(above(min(a, b / low) - b) for a, b in zip(d, t, strict=True))
    assert unlike > 5 or value == "1"


def level(t, masses, wanted, clip):
    """The slope s with Σ clip(masses, s·t) = wanted, clip being min or max: linear between the ratios masses/t."""

    def height(slope):
        return total(clip(a, slope * b) for a, b in zip(masses, t, strict=True))

    slopes = sorted({a / b for a, b in zip(masses, t, strict=True) if b} | {ZERO, ONE})
    for low, high in pairwise(slopes):
        if height(low) <= wanted <= height(high) and height(low) < height(high):
            return low + (high - low) * (wanted - height(low)) / (height(high) - height(low))
    return slopes[-1]


def clipped(t, d, far):
    """The law clip(d, A·t, B·t) whose distance is `far`; tokens without target mass gain last of all, where B = ∞."""
    forbidden = total(a for a, b in zip(d, t, strict=True) if not b)
    last = above(far - (gained(d, t) - forbidden))
    raised = [max(a, b) if b else ZERO for a, b in zip(d, t, strict=True)]
    lowered = [min(a, b) for a, b in zip(d, t, strict=True)]
    high, low = level(t, raised, 1 + far - last, min), level(t, lowered, 1 - far, max)
    return [min(max(a, low * b), high * b) if b else a * last / (forbidden or 1) for a, b in zip(d, t, strict=True)]


@pytest.mark.parametrize("to_target", [False, True])
@pytest.mark.parametrize("nats", ["0", "1/5", "1"])
def test_mentored_decoding_is_as_far_as_its_budget_lasts_on_the_clipped_laws(nats, to_target):
    """e = clip(d, A·t, B·t) of distance v spends the budget: at v it is kept, at v + 2^-39 it is not, unless e = d."""
    whole = part = 0
    for t, d in pairs(86, 40):
        far = found(mentored, t, d, 1, {"nats": nats, "to_target": to_target})
        limit, most = number(Fraction(nats)), gained(d, t)

        def spent(distance, t=t, d=d):
            law = clipped(t, d, distance)
            assert total(law) == 1
            assert gained(law, t) == distance
            return divergence(t, law) if to_target else divergence(law, t)

        kept = spent(far)
        assert kept is not None
        assert kept <= limit + Decimal(10) ** -40
        more = far + Fraction(1, 2**39)
        if more <= most:
            over = spent(more)
            assert over is None or over > limit
            part += 1
        whole += far == most > 0
    assert part > 3
    assert whole > 0 or nats == "0"


@pytest.mark.parametrize("measure", fuzzy.MEASURES)
@pytest.mark.parametrize("threshold", ["1/10", "1/2"])
def test_fuzzy_is_as_far_as_the_draft_where_it_is_close_and_not_at_all_elsewhere(threshold, measure):
    moved = 0
    for t, d in pairs(87, 200):
        nats = {"KL(d‖t)": lambda t=t, d=d: divergence(d, t), "KL(t‖d)": lambda t=t, d=d: divergence(t, d)}
        far = nats[measure]() if measure in nats else number(gained(d, t))
        close = far is not None and far <= number(Fraction(threshold))
        expected = gained(d, t) if close else ZERO
        assert found(fuzzy, t, d, 1, {"threshold": threshold, "measure": measure}) == expected
        moved += expected > 0
    assert moved > 3


@pytest.mark.parametrize("alpha", ["0", "1/4", "3/4"])
def test_a_cascade_that_judges_positions_is_as_far_as_the_draft_where_it_does_not_defer(alpha):
    ready, seen = Fraction(alpha), set()
    for t, d in pairs(88):
        apart = gained(d, t)
        defers = {
            "chow": 1 - max(d) > ready,
            "difference": max(t) - max(d) > ready,
            "optimal": max(t) - max(d) > ready * apart,
        }
        for rule, deferred in defers.items():
            assert found(cascade, t, d, 1, {"alpha": alpha, "rule": rule}) == (ZERO if deferred else apart)
            seen.add((rule, deferred and apart > 0, apart > 0))
    assert len(seen) >= 7


# Rules of blocks: their first token.


def models(t, d, following):
    """Two models: one pair of laws first, and after each token its own pair."""
    return (
        lambda prefix: exact(following[prefix[0]][0] if prefix else t),
        lambda prefix: exact(following[prefix[0]][1] if prefix else d),
    )


def first_token(generate, t, laws, lookahead, options):
    from spec_math.chance import law

    emitted = law(lambda coin: generate(coin, laws, (), lookahead, options)[0])
    return total(above(emitted.get(x, ZERO) - t[x]) for x in range(len(t)))


@pytest.mark.parametrize("threshold", ["1/2", "1", "3/2"])
def test_a_joint_threshold_is_as_far_at_its_first_token_as_the_drafts_that_it_keeps(threshold):
    """One drafted token: e = d on A = {t > θ·d}, and t·(1 − d(A)) more everywhere."""
    moved = 0
    for t, d in pairs(89, 30):
        kept = [a if b > Fraction(threshold) * a else ZERO for a, b in zip(d, t, strict=True)]
        expected = total(above(total(kept) * b - a) for a, b in zip(kept, t, strict=True))
        far = first_token(joint_threshold.generate, t, models(t, d, [(t, d)] * len(t)), 1, threshold)
        assert far == expected
        moved += far > 0
    assert moved > 5


@pytest.mark.parametrize("entropy", ["0", "1/2", "1"])
def test_fly_is_as_far_at_its_first_token_as_the_drafts_whose_rejection_it_defers(entropy):
    """Two drafts and a window of one: Σ (d − t)+ · α(x) over tokens that the target has, where it is undecided."""
    moved = 0
    drawn = list(pairs(90, 100))
    for place, (t, d) in enumerate(drawn):
        same = [pair for pair in drawn if len(pair[0]) == len(t)]
        following = [same[(place + x) % len(same)] for x in range(len(t))]
        with localcontext() as context:
            context.prec = 50
            top = sorted(t)[-3:]
            unsure = -sum((number(mass) * logarithm(mass) for mass in top if mass), Decimal(0))
        met = [1 - gained(*pair) for pair in following]
        expected = total(above(a - b) * m for a, b, m in zip(d, t, met, strict=True) if b)
        expected = expected if unsure >= number(Fraction(entropy)) else ZERO
        laws = models(t, d, following)
        assert first_token(fly.generate, t, laws, 2, {"entropy": entropy, "window": 1}) == expected
        # With fewer drafts after it than the window nothing is deferred, and the rule is lossless.
        assert first_token(fly.generate, t, laws, 1, {"entropy": entropy, "window": 1}) == 0
        moved += expected > 0
    assert moved > 5
