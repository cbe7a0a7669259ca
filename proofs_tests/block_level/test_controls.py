"""The judge of generators meets wrong ones: their first token is exact, and their joint law is not."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

from proofs_tests.block_level.models import Rows, model_pairs
from spec_math import Lossless, Lossy, check_lossless_block
from spec_math.arrays import exact, positive_part
from spec_math.block_level import block, chain, spectr
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.tree import grow
from spec_math.distribution import normalised, residual, temperature
from spec_math.scheme import draw_independent
from spec_math.token_level import k_sequential, single
from spec_math.verdict import Reason, Undecided

Text = tuple[int, ...]

TARGET = Rows(
    (exact(["1/4", "3/4"]), exact(["2/3", "1/3"]), exact(["3/5", "2/5"]), exact(["1/8", "7/8"]), exact([1, 0]))
)
DRAFT = Rows(
    (exact(["1/2", "1/2"]), exact(["1/3", "2/3"]), exact(["1/5", "4/5"]), exact(["3/4", "1/4"]), exact(["1/2", "1/2"]))
)

THREE = Rows((exact(["1/2", "3/10", "1/5"]),)), Rows((exact(["4/5", "1/10", "1/10"]),))


def bonus_token_untempered(coin: Any, prefix: Text) -> Text:
    """Verify against the target at temperature 1/2, and draw the token after a whole chain at temperature 1."""
    laws = Conditionals(tempered, DRAFT, prefix)
    tokens = chain.draw(coin, laws, 2)
    rows = [laws.target(tokens[:place]) for place in range(2)]
    return chain.verify(
        coin, tokens, [*rows, TARGET(prefix + tokens)], [laws.draft(tokens[:place]) for place in range(2)]
    )


def tempered(prefix: Text) -> Any:
    return temperature(TARGET(prefix), Fraction(1, 2))


def stale_residual_at_the_last_sibling(coin: Any, prefix: Text) -> Text:
    """Two siblings by recursive rejection; where the second is accepted, the next token comes from the residual."""
    t, d = TARGET(prefix), DRAFT(prefix)
    law = t
    for token in draw_independent(coin, d, 2):
        if coin.flip(min(1, law[token] / d[token])):
            return (token, coin.draw(TARGET((*prefix, token)) if law is t else law))
        law = residual(law, d)
    return (coin.draw(law),)


def block_verification_with_the_plain_residual(target: Rows, draft: Rows) -> Callable[[Any, Text], Text]:
    """The coins of block verification, but the token after a part of the block comes from (t − d)+."""

    def generate(coin: Any, prefix: Text) -> Text:
        laws = Conditionals(target, draft, prefix)
        tokens = chain.draw(coin, laws, 2)
        t, d = [laws.target(tokens[:n]) for n in range(3)], [laws.draft(tokens[:n]) for n in range(2)]
        weights, left = block.weighed(tokens, t, d)
        kept = 1 if coin.flip(_over(left[1].sum(), left[1].sum() + 1 - weights[1])) else 0
        if coin.flip(weights[2]):
            return (*tokens, coin.draw(t[2]))
        return (*tokens[:kept], coin.draw(normalised(positive_part(t[kept] - d[kept]), t[kept])))

    return generate


def spectr_with_sets(coin: Any, prefix: Text) -> Text:
    """SpecTr where the drafts that survive the first level are a set: what was drafted twice counts once."""
    laws = Conditionals(TARGET, DRAFT, prefix)
    candidates = grow(coin, laws, (2, 1), draw_independent)
    firsts = tuple(node.token for node in candidates)
    token = k_sequential.verify(coin, firsts, laws.target(), laws.draft())
    survivors = tuple(dict.fromkeys(node.token for node in spectr.agreeing(candidates, token)))
    if not survivors:
        return (token,)
    second = k_sequential.verify(coin, survivors, laws.target((token,)), laws.draft((token,)))
    return (token, second)


def second_position_verified_against_the_first_row(coin: Any, prefix: Text) -> Text:
    """A chain of two whose second draft meets the laws of the first position: an index that was not advanced."""
    laws = Conditionals(TARGET, DRAFT, prefix)
    tokens = chain.draw(coin, laws, 2)
    first = single.emit(coin, tokens[0], laws.target(), laws.draft())
    if not first.accepted:
        return (first.token,)
    return (first.token, single.verify(coin, tokens[1], laws.target(), laws.draft()))


def _over(top: Fraction, bottom: Fraction) -> Fraction:
    return top / bottom if bottom else Fraction(1)


WRONG = [
    (bonus_token_untempered, tempered, 3),
    (stale_residual_at_the_last_sibling, TARGET, 2),
    (block_verification_with_the_plain_residual(*THREE), THREE[0], 3),
    (spectr_with_sets, TARGET, 2),
    (second_position_verified_against_the_first_row, TARGET, 2),
]


@pytest.mark.parametrize(("generate", "target", "horizon"), WRONG)
def test_a_wrong_generator_with_an_exact_first_token_is_caught(
    generate: Callable[[Any, Text], Text], target: Callable[[Text], Any], horizon: int
) -> None:
    assert isinstance(check_lossless_block(generate, target, 1), Lossless)
    verdict = check_lossless_block(generate, target, horizon)
    assert isinstance(verdict, Lossy)
    assert verdict.tokens is not None
    assert verdict.emitted != verdict.target
    assert verdict.total_variation > 0


@settings(max_examples=15)
@given(model_pairs(2, end=False))
def test_the_plain_residual_shows_on_three_tokens_only(models: tuple[Rows, Rows]) -> None:
    # On two tokens at most one is left over, and (t − d)+ names the same one as (w t − d)+.
    assert check_lossless_block(block_verification_with_the_plain_residual(*models), models[0], 3)


def test_a_text_that_the_target_never_writes_is_the_counterexample() -> None:
    verdict = check_lossless_block(lambda *_: (0,), Rows((exact([0, "1/2", "1/2"]),)), 1)
    assert isinstance(verdict, Lossy)
    assert (verdict.tokens, verdict.emitted, verdict.target) == ((0,), 1, 0)
    assert verdict.total_variation == 1


def test_a_generator_that_forgets_its_prefix_is_caught_in_the_second_round() -> None:
    def forgetful(coin: Any, prefix: Text) -> Text:  # noqa: ARG001
        return block.generate(coin, TARGET, DRAFT, (), 1)

    assert check_lossless_block(forgetful, TARGET, 2)
    assert check_lossless_block(forgetful, TARGET, 4)
    assert not check_lossless_block(forgetful, TARGET, 4, rounds=2)


def test_a_wrong_generator_is_caught_after_a_prefix_too() -> None:
    def wrong_after_one(coin: Any, prefix: Text) -> Text:
        law = DRAFT(prefix) if prefix == (1,) else TARGET(prefix)
        return (coin.draw(law),)

    assert check_lossless_block(wrong_after_one, TARGET, 2)
    assert not check_lossless_block(wrong_after_one, TARGET, 2, prefix=(1,))
    assert not check_lossless_block(wrong_after_one, TARGET, 2, rounds=2)


@pytest.mark.parametrize(
    ("emitted", "reason"),
    [
        ((), "emitted no token"),
        ((0, 2), "2 is not a token index in 0..1"),
        ((True,), "True is not a token index"),
        ((0.0,), "0.0 is not a token index"),
        (0, "0, which is not a tuple"),
        (None, "None, which is not a tuple"),
        ((1, 0), "tokens follow the end token 1"),
    ],
)
def test_what_is_no_block_is_lossy_with_its_path(emitted: Any, reason: str) -> None:
    target = Rows(TARGET.rows, end=1)

    def broken(coin: Any, prefix: Text) -> Any:  # noqa: ARG001
        return emitted if coin.flip(Fraction(1, 3)) else (0,)

    verdict = check_lossless_block(broken, target, 2)
    assert isinstance(verdict, Lossy)
    assert reason in verdict.reason
    assert verdict.path == ("flip(1/3) = True",)


@pytest.mark.parametrize("fault", [ZeroDivisionError("0/0"), KeyError("row"), RuntimeError("stuck")])
def test_an_exception_is_lossy_with_its_path(fault: Exception) -> None:
    def broken(coin: Any, prefix: Text) -> Text:
        if prefix and coin.flip(Fraction(1, 3)):
            raise fault
        return (0,)

    verdict = check_lossless_block(broken, Rows((exact([1, 0]),)), 2, rounds=2)
    assert isinstance(verdict, Lossy)
    assert verdict.reason.startswith(f"after the prefix (0,): {type(fault).__name__}")
    assert verdict.path == ("flip(1/3) = True",)


def test_masses_that_are_no_law_are_lossy() -> None:
    verdict = check_lossless_block(lambda coin, _: (coin.draw([Fraction(-1, 2), Fraction(3, 2)]),), TARGET, 1)
    assert isinstance(verdict, Lossy)
    assert "token 0 has -1/2" in verdict.reason


def test_a_generator_without_end_is_judged_by_what_ends() -> None:
    def endless(coin: Any, prefix: Text) -> Text:  # noqa: ARG001
        while coin.flip(Fraction(1, 2)):
            pass
        return (0,)

    verdict = check_lossless_block(endless, TARGET, 1)
    assert isinstance(verdict, Lossy)
    assert "emitted with probability at least 1 " in verdict.reason
    assert 1 - Fraction(1, 10**9) < verdict.emitted < 1


def test_a_generator_that_never_ends_is_left_open() -> None:
    def stuck(coin: Any, prefix: Text) -> Text:  # noqa: ARG001
        while coin.flip(Fraction(1, 2)) or coin.flip(Fraction(1, 2)) or True:
            pass

    verdict = check_lossless_block(stuck, TARGET, 1)
    assert isinstance(verdict, Undecided)
    assert verdict.reason is Reason.BUDGET
    assert "more than 1,000 coins" in verdict.explanation
