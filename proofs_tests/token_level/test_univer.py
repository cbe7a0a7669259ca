"""UniVer at one position, as a public kernel of a serving engine has it: lossless, and the optimum of greedy drafts.

The kernel takes the drafter's top tokens and one sampled from the rest, of the law d'. The sampled token is accepted
with chance min(1, t/d'), a top token with t (1 − that)/Z, Z = Σ (t − d')+, and else a token of (t − d')+ outside the
top is drawn. Down a tree t is scaled by what the path was accepted with: `block_level.univer`.
"""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given

from proofs_tests.strategies import counts, pairs
from spec_math.arrays import as_laws, exact, positive_part, proportional_to
from spec_math.chance import Coin, law
from spec_math.distribution import capped_ratio
from spec_math.token_level import greedy, optimal


def univer(coin: Coin, tokens: tuple[int, ...], target: Any, draft: Any, forgotten: bool = False) -> int:
    """The rule at one position; `forgotten` leaves out what the kernel gives to the top tokens."""
    t, d = as_laws(target, draft)
    top, sampled = list(tokens[:-1]), tokens[-1]
    rest = d.copy()
    rest[top] = 0 * rest[top]
    rest = rest / rest.sum()
    accepted = capped_ratio(t[sampled], rest[sampled])
    over = positive_part(t - rest)
    total = over.sum()
    if total == 0:
        return sampled
    if forgotten:
        over[top] = 0 * over[top]
    shares = (1 - accepted) * over / over.sum()
    shares[sampled] = shares[sampled] + accepted
    return coin.draw(shares)


def joint(target: Any, draft: Any, k: int, forgotten: bool = False) -> dict[tuple[bool, int], Any]:
    """The law of (the emitted token is a draft, the emitted token)."""

    def program(coin: Coin) -> tuple[bool, int]:
        tokens = greedy.draw(coin, draft, k)
        token = univer(coin, tokens, target, draft, forgotten)
        return token in tokens, token

    return law(program)


@given(pair=pairs(), k=counts(4))
def test_univer_at_one_position_is_lossless_and_the_optimum_of_greedy_drafts(pair: Any, k: int) -> None:
    target, draft = pair
    found = joint(target, draft, k)
    for token, mass in enumerate(target):
        assert sum((p for (_, emitted), p in found.items() if emitted == token), mass - mass) == mass
    accepted = sum((p for (is_draft, _), p in found.items() if is_draft), target[0] - target[0])
    assert accepted == greedy.acceptance(target, draft, k)


def test_univer_claims_the_optimum_of_one_position_and_has_it_on_300_of_300() -> None:
    """Against the minimum cut of the drafts' own law: of any verifier, and not of any formula for greedy drafts."""
    random = Random(0)
    for _ in range(300):
        t, d = (proportional_to([random.randint(0, 6), *(random.randint(1, 9) for _ in range(2))]) for _ in range(2))
        drafts = law(lambda coin, d=d: greedy.draw(coin, d, 2))
        accepted = sum(p for (is_draft, _), p in joint(t, d, 2).items() if is_draft)
        assert accepted == optimal.acceptance_of(t, drafts)


def test_univer_that_forgets_the_top_tokens_is_lossy() -> None:
    """The control."""
    target, draft = exact(["1/4", "1/8", "5/8"]), exact(["1/2", "3/8", "1/8"])
    wrong = joint(target, draft, 2, forgotten=True)
    assert sum(p for (_, token), p in wrong.items() if token == 0) != target[0]
