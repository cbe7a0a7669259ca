"""State that changes an answer the second time shows on paths that are walked again: some by default, all if asked."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from spec_math.audit import check_sampler
from spec_math.verdict import Lossless, Reason, Undecided

LAWS = ["1/8", "3/8", "1/4", "1/4"], ["1/4", "1/4", "1/4", "1/4"]


def forgetful(token: int, often: int = 1) -> Callable[..., int]:
    """Maximal coupling, right so often; a token that it has tested so often before it rejects from then on."""
    seen: list[int] = []

    def sample(tokens: Any, target: Any, draft: Any) -> int:
        x = int(tokens[0])
        if x == token and seen.count(x) >= often:
            return (x + 1) % 4
        seen.append(x)
        if random.random() * draft[x] < target[x]:
            return x
        return random.choices(range(4), [max(t - d, 0) for t, d in zip(target, draft, strict=True)])[0]

    return sample


def test_each_path_is_walked_again_at_the_callers_wish() -> None:
    verdict = check_sampler(forgetful(2), *LAWS, 1, repeats=1)
    assert isinstance(verdict, Undecided), str(verdict)
    assert verdict.reason is Reason.RANDOMNESS_NOT_SEEN


def test_by_default_the_first_paths_are_walked_more_than_once() -> None:
    verdict = check_sampler(forgetful(2), *LAWS, 1)
    assert isinstance(verdict, Undecided), str(verdict)
    assert verdict.reason is Reason.RANDOMNESS_NOT_SEEN


def test_by_default_they_are_not_walked_more_often_and_the_wish_is_what_finds_it() -> None:
    """The control: the same state, which changes the answer from the fifth time on, on the one path of a token."""
    assert isinstance(check_sampler(forgetful(2, 4), *LAWS, 1), Lossless)
    assert isinstance(check_sampler(forgetful(2, 4), *LAWS, 1, repeats=1), Undecided)
    assert isinstance(check_sampler(forgetful(9), *LAWS, 1, repeats=2), Lossless)


def test_a_caller_may_forgive_less() -> None:
    def sample(tokens: Any, target: Any, draft: Any) -> int:
        x = int(tokens[0])
        if random.random() * draft[x] < target[x]:
            return x
        return random.choices(range(4), [max(t - d, 0) for t, d in zip(target, draft, strict=True)])[0]

    fifths = ["1/5", "3/10", "1/2", "0"], ["1/2", "3/10", "1/5", "0"]
    plain = check_sampler(sample, *fifths, 1, numbers="float32")
    assert isinstance(plain, Lossless)
    assert 0 < plain.bound < 1e-4
    strict = check_sampler(sample, *fifths, 1, numbers="float32", at_most=1e-15)
    assert isinstance(strict, Undecided), str(strict)
    assert strict.reason is Reason.ROUNDING


@pytest.mark.parametrize("wrong", [{"repeats": -1}, {"at_most": 1.0}, {"at_most": -1e-9}])
def test_bad_options_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"at least 1|total variation between"):
        check_sampler(forgetful(9), *LAWS, 1, **wrong)
