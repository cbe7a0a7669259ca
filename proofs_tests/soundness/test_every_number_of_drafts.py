"""A verifier that is wrong from the second draft on was lossless with all defaults, judged for one draft only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spec_math import SCHEMES, Lossless, Lossy, Scheme, check_lossless
from spec_math.distribution import residual
from spec_math.testing import NotLosslessError, UndecidedError, assert_lossless
from spec_math.token_level import recursive, single
from spec_math.verdict import Reason, Undecided

TARGET, DRAFT = ["1/4", "3/4"], ["1/2", "1/2"]


def wrong_from_second(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    """Every further draft is tested against the target itself, and not against what the one before it left."""
    for x in tokens:
        if coin.flip(min(1, target[x] / draft[x])):
            return x
    return coin.draw(residual(target, draft))


def wrong_from_third(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    return tokens[2] if len(tokens) > 2 else recursive.verify(coin, tokens, target, draft)


def wrong_for_two(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    return tokens[1] if len(tokens) == 2 else recursive.verify(coin, tokens, target, draft)


def no_law_for_two(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    del draft
    return coin.draw(target if len(tokens) != 2 else target * 2)


def no_token_for_three(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    return 99 if len(tokens) == 3 else recursive.verify(coin, tokens, target, draft)


def raises_where_drafts_differ(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = set(tokens)
    return single.verify(coin, x, target, draft)


def for_two(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    x, _ = tokens
    return single.verify(coin, x, target, draft)


def never(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    raise NotImplementedError(f"{coin}, {tokens}, {target}, {draft}")


@pytest.mark.parametrize(
    ("verifier", "drafts"),
    [(wrong_from_second, 2), (wrong_from_third, 3), (wrong_for_two, 2), (no_law_for_two, 2), (no_token_for_three, 3)],
)
def test_what_is_wrong_for_more_drafts_is_lossy_with_all_defaults(verifier: Callable[..., int], drafts: int) -> None:
    assert check_lossless(verifier, TARGET, DRAFT, 1)
    verdict = check_lossless(verifier, TARGET, DRAFT)
    assert isinstance(verdict, Lossy)
    assert verdict.drafts == (drafts,)
    assert f"Lossy for {drafts} drafts" in str(verdict)
    with pytest.raises((NotLosslessError, UndecidedError), match=f"{drafts} drafts"):
        assert_lossless(verifier)


def test_a_scheme_is_judged_for_every_number_of_drafts() -> None:
    scheme = Scheme("wrong", recursive.draw, wrong_from_second, recursive.acceptance)
    verdict = check_lossless(scheme, TARGET, DRAFT)
    assert isinstance(verdict, Lossy)
    assert verdict.drafts == (2,)
    with pytest.raises(NotLosslessError, match="2 drafts"):
        assert_lossless(scheme)


def test_what_is_written_for_one_draft_is_lossless_for_one() -> None:
    verdict = check_lossless(single.verify, TARGET, DRAFT)
    assert isinstance(verdict, Lossless)
    assert verdict.drafts == (1,)
    assert str(verdict).startswith("Lossless for 1 draft: one pair of distributions on 2 tokens, as Fractions")
    assert "not judged for 2 (ValueError" in str(verdict)
    assert "3 (ValueError" in str(verdict)


def test_what_is_written_for_two_drafts_is_lossless_for_two() -> None:
    verdict = check_lossless(for_two, TARGET, DRAFT)
    assert isinstance(verdict, Lossless)
    assert verdict.drafts == (2,)
    assert [why[:1] for why in verdict.not_judged] == ["1", "3"]


@pytest.mark.parametrize("scheme", [one for one in SCHEMES if one.drafts], ids=lambda scheme: scheme.name)
def test_a_scheme_with_a_fixed_number_is_judged_for_that(scheme: Scheme) -> None:
    verdict = check_lossless(scheme, TARGET, DRAFT)
    assert isinstance(verdict, Lossless)
    assert verdict.drafts == (scheme.drafts,)
    assert not verdict.not_judged


def test_an_exception_for_more_drafts_than_were_asked_for_leaves_it_open() -> None:
    verdict = check_lossless(raises_where_drafts_differ, TARGET, DRAFT)
    assert isinstance(verdict, Undecided)
    assert (verdict.reason, verdict.drafts) == (Reason.NOT_JUDGED, (2,))
    assert isinstance(check_lossless(raises_where_drafts_differ, TARGET, DRAFT, 2), Lossy)
    assert check_lossless(raises_where_drafts_differ, TARGET, DRAFT, 1)


def test_what_never_returns_is_judged_for_no_number() -> None:
    verdict = check_lossless(never, TARGET, DRAFT)
    assert isinstance(verdict, Undecided)
    assert verdict.reason is Reason.NOT_JUDGED
    assert "NotImplementedError" in verdict.explanation


def test_more_paths_than_anyone_asked_for_are_not_walked() -> None:
    size = 60
    law = [f"1/{size}"] * size
    verdict = check_lossless(recursive.verify, law, law)
    assert isinstance(verdict, Lossless)
    assert verdict.drafts == (1, 2)
    assert "3 (about 216,000 paths; ask with k = 3)" in str(verdict)
    spent = check_lossless(recursive.verify, law, law, 3, budget=1_000)
    assert isinstance(spent, Undecided)
    assert spent.reason is Reason.BUDGET
