"""Known-wrong verifiers of one position: each must be judged lossy, or the judge is wrong; two cannot be judged.

A control is a mistake of one line in a right verifier, shown on laws where it bites. `broken` says that it emits no law
at all, so that the verdict has a reason and a path in place of a token; `left_open` why there can be no verdict.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from proofs_tests.broken_verifiers import (
    divides_by_zero,
    draws_from_a_residual_that_is_no_law,
    emits_a_float,
    emits_a_placeholder,
    emits_beyond_the_vocabulary,
    emits_no_token,
    flips_more_than_one,
    never_ends,
    raises,
    remembers,
)
from proofs_tests.wrong_choices import (
    accepts_any_match_of_fresh_draws,
    chooses_among_distinct_tokens,
    greedy_with_the_whole_draft,
    hub_with_one_test_for_both_orders,
    k_sequential_below_gamma_star,
    k_sequential_below_gamma_star_clipped,
    k_sequential_with_the_plain_residual,
    keeps_a_stale_residual,
    leaves_the_residual_unnormalised,
    ratio,
    verifies_the_likeliest_draft,
)
from spec_math import Scheme, exact
from spec_math.arrays import positive_part
from spec_math.chance import Coin
from spec_math.distribution import normalised, residual, restricted, top_k
from spec_math.token_level import greedy, hub, single, without_replacement
from spec_math.verdict import Reason

TARGET, DRAFT = exact(["1/10", "1/5", "3/10", "2/5"]), exact(["2/5", "3/10", "1/5", "1/10"])
"""Two tokens want more than they are drafted: with one only, a wrong residual is often right by accident."""
GRID = 3
"""Coins of the grid controls are k/2^GRID, 0 included."""


class Control(NamedTuple):
    verifier: Scheme | Callable[..., Any]
    why: str
    k: int = 1
    target: Any = TARGET
    draft: Any = DRAFT
    broken: bool = False
    left_open: Reason | None = None


def scheme(draw: Callable[..., Any], verify: Callable[..., Any]) -> Scheme:
    return Scheme("control", draw, verify, single.acceptance)


# Wrong tests


def accepts_one_percent_too_often(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    return x if coin.flip(min(1, Fraction(101, 100) * target[x] / draft[x])) else coin.draw(residual(target, draft))


def is_lenient(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    return x if coin.flip(min(1, 2 * target[x] / draft[x])) else coin.draw(residual(target, draft))


def always_accepts(_coin: Coin, tokens: Any, _target: Any, _draft: Any) -> int:
    return tokens[0]


def clamps_the_denominator(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    accepted = coin.flip(min(1, target[x] / (draft[x] + Fraction(1, 10_000))))
    return x if accepted else coin.draw(residual(target, draft))


def ignores_the_draft(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    return x if coin.flip(target[x] / max(target)) else coin.draw(residual(target, draft))


def permutes_the_draft(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    permuted = np.roll(draft, 1)
    return x if coin.flip(ratio(target, permuted, x)) else coin.draw(residual(target, permuted))


def zeroes_the_target_in_place(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    others = residual(target, draft)
    target[x] = Fraction(0)
    return x if coin.flip(ratio(target, draft, x)) else coin.draw(others)


def accepts_a_match_or_a_test(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    matched = coin.draw(target) == x
    return x if coin.flip(ratio(target, draft, x)) or matched else coin.draw(residual(target, draft))


# Wrong residuals


def draws_the_residual_from_the_target(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    return x if coin.flip(ratio(target, draft, x)) else coin.draw(target)


def draws_the_residual_of_another_position(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    return x if coin.flip(ratio(target, draft, x)) else coin.draw(residual(np.roll(target, 1), draft))


def subtracts_the_draft_at_the_drafted_token_only(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    selected = draft * (np.arange(len(draft)) == x)
    left = positive_part(target - selected)
    return x if coin.flip(ratio(target, draft, x)) else coin.draw(normalised(left, target))


def takes_the_likeliest_of_the_residual(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    return x if coin.flip(ratio(target, draft, x)) else int(np.argmax(residual(target, draft)))


def returns_the_residual_draw_always(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    coin.flip(ratio(target, draft, x))
    return coin.draw(residual(target, draft))


def redraws_after_a_mismatch(coin: Coin, tokens: Any, target: Any, _draft: Any) -> int:
    (x,) = tokens
    return x if coin.draw(target) == x else coin.draw(target)


def keeps_the_draft_in_a_one_hot_residual(coin: Coin, tokens: Any, target: Any, _draft: Any) -> int:
    (x,) = tokens
    return x if coin.flip(target[x]) else coin.draw(target)


# Wrong uniforms


def shares_one_uniform(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    """A rejected uniform u lies in [p, 1); at the same u the residual yields its upper part only."""
    (x,) = tokens
    p = ratio(target, draft, x)
    if coin.flip(p):
        return x
    upper = np.cumsum(residual(target, draft))
    lower = np.concatenate([[Fraction(0)], upper[:-1]])
    return coin.draw(normalised(positive_part(upper - np.maximum(lower, p)), target))


def compares_with_or_equal_on_a_grid(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    return x if on_grid(coin) <= ratio(target, draft, x) else coin.draw(residual(target, draft))


def compares_strictly_on_a_grid(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    """The right comparison, lossless where the ratios lie on the grid."""
    (x,) = tokens
    return x if on_grid(coin) < ratio(target, draft, x) else coin.draw(residual(target, draft))


def inverts_the_residual_with_or_equal(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    if coin.flip(ratio(target, draft, x)):
        return x
    return int(np.argmax(np.cumsum(residual(target, draft)) >= on_grid(coin)))


def on_grid(coin: Coin) -> Fraction:
    cells = 1 << GRID
    return Fraction(coin.draw([Fraction(1, cells)] * cells), cells)


# Wrong drafts


def top_two(coin: Coin, draft: Any, _k: int) -> tuple[int, ...]:
    return (coin.draw(top_k(draft, 2)),)


def favourite(_coin: Coin, draft: Any, _k: int) -> tuple[int, ...]:
    return (int(np.argmax(draft)),)


def without_then_with(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    """Recursive rejection for i.i.d. drafts, given drafts without replacement."""
    r = target
    for x in tokens:
        if coin.flip(ratio(r, draft, x)):
            return x
        r = residual(r, draft)
    return coin.draw(r)


def with_then_without(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    """Recursive rejection without replacement, given i.i.d. drafts: a repeated draft is rejected once more."""
    r = target
    for place, x in enumerate(tokens):
        current = restricted(draft, ~np.isin(np.arange(len(draft)), tokens[:place]))
        if current[x] > 0 and coin.flip(ratio(r, current, x)):
            return x
        r = residual(r, current)
    return coin.draw(r)


HALVES = exact(["1/2", "1/2", 0])
UNWANTED = exact(["1/2", "1/4", "1/4"])
"""A draft that drafts token 2, which HALVES does not want."""

CONTROLS = (
    Control(accepts_one_percent_too_often, "the test passes in 101 of the 100 cases it should"),
    Control(is_lenient, "the ratio is doubled"),
    Control(always_accepts, "there is no test"),
    Control(clamps_the_denominator, "1e-4 is added to the draft's mass"),
    Control(ignores_the_draft, "the test is t/max t"),
    Control(permutes_the_draft, "the draft's row is permuted against its tokens"),
    Control(zeroes_the_target_in_place, "the target is overwritten before the test"),
    Control(accepts_a_match_or_a_test, "two tests, and either is enough"),
    Control(draws_the_residual_from_the_target, "a rejection redraws from the target"),
    Control(draws_the_residual_of_another_position, "the residual takes the target's row of another position"),
    Control(subtracts_the_draft_at_the_drafted_token_only, "the draft's mass elsewhere is not subtracted"),
    Control(takes_the_likeliest_of_the_residual, "the residual is not drawn from but maximised"),
    Control(returns_the_residual_draw_always, "SpecTr Alg. 1 as printed: an accepted draft is thrown away"),
    Control(redraws_after_a_mismatch, "sample and match, where the mismatch is not what is emitted"),
    Control(keeps_the_draft_in_a_one_hot_residual, "the rejected token is not removed"),
    Control(shares_one_uniform, "the rejected uniform draws from the residual too"),
    Control(compares_with_or_equal_on_a_grid, "u ≤ 0 holds for u = 0", 1, HALVES, UNWANTED),
    Control(inverts_the_residual_with_or_equal, "sums ≥ 0 holds at a first token of mass 0"),
    Control(scheme(top_two, single.verify), "drafted from the top 2, verified against the whole draft law"),
    Control(scheme(favourite, single.verify), "a greedy draft verified against the whole draft law"),
    Control(scheme(without_replacement.draw, without_then_with), "drafts without replacement taken for i.i.d.", 2),
    Control(with_then_without, "i.i.d. drafts taken for drafts without replacement", 2),
    Control(keeps_a_stale_residual, "the second draft is tested against the target again", 2),
    Control(leaves_the_residual_unnormalised, "the second test forgets to divide by what is left", 2),
    Control(chooses_among_distinct_tokens, "one of the distinct tokens in place of one of the drafts", 3),
    Control(verifies_the_likeliest_draft, "the draft is chosen by its ratio, its law is not the draft's", 2),
    Control(accepts_any_match_of_fresh_draws, "a fresh target draw for each draft", 2),
    Control(k_sequential_below_gamma_star, "γ = 1 < γ*", 2, broken=True),
    Control(k_sequential_below_gamma_star_clipped, "γ = 1 < γ*, negative masses clipped", 2),
    Control(k_sequential_with_the_plain_residual, "K-SEQ with the residual of one draft", 2),
    Control(scheme(greedy.draw, greedy_with_the_whole_draft), "the last draft is not from the whole draft law", 2),
    Control(scheme(hub.draw, hub_with_one_test_for_both_orders), "(a, x) is tested as if it were (x, a)", 2),
    Control(emits_no_token, "None is no token", broken=True),
    Control(emits_a_float, "1.0 is no token", broken=True),
    Control(emits_beyond_the_vocabulary, "an index off by one", broken=True),
    Control(emits_a_placeholder, "-1 stands for a rejection", broken=True),
    Control(raises, "an exception on one path", broken=True),
    Control(divides_by_zero, "0 in the denominator", broken=True),
    Control(flips_more_than_one, "a probability above 1", broken=True),
    Control(draws_from_a_residual_that_is_no_law, "masses that do not sum to 1", broken=True),
    Control(remembers, "its coins depend on how often it was called", left_open=Reason.NOT_JUDGED),
    Control(never_ends, "a loop that never ends", left_open=Reason.BUDGET),
)
