"""Each judge, on one function that is right, one that is wrong and one that cannot be told: it says so."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from spec_math import Lossless, Lossy, Undecided, check_lossless, check_lossless_block, exact, residual
from spec_math.audit import check_sampler
from spec_math.block_level import chain
from spec_math.testing import NotLosslessError, UndecidedError, assert_lossless, assert_lossless_block
from spec_math.verdict import Reason, Verdict

RNG = np.random.default_rng
LAWS = ["1/4", "3/4"], ["1/2", "1/2"]


def right(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    x = tokens[0]
    return x if coin.flip(min(1, target[x] / draft[x])) else coin.draw(residual(target, draft))


def wrong(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    x = tokens[0]
    return x if coin.flip(min(1, target[x] / draft[x])) else coin.draw(target)


def unseen(coin: Any, tokens: Any, target: Any, draft: Any) -> int:  # noqa: ARG001
    return coin.draw(target) if random.random() < 2 else tokens[0]


def block_of(verify: Callable[..., int]) -> Callable[..., tuple[int, ...]]:
    def generate(coin: Any, prefix: tuple[int, ...]) -> tuple[int, ...]:  # noqa: ARG001
        return (verify(coin, (coin.draw(exact_laws()[1]),), *exact_laws()),)

    return generate


def exact_laws() -> tuple[Any, Any]:
    return exact(LAWS[0]), exact(LAWS[1])


def own_right(tokens: Any, target: Any, draft: Any) -> int:
    x = tokens[0]
    if RNG().random() < target[x] / draft[x]:
        return x
    left = np.maximum(target - draft, 0)
    return int(RNG().choice(len(target), p=left / left.sum()))


def own_wrong(tokens: Any, target: Any, draft: Any) -> int:
    x = tokens[0]
    return x if RNG().random() < target[x] / draft[x] else int(RNG().choice(len(target), p=target))


def own_unseen(tokens: Any, target: Any, draft: Any) -> int:  # noqa: ARG001
    return int(tokens[0]) if time.time_ns() % 2 else int(RNG().choice(len(target), p=target))


def in_torch(wrongly: bool) -> Callable[..., int]:
    torch = import_module("torch")

    def verify(tokens: Any, target: Any, draft: Any) -> int:
        x = int(tokens[0])
        if torch.rand(()) < target[x] / draft[x]:
            return x
        left = target if wrongly else (target - draft).clamp(min=0)
        return int(torch.multinomial(left / left.sum(), 1))

    return verify


def of_torch(function: Any) -> Verdict:
    return import_module("torch_bridge").check_sampler(function, *LAWS)


JUDGES: dict[str, tuple[Callable[[Any], Verdict], Any, Any, Any]] = {
    "check_lossless": (lambda one: check_lossless(one, *LAWS), right, wrong, unseen),
    "check_lossless_block": (
        lambda one: check_lossless_block(block_of(one), lambda _: exact_laws()[0], 2),
        right,
        wrong,
        unseen,
    ),
    "check_sampler": (lambda one: check_sampler(one, *LAWS), own_right, own_wrong, own_unseen),
}


@pytest.mark.parametrize("judge", JUDGES)
def test_each_verdict_is_given(judge: str) -> None:
    verdict, good, bad, open_ = JUDGES[judge]
    assert isinstance(verdict(good), Lossless)
    found = verdict(bad)
    assert isinstance(found, Lossy)
    assert found.emitted != found.target
    left = verdict(open_)
    assert isinstance(left, Undecided)
    assert left.reason is not Reason.ROUNDING
    assert not left


def test_each_verdict_is_given_of_torch() -> None:
    pytest.importorskip("torch")
    assert isinstance(of_torch(in_torch(wrongly=False)), Lossless)
    assert isinstance(of_torch(in_torch(wrongly=True)), Lossy)


def test_assertions_raise_what_the_verdict_is() -> None:
    assert_lossless(right)
    with pytest.raises(NotLosslessError, match="token 0"):
        assert_lossless(wrong)
    with pytest.raises(UndecidedError):
        assert_lossless(own_unseen)


def one_chain(coin: Any, target: Any, draft: Any, prefix: Any) -> tuple[int, ...]:
    return chain.generate(coin, target, draft, prefix, 1)


def from_the_draft(coin: Any, target: Any, draft: Any, prefix: Any) -> tuple[int, ...]:  # noqa: ARG001
    return (coin.draw(draft(prefix)),)


def test_blocks_are_asserted_on_models_of_their_own() -> None:
    assert_lossless_block(one_chain)
    with pytest.raises(NotLosslessError):
        assert_lossless_block(from_the_draft)
