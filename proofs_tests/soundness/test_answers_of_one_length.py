"""A right chain on laws that fix how many drafts it keeps: all answers have one length, and are tokens all the same."""

from __future__ import annotations

import random
from typing import Any

import pytest

from spec_math.audit import check_sampler
from spec_math.verdict import Lossless, Lossy, Reason, Undecided

KEPT_THEN_CORRECTED = [["1", "0"], ["1", "0"], ["5/8", "3/8"]], [["1", "0"], ["0", "1"]]
CORRECTED = [["0", "1"], ["1/2", "1/2"], ["5/8", "3/8"]], [["1", "0"], ["1/2", "1/2"]]


def drawn(law: Any) -> int:
    return random.choices(range(len(law)), law)[0]


def chain(tokens: Any, target: Any, draft: Any, keeps: float = 1) -> list[int]:
    """Accepts drafts one by one; `keeps` less than 1 makes it lossy, where a draft may be accepted."""
    kept: list[int] = []
    for place, x in enumerate(tokens):
        t, d = target[place], draft[place]
        if random.random() * d[x] < t[x] * keeps:
            kept.append(int(x))
            continue
        left = [max(a - b, 0) for a, b in zip(t, d, strict=True)]
        return [*kept, drawn(left) if sum(left) else drawn(t)]
    return [*kept, drawn(target[len(tokens)])]


def reuses(tokens: Any, target: Any, draft: Any) -> list[int]:
    """Corrects with the draft's law."""
    whole = chain(tokens, target, draft)
    place = len(whole) - 1
    return whole if place == len(tokens) else [*whole[:-1], drawn(draft[place])]


def number_and_token(tokens: Any, target: Any, draft: Any) -> list[int]:
    """How many drafts were accepted, and the token after them: no tokens, as the judge asks for."""
    whole = chain(tokens, target, draft)
    return [len(whole) - 1, whole[-1]]


@pytest.mark.parametrize("laws", [KEPT_THEN_CORRECTED, CORRECTED])
def test_a_right_chain_is_lossless_where_all_its_answers_are_of_one_length(laws: Any) -> None:
    verdict = check_sampler(chain, *laws, lookahead=2)
    assert isinstance(verdict, Lossless), str(verdict)


def test_a_wrong_chain_is_lossy_there() -> None:
    assert isinstance(check_sampler(reuses, *KEPT_THEN_CORRECTED, lookahead=2), Lossy)


@pytest.mark.parametrize("laws", [KEPT_THEN_CORRECTED, CORRECTED])
def test_a_number_of_drafts_with_a_token_is_still_not_read_as_tokens(laws: Any) -> None:
    verdict = check_sampler(number_and_token, *laws, lookahead=2)
    assert isinstance(verdict, Undecided), str(verdict)
    assert verdict.reason is Reason.NOT_JUDGED
